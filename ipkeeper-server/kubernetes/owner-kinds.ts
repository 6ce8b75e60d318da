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

export const ownerKinds: readonly OwnerKind[] = [
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
