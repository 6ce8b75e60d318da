import { Problem } from '../../shared/problem/problem.ts'
import type { AddRequest, AddTerms } from '../ipam/add-request.ts'
import { planAdd, type AddPlan } from '../ipam/plan-add.ts'
import { attachmentKey } from '../ipam/records.ts'
import { commitPlan } from './commit-plan.ts'
import { countAsAnswered } from './count-as-answered.ts'
import { recordUnanswered } from './record-unanswered.ts'
import { AddressTaken } from './pod-network.ts'
import type { LeaseService } from './service.ts'
import { setAside } from './set-aside.ts'
import { takeBack } from './take-back.ts'
import { prepareWiring } from './wired-add.ts'

/** What one ADD needs to know of its caller. */
export interface Caller {
  /** True once the client has gone without its answer. */
  readonly gone: () => boolean
}

/**
 * Serves one ADD: the answer is durable before this resolves. When the client went away meanwhile the ADD is undone and
 * IPK_INTERRUPTED thrown, for the log alone.
 *
 * In the main role the way of the wiring is committed together with the leases, before the kernel is touched; when a step
 * fails, all of it is undone.
 */
export async function addAttachment(
  service: LeaseService,
  request: AddRequest,
  caller: Caller,
): Promise<AddPlan> {
  return await service.serial.run(attachmentKey(request.key), async () => {
    const { ledger } = service
    const { key, bootId, startedAt } = request
    if (startedAt !== null && service.tombstones.stops(key, { bootId, startedAt })) {
      throw new Problem(
        'IPK_DEL_OVERTOOK',
        `container ${key.containerId} was deleted while its ADD was under way`,
      )
    }
    const wiring = request.main && (await prepareWiring(service, request, request.main))
    const plan = await commitPlan(ledger, () => {
      const decided = planAdd(ledger, request, addTerms(service), undefined)
      return recordUnanswered(wiring ? wiring.record(decided) : decided, request)
    })
    const result =
      wiring &&
      (await wiring.carryOut(plan).catch(async (error: unknown) => {
        const leases = ledger.leasesOf(key)
        await takeBack(service, key, plan.generation)
        if (error instanceof AddressTaken) {
          const refused = leases.filter(({ address }) => error.addresses.includes(address))
          await setAside(service, refused, error.message)
        }
        throw error
      }))
    // What nobody confirms counts as answered once it may be sent.
    if (!request.confirms) await countAsAnswered(service, [key])
    if (caller.gone()) {
      await takeBack(service, key, plan.generation)
      throw new Problem('IPK_INTERRUPTED', 'the client went away before its answer; the ADD was undone')
    }
    return result ? { ...plan, answer: { kind: 'result', result } } : plan
  })
}

/** The terms on which this moment's ADDs are decided. */
export function addTerms(service: LeaseService): AddTerms {
  return { liveness: service.liveness, pools: service.pools(), now: service.now() }
}

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
    takeBack(service, request.key, generation),
  )
}
