/**
 * The pods of the histories. What a name means is written down here, not worked out, so that the model does not share its
 * reading of names with what it judges.
 */
export interface PodWords {
  readonly name: string
  /** The workload that the name alone tells; kind null where the name does not say which. */
  readonly byName: { readonly kind: string | null; readonly name: string }
  /** What the API tells: the controller, or null for none. */
  readonly owner: { readonly kind: string; readonly name: string; readonly ordinalsStart?: number } | null
  /** No later pod will bear the name. */
  readonly generated: boolean
  /** The number at the end of a name that was not generated. */
  readonly ordinal?: number
}

const ofStatefulSet = (set: string, ordinal: number, ordinalsStart?: number): PodWords => ({
  name: `${set}-${ordinal}`,
  byName: { kind: 'StatefulSet', name: set },
  owner: { kind: 'StatefulSet', name: set, ...(ordinalsStart !== undefined && { ordinalsStart }) },
  generated: false,
  ordinal,
})

const ofDeployment = (deployment: string, suffix: string): PodWords => ({
  name: `${deployment}-${suffix}`,
  byName: { kind: 'Deployment', name: deployment },
  owner: { kind: 'Deployment', name: deployment },
  generated: true,
})

const ofDaemonSet = (set: string, suffix: string): PodWords => ({
  name: `${set}-${suffix}`,
  byName: { kind: null, name: set },
  owner: { kind: 'DaemonSet', name: set },
  generated: true,
})

export const pods: readonly PodWords[] = [
  ofStatefulSet('web', 0),
  ofStatefulSet('web', 1),
  ofDeployment('api', '6d4cf56db6-x2xqz'),
  ofDeployment('api', '6d4cf56db6-b7kpd'),
  { name: 'db', byName: { kind: 'Pod', name: 'db' }, owner: null, generated: false },
  ofStatefulSet('web', 2),
  ofStatefulSet('web', 4),
  ofDeployment('api', '77f9c8d5b4-hh2kl'),
  // A Deployment that is named like the StatefulSet.
  ofDeployment('web', '6d4cf56db6-z9wvt'),
  ofDaemonSet('agent', 'x2xqz'),
  ofDaemonSet('agent', 'b7kpd'),
  ofStatefulSet('shard', 1, 1),
  ofStatefulSet('shard', 2, 1),
  // A bare pod whose name looks like a StatefulSet's.
  {
    name: 'cache-1',
    byName: { kind: 'StatefulSet', name: 'cache' },
    owner: null,
    generated: false,
    ordinal: 1,
  },
]

/** Namespaces, with what is known of their label "team"; undefined where nobody can tell. */
export const namespaces: readonly { readonly name: string; readonly team: string | undefined }[] = [
  { name: 'shop', team: 'a' },
  { name: 'team-b', team: 'b' },
  { name: 'team-c', team: undefined },
]

export const nodes = ['n1', 'n2'] as const

export function podNamed(name: string): PodWords {
  const pod = pods.find(candidate => candidate.name === name)
  if (!pod) throw new Error(`there is no pod ${name}`)
  return pod
}
