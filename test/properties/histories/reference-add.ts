import { overlap, setsOf, type ListedSet } from './listed-pool.ts'
import type { ConfiguredPool, PoolWords } from './pool-shapes.ts'
import {
  countOf,
  countsFor,
  isDead,
  isMoved,
  isOver,
  sameKind,
  sameWorkload,
  type Asker,
  type Hold,
  type Promised,
  type Sandbox,
  type WorldState,
} from './world-state.ts'

/**
 * What an ADD has to get, worked out address by address from the rules as README and DESIGN have them. Looks at everything
 * each time, and knows no indexes.
 */

/** The ADD has to be refused with one of these codes. */
export class Refusal extends Error {
  readonly codes: readonly string[]
  constructor(...codes: string[]) {
    super(codes.join(' or '))
    this.codes = codes
  }
}

interface Slot {
  readonly pool: string
  /** undefined for a network's own ranges. */
  readonly settings: ConfiguredPool | undefined
  readonly set: ListedSet
}

type Offer = readonly Slot[]

export interface Grant {
  readonly pool: string
  readonly place: string
  readonly named: boolean
  /** By which rule, for the tally. */
  readonly how: string
}

export interface Granted {
  readonly grants: readonly Grant[]
  /** What the holder had and gets no more. */
  readonly left: readonly Hold[]
}

/** Of places that are equally right, the one that was seen. */
function oneOf(places: readonly string[], seen: readonly string[]): string | undefined {
  return places.find(place => seen.includes(place)) ?? places[0]
}

/** Where they are that have been so for the longest time. */
function oldest(holds: readonly Hold[]): readonly string[] {
  const first = Math.min(...holds.map(({ since }) => since))
  return holds.filter(({ since }) => since === first).map(({ place }) => place)
}

/** `seen`: what the ADD got, to decide among what is equally right. Throws Refusal. */
export function decide(world: WorldState, asker: Asker, seen: readonly string[]): Granted {
  const offers = offersFor(world, asker)
  const claims = claimsOf(world, asker)
  const ranked = [...offers].sort((a, b) => rankOf(world, claims, a) - rankOf(world, claims, b))
  let first: Refusal | undefined
  for (const offer of ranked) {
    try {
      return serve(world, asker, claims, offer, seen)
    } catch (error) {
      const full = error instanceof Refusal && ['IPK_POOL_FULL', 'IPK_QUOTA'].includes(error.message)
      if (!full) throw error
      first ??= error
    }
  }
  throw first ?? new Error('there is no offer')
}

// ---- Which pools

/** Pools that may serve the ADD; those that serve it together are one offer. */
function offersFor(world: WorldState, { network, pools, pod, node, ips, lists }: Asker): readonly Offer[] {
  const slots = (words: PoolWords, settings?: ConfiguredPool): Offer =>
    setsOf(words).map(set => ({ pool: words.name, settings, set }))
  const named = pools.length > 0 ? pools : network.pools
  if (named.length > 0) {
    const offer = named.flatMap(name => {
      const settings = world.config.find(({ words }) => words.name === name)
      const words = settings?.words ?? (network.inline?.name === name ? network.inline : undefined)
      if (!words) throw new Refusal('IPK_POOL_UNKNOWN')
      return slots(words, settings)
    })
    if (new Set(offer.map(({ set }) => set.family)).size < offer.length)
      throw new Refusal('IPK_REQUESTS_DISAGREE')
    for (const { settings } of offer) {
      const code = settings && refusalBy(settings, pod, node)
      if (code !== undefined) throw new Refusal(code)
    }
    return [offer]
  }
  if (network.inline) return [slots(network.inline)]
  const allowed = world.config.filter(settings => refusalBy(settings, pod, node) === undefined)
  if (allowed.length === 0) {
    const codes = world.config.map(settings => refusalBy(settings, pod, node))
    // What is only not known now may be known at the next try.
    throw new Refusal(codes.find(code => code === 'IPK_FACTS_MISSING') ?? codes[0] ?? '')
  }
  const anchors = [...ips, ...lists.map(([first = '']) => first)]
  const useful = allowed
    .map(settings => slots(settings.words, settings))
    .filter(offer =>
      anchors.every(anchor => offer.some(({ set }) => set.all.has(`${set.segment}/${anchor}`))),
    )
  if (useful.length === 0) throw new Refusal('IPK_ADDRESS_OUTSIDE')
  return useful
}

