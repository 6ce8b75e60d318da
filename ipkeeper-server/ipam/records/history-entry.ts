import {
  holderKey,
  isTimeOver,
  sameAttachment,
  type Holder,
  type LeaseKey,
  type LeaseRecord,
  type Workload,
  type Write,
  describeHolder,
  leaseKey,
} from './records.ts'

/**
 * What happened to an address. bound: a sandbox got it. moved: a newer sandbox of the same holder took it over, or its node got
 * another name. held, cooling: its sandbox has gone. free: given up before its time. undone: the ADD that had bound it was never answered.
 */
export type HistoryEventName = 'bound' | 'moved' | 'held' | 'cooling' | 'free' | 'undone'

/** What ended what a sandbox had: a DEL or a GC of the runtime, the sweeper, or an operator by force. */
export type EndedBy = 'del' | 'gc' | 'sweeper' | 'operator'

/** One change of who has an address. Times are milliseconds since the epoch. */
export interface HistoryEvent extends LeaseKey {
  readonly at: number
  readonly event: HistoryEventName
  readonly pool: string
  /** Whose it is from now on; of free and undone: whose it was. */
  readonly holder: Holder
  readonly podUid: string | null
  readonly node: string
  /** null unless bound or moved. */
  readonly containerId: string | null
  /** Which channel asked; "dynamic" when none did. */
  readonly source: string
  /** When it becomes free by itself; null for never, and while bound. */
  readonly until: number | null
  /** Of held and cooling; absent where no sandbox was ended, or who did it is not known, as in entries of older versions. */
  readonly by?: EndedBy | undefined
  /** The object behind the pod; absent where none is known, and in entries of older versions. */
  readonly workload?: Workload | undefined
}

/** An event as the store remembers it. */
export interface HistoryEntry extends HistoryEvent {
  /** Grows with every entry. */
  readonly id: number
  /** Since when this holder has the address without a gap: over restarts, also while it was kept or rested. */
  readonly since: number
  /** See store/history-chain.ts; absent in entries of older versions. */
  readonly link?: string | undefined
  /** The link of the entry before it, where that was pruned. */
  readonly follows?: string | undefined
}

/** What an entry says of a lease. */
function described(lease: LeaseRecord): Omit<HistoryEvent, 'at' | 'event'> {
  const { segment, address, pool, holder, podUid, node, source, until, workload } = lease
  const containerId = lease.attachment?.containerId ?? null
  return {
    ...{ segment, address, pool, holder, podUid, node, containerId, source, until },
    ...(workload && { workload }),
  }
}

/** Whether nothing changed that a reader of the history would care about. */
function looksEqual(before: LeaseRecord, after: LeaseRecord): boolean {
  return (
    before.state === after.state &&
    before.until === after.until &&
    before.podUid === after.podUid &&
    // Of what nobody has, it is no matter what the node is called that let it go.
    (before.node === after.node || after.attachment === null) &&
    before.pool === after.pool &&
    holderKey(before.holder) === holderKey(after.holder) &&
    (after.attachment === null || sameAttachment(before.attachment, after.attachment))
  )
}

function nameOf(before: LeaseRecord | undefined, after: LeaseRecord): HistoryEventName {
  if (after.state !== 'bound') return after.state
  const same = before?.state === 'bound' && holderKey(before.holder) === holderKey(after.holder)
  return same ? 'moved' : 'bound'
}

/**
 * What a write means for the history: nothing when it concerns no lease, changes nothing that is shown, or tidies up a
 * lease whose time is over, since the entry that kept it says until when.
 *
 * @param before the lease that the write replaces
 * @param by what ends sandboxes with this change
 */
export function historyEvent(
  write: Write,
  before: LeaseRecord | undefined,
  now: number,
  by?: EndedBy,
): HistoryEvent | undefined {
  if (write.kind !== 'lease') return undefined
  const after = write.record
  // An undo may put a lease back whose time has passed meanwhile: that is none.
  if (after === null || isTimeOver(after, now)) {
    if (!before || isTimeOver(before, now)) return undefined
    const event = before.state === 'bound' ? 'undone' : 'free'
    return { at: now, event, ...described(before), containerId: null, until: null }
  }
  if (before && looksEqual(before, after)) return undefined
  const isEnd = before?.state === 'bound' && after.state !== 'bound'
  return { at: now, event: nameOf(before, after), ...described(after), ...(isEnd && by && { by }) }
}

