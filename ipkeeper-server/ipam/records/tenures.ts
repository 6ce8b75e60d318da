import { endOf, type HistoryEntry, type HistoryEventName } from './history-entry.ts'
import { describeHolder, holderKey, leaseKey } from './records.ts'

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

/** How the next event of an address ends the tenure that an entry began. */
const endings: Readonly<Record<HistoryEventName, (entry: HistoryEntry, next: HistoryEntry) => string>> = {
  bound: (entry, next) =>
    sameHolder(entry, next)
      ? `${describeHolder(next.holder)} came back`
      : `given to ${describeHolder(next.holder)}`,
  moved: (entry, next) =>
    entry.containerId === next.containerId && entry.node !== next.node
      ? `its node is called ${next.node} now`
      : 'taken over by a newer sandbox',
  held: entry => (entry.containerId === null ? 'kept anew' : 'deleted, kept'),
  cooling: entry => (entry.containerId === null ? 'given up' : 'deleted'),
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
  const end = endOf(entry)
  if (end !== null && end <= (next?.at ?? now)) return { to: end, ended: 'time over' }
  return next ? { to: next.at, ended: endings[next.event](entry, next) } : { to: null, ended: null }
}

/** Who had what from when to when. `entries` newest first, and so is the result; of each address from its newest on. */
export function tenuresOf(entries: readonly HistoryEntry[], now: number): Tenure[] {
  const later = new Map<string, HistoryEntry>()
  return entries.flatMap((entry): Tenure[] => {
    const key = leaseKey(entry)
    const next = later.get(key)
    later.set(key, entry)
    const state = stateOf(entry.event)
    return state === undefined ? [] : [{ entry, state, ...endFrom(entry, next, now) }]
  })
}