/** The code of the rule that keeps the pod out of the pool. */
function refusalBy(settings: ConfiguredPool, pod: Asker['pod'], node: string): string | undefined {
  const matches = (pattern: string, name: string): boolean =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
  const { namespaces, team, nodes } = settings
  if (namespaces && !(pod && namespaces.some(pattern => matches(pattern, pod.namespace))))
    return 'IPK_NAMESPACE_REFUSED'
  if (team !== undefined && pod && pod.team === undefined) return 'IPK_FACTS_MISSING'
  if (team !== undefined && pod?.team !== team) return 'IPK_NAMESPACE_REFUSED'
  return nodes && !nodes.includes(node) ? 'IPK_NODE_REFUSED' : undefined
}

// ---- What the asker may have

/** What the asker may take that is not simply free. */
interface Claims {
  /** What its holder has in its newest sandbox, or keeps, and this ADD may move. */
  readonly movable: readonly Hold[]
  readonly mayTake: (hold: Hold) => boolean
  readonly inherits: (hold: Hold) => boolean
  /** Whether it was moved to this pod, and who has it keeps it no longer. */
  readonly receives: (hold: Hold) => boolean
  readonly promised: (promised: Promised | undefined) => 'to it' | 'to its workload' | 'to others' | undefined
  /** Nobody else has the address, keeps it, or was promised it. */
  readonly canHave: (place: string) => boolean
}

/** Network and interface of a holder. */
const withoutPod = (holder: string): string => holder.replace(/ .* /, ' ')

function claimsOf(world: WorldState, asker: Asker): Claims {
  const { holds, newest, sandboxes, promises, now } = world
  const { holder, pod, uid, node } = asker
  const older = newest.get(holder)
  const yields = (sandbox: Sandbox | undefined): boolean =>
    sandbox === undefined || (sandbox.uid !== null && sandbox.uid === uid) || isDead(world, sandbox, node)
  const own = [...holds.values()].filter(
    hold =>
      hold.holder === holder &&
      (hold.state === 'held' || (hold.state === 'bound' && hold.sandbox === older?.id)),
  )
  /** Whether another pod has it whose sandbox is proved gone. */
  const isLeft = (hold: Hold): boolean => {
    const sandbox = hold.sandbox === null ? undefined : sandboxes.get(hold.sandbox)
    return hold.holder !== holder && sandbox !== undefined && isDead(world, sandbox, node)
  }
  const mayMove = older?.id === asker.sandbox || yields(older)
  const insists =
    asker.ips.length + asker.lists.length > 0 ||
    own.some(hold => hold.named || hold.retain !== 'release' || promises.has(hold.place))
  if (!mayMove && insists) throw new Refusal('IPK_HOLDER_LIVE')

  const claims: Claims = {
    movable: mayMove ? own : [],
    mayTake: hold =>
      claims.movable.includes(hold) ||
      (hold.holder === holder && (hold.sandbox === null || yields(sandboxes.get(hold.sandbox)))),
    inherits: hold =>
      (hold.state === 'held' || isLeft(hold)) &&
      world.generated.has(hold.holder) &&
      world.generated.has(holder) &&
      withoutPod(hold.holder) === withoutPod(holder) &&
      sameWorkload(hold.workload, pod?.workload ?? null),
    receives: hold =>
      isMoved(world, hold) &&
      ['to it', 'to its workload'].includes(claims.promised(world.promises.get(hold.place)) ?? '') &&
      hold.holder !== holder &&
      (hold.state === 'held' || isLeft(hold)),
    promised: promised => {
      if (!promised) return undefined
      if (promised.namespace !== pod?.namespace) return 'to others'
      if (promised.kind === undefined) return promised.name === pod.name ? 'to it' : 'to others'
      const { kind, name } = pod.workload
      const same = promised.name === name && sameKind(kind, promised.kind)
      return same ? 'to its workload' : 'to others'
    },
    canHave: place => {
      const hold = holds.get(place)
      return (
        claims.promised(world.promises.get(place)) !== 'to others' &&
        (!hold ||
          hold.state === 'cooling' ||
          isOver(hold, now) ||
          claims.mayTake(hold) ||
          claims.inherits(hold) ||
          claims.receives(hold))
      )
    },
  }
  return claims
}

