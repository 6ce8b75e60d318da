import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import type { AddRequest } from '../../ipam/request/add-request.ts'
import { planUndo } from '../../ipam/plan/plan-del.ts'
import { writeLease } from '../../ipam/plan/record-writes.ts'
import {
  attachmentKey,
  type AttachmentKey,
  type Change,
  setAsideSource,
  type LeaseRecord,
} from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'
import { inTurnOfHolder } from './turns.ts'
import { policyOf } from '../../ipam/pools/pool-settings.ts'

/**
 * Undoes an ADD whose answer never arrived. `generation` is that of its plan: when the attachment has changed since,
 * nothing happens. Resolves to whether something was undone.
 */
export async function undoAdd(
  service: LeaseService,
  request: AddRequest,
  generation: number,
): Promise<boolean> {
  return await service.serial.run(attachmentKey(request.key), () =>
    takeBackInTurn(service, request, generation),
  )
}

/** takeBack in the turn of the attachment alone. */
export async function takeBackInTurn(
  service: LeaseService,
  { main, key, holder, invocationId }: AddRequest,
  generation: number,
): Promise<boolean> {
  // One that was added again under the key meanwhile starts with the same generation.
  if (service.ledger.attachment(key)?.invocationId !== invocationId) return false
  const task = (): Promise<boolean> => takeBack(service, key, generation)
  return await (main ? inTurnOfHolder(service, holder, task) : task())
}

/**
 * Takes back an ADD without a recipient: what it did to the kernel, then what it recorded. To be called in the turn of its
 * attachment (`service.serial`), and of its holder where the pod is wired (turns.ts). Nothing happens when another ADD was
 * answered from the record since (`answered`). Resolves to whether something was taken back.
 */
export async function takeBack(
  service: LeaseService,
  key: AttachmentKey,
  answered: number,
): Promise<boolean> {
  const { ledger, network, pools, now } = service
  const plan = (): { readonly change: Change } => ({
    change: planUndo(ledger, key, answered, { pools: pools(), now: now() }),
  })
  const attachment = ledger.attachment(key)
  if (attachment?.wiring && plan().change.length > 0) await network.unwire(attachment, ledger.leasesOf(key))
  const { change } = await commitPlan(ledger, plan)
  return change.length > 0
}

/**
 * Takes back an ADD that failed after its commit. The runtime gets the first error also where that fails: then the next ADD or
 * DEL takes it back.
 */
export async function takeBackAfter(
  error: unknown,
  service: LeaseService,
  key: AttachmentKey,
  generation: number,
): Promise<void> {
  try {
    await takeBack(service, key, generation)
  } catch (second) {
    const first = toProblem(error)
    const why = toProblem(second).message
    const details = [first.details, `it could not be undone yet: ${why}`].filter(part => part !== '')
    throw new Problem(first.code, first.message, {
      hint: first.hint,
      details: details.join('; '),
      cause: error,
    })
  }
}

/**
 * Leaves addresses alone that another host on the network has, for as long as one that was asked for by name: dynamic
 * choice passes over them, and a pod that asks for one of them by name has it probed again.
 *
 * @param refused the leases that their ADD had, which has been taken back
 * @param why for listings: who answered
 */
export async function setAside(
  service: LeaseService,
  refused: readonly LeaseRecord[],
  why: string,
): Promise<void> {
  const { ledger, pools, now } = service
  const aside = (lease: LeaseRecord): Change => {
    const present = ledger.lease(lease)
    // Kept or taken by now: its next ADD probes it again.
    if (present && present.state !== 'cooling') return []
    const at = now()
    const record: LeaseRecord = {
      ...lease,
      generation: (present?.generation ?? 0) + 1,
      state: 'cooling',
      attachment: null,
      named: true,
      retain: 'release',
      source: setAsideSource(why),
      since: at,
      until: at + policyOf(pools(), lease.pool).preferFor,
    }
    return [writeLease(ledger, record)]
  }
  await commitPlan(ledger, () => ({ change: refused.flatMap(aside) }))
}
