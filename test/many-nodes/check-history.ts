/**
 * Whether a history can be: was there an order of all that was carried out, each between its begin and its end, in which
 * no address ever had two holders? Pure.
 *
 * An address is a register, "free" or "of a container". An acknowledged ADD took it at a moment between its begin and its
 * end, and had it at least until somebody gave cause to let it go: a DEL began, the sandbox died, or the same pod's next
 * sandbox was added. What has no answer may have happened, or not: as an ADD it proves nothing, as a cause it counts.
 */
import type {
  AddEvent,
  CheckEvent,
  DelEvent,
  FinalState,
  NodeEvent,
  SeenHolder,
  SeenLease,
} from './history.ts'

export interface Rules {
  /** Families of which each pod gets one address. */
  readonly families: readonly (4 | 6)[]
  /** What an ADD may be refused with. */
  readonly refusals: ReadonlySet<string>
}

/** An address that an acknowledged ADD gave. */
interface Hold {
  readonly add: AddEvent
  readonly address: string
  /** When cause was first given to let it go; Infinity: never. */
  readonly released: number
}

/** A span in which an address was of one container for certain; the ends belong to nobody. */
interface Span {
  readonly hold: Hold
  readonly from: number
  readonly to: number
}

const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)

const isOf =
  <K extends NodeEvent['kind']>(kind: K) =>
  (event: NodeEvent): event is Extract<NodeEvent, { kind: K }> =>
    event.kind === kind

const at = (moment: number): string => `${moment.toFixed(1)} ms`

function describe({ address, add, released }: Hold): string {
  const until = released === Infinity ? '' : `, let go from ${at(released)}`
  return `${address} of ${add.container} (${add.holder} ${add.uid} on ${add.node}, ADD ${at(add.began)} to ${at(add.ended)}${until})`
}

/** What is wrong with the history, one line each; none: it is linear. */
export function faultsOfHistory(events: readonly NodeEvent[], rules: Rules): readonly string[] {
  const holds = holdsOf(events)
  const adds = events.filter(isOf('add'))
  return [
    ...repeatedAdds(adds),
    ...adds.flatMap(add => faultsOfAnswer(add, rules)),
    ...[...Map.groupBy(holds, ({ address }) => address).values()].flatMap(faultsOfAddress),
    ...[...Map.groupBy(holds, ({ add, address }) => `${add.holder} ${familyOf(address)}`).values()].flatMap(
      faultsOfHolder,
    ),
    ...events.filter(isOf('check')).flatMap(check => faultsOfCheck(check, holds)),
  ]
}

function repeatedAdds(adds: readonly AddEvent[]): readonly string[] {
  return [...Map.groupBy(adds, ({ container }) => container)]
    .filter(([, runs]) => runs.length > 1)
    .map(([container]) => `the history itself is wrong: ${container} was added twice`)
}

// ---- What an ADD was told

function faultsOfAnswer({ outcome, asked, container }: AddEvent, rules: Rules): readonly string[] {
  if (outcome.kind === 'unknown') return []
  if (outcome.kind === 'refused')
    return rules.refusals.has(outcome.code) ? [] : [`${container} was refused with ${outcome.code}`]
  const families = outcome.addresses.map(familyOf).sort()
  const faults: string[] = []
  if (families.join() !== [...rules.families].sort().join())
    faults.push(`${container} was given ${outcome.addresses.join(', ') || 'nothing'}: not one of each family`)
  const missed = asked.filter(address => !outcome.addresses.includes(address))
  if (missed.length > 0)
    faults.push(`${container} asked for ${missed.join(', ')} and was given ${outcome.addresses.join(', ')}`)
  return faults
}

// ---- Who had what, and when

function holdsOf(events: readonly NodeEvent[]): readonly Hold[] {
  const causes = new Causes(events)
  return events
    .filter(isOf('add'))
    .flatMap(add =>
      add.outcome.kind !== 'given'
        ? []
        : add.outcome.addresses.map(address => ({ add, address, released: causes.of(add) })),
    )
}

/** What may have made a container lose its addresses. */
class Causes {
  readonly #dels: ReadonlyMap<string, readonly DelEvent[]>
  readonly #deaths: ReadonlyMap<string, number>
  readonly #addsOfPod: ReadonlyMap<string, readonly AddEvent[]>