/** Whether it is kept for a workload, or would be if the DEL of the pod that has it could come. */
const isKept = ({ state, retain }: Hold): boolean =>
  state === 'held' || (state === 'bound' && retain !== 'release')

/** Whether what is promised there can be had: nobody has it, or keeps it for somebody who may come back. */
function isOpen(hold: Hold | undefined, { inherits, receives }: Claims, now: number): boolean {
  return !hold || hold.state === 'cooling' || isOver(hold, now) || inherits(hold) || receives(hold)
}

/** 0 where the holder has something, 1 where it or its workload was promised something, 2 where something is kept for that. */
function rankOf({ holds, promises, now }: WorldState, claims: Claims, offer: Offer): number {
  const places = offer.flatMap(({ set }) => set.usable)
  const ranks: readonly ((place: string, hold: Hold | undefined) => boolean | undefined)[] = [
    (_, hold) => hold && claims.movable.includes(hold),
    (place, hold) =>
      ['to it', 'to its workload'].includes(claims.promised(promises.get(place)) ?? '') &&
      isOpen(hold, claims, now),
    (_, hold) => hold && isKept(hold) && claims.inherits(hold) && !isOver(hold, now),
  ]
  const rank = ranks.findIndex(has => places.some(place => has(place, holds.get(place))))
  return rank < 0 ? ranks.length : rank
}

// ---- One address of each range set

function serve(
  world: WorldState,
  asker: Asker,
  claims: Claims,
  offer: Offer,
  seen: readonly string[],
): Granted {
  const open = [...asker.ips]
  const wishes = offer.map(({ set }) => {
    const at = open.findIndex(address => set.all.has(`${set.segment}/${address}`))
    return at < 0 ? undefined : open.splice(at, 1)[0]
  })
  const [lost] = open
  if (lost !== undefined) {
    const edge = offer.some(({ set }) => set.edges.has(lost))
    throw new Refusal(edge ? 'IPK_ADDRESS_UNUSABLE' : 'IPK_ADDRESS_OUTSIDE')
  }
  const lists = offer.map(({ set }) =>
    asker.lists.find(([first = '']) => set.all.has(`${set.segment}/${first}`)),
  )
  if (asker.lists.some(list => !lists.includes(list))) throw new Refusal('IPK_ADDRESS_OUTSIDE')

  let paired: number | undefined
  const grants = offer.map((slot, index): Grant => {
    const { pool, set } = slot
    const wish = wishes[index]
    if (wish !== undefined) {
      const place = `${set.segment}/${wish}`
      checkName(world, asker, claims, slot, place)
      const hold = world.holds.get(place)
      const isLeft = hold?.state === 'bound' && hold.holder !== asker.holder
      if (hold && claims.receives(hold)) return { pool, place, named: true, how: 'what was moved to it' }
      return { pool, place, named: true, how: isLeft ? 'by name, from a pod that is lost' : 'by name' }
    }
    const list = lists[index]
    if (list) {
      const { usable, at, how } = fromList(world, asker, claims, slot, list, paired, seen)
      paired ??= at
      const place = usable[at] ?? ''
      checkName(world, asker, claims, slot, place)
      return { pool, place, named: true, how }
    }
    const had = claims.movable
      .map(({ place }) => place)
      .filter(place => set.usable.includes(place) && claims.canHave(place))
    const kept = oneOf(had, seen)
    const chosen = (): Grant => ({ pool, named: false, ...choose(world, claims, slot, seen) })
    if (kept === undefined) return chosen()
    // What is reserved for this very pod comes before what it had for another reason.
    const isToMove =
      !world.promises.has(kept) &&
      set.usable.some(
        place =>
          claims.promised(world.promises.get(place)) === 'to it' &&
          isOpen(world.holds.get(place), claims, world.now),
      )
    return isToMove ? chosen() : { pool, place: kept, named: false, how: 'its own' }
  })
  const left = leftBehind(world, asker, claims, grants)
  checkQuota(world, asker, offer, grants, left)
  const { inline } = asker.network
  if (inline && grants.some(({ pool }) => pool === inline.name)) checkOverlap(world, inline)
  return { grants, left }
}

