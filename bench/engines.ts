/** What nodes may share, as `--store` names it. */
export const engines = ['etcd', 'kubernetes'] as const
export type EngineName = (typeof engines)[number]
