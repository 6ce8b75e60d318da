import type { JsonObject } from '../../shared/json/fold.ts'
import { at, stringMap } from './kube-object.ts'

/** What is known of the kinds of objects that own pods: a row for each that is asked for. */

export interface OwnerKind {
  readonly apiVersion: string
  readonly kind: string
  readonly resource: string
  /**
   * "climb": its own controller is the one that people wrote, if it has one. "read": it may hold `spec.ordinals.start`, or
   * annotations that belong elsewhere. "direct": nothing in it matters, its existence may.
   */
  readonly use: 'climb' | 'read' | 'direct'
  /** Where the annotations of its pods are written, if people write them there. */
  readonly template: readonly string[] | undefined
  /** Further metadata that does not reach the pods, though it looks like it. */
  readonly alsoMisleading?: readonly string[]
}

const podTemplate = ['spec', 'template', 'metadata', 'annotations'] as const

const ownerKinds: readonly OwnerKind[] = [
  { apiVersion: 'v1', kind: 'Pod', resource: 'pods', use: 'direct', template: undefined },
  // The Deployment controller copies its Deployment's annotations to them: whatever is misplaced is so above.
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', resource: 'replicasets', use: 'climb', template: undefined },
  { apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments', use: 'read', template: podTemplate },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    resource: 'statefulsets',
    use: 'read',
    template: podTemplate,
  },
  { apiVersion: 'apps/v1', kind: 'DaemonSet', resource: 'daemonsets', use: 'read', template: podTemplate },
  { apiVersion: 'batch/v1', kind: 'Job', resource: 'jobs', use: 'climb', template: podTemplate },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    resource: 'cronjobs',
    use: 'read',
    template: ['spec', 'jobTemplate', 'spec', 'template', 'metadata', 'annotations'],
    alsoMisleading: ['spec', 'jobTemplate', 'metadata', 'annotations'],
  },
]

/** The row of a kind; undefined for kinds of others, and for versions of an API that have gone. */
export function ownerKind(owner: {
  readonly apiVersion: string
  readonly kind: string
}): OwnerKind | undefined {
  return ownerKinds.find(({ apiVersion, kind }) => apiVersion === owner.apiVersion && kind === owner.kind)
}

/** An annotation of ours where no pod ever sees it. */
export interface Misplaced {
  readonly key: string
  /** "metadata.annotations". */
  readonly found: string
  /** "spec.template.metadata.annotations". */
  readonly belongs: string
}

const isOurs = (key: string): boolean => key.startsWith('ipkeeper.io/')

/**
 * Keys under ipkeeper.io/ that a workload object bears itself, and its pod template does not: written one level too
 * high, which the API accepts and nobody reads (kube-ovn#5034).
 */
export function misplaced(object: JsonObject, kind: OwnerKind): readonly Misplaced[] {
  const { template, alsoMisleading } = kind
  if (!template) return []
  const wanted = stringMap(at(object, ...template), isOurs)
  const belongs = template.join('.')
  const places = [['metadata', 'annotations'], ...(alsoMisleading ? [alsoMisleading] : [])]
  return places.flatMap(place =>
    Object.keys(stringMap(at(object, ...place), isOurs))
      .filter(key => !Object.hasOwn(wanted, key))
      .map(key => ({ key, found: place.join('.'), belongs })),
  )
}

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