  constructor(events: readonly NodeEvent[]) {
    this.#dels = Map.groupBy(events.filter(isOf('del')), ({ container }) => container)
    this.#deaths = new Map(events.filter(isOf('death')).map(({ container, at }) => [container, at]))
    this.#addsOfPod = Map.groupBy(events.filter(isOf('add')), podOf)
  }

  /** When the first of them began that may have come after the ADD. */
  of(add: AddEvent): number {
    const dels = this.#dels.get(add.container) ?? []
    const later = (this.#addsOfPod.get(podOf(add)) ?? []).filter(other => mayHaveTaken(other, add))
    return Math.min(
      this.#deaths.get(add.container) ?? Infinity,
      ...dels.filter(({ ended }) => ended > add.began).map(({ began }) => began),
      ...later.map(({ began }) => began),
    )
  }
}

const podOf = ({ holder, uid }: AddEvent): string => `${holder} ${uid}`

/** Whether an ADD of the same pod may have taken over what another sandbox of it had. */
function mayHaveTaken(later: AddEvent, add: AddEvent): boolean {
  return later.container !== add.container && later.outcome.kind !== 'refused' && later.ended > add.began
}

// ---- One address: no two containers at once

/** Spans are certain; a hold that was let go while its ADD was under way needs but one free moment of it. */
function faultsOfAddress(holds: readonly Hold[]): readonly string[] {
  const spans = spansOf(holds)
  const faults = clashes(spans, () => true).map(
    ([one, two]) => `two holders: ${describe(one)}, and ${describe(two)}`,
  )
  for (const hold of holds.filter(isBrief)) {
    const from = Math.max(hold.add.began, hold.released)
    const others = spans.filter(span => span.hold !== hold)
    if (!hasGap(others, from, hold.add.ended))
      faults.push(`there is no moment in which it was ${describe(hold)}`)
  }
  return faults
}

const isBrief = ({ released, add }: Hold): boolean => released < add.ended

function spansOf(holds: readonly Hold[]): readonly Span[] {
  return holds
    .filter(hold => !isBrief(hold))
    .map(hold => ({ hold, from: hold.add.ended, to: hold.released }))
    .sort((a, b) => a.from - b.from)
}

/** Pairs of spans, sorted by their begin, that overlap and may not. */
function clashes(
  spans: readonly Span[],
  mayNot: (one: Hold, two: Hold) => boolean,
): readonly (readonly [Hold, Hold])[] {
  return spans.flatMap((one, index) =>
    spans
      .slice(index + 1)
      .filter(two => two.from < one.to && two.to > one.from && mayNot(one.hold, two.hold))
      .map(two => [one.hold, two.hold] as const),
  )
}

/** Whether there is a moment, the ends included, in no span. */
function hasGap(spans: readonly Span[], from: number, to: number): boolean {
  let moment = from
  for (const span of spans) {
    if (span.from >= moment) return true
    if (span.to > moment) moment = span.to
    if (moment > to) return false
  }
  return true
}

// ---- One holder: no two addresses of a family at once

/** Only a pod that never insists on an address gets another one while its namesake may live. */
function faultsOfHolder(holds: readonly Hold[]): readonly string[] {
  const mayNot = (one: Hold, two: Hold): boolean => {
    const insists = one.add.asked.length > 0 || two.add.asked.length > 0
    return one.address !== two.address && one.add !== two.add && (insists || one.add.uid === two.add.uid)
  }
  return clashes(spansOf(holds), mayNot).map(
    ([one, two]) => `two addresses of one holder: ${describe(one)}, and ${describe(two)}`,
  )
}

// ---- CHECK: what was acknowledged is not lost

function faultsOfCheck(check: CheckEvent, holds: readonly Hold[]): readonly string[] {
  if (check.outcome !== 'denied') return []
  return holds
    .filter(
      ({ add, released }) =>
        add.container === check.container && add.ended <= check.began && released >= check.ended,
    )
    .map(hold => `lost at ${at(check.began)}: ${describe(hold)}`)
}

// ---- The end

/** What is wrong with the final state after this history, one line each. */
export function faultsOfEnd(events: readonly NodeEvent[], end: FinalState): readonly string[] {
  const { engine, listings } = end
  const adds = new Map(events.filter(isOf('add')).map(add => [add.container, add]))
  const bound = engine.leases.filter(({ state }) => state === 'bound')
  return [
    ...duplicates(engine.leases),
    ...standing(events).flatMap(hold => faultsOfStanding(hold, bound)),
    ...bound.flatMap(lease => orphanhood(lease, adds, events)),
    ...engine.holders.flatMap(holder => faultsOfHolderRecord(holder, bound)),
    ...[...listings].flatMap(([node, leases]) => differences(node, leases, engine.leases)),
  ]
}

function duplicates(leases: readonly SeenLease[]): readonly string[] {
  return [...Map.groupBy(leases, ({ address }) => address)]
    .filter(([, records]) => records.length > 1)
    .map(([address]) => `the engine has ${address} twice`)
}

/** Holds that nobody gave cause to let go. */
function standing(events: readonly NodeEvent[]): readonly Hold[] {
  return holdsOf(events).filter(({ released }) => released === Infinity)
}

function faultsOfStanding(hold: Hold, bound: readonly SeenLease[]): readonly string[] {
  const { add, address } = hold
  const lease = bound.find(seen => seen.address === address)
  if (!lease) return [`lost: ${describe(hold)}`]
  const agrees = lease.container === add.container && lease.holder === add.holder && lease.node === add.node
  return agrees ? [] : [`of ${text(lease)} in the engine: ${describe(hold)}`]
}

/** A bound lease that its history does not explain. */
function orphanhood(
  lease: SeenLease,
  adds: ReadonlyMap<string, AddEvent>,
  events: readonly NodeEvent[],
): readonly string[] {
  const { address, container } = lease
  const add = container === null ? undefined : adds.get(container)
  if (!add) return [`orphan: ${text(lease)}: nobody asked for it`]
  const { outcome } = add
  if (outcome.kind === 'refused') return [`orphan: ${text(lease)}: refused with ${outcome.code}`]
  if (outcome.kind === 'given' && !outcome.addresses.includes(address))
    return [`orphan: ${text(lease)}: was told ${outcome.addresses.join(', ')}`]
  if (lease.holder !== add.holder || lease.node !== add.node)
    return [`orphan: ${text(lease)}: asked for ${add.holder} on ${add.node}`]
  if (events.some(event => event.kind === 'death' && event.container === container))
    return [`orphan: ${text(lease)}: its sandbox is dead`]
  const isDone = (event: NodeEvent): boolean =>
    event.kind === 'del' &&
    event.container === container &&
    event.outcome === 'done' &&
    event.began > add.began
  if (events.some(isDone)) return [`orphan: ${text(lease)}: its DEL was acknowledged`]
  const heir = [...adds.values()].find(
    other => podOf(other) === podOf(add) && other.began > add.ended && other.outcome.kind === 'given',
  )
  return heir ? [`orphan: ${text(lease)}: its pod went on as ${heir.container}`] : []
}

/** What a holder's record says must be so. One without addresses is of no use to anybody. */
function faultsOfHolderRecord(
  { holder, container, addresses }: SeenHolder,
  bound: readonly SeenLease[],
): readonly string[] {
  const own = bound.filter(lease => lease.holder === holder && lease.container === container)
  const faults: string[] = []
  if (container !== null) {
    const missing = addresses.filter(address => !own.some(lease => lease.address === address))
    if (missing.length > 0)
      faults.push(`the holder ${holder} (${container}) has ${missing.join(', ')} by its record alone`)
  }
  if (container === null && addresses.length === 0)
    faults.push(`the holder ${holder} has a record of nothing`)
  return faults
}

/** Where a daemon's listing and the engine disagree. */
function differences(
  node: string,
  listed: readonly SeenLease[],
  stored: readonly SeenLease[],
): readonly string[] {
  const missing = (from: readonly SeenLease[], wanted: readonly SeenLease[]): readonly string[] => {
    const there = new Set(from.map(text))
    return wanted.map(text).filter(lease => !there.has(lease))
  }
  return [
    ...missing(listed, stored).map(lease => `${node} does not list ${lease}`),
    ...missing(stored, listed).map(lease => `${node} lists ${lease}, which is not in the engine`),
  ]
}

function text({ address, state, holder, container, node }: SeenLease): string {
  return `${address} ${state} ${holder} ${container ?? '-'} ${node}`
}