function checkName(
  world: WorldState,
  { holder, pod, node }: Asker,
  claims: Claims,
  { set }: Slot,
  place: string,
): void {
  const { holds, promises, generated, sandboxes } = world
  if (!set.usable.includes(place)) throw new Refusal('IPK_ADDRESS_UNUSABLE')
  if (claims.promised(promises.get(place)) === 'to others') throw new Refusal('IPK_ADDRESS_RESERVED')
  const hold = holds.get(place)
  if (!hold || claims.canHave(place)) return
  if (hold.holder === holder && hold.sandbox !== null) throw new Refusal('IPK_HOLDER_LIVE')
  // A rollout goes on as soon as the older pod is gone.
  const older =
    hold.sandbox !== null &&
    pod &&
    generated.has(holder) &&
    sameWorkload(hold.workload, pod.workload) &&
    !isDead(world, sandboxes.get(hold.sandbox) ?? { netns: '', node: '' }, node)
  if (older) throw new Refusal('IPK_CANDIDATES_BUSY')
  throw new Refusal(hold.until === null ? 'IPK_ADDRESS_HELD' : 'IPK_ADDRESS_KEPT')
}

/** Whether the second address is the one after the first: then both are of one range (see candidatesOf). */
function follows(first: string | undefined, second: string | undefined): boolean {
  const number = (text: string): number => {
    const tail = text.split(/[.:]/).at(-1) ?? ''
    return tail === '' ? 0 : Number.parseInt(tail, text.includes(':') ? 16 : 10)
  }
  return first !== undefined && second !== undefined && number(first) + 1 === number(second)
}

/** Which of its candidates the pod gets. */
function fromList(
  { holds, promises, now }: WorldState,
  { pod }: Asker,
  claims: Claims,
  { set }: Slot,
  list: readonly string[],
  paired: number | undefined,
  seen: readonly string[],
): { readonly usable: readonly string[]; readonly at: number; readonly how: string } {
  const places = list.map(address => `${set.segment}/${address}`)
  const given = (place: string): boolean => set.usable.includes(place)
  const alone = places.filter((_, at) => !follows(list[at - 1], list[at]) && !follows(list[at], list[at + 1]))
  // What is listed by itself has to be one that can be given; of a range the others fall away.
  if (alone.some(place => set.all.has(place) && !given(place))) throw new Refusal('IPK_ADDRESS_UNUSABLE')
  if (places.some(place => !set.all.has(place))) throw new Refusal('IPK_ADDRESS_OUTSIDE')
  const usable = places.filter(given)
  if (usable.length === 0) throw new Refusal('IPK_ADDRESS_UNUSABLE')
  if (pod?.index !== undefined) {
    const at = pod.index
    if (at < 0 || at >= usable.length) throw new Refusal('IPK_ORDINAL_BEYOND_LIST')
    return { usable, at, how: 'by ordinal' }
  }
  const own = usable.findIndex(
    place => claims.movable.some(hold => hold.place === place) && claims.canHave(place),
  )
  if (own >= 0) return { usable, at: own, how: 'candidate: its own' }
  // Any that it can have is right, and which of them is told by stories; an ADD that its quota stopped was for the first.
  const ranks: readonly ((place: string, hold: Hold | undefined) => boolean | undefined)[] = [
    place => place === usable[paired ?? -1],
    (place, hold) => claims.promised(promises.get(place)) === 'to it' && isOpen(hold, claims, now),
    (place, hold) => claims.promised(promises.get(place)) === 'to its workload' && isOpen(hold, claims, now),
    (_, hold) => hold?.state === 'held' && claims.inherits(hold) && !isOver(hold, now),
    (_, hold) => hold && isKept(hold) && claims.inherits(hold) && !isOver(hold, now),
    (_, hold) => !hold,
    (_, hold) => hold && !claims.inherits(hold),
  ]
  const inTurn = [...ranks, () => true].flatMap(has => usable.filter(place => has(place, holds.get(place))))
  const free = oneOf(inTurn.filter(claims.canHave), seen)
  if (free !== undefined) return { usable, at: usable.indexOf(free), how: 'candidate: any' }
  const maySoonBeHad = usable.some(place => {
    if (claims.promised(promises.get(place)) === 'to others') return false
    const hold = holds.get(place)
    const older =
      hold !== undefined && hold.sandbox !== null && sameWorkload(hold.workload, pod?.workload ?? null)
    return hold && (hold.until !== null || older)
  })
  throw new Refusal(maySoonBeHad ? 'IPK_CANDIDATES_BUSY' : 'IPK_CANDIDATES_TAKEN')
}

