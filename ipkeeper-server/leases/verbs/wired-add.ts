import type { CniResult } from '../../../shared/cni/result.ts'
import { type AddRequest, requestedMac } from '../../ipam/request/add-request.ts'
import { macProblem, isChosenByOther } from '../../ipam/choose/plan-mac.ts'
import type { AddPlan } from '../../ipam/plan/plan-add.ts'
import {
  attachmentKey,
  sameAttachment,
  type AttachmentKey,
  type AttachmentRecord,
  type LeaseRecord,
  type WiringRecord,
} from '../../ipam/records/records.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { planWiring, wiredResult } from '../../network/plan/plan-wiring.ts'
import type { Survey } from '../../network/plan/wiring-job.ts'
import { gatewayFacts } from '../queries/gateway-facts.ts'
import { withNote } from './attachment-notes.ts'
import type { LeaseService } from './service.ts'

/** The wiring's part of an ADD. */
export interface AddWiring {
  /** Puts into the plan how the pod is to be wired. */
  readonly record: (plan: AddPlan) => AddPlan
  /** Does it, once the plan is committed; resolves to the whole Result. */
  readonly carryOut: (plan: AddPlan) => Promise<CniResult | undefined>
}

/** An attachment as it was, with what it had. */
interface Former {
  readonly attachment: AttachmentRecord
  readonly leases: readonly LeaseRecord[]
}

/** What the wiring depends on. */
interface Prepared {
  readonly service: LeaseService
  readonly request: AddRequest
  readonly main: MainConfig
  readonly survey: Survey
}

/** Looks at what the wiring depends on, before anything is decided. Throws what the ADD is refused with. */
export async function prepareWiring(
  service: LeaseService,
  request: AddRequest,
  main: MainConfig,
): Promise<AddWiring> {
  const { key, netns } = request
  const { network, ledger } = service
  const prepared: Prepared = { service, request, main, survey: await network.survey(main, key, netns) }
  /** What the attachment was before, if it was: a dead sandbox of the same ID. */
  let former: Former | undefined
  return {
    record: plan => {
      const attachment = ledger.attachment(key)
      former = attachment?.wiring && { attachment, leases: ledger.leasesOf(key) }
      return recordWiring(prepared, plan)
    },
    carryOut: plan => carryOutWiring(prepared, plan, former),
  }
}

function recordWiring({ service, request, main, survey }: Prepared, plan: AddPlan): AddPlan {
  if (plan.answer.kind !== 'result') return plan
  const { key } = request
  const { ips, routes } = plan.answer.result
  const granted = plan.change.flatMap(write => (write.kind === 'lease' && write.record ? [write.record] : []))
  const own = granted.filter(lease => sameAttachment(lease.attachment, key))
  const named = own.filter(lease => lease.named).map(({ address }) => address)
  const asked = requestedMac(request)
  // One that is there already was seen among the links of the node.
  if (asked && survey.bridge?.state === 'absent' && survey.bridge.mac === asked.mac)
    throw macProblem.of(asked, `bridge ${main.bridge} is to have`)
  const isChosen = (mac: string): boolean =>
    isChosenByOther(service.ledger, mac, own, { liveness: service.liveness, now: service.now() })
  const planned = (): WiringRecord =>
    planWiring(main, survey, { ips, routes, mac: asked?.mac ?? null, named, isChosen }, gatewayFacts(service))
  // One that was sent again keeps what it has.
  return withNote(plan, key, present => ({ ...present, wiring: present.wiring ?? planned() }))
}

async function carryOutWiring(
  { service, request, main, survey }: Prepared,
  plan: AddPlan,
  former: Former | undefined,
): Promise<CniResult | undefined> {
  const { network, ledger } = service
  const { key, netns } = request
  if (plan.answer.kind !== 'result') return undefined
  const attachment = ledger.attachment(key)
  if (!attachment?.wiring) return undefined
  const { result } = plan.answer
  const { wiring, netnsInode, unanswered } = attachment
  const pod = { ifname: key.ifname, netns }
  const leases = ledger.leasesOf(key)
  if (plan.repeated && !unanswered) {
    const differences = await network.differences(attachment, leases, undefined)
    if (differences.length === 0) return wiredResult(result, { wiring, config: main, survey }, pod)
  }
  // Of one that was sent again it is not known how far its wiring got: the daemon may have been killed at it, or its undo
  // have ended half-way.
  if (former) await network.unwire(former.attachment, former.leases)
  const found = await network.wire({
    ...{ config: main, survey, key, wiring, ips: result.ips, netns, netnsInode, leases },
    superseded: supersededBy(service, attachment),
  })
  return wiredResult(result, { wiring, config: main, survey: found }, pod)
}

/** Older sandboxes on this node whose addresses the attachment took over. */
function supersededBy({ ledger }: LeaseService, { undo, ...key }: AttachmentRecord): AttachmentRecord[] {
  const keys = new Map<string, AttachmentKey>()
  for (const { before } of undo.leases) {
    const former = before?.attachment
    if (former && !sameAttachment(former, key)) keys.set(attachmentKey(former), former)
  }
  return [...keys.values()].flatMap(former => ledger.attachment(former) ?? [])
}
