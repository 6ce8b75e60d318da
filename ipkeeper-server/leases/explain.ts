import type { ExplainReply, ExplainRequest } from '../../shared/api/explain.schema.ts'
import { formatAddress } from '../../shared/net/address.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { AddRequest } from '../ipam/add-request.ts'
import { formatCandidates } from '../ipam/candidate-list.ts'
import { decideAdd } from '../ipam/plan-add.ts'
import { nothingKnown, type PodFacts } from '../ipam/pod-facts.ts'
import type { Trace } from '../ipam/reasons.ts'
import type { Holder } from '../ipam/records.ts'
import { formatRetention } from '../ipam/retention.ts'
import type { ClusterView } from '../kubernetes/cluster-view.ts'
import { addTerms } from './add.ts'
import { interpretKey } from './interpret-request.ts'
import type { RequestReader } from './request-reader.ts'
import type { LeaseService } from './service.ts'

/** What no runtime calls a container, so that the question meets no attachment. */
const nobodysContainer = 'explain'

const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const dnsSubdomain = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** What the pod asks for, one line per wish. */
function wishesOf({ pod }: AddRequest): Trace {
  const wish = (subject: string, text: string): Trace[number] => ({
    about: 'request',
    subject,
    verdict: 'noted',
    text,
  })
  return [
    ...pod.addresses.map(({ address, source }) => wish(formatAddress(address), `asked for by ${source}`)),
    ...pod.candidates.map(list => wish(formatCandidates(list), `candidates of ${list.source}`)),
    ...pod.pools.map(({ name, source }) => wish(name, `pool asked for by ${source}`)),
    ...(pod.retain === undefined ? [] : [wish(formatRetention(pod.retain), 'retention the pod asks for')]),
    ...(pod.mac === undefined ? [] : [wish(pod.mac, 'MAC address the pod asks for')]),
    ...pod.ignored.map(text => wish(text, 'ignored: a higher channel asks too')),
  ]
}

/** Facts of a manifest: what the pod would be, on this cluster. */
function factsOf(
  { manifest, namespace }: ExplainRequest,
  cluster: ClusterView | undefined,
): PodFacts | undefined {
  if (!manifest) return undefined
  const { annotations, owner } = manifest
  return {
    ...nothingKnown,
    annotations,
    annotationsFrom: 'manifest',
    // Of an object that need not exist yet, hence without a UID.
    owner: owner ? { ...owner, uid: '' } : undefined,
    namespace: cluster?.namespace(namespace),
  }
}

/**
 * What an ADD of a pod would get at this moment, with every step of the decision. The same code decides both, so that they
 * cannot differ; nothing is changed, and nothing is waited for longer than by an ADD.
 *
 * @throws Problem IPK_REQUEST_INVALID, or what makes the netconf none
 */
export async function explainAdd(
  service: LeaseService,
  reader: RequestReader,
  cluster: ClusterView | undefined,
  question: ExplainRequest,
): Promise<ExplainReply> {
  const { namespace, name, config, ifname = 'eth0' } = question
  if (!dnsLabel.test(namespace) || !dnsSubdomain.test(name)) {
    throw new Problem('IPK_REQUEST_INVALID', `"${namespace}/${name}" is not the NAMESPACE/NAME of a pod`)
  }
  const base = { containerId: nobodysContainer, netns: '', ifname, path: '', config }
  const { network } = interpretKey({ ...base, args: '' })
  const holder: Holder = { kind: 'pod', network, namespace, name, ifname }
  const present = service.ledger.holder(holder)?.attachment
  const view = cluster?.pod({ namespace, name, uid: null })
  // A pod that runs is asked about as itself: its next sandbox has its UID.
  const uid = view?.uid ?? (present ? (service.ledger.attachment(present)?.podUid ?? null) : null)
  const args = [
    'IgnoreUnknown=1',
    `K8S_POD_NAMESPACE=${namespace}`,
    `K8S_POD_NAME=${name}`,
    `K8S_POD_UID=${uid ?? ''}`,
  ].join(';')
  const known = factsOf(question, cluster)
  const told = known?.annotationsFrom ?? (view ? 'api' : 'nobody')
  const head = { pod: { namespace, name, uid }, network, ifname, annotationsFrom: told }
  let steps: Trace = []
  try {
    const add = await reader.read({ ...base, args }, known)
    steps = wishesOf(add)
    const { trace, plan, problem } = decideAdd(service.ledger, add, addTerms(service))
    steps = [...steps, ...trace]
    if (!plan) throw problem
    const { answer } = plan
    return {
      ...head,
      steps,
      addresses: answer.kind === 'result' ? answer.result.ips.map(({ address }) => address) : [],
      delegatedTo: answer.kind === 'delegate' ? answer.type : null,
      error: null,
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { ...head, steps, addresses: [], delegatedTo: null, error: error.toDocument() }
  }
}
