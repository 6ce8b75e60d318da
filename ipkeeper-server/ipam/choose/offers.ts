import { formatAddress, type Address } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import type { AddRequest } from '../request/add-request.ts'
import { requestProblem } from './claim-problems.ts'
import { findPool, type PoolBook, type PoolRules } from '../pools/pool-settings.ts'
import { poolRefusal } from '../pools/pool-rules.ts'
import { rangeOf, samePool, usableIn, type Pool, type RangeSet } from '../pools/pool.ts'
import type { Trace } from './add-context.ts'
import type { LeaseKey } from '../records/records.ts'
import type { AddressRequest, CandidateList, PoolRequest } from '../request/request.ts'

/** A range set that an ADD has to get one address from. */
export interface Slot {
  readonly pool: Pool
  readonly rules: PoolRules
  readonly set: RangeSet
  /** Its place in the pool, as host-local's texts count. */
  readonly rangeSet: number
  /** Its place in the answer. */
  readonly index: number
}

/** Range sets that serve an ADD together, one address from each. */
export type Offer = readonly Slot[]

/** Whether an offer can give one of these addresses. */
export function canGive(offer: Offer, keys: readonly LeaseKey[]): boolean {
  return offer.some(({ pool, set }) =>
    keys.some(({ segment, address }) => segment === pool.segment && usableIn(set, address) !== undefined),
  )
}

interface Considered {
  readonly pool: Pool
  readonly rules: PoolRules
}

function slotsOf(pools: readonly Considered[]): Offer {
  return pools
    .flatMap(({ pool, rules }) => pool.rangeSets.map((set, rangeSet) => ({ pool, rules, set, rangeSet })))
    .map((slot, index) => ({ ...slot, index }))
}

const noRules: PoolRules = {}

/** The network's own ranges; those of a configured pool of the same name are that pool. */
function inlinePool(book: PoolBook, inline: Pool): Considered {
  const configured = findPool(book, inline.name)
  if (!configured) return { pool: inline, rules: noRules }
  if (samePool(configured.pool, inline)) return configured
  throw new Problem(
    'IPK_CONFIG_INVALID',
    `network ${inline.name} has ranges of its own, but the daemon's configuration has another pool of that name`,
    {
      hint: `write "ipam": { "type": "ipkeeper", "pool": "${inline.name}" }, or give one of them another name`,
    },
  )
}

function namedPool(book: PoolBook, inline: Pool | undefined, { name, source }: PoolRequest): Considered {
  const configured = findPool(book, name)
  if (configured) return configured
  if (inline?.name === name) return inlinePool(book, inline)
  throw unknownPool({ name, source }, [
    ...book.pools.map(({ pool }) => pool.name),
    ...(inline ? [inline.name] : []),
  ])
}

/** A pool that is asked for by name and is none of those that are there. */
export function unknownPool({ name, source }: PoolRequest, known: readonly string[]): Problem {
  const meant = nearestWord(name, known)
  return new Problem(
    'IPK_POOL_UNKNOWN',
    `${source} asks for pool "${name}", which does not exist${meant ? `; did you mean "${meant}"?` : ''}`,
    { details: `pools: ${known.join(', ') || 'none'}` },
  )
}

/** Several named pools serve together, hence each family may come from one of them only. */
function checkFamilies(pools: readonly Considered[], requests: readonly PoolRequest[]): void {
  for (const family of [4, 6] as const) {
    const having = pools.filter(({ pool }) => pool.rangeSets.some(set => set[0]?.family === family))
    if (pools.length > 1 && having.length > 1) {
      const names = having.map(({ pool }) => pool.name).join(' and ')
      const sources = [...new Set(requests.map(({ source }) => source))]
      throw new Problem(
        'IPK_REQUESTS_DISAGREE',
        `${sources.join(' and ')} names pools ${names}, which both have IPv${family} addresses`,
        { hint: 'name one pool per family' },
      )
    }
  }
}

function holds(offer: Offer, address: Address): boolean {
  return offer.some(({ set }) => rangeOf(set, address))
}

/** An address that an offer has to hold to be of use, and who asks for it. */
type Anchor = Pick<AddressRequest, 'address' | 'source'>