/** What a pod gets that names nothing and has nothing there. */
function choose(
  { holds, promises, now }: WorldState,
  claims: Claims,
  { pool, set: { usable } }: Slot,
  seen: readonly string[],
): { readonly place: string; readonly how: string } {
  const promised = (whom: string): string[] =>
    usable.filter(place => {
      const open = isOpen(holds.get(place), claims, now)
      return open && claims.promised(promises.get(place)) === whom
    })
  const kept = usable
    .filter(place => !promises.has(place))
    .flatMap(place => holds.get(place) ?? [])
    .filter(hold => isKept(hold) && claims.inherits(hold) && !isOver(hold, now))
  const resting = [...holds.values()].filter(
    hold =>
      hold.state === 'cooling' &&
      hold.pool === pool &&
      usable.includes(hold.place) &&
      !promises.has(hold.place) &&
      (!hold.named || isOver(hold, now)),
  )
  const ways: readonly (readonly [how: string, places: readonly string[]])[] = [
    ['reserved for the pod', promised('to it')],
    ['reserved for the workload', promised('to its workload')],
    ['inherited', oldest(kept.filter(({ state }) => state === 'held'))],
    ['inherited from a pod that is lost', oldest(kept.filter(({ state }) => state === 'bound'))],
    ['lowest free', usable.filter(place => !holds.has(place) && !promises.has(place)).slice(0, 1)],
    ['longest rested', oldest(resting)],
  ]
  for (const [how, places] of ways) {
    const place = oneOf(places, seen)
    const hold = place === undefined ? undefined : holds.get(place)
    if (place !== undefined)
      return { place, how: hold && claims.receives(hold) ? 'what was moved to it' : how }
  }
  throw new Refusal('IPK_POOL_FULL')
}

// ---- What speaks against it

/** What the holder had and gets no more, but not what a sandbox that may live has. */
function leftBehind(
  world: WorldState,
  asker: Asker,
  { movable }: Claims,
  grants: readonly Grant[],
): readonly Hold[] {
  const had = [...world.holds.values()].filter(
    hold => movable.includes(hold) || (hold.state === 'bound' && hold.sandbox === asker.sandbox),
  )
  return had.filter(hold => {
    const sandbox = hold.sandbox === null ? undefined : world.sandboxes.get(hold.sandbox)
    const inUse = sandbox !== undefined && !isDead(world, sandbox, asker.node)
    return !inUse && grants.every(({ place }) => place !== hold.place)
  })
}

/** A namespace may not have more than its quota, unless it gets no more than it had. */
function checkQuota(
  { holds, now }: WorldState,
  { pod }: Asker,
  offer: Offer,
  grants: readonly Grant[],
  left: readonly Hold[],
): void {
  if (!pod) return
  for (const { pool, settings, set } of offer) {
    if (settings?.quota === undefined) continue
    const counts = (hold: Hold | undefined): boolean => countsFor(hold, pool, pod.namespace, set.family, now)
    const before = countOf(holds, pool, pod.namespace, set.family, now)
    const fresh = grants.filter(
      grant => grant.pool === pool && set.all.has(grant.place) && !counts(holds.get(grant.place)),
    )
    const after = before + fresh.length - left.filter(counts).length
    if (after > settings.quota && after > before) throw new Refusal('IPK_QUOTA')
  }
}

/** A network's own ranges may not overlap those of another network that has leases. */
function checkOverlap({ holds, known }: WorldState, inline: PoolWords): void {
  if (known.get(inline.name) === inline) return
  for (const other of known.values()) {
    const live = [...holds.values()].some(hold => hold.pool === other.name && hold.state !== 'cooling')
    if (other.name !== inline.name && live && overlap(other, inline)) throw new Refusal('IPK_POOL_OVERLAP')
  }
}