/** From when on an event says nothing of the present any more; null while only another event can end it. */
export function endOfEvent({
  event,
  at,
  until,
}: Pick<HistoryEvent, 'event' | 'at' | 'until'>): number | null {
  return event === 'free' || event === 'undone' ? at : until
}

/** `since` of the entry that an event makes; `newest` is the newest one of the same address. */
export function sinceOf(event: HistoryEvent, newest: HistoryEntry | undefined): number {
  if (!newest || holderKey(newest.holder) !== holderKey(event.holder)) return event.at
  const end = endOfEvent(newest)
  return end !== null && end <= event.at ? event.at : newest.since
}

/** A time during which one sandbox had an address, or it was kept for its holder, or rested. */
export interface Tenure {
  readonly entry: HistoryEntry
  readonly state: 'bound' | 'held' | 'cooling'
  /** Milliseconds since the epoch; null while it lasts. */
  readonly to: number | null
  /** Why it ended, for people; null while it lasts. */
  readonly ended: string | null
}

const sameHolder = (a: HistoryEntry, b: HistoryEntry): boolean => holderKey(a.holder) === holderKey(b.holder)

const howEnded = ({ by }: HistoryEntry): string => (by === undefined ? 'not known how' : ends[by])

const ends: Readonly<Record<EndedBy, string>> = {
  del: 'deleted',
  gc: "by GC: not in the runtime's list",
  sweeper: 'by the sweeper: sandbox gone',
  operator: 'released by force',
}

/** How the next event of an address ends the tenure that an entry began. */
const endings: Readonly<Record<HistoryEventName, (entry: HistoryEntry, next: HistoryEntry) => string>> = {
  bound: (entry, next) =>
    sameHolder(entry, next)
      ? `${describeHolder(next.holder)} came back`
      : `given to ${describeHolder(next.holder)}`,
  moved: (entry, next) =>
    entry.containerId === next.containerId && entry.node !== next.node
      ? `its node is now named ${next.node}`
      : 'taken over by a newer sandbox',
  held: (entry, next) => (entry.containerId === null ? 'kept again' : `${howEnded(next)}, kept`),
  cooling: (entry, next) => (entry.containerId === null ? 'given up' : howEnded(next)),
  free: () => 'released',
  undone: () => 'ADD undone',
}

function stateOf(event: HistoryEventName): Tenure['state'] | undefined {
  if (event === 'bound' || event === 'moved') return 'bound'
  return event === 'held' || event === 'cooling' ? event : undefined
}

function endFrom(
  entry: HistoryEntry,
  next: HistoryEntry | undefined,
  now: number,
): Pick<Tenure, 'to' | 'ended'> {
  const end = endOfEvent(entry)
  if (end !== null && end <= (next?.at ?? now)) return { to: end, ended: 'time over' }
  return next ? { to: next.at, ended: endings[next.event](entry, next) } : { to: null, ended: null }
}

/** The tenure that an entry begins; undefined where it begins none. `next` is the next entry of its address, if there is one. */
export function tenureOf(
  entry: HistoryEntry,
  next: HistoryEntry | undefined,
  now: number,
): Tenure | undefined {
  const state = stateOf(entry.event)
  return state && { entry, state, ...endFrom(entry, next, now) }
}

/** Who had what from when to when. `entries` newest first, and so is the result; of each address from its newest on. */
export function tenuresOf(entries: readonly HistoryEntry[], now: number): Tenure[] {
  const later = new Map<string, HistoryEntry>()
  return entries.flatMap(entry => {
    const key = leaseKey(entry)
    const next = later.get(key)
    later.set(key, entry)
    return tenureOf(entry, next, now) ?? []
  })
}

const isOf = ({ event, containerId, holder }: HistoryEntry, lease: LeaseRecord): boolean =>
  holderKey(holder) === holderKey(lease.holder) &&
  stateOf(event) === lease.state &&
  containerId === (lease.attachment?.containerId ?? null)

/**
 * A tenure that lasts by what this node has recorded, beside the present lease. Where nodes share a ledger each records what it does
 * itself: what another one ended meanwhile is not in the history of this one.
 */
export function besidePresent(tenure: Tenure, lease: LeaseRecord | undefined): Tenure {
  const { entry, to, ended } = tenure
  if (to !== null || ended !== null || (lease && isOf(entry, lease))) return tenure
  return lease
    ? {
        ...tenure,
        to: Math.max(entry.at, lease.since),
        ended: `not known here; node ${lease.node} has had it since`,
      }
    : { ...tenure, ended: 'not known here: another node has ended it' }
}
