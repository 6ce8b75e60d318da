import { sameAddress } from '../../../shared/net/address.ts'
import { requestWithin, sameCandidates } from '../../ipam/request/candidates.ts'
import {
  noRequest,
  type AddressRequest,
  type CandidateList,
  type PodRequest,
  type PoolRequest,
} from '../../ipam/request/request.ts'
import { formatRetention } from '../../ipam/records/retention.ts'
import { disagreement, type Annotation, type Wish } from './annotation-reader.ts'

/** A part of a wish, with the annotation that it came from. */
interface Part<Value> {
  readonly value: Value
  readonly by: Annotation
}

function partsOf<Value>(
  wishes: readonly Wish[],
  pick: (wish: Wish) => readonly Value[] | undefined,
): Part<Value>[] {
  return wishes.flatMap(wish => (pick(wish) ?? []).map(value => ({ value, by: wish })))
}

/** The one thing that all parts mean; undefined when there is none. `agree` gives what two mean, undefined if they differ. */
function agreed<Value>(
  parts: readonly Part<Value>[],
  agree: (one: Value, other: Value) => Value | undefined,
): Part<Value> | undefined {
  const [head, ...tail] = parts
  if (!head) return undefined
  return tail.reduce((so, part) => {
    const value = agree(so.value, part.value)
    if (value === undefined) throw disagreement(so.by, part.by)
    return { value, by: so.by }
  }, head)
}

function sameRequest(one: AddressRequest, other: AddressRequest): AddressRequest | undefined {
  if (!sameAddress(one.address, other.address)) return undefined
  if (one.prefixLength === undefined || other.prefixLength === undefined) {
    return one.prefixLength === undefined ? { ...other, source: one.source } : one
  }
  return one.prefixLength === other.prefixLength ? one : undefined
}

const namesOf = (pools: readonly PoolRequest[]): string => pools.map(pool => pool.name).join()

/** An exact address and a list of one family: the address has to be one of the list, and then the list is settled. */
function settled(exact: Part<AddressRequest>, list: Part<CandidateList> | undefined): AddressRequest {
  if (!list) return exact.value
  const within = requestWithin(list.value, exact.value)
  if (!within) throw disagreement(list.by, exact.by)
  return within
}

/**
 * What several annotations of one pod ask for together. Throws IPK_REQUESTS_DISAGREE, naming both annotations and their
 * values, when two of them mean different addresses of one family, pools, retentions or MAC addresses. An annotation that
 * names an address out of the list of another one is no disagreement.
 */
export function combineWishes(wishes: readonly Wish[]): PodRequest {
  const addresses: AddressRequest[] = []
  const candidates: CandidateList[] = []
  const exacts = partsOf(wishes, wish => wish.addresses)
  const lists = partsOf(wishes, wish => wish.candidates)
  const families = [
    ...exacts.map(({ value }) => value.address.family),
    ...lists.map(({ value }) => value.family),
  ]
  for (const family of new Set(families)) {
    const exact = agreed(
      exacts.filter(({ value }) => value.address.family === family),
      sameRequest,
    )
    const list = agreed(
      lists.filter(({ value }) => value.family === family),
      (one, other) => (sameCandidates(one, other) ? one : undefined),
    )
    if (exact) addresses.push(settled(exact, list))
    else if (list) candidates.push(list.value)
  }
  const pools = agreed(
    partsOf(wishes, wish => wish.pools && [wish.pools]),
    (one, other) => (namesOf(one) === namesOf(other) ? one : undefined),
  )
  const retain = agreed(
    partsOf(wishes, wish => wish.retain && [wish.retain]),
    (one, other) => (formatRetention(one) === formatRetention(other) ? one : undefined),
  )
  const mac = agreed(
    partsOf(wishes, wish => (wish.mac === undefined ? [] : [wish.mac])),
    (one, other) => (one === other ? one : undefined),
  )
  return {
    ...noRequest,
    addresses,
    candidates,
    pools: pools?.value ?? [],
    gateways: wishes.flatMap(wish => wish.gateways ?? []),
    ...(retain && { retain: retain.value, retainSource: retain.by.source }),
    ...(mac && { mac: mac.value, macSource: mac.by.source }),
  }
}
