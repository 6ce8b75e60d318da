import { Problem } from '../../../shared/problem/problem.ts'
import { nothingKnown, type Owner, type PodFacts, type StringMap } from '../../ipam/records/pod-facts.ts'
import type { ClusterView, PodView, PodWanted } from '../../kubernetes/cluster-view.ts'
import { withOwnersKeys } from '../../kubernetes/dialects/owner-keys.ts'

/** How long an ADD waits for the cluster's caches; milliseconds. */
const patience = 5_000

/** What an ADD needs to know of its pod, and who may tell. */
export interface FactsWanted {
  /** undefined for a container without a pod. */
  readonly pod: PodWanted | undefined
  /** As the runtime passes them on; undefined when it passes none. */
  readonly runtimeAnnotations: StringMap | undefined
  /** Whether they name an address, candidates or a pool: then namespace defaults have no say. */
  readonly runtimeAsks: boolean
  readonly namespaceDefaults: boolean
  /** Whether annotations of the pod's controller count, which no runtime passes on. */
  readonly ownersAnnotations: boolean
  /** Whether the rules of a pool ask for labels of the namespace. */
  readonly namespaceLabels: boolean
  /** Refuse a pod whose annotations nobody can tell. */
  readonly requireAnnotations: boolean
  /** Whether the configuration declares that the runtime is to tell them, and it did not. */
  readonly annotationsWithheld: boolean
}

function annotationsMissing({ namespace, name }: PodWanted, { annotationsWithheld }: FactsWanted): Problem {
  const unknown = `the annotations of pod ${namespace}/${name} are not known`
  return annotationsWithheld
    ? new Problem(
        'IPK_FACTS_MISSING',
        `${unknown}: the configuration declares them, the caller passes none on (Multus never does), and no Kubernetes API has reported them`,
        {
          hint: 'give the daemon the Kubernetes API, which is read instead ("kubernetes" in its configuration); without it a pod asks by "ips" of its network selection, and where no pod asks at all, write requireAnnotations: false; see: docs/guides/multus.md',
        },
      )
    : new Problem(
        'IPK_FACTS_MISSING',
        `${unknown}: the runtime passes none on, and no Kubernetes API has reported them`,
        {
          hint: 'add "io.kubernetes.cri.pod-annotations": true to the "capabilities" in the conflist; see: ipkeeperctl status',
        },
      )
}

function ownerMissing({ namespace, name }: PodWanted): Problem {
  return new Problem(
    'IPK_FACTS_MISSING',
    `the controller of pod ${namespace}/${name} is not known, whose annotations count for it: the Kubernetes API has not reported it`,
    { hint: 'wait for the API; see: ipkeeperctl status' },
  )
}

/**
 * What can be told of a pod: first by the runtime, then by the cluster's caches. Waits for them, for at most five seconds,
 * only where something is needed that the runtime did not tell (ADR 11).
 *
 * @param cluster undefined when no API is configured
 * @throws Problem IPK_FACTS_MISSING: what is needed is not known; waiting helps
 */
export async function gatherPodFacts(
  cluster: ClusterView | undefined,
  wanted: FactsWanted,
): Promise<PodFacts> {
  const { pod, runtimeAnnotations, namespaceDefaults, namespaceLabels, runtimeAsks } = wanted
  const byRuntime: PodFacts =
    runtimeAnnotations === undefined
      ? nothingKnown
      : { ...nothingKnown, annotations: runtimeAnnotations, annotationsFrom: 'runtime' }
  if (!pod) return byRuntime
  if (!cluster) {
    if (runtimeAnnotations === undefined && wanted.requireAnnotations) throw annotationsMissing(pod, wanted)
    return byRuntime
  }
  const needsOwner = wanted.ownersAnnotations && !runtimeAsks
  const needsPod = runtimeAnnotations === undefined || needsOwner
  const needsNamespace = namespaceLabels || (namespaceDefaults && !runtimeAsks)
  const isKnown = (view: PodView | undefined): boolean =>
    view !== undefined && !(needsOwner && view.owner === undefined)
  const known = (): { readonly pod: boolean; readonly namespace: boolean } => ({
    pod: !needsPod || isKnown(cluster.pod(pod)),
    namespace: !needsNamespace || cluster.namespace(pod.namespace) !== undefined,
  })
  const enough = ({ pod: one, namespace }: ReturnType<typeof known>): boolean => one && namespace
  if (!enough(known())) await cluster.waitForPod({ ...pod, withOwner: needsOwner }, patience)
  const { pod: podKnown, namespace: namespaceKnown } = known()
  const view = cluster.pod(pod)
  if (!podKnown && wanted.requireAnnotations) {
    throw runtimeAnnotations === undefined && !view ? annotationsMissing(pod, wanted) : ownerMissing(pod)
  }
  if (!namespaceKnown) {
    throw new Problem(
      'IPK_FACTS_MISSING',
      `annotations and labels of namespace ${pod.namespace} are not known: the Kubernetes API has not reported them`,
      { hint: 'wait for the API; see: ipkeeperctl status' },
    )
  }
  const ofApi = view?.annotations
  return {
    annotations:
      runtimeAnnotations && needsOwner
        ? withOwnersKeys(runtimeAnnotations, ofApi)
        : (runtimeAnnotations ?? ofApi),
    annotationsFrom: runtimeAnnotations ? 'runtime' : ofApi ? 'api' : 'nobody',
    owner: view?.owner,
    namespace: cluster.namespace(pod.namespace),
  }
}

/**
 * The controller of a pod that the API has told already, and whose controller it is still being asked for: a moment as a
 * rule. A pod that it has not told stays without, since what the runtime says has to suffice while the API is away.
 *
 * @throws Problem IPK_FACTS_MISSING: without the controller the pod could get the address of another ordinal
 */
export async function findOwner(cluster: ClusterView, pod: PodWanted): Promise<Owner | null | undefined> {
  if (!cluster.pod(pod)) return undefined
  await cluster.waitForPod({ ...pod, withOwner: true }, patience)
  const view = cluster.pod(pod)
  if (view && view.owner === undefined) {
    throw new Problem(
      'IPK_FACTS_MISSING',
      `the controller of pod ${pod.namespace}/${pod.name} is not known, and with it the ordinal that its list begins at: the Kubernetes API has not reported it`,
      { hint: 'wait for the API; see: ipkeeperctl status' },
    )
  }
  return view?.owner
}
