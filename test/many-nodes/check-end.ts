/** Whether what is left when all is settled is what the history explains: nothing lost, nothing left over. Pure. */
import type { AddEvent, DelEvent, FinalState, NodeEvent, SeenHolder, SeenLease } from './history.ts'
import { describe, holdsOf, isOf, podOf, type Hold } from './holds.ts'

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
export function standing(events: readonly NodeEvent[]): readonly Hold[] {
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
  const orphan = (why: string): readonly string[] => [`orphan: ${text(lease)}: ${why}`]
  if (!add) return orphan('nobody asked for it')
  const { outcome } = add
  if (outcome.kind === 'refused') return orphan(`refused with ${outcome.code}`)
  if (outcome.kind === 'given' && !outcome.addresses.includes(address))
    return orphan(`was told ${outcome.addresses.join(', ')}`)
  if (lease.holder !== add.holder || lease.node !== add.node)
    return orphan(`asked for ${add.holder} on ${add.node}`)
  if (events.some(event => event.kind === 'death' && event.container === container))
    return orphan('its sandbox is dead')
  if (events.some(event => isCarriedOut(event, add))) return orphan('its DEL was acknowledged')
  if (events.some(event => isCollected(event, add))) return orphan('a GC that means it was acknowledged')
  const heir = [...adds.values()].find(
    other => podOf(other) === podOf(add) && other.began > add.ended && other.outcome.kind === 'given',
  )
  return heir ? orphan(`its pod went on as ${heir.container}`) : []
}

function isCarriedOut(event: NodeEvent, { container, began }: AddEvent): boolean {
  return (
    event.kind === 'del' &&
    event.container === container &&
    event.outcome !== 'unknown' &&
    beganAfter(event, began)
  )
}

/** Surely: a program that was asked says itself when it began, and of that only the bounds are known. */
const beganAfter = ({ began, sent = began }: Pick<DelEvent, 'began' | 'sent'>, moment: number): boolean =>
  Math.min(began, sent) > moment

function isCollected(event: NodeEvent, { node, container, ended }: AddEvent): boolean {
  return (
    event.kind === 'gc' &&
    event.node === node &&
    event.outcome === 'done' &&
    event.began !== undefined &&
    beganAfter({ began: event.began, sent: event.sent }, ended) &&
    !event.valid.includes(container)
  )
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
