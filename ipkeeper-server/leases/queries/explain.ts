import type { AddResult } from '../../../shared/api/cni.schema.ts'
import type { ExplainReply, ExplainRequest } from '../../../shared/api/explain.schema.ts'
import { isNomadNamespace } from '../../../shared/cni/nomad-args.ts'
import { encodeResult } from '../../../shared/cni/result.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { isPodName } from '../../../shared/text/pod-name.ts'
import { decideAdd } from '../../ipam/plan/plan-add.ts'
import type { Trace } from '../../ipam/choose/add-context.ts'
import { isAllocationName } from '../../ipam/records/allocation.ts'
import { describeHolder, holderKey, type AttachmentRecord, type Holder } from '../../ipam/records/records.ts'
import { tooFewAddresses } from '../../ipam/choose/too-few-addresses.ts'
import type { ClusterView } from '../../kubernetes/cluster-view.ts'
import { addTerms, ownAddresses, seeRequestedMac } from '../verbs/add.ts'
import { describePresent, inDetail, noted, wishesOf } from './explain-steps.ts'
import { findExplainedPod } from './explained-pod.ts'
import { parseInvocation } from '../verbs/invocation.ts'
import type { RequestReader } from '../verbs/request-reader.ts'
import type { LeaseService } from '../verbs/service.ts'

/** What no runtime calls a container, so that the question meets no attachment. */
const nobodysContainer = 'explain.ipkeeper.io'

/** The pod's present attachment; once that has had its DEL, the newest of the older ones that have not. */
function presentOf({ ledger }: LeaseService, holder: Holder): AttachmentRecord | undefined {
  const key = ledger.holder(holder)?.attachment
  const current = key && ledger.attachment(key)
  if (current) return current
  const whose = holderKey(holder)
  return [...ledger.attachmentsOf(holder.network)]
    .filter(attachment => holderKey(attachment.holder) === whose)
    .sort((a, b) => b.since - a.since)[0]
}

/**
 * What an ADD of a pod would get at this moment, with every step of the decision. The same code decides both, so that they
 * cannot differ; nothing is changed, and nothing is waited for longer than by an ADD.
 *
 * @throws Problem IPK_REQUEST_INVALID, IPK_POD_UNKNOWN, IPK_FACTS_MISSING, or what makes the netconf none
 */
export async function explainAdd(
  service: LeaseService,
  reader: RequestReader,
  cluster: ClusterView | undefined,
  question: ExplainRequest,
): Promise<ExplainReply> {
  const { namespace, name, config, ifname = 'eth0', manifest } = question
  const isNomads = isNomadNamespace(namespace) && isAllocationName(name)
  if (!isPodName(namespace, name) && !isNomads) {
    throw new Problem('IPK_REQUEST_INVALID', `"${namespace}/${name}" is not the NAMESPACE/NAME of a pod`, {
      hint: 'names of Kubernetes have lower-case letters, digits and "-", those of pods "." too',
    })
  }
  const request = { containerId: nobodysContainer, netns: '', ifname, path: '', args: '', config }
  const invocation = parseInvocation(request)
  const { network } = invocation.key
  const holder: Holder = { kind: 'pod', network, namespace, name, ifname }
  const { annotationsFrom, known, uid: uidOfApi, notes } = await findExplainedPod(question, cluster)
  const present = presentOf(service, holder)
  // A pod that runs is asked about as itself: its next sandbox has its UID.
  const uid = uidOfApi ?? present?.podUid ?? null
  const head = { pod: { namespace, name, uid }, network, ifname, annotationsFrom }
  let steps: Trace = [...notes, ...(present ? [describePresent(service, present, uid)] : [])]
  const nothing = { addresses: [], result: null, delegatedTo: null, error: null }
  try {
    const add = await reader.read({ ...invocation, holder, podUid: uid || null }, known)
    const terms = addTerms(service, await ownAddresses(service), await seeRequestedMac(service, add))
    const { trace, plan, problem } = decideAdd(service.ledger, add, terms)
    const few = manifest?.podsAtOnce ? tooFewAddresses(add, terms.pools, manifest.podsAtOnce) : []
    steps = [
      ...steps,
      ...wishesOf(add),
      ...few.map(({ text }) =>
        noted(
          'workload',
          manifest?.owner
            ? `${manifest.owner.kind} ${namespace}/${manifest.owner.name}`
            : describeHolder(holder),
          text,
        ),
      ),
      ...inDetail(service, add, terms, trace, plan),
    ]
    if (!plan) throw problem
    const { answer } = plan
    if (answer.kind === 'delegate') return { ...head, ...nothing, steps, delegatedTo: answer.type }
    const { ips } = answer.result
    const result = encodeResult(answer.result, invocation.network.version) as AddResult
    return { ...head, ...nothing, steps, addresses: ips.map(({ address }) => address), result }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { ...head, ...nothing, steps, error: error.toDocument() }
  }
}
