import type { CniResult } from '../../shared/cni/result.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { AddRequest } from '../ipam/add-request.ts'
import type { AddPlan } from '../ipam/plan-add.ts'
import { attachmentKey, sameAttachment, type AttachmentKey, type AttachmentRecord } from '../ipam/records.ts'
import type { MainConfig } from '../network/plan/main-config.ts'
import { planWiring } from '../network/plan/plan-wiring.ts'
import { wiredResult } from '../network/plan/wired-result.ts'
import { plannedAttachment, withWiring } from './intent.ts'
import type { LeaseService } from './service.ts'

/** The wiring's part of an ADD. */
export interface AddWiring {
  /** Puts into the plan how the pod is to be wired. */
  readonly record: (plan: AddPlan) => AddPlan
  /** Does it, once the plan is committed; resolves to the whole Result. */
  readonly carryOut: (plan: AddPlan) => Promise<CniResult | undefined>
}

/** Looks at what the wiring depends on, before anything is decided. Throws what the ADD is refused with. */
export async function prepareWiring(
  service: LeaseService,
  request: AddRequest,
  main: MainConfig,
): Promise<AddWiring> {
  const { key, netns } = request
  const { network, ledger } = service
  const survey = await network.survey(main, key, netns)

  const record = (plan: AddPlan): AddPlan => {
    // An ADD that was sent again: its pod is wired already.
    if (plan.answer.kind !== 'result' || plannedAttachment(plan, key)?.wiring) return plan
    const { ips, routes } = plan.answer.result
    const granted = plan.change.flatMap(write =>
      write.kind === 'lease' && write.record ? [write.record] : [],
    )
    const own = granted.filter(lease => sameAttachment(lease.attachment, key))
    const named = own.filter(lease => lease.named).map(({ address }) => address)
    const wiring = planWiring(main, survey, { ips, routes, mac: request.pod.mac ?? null, named }, address =>
      ledger.isGateway(address),
    )
    return withWiring(plan, key, wiring)
  }

  const carryOut = async (plan: AddPlan): Promise<CniResult | undefined> => {
    if (plan.answer.kind !== 'result') return undefined
    const attachment = ledger.attachment(key)
    if (!attachment?.wiring) return undefined
    const { result } = plan.answer
    const { wiring } = attachment
    const leases = ledger.leasesOf(key)
    if (plan.repeated) {
      // The earlier sending may have been unwired, with a store that did not take the rest of its undo.
      const [difference] = await network.differences(attachment, leases, undefined)
      if (difference !== undefined) {
        throw new Problem(
          'IPK_WIRING_FAILED',
          `an earlier sending of this ADD came to nothing: ${difference}`,
        )
      }
    } else {
      const superseded = supersededBy(service, attachment)
      await network.wire({
        config: main,
        survey,
        key,
        wiring,
        ips: result.ips,
        netns,
        netnsInode: attachment.netnsInode,
        leases,
        superseded,
      })
    }
    return wiredResult(result, wiring, main, survey, { ifname: key.ifname, netns })
  }
  return { record, carryOut }
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
