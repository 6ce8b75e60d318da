/** What the pods of a workload are called, and how many of them there are at once. */

/** In the place of the letters that a controller makes up; of its alphabet. */
export const madeUp = { pod: 'x2x5z', replicaSet: '6d4cf56db6', job: '29410000' }

/** What follows a workload's own name in those of its pods; undefined where they have ordinals, or for no workload. */
export const podSuffixes: Readonly<Record<string, string | undefined>> = {
  Deployment: `-${madeUp.replicaSet}-${madeUp.pod}`,
  ReplicaSet: `-${madeUp.pod}`,
  DaemonSet: `-${madeUp.pod}`,
  Job: `-${madeUp.pod}`,
  CronJob: `-${madeUp.job}-${madeUp.pod}`,
}

/** `maxSurge` of a Deployment that does not say it (apps/v1 RollingUpdateDeployment). */
export const standardSurge = '25%'

/**
 * How many pods a rollout adds: a number, or a part of the replicas, which is rounded up (apps/v1
 * RollingUpdateDeployment, maxSurge); undefined for what is neither.
 */
export function surgeOf(maxSurge: unknown, replicas: number): number | undefined {
  if (typeof maxSurge === 'number') return Number.isInteger(maxSurge) && maxSurge >= 0 ? maxSurge : undefined
  const percent = typeof maxSurge === 'string' ? /^([0-9]{1,5})%$/.exec(maxSurge)?.[1] : undefined
  return percent === undefined ? undefined : Math.ceil((replicas * Number(percent)) / 100)
}
