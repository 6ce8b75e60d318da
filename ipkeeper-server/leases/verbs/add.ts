import type { CniResult } from '../../../shared/cni/result.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { type AddRequest, type AddTerms, type SeenMac, requestedMac } from '../../ipam/request/add-request.ts'
import { noOwnAddresses, type OwnAddresses } from '../../ipam/pools/own-addresses.ts'
import { planAdd, type AddPlan } from '../../ipam/plan/plan-add.ts'
import { attachmentKey } from '../../ipam/records/records.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import { countAsAnswered, recordUnanswered } from './attachment-notes.ts'
import { AddressTaken } from '../../network/pod-network.ts'
import type { LeaseService } from './service.ts'
import { setAside, takeBackAfter, takeBackInTurn } from './undo-add.ts'
import { inTurnOfHolder } from './turns.ts'
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
    const { main, key, bootId, startedAt } = request
    const refusal = service.refusal?.()
    if (refusal) throw refusal
    if (startedAt !== null && service.tombstones.stops(key, { bootId, startedAt })) {
      throw new Problem(
        'IPK_DEL_OVERTOOK',
        `container ${key.containerId} was deleted while its ADD was under way`,
      )
    }
    const { plan, result } = main
      ? await inTurnOfHolder(service, request.holder, () => addAndWire(service, request, main))
      : { plan: await decide(service, request, decided => decided), result: undefined }
    // What nobody confirms counts as answered once it may be sent.
    if (!request.confirms) await countAsAnswered(service, [key])
    service.answers.note(key, service.monotonic())
    if (caller.gone()) {
      await takeBackInTurn(service, request, plan.generation)
      throw new Problem(
        'IPK_INTERRUPTED',
        'the client disconnected before it got its answer; the ADD was undone',
      )
    }
    return result ? { ...plan, answer: { kind: 'result', result } } : plan
  })
}

/** Decides and commits; `enrich` adds to the plan what else is to be written with it. */
async function decide(
  service: LeaseService,
  request: AddRequest,
  enrich: (plan: AddPlan) => AddPlan,
): Promise<AddPlan> {
  const { ledger } = service
  const looked = ownAddresses(service)
  // Where nobody looks there is nothing to wait for, and the plan is made in the turn of its request.
  const own = looked instanceof Promise ? await looked : looked
  const seenMac = requestedMac(request) && (await seeRequestedMac(service, request))
  return await commitPlan(
    ledger,
    () =>
      recordUnanswered(
        enrich(planAdd(ledger, request, addTerms(service, own, seenMac), undefined)),
        request,
        Math.floor(service.monotonic() * 1000),
      ),
    request.holder,
  )
}

/** An ADD of the main role. What fails after the commit takes all of it back. */
async function addAndWire(
  service: LeaseService,
  request: AddRequest,
  main: MainConfig,
): Promise<{ readonly plan: AddPlan; readonly result: CniResult | undefined }> {
  const wiring = await prepareWiring(service, request, main)
  const plan = await decide(service, request, wiring.record)
  try {
    return { plan, result: await wiring.carryOut(plan) }
  } catch (error) {
    const leases = service.ledger.leasesOf(request.key)
    await takeBackAfter(error, service, request.key, plan.generation)
    if (error instanceof AddressTaken) {
      const refused = leases.filter(({ address }) => error.addresses.includes(address))
      await setAside(service, refused, error.message)
    }
    throw error
  }
}

/**
 * The terms on which this moment's ADDs are decided.
 *
 * @param own addresses of the node, which were looked at for this ADD
 * @param seenMac likewise, where it asks for a MAC
 */
export function addTerms(
  service: LeaseService,
  own: OwnAddresses = noOwnAddresses,
  seenMac?: SeenMac,
): AddTerms {
  const { liveness, lostNode, isForgotten, contactAgeOf } = service
  return {
    liveness,
    lostNode,
    isForgotten,
    contactAgeOf,
    pools: service.pools(),
    own,
    seenMac,
    now: service.now(),
  }
}

/** Who has the MAC that an ADD asks for; undefined where it asks for none, or nobody can look. */
export async function seeRequestedMac(
  { network }: LeaseService,
  request: AddRequest,
): Promise<SeenMac | undefined> {
  const asked = requestedMac(request)
  return asked && (await network.seeMac?.(asked.mac))
}

/** The addresses that the node has at this moment; at once where nobody looks at a node. */
export function ownAddresses(service: LeaseService): Promise<OwnAddresses> | OwnAddresses {
  return service.ownAddresses?.() ?? noOwnAddresses
}