/** The first address of a list of candidates, which tells the range set that it is for. */
export function beginningOf({ family, runs, source }: CandidateList): readonly Anchor[] {
  return runs.slice(0, 1).map(({ first }) => ({ address: { family, value: first }, source }))
}

/** The addresses that are asked for, and where each list of candidates begins. */
function anchorsOf({ pod }: AddRequest): readonly Anchor[] {
  return [...pod.addresses, ...pod.candidates.flatMap(beginningOf)]
}

function noteRefusal(trace: Trace | undefined, { name }: Pool, { message, code }: Problem): void {
  trace?.push({ about: 'pool', subject: name, verdict: 'dropped', text: message, code })
}

/** A pool of the configuration without a request: every pool whose rules allow the pod, in the order of the file. */
function allowedPools(request: AddRequest, book: PoolBook, trace: Trace | undefined): readonly Considered[] {
  const allowed: Considered[] = []
  const refusals: Problem[] = []
  for (const settings of book.pools) {
    const refusal = poolRefusal(settings.pool.name, settings.rules, request.place)
    if (refusal) {
      refusals.push(refusal)
      noteRefusal(trace, settings.pool, refusal)
    } else allowed.push(settings)
  }
  const [refusal] = refusals
  if (allowed.length === 0 && refusal) {
    // What is merely not known may be known at the next try.
    const { code } = refusals.find(problem => problem.code === 'IPK_FACTS_MISSING') ?? refusal
    throw new Problem(code, `no pool serves this pod: ${refusals.map(problem => problem.message).join('; ')}`)
  }
  return allowed
}

/**
 * The offers that an ADD may be served from, best first: the pools the pod names, else those the network names, else the
 * network's own ranges, else whichever of the configuration allow the pod. Rules are obeyed whoever names the pool.
 *
 * @throws Problem IPK_POOL_UNKNOWN, IPK_NAMESPACE_REFUSED, IPK_NODE_REFUSED, IPK_STORE_ONE_NODE, IPK_FACTS_MISSING,
 *   IPK_ADDRESS_OUTSIDE, IPK_REQUESTS_DISAGREE
 */
export function findOffers(request: AddRequest, book: PoolBook, trace: Trace | undefined): readonly Offer[] {
  const { inline, pod, networkPools } = request
  const named = pod.pools.length > 0 ? pod.pools : networkPools
  const own =
    named.length > 0
      ? named.map(name => namedPool(book, inline, name))
      : inline
        ? [inlinePool(book, inline)]
        : []
  if (own.length > 0) {
    checkFamilies(own, named)
    for (const { pool, rules } of own) {
      const refusal = poolRefusal(pool.name, rules, request.place)
      if (refusal) {
        noteRefusal(trace, pool, refusal)
        throw refusal
      }
      const by = named.find(({ name }) => name === pool.name)?.source ?? 'the ranges of the network'
      trace?.push({ about: 'pool', subject: pool.name, verdict: 'chosen', text: `named by ${by}` })
    }
    return [slotsOf(own)]
  }
  const pools = allowedPools(request, book, trace)
  const anchors = anchorsOf(request)
  const offers = pools.map(({ pool, rules }) => ({ name: pool.name, offer: slotsOf([{ pool, rules }]) }))
  const useful = offers.filter(({ name, offer }) => {
    const missing = anchors.find(({ address }) => !holds(offer, address))
    if (missing) {
      const text = `has no ${formatAddress(missing.address)}, which ${missing.source} asks for`
      trace?.push({ about: 'pool', subject: name, verdict: 'dropped', text })
    }
    return !missing
  })
  if (useful.length === 0 && anchors.length > 0) {
    const missing = anchors.find(({ address }) => !offers.some(({ offer }) => holds(offer, address)))
    const considered = pools.map(({ pool }) => pool)
    throw missing
      ? requestProblem.outsideAll(considered, missing)
      : requestProblem.inNoPoolTogether(considered, anchors)
  }
  for (const { name } of useful)
    trace?.push({ about: 'pool', subject: name, verdict: 'noted', text: 'its rules allow this pod' })
  return useful.map(({ offer }) => offer)
}
