import { statSync } from 'node:fs'
import { Problem } from '../../../shared/problem/problem.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import { leaseKey, type ReservationRecord } from '../../ipam/records/records.ts'
import type { Rescued, StoredRecord } from '../lease-store.ts'
import { damaged, isDamage, noDatabase } from './damage.ts'
import { databaseImage, openImage } from './database-image.ts'
import { readLog } from './log-file.ts'
import { putInPlace, timeStamp, writeLedger } from './rescue-file.ts'
import { keepsLeases, salvage, type LostLease, type Salvage } from './salvage.ts'
import { walFrames } from './wal-frames.ts'
import { withLastChange } from './with-last-change.ts'

/** What became of a ledger whose file is damaged. */
export interface RescuedOffline extends Rescued {
  /** What was wrong, in one line each. */
  readonly faults: readonly string[]
  /** Addresses whose lease is gone; each of them is reserved, so that nobody gets it. */
  readonly reserved: readonly LostLease[]
  /** Acknowledged changes of which nothing at all is known; 0: nothing says that any is missing. */
  readonly unknown: number
}

const id = ({ kind, key }: Pick<StoredRecord, 'kind' | 'key'>): string => `${kind} ${key}`

/**
 * Of a damaged log all frames up to the last commit count: each row has a checksum, and one bad page must not hide all that came
 * later. What that page cannot tell any more, an older one may.
 */
function readImages(path: string, now: number): Salvage {
  const log = readLog(path)
  const frames = log ? [...walFrames(log)] : []
  const last = frames.findLastIndex(frame => frame.verified && frame.commits > 0 && frame.salts !== 'none')
  const end = frames[last]?.offset ?? -1
  const read = (wanted: Parameters<typeof databaseImage>[2]): Salvage => {
    const image = databaseImage(path, log, wanted)
    const database = openImage(image)
    try {
      return salvage({ database, image, keepsLeases: keepsLeases(path) }, now)
    } finally {
      database.close()
    }
  }
  const newest = read(frame => frame.offset <= end && frame.salts !== 'none')
  const isWhole = newest.faults.length === 0 && frames.slice(0, last + 1).every(frame => frame.chained)
  if (isWhole) return newest
  const older = read(frame => frame.chained)
  const present = new Set(newest.records.map(id))
  const records = [...newest.records, ...older.records.filter(record => !present.has(id(record)))]
  const leases = new Set(records.flatMap(({ kind, key }) => (kind === 'lease' ? [key] : [])))
  const entries = new Set(newest.history.map(entry => entry.id))
  const notes = new Set(newest.notes.map(note => `${note.kind} ${note.key}`))
  return {
    records,
    notes: [...newest.notes, ...older.notes.filter(note => !notes.has(`${note.kind} ${note.key}`))],
    history: [...newest.history, ...older.history.filter(entry => !entries.has(entry.id))].sort(
      (a, b) => b.id - a.id,
    ),
    faults: newest.faults.length > 0 ? newest.faults : ['its log does not match its checksums'],
    lost: newest.lost.filter(lease => !leases.has(leaseKey(lease))),
    ...{ seal: newest.seal, concerned: newest.concerned },
  }
}

/** Nobody gets the address until a person has looked. */
function reservation({ segment, address, by }: LostLease, now: number): StoredRecord {
  const record: ReservationRecord = {
    ...{ segment, address, generation: 1, namespace: '', name: 'rescue', kind: 'external' },
    ...{ note: `its lease was lost; ${by}`, since: now },
  }
  return { kind: 'reservation', key: leaseKey(record), text: JSON.stringify(record) }
}

function* newestFirst(history: readonly HistoryEntry[]): Generator<HistoryEntry, readonly string[]> {
  yield* history
  return []
}

/**
 * Writes what can be read of a ledger to a new file, and puts that in its place; the damaged files stay beside it. No daemon may run.
 *
 * @param now milliseconds since the epoch
 * @param dryRun only tells what there is
 * @throws IPK_STORE_DAMAGED when nothing can be read, IPK_STORE_FAILED
 */
export async function rescueOffline(path: string, now: number, dryRun: boolean): Promise<RescuedOffline> {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined)
    throw new Problem('IPK_STORE_FAILED', `there is no store ${path}`, { hint: nothingLeft })
  if (size === 0) throw damaged(path, 'it is empty: nothing is left in it', [], nothingLeft)
  let found: Salvage
  try {
    found = readImages(path, now)
  } catch (error) {
    throw isDamage(error) ? noDatabase(path, error) : error
  }
  if (found.records.length === 0 && found.history.length === 0)
    throw damaged(path, `nothing can be read: ${found.faults.join('; ')}`, [], nothingLeft)
  const { records, notes, history, unknown } = withLastChange(path, found)
  const taken = new Set(records.map(id))
  const reserved = found.lost.filter(
    lease => !taken.has(`lease ${leaseKey(lease)}`) && !taken.has(`reservation ${leaseKey(lease)}`),
  )
  const contents = {
    records: [...records, ...reserved.map(lease => reservation(lease, now))],
    notes,
    history: newestFirst(history),
  }
  const told = { faults: found.faults, reserved, unknown, inUse: false }
  if (dryRun) {
    const byKind = Map.groupBy(contents.records, ({ kind }) => kind)
    const kinds = Object.fromEntries([...byKind].map(([kind, of]) => [kind, of.length]))
    const counts = { notes: notes.length, history: history.length }
    return { file: path, kinds, ...counts, unreadable: [], aside: [], ...told }
  }
  const made = `${path}.rescued`
  const written = await writeLedger(made, contents)
  const aside = putInPlace(made, path, timeStamp())
  return { file: path, ...written, aside, ...told }
}

const nothingLeft =
  'restore a backup: ipkeeperctl restore FILE; or start the daemon, which lists what may live and says how to begin with an empty ledger; see docs/operations/rescue.md'
