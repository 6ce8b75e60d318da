/**
 * Who had which address for certain, and since when somebody had cause to take it: what acknowledged answers alone say.
 * Pure.
 */
import type { AddEvent, DelEvent, GcEvent, NodeEvent } from './history.ts'

/** An address that an acknowledged ADD gave. */
export interface Hold {
  readonly add: AddEvent
  readonly address: string
  /** When cause was first given to let it go; Infinity: never. */
  readonly released: number
}

export const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)

export const isOf =
  <K extends NodeEvent['kind']>(kind: K) =>
  (event: NodeEvent): event is Extract<NodeEvent, { kind: K }> =>
    event.kind === kind

export const podOf = ({ holder, uid }: AddEvent): string => `${holder} ${uid}`

/** When a call went out. */
export const sentOf = ({ sent, began }: AddEvent | DelEvent): number => sent ?? began

export const at = (moment: number): string => `${moment.toFixed(1)} ms`

export function describe({ address, add, released }: Hold): string {
  const until = released === Infinity ? '' : `, let go from ${at(released)}`
  return `${address} of ${add.container} (${add.holder} ${add.uid} on ${add.node}, ADD ${at(add.began)} to ${at(add.ended)}${until})`
}

export function holdsOf(events: readonly NodeEvent[]): readonly Hold[] {
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
  readonly #gcs: readonly GcEvent[]

  constructor(events: readonly NodeEvent[]) {
    this.#dels = Map.groupBy(events.filter(isOf('del')), ({ container }) => container)
    const deaths = Map.groupBy(events.filter(isOf('death')), ({ container }) => container)
    // A sandbox that is dead dies once more with its machine.
    this.#deaths = new Map(
      [...deaths].map(([container, all]) => [container, Math.min(...all.map(({ at }) => at))]),
    )
    this.#addsOfPod = Map.groupBy(events.filter(isOf('add')), podOf)
    this.#gcs = events.filter(isOf('gc'))
  }

  /** When the first of them went out that may have come after the ADD. */
  of(add: AddEvent): number {
    const dels = this.#dels.get(add.container) ?? []
    const later = (this.#addsOfPod.get(podOf(add)) ?? []).filter(other => this.#mayHaveTaken(other, add))
    return Math.min(
      this.#deaths.get(add.container) ?? Infinity,
      ...dels.filter(del => mayHaveEnded(del, add)).map(sentOf),
      ...this.#gcs.filter(gc => mayHaveCollected(gc, add)).map(({ sent }) => sent),
      ...later.map(({ began }) => began),
    )
  }

  /** Whether an ADD of the same pod may have taken over what another sandbox of it had, and kept it. */
  #mayHaveTaken(later: AddEvent, add: AddEvent): boolean {
    if (later.container === add.container || later.outcome.kind === 'refused') return false
    return later.ended > add.began && !isTakenBack(later, this.#dels.get(later.container) ?? [])
  }
}

/** Whether an ADD whose answer nobody used has had its DEL, which puts everything back. */
export function isTakenBack(add: AddEvent, dels: readonly DelEvent[]): boolean {
  return (
    add.outcome.kind === 'unconfirmed' &&
    dels.some(del => del.outcome === 'done' && del.container === add.container && del.began > add.began)
  )
}

/** A DEL means what was added before it began. */
function mayHaveEnded(del: DelEvent, add: AddEvent): boolean {
  return del.began >= add.began && del.ended > add.began
}

/**
 * So does a GC. One that does not say when it began ends only what is dead or was added minutes before; and histories are
 * shorter.
 */
function mayHaveCollected(gc: GcEvent, add: AddEvent): boolean {
  const { node, valid, began = -Infinity } = gc
  return node === add.node && !valid.includes(add.container) && began >= add.began
}
