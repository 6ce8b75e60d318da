import type { ExplainReply, ExplainRequest } from '../../../shared/api/explain.schema.ts'
import { field, isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { isAllocationName } from '../../ipam/records/allocation.ts'
import { nothingKnown, type PodFacts } from '../../ipam/records/pod-facts.ts'
import type { Reason, Trace } from '../../ipam/choose/add-context.ts'
import type { ClusterView, PodView } from '../../kubernetes/cluster-view.ts'

/** A pod that is asked about, as an ADD of it would know it. */
export interface ExplainedPod {
  readonly annotationsFrom: ExplainReply['annotationsFrom']
  /** undefined: the reader asks for them, as for an ADD. */
  readonly known: PodFacts | undefined
  /** Of the pod in the API; null where that is not known. */
  readonly uid: string | null
  /** What of it an ADD cannot see, and why. */
  readonly notes: Trace
}

const capability = 'io.kubernetes.cri.pod-annotations'

/** Whether the network has its runtime pass annotations on. */
function passesAnnotations(config: JsonObject): boolean {
  const capabilities = field(config, 'capabilities')
  return isJsonObject(capabilities) && capabilities[capability] === true
}

const note = (subject: string, text: string, verdict: Reason['verdict'] = 'noted'): Reason => ({
  about: 'request',
  subject,
  verdict,
  text,
})

const unseen = note(
  'annotations',
  `an ADD does not see them: the "capabilities" of the network lack "${capability}": true, and no Kubernetes API is configured`,
  'dropped',
)

/** Without an API, an ADD knows of a pod what the runtime passes on, and of its owner what the pod's name says. */
function withoutApi({ config, manifest }: ExplainRequest): ExplainedPod {
  if (!passesAnnotations(config))
    return { annotationsFrom: 'nobody', known: undefined, uid: null, notes: [unseen] }
  if (!manifest) {
    const text =
      'not known without the Kubernetes API (at an ADD the runtime passes them): pass them with --manifest'
    return { annotationsFrom: 'nobody', known: nothingKnown, uid: null, notes: [note('annotations', text)] }
  }
  const { annotations, owner } = manifest
  const start = owner?.ordinalsStart ?? 0
  const text = 'an ADD does not know it without a Kubernetes API, and counts ordinals from 0'
  return {
    annotationsFrom: 'manifest',
    known: { ...nothingKnown, annotations, annotationsFrom: 'manifest' },
    uid: null,
    notes: start === 0 ? [] : [note(`spec.ordinals.start ${start}`, text, 'dropped')],
  }
}

/** An allocation has no annotations, and nobody but its next ADD knows the arguments of its job. */
const ofNomad: ExplainedPod = {
  annotationsFrom: 'nobody',
  known: nothingKnown,
  uid: null,
  notes: [note('CNI_ARGS', 'what the "args" of the Nomad job ask for is not known before an ADD')],
}

async function fetchPod(cluster: ClusterView, namespace: string, name: string): Promise<PodView> {
  let view: PodView | undefined
  try {
    view = await cluster.fetchPod(namespace, name)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Problem(
      'IPK_FACTS_MISSING',
      `pod ${namespace}/${name} is not among the pods of this node known from the Kubernetes API, and cannot be looked up: ${why}`,
      { cause: error, hint: 'see: ipkeeperctl status; or explain its manifest: --manifest FILE' },
    )
  }
  if (!view) throw new Problem('IPK_POD_UNKNOWN', `the Kubernetes API has no pod ${namespace}/${name}`)
  return view
}

/**
 * What an ADD of the pod would know of it: by its manifest, the caches, or the API itself.
 *
 * @param cluster undefined when no API is configured
 * @throws Problem IPK_POD_UNKNOWN, IPK_FACTS_MISSING
 */
export async function findExplainedPod(
  question: ExplainRequest,
  cluster: ClusterView | undefined,
): Promise<ExplainedPod> {
  if (isAllocationName(question.name)) return ofNomad
  if (!cluster) return withoutApi(question)
  const { namespace, name, manifest } = question
  const view = cluster.pod({ namespace, name, uid: null })
  if (manifest) {
    const { annotations, owner } = manifest
    return {
      annotationsFrom: 'manifest',
      known: {
        annotations,
        annotationsFrom: 'manifest',
        // Of an object that need not exist yet, hence without a UID.
        owner: owner ? { ...owner, uid: '' } : null,
        namespace: cluster.namespace(namespace),
      },
      uid: view?.uid ?? null,
      notes: [],
    }
  }
  if (view) return { annotationsFrom: 'api', known: undefined, uid: view.uid, notes: [] }
  const { annotations, owner, uid } = await fetchPod(cluster, namespace, name)
  const elsewhere = 'it is not among the pods of this node: this is what an ADD here would get'
  return {
    annotationsFrom: 'api',
    known: { annotations, annotationsFrom: 'api', owner, namespace: cluster.namespace(namespace) },
    uid,
    notes: [note(`${namespace}/${name}`, elsewhere)],
  }
}
