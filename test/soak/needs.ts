import type { Requirement } from '../rigs/requirements.ts'

/** What an episode cannot be played without. */
export const soakNeeds: readonly Requirement[] = [
  ...(['namespaces', 'nft', 'etcd', 'etcdctl', 'faketime', 'loop-devices', 'executables'] as const),
]
