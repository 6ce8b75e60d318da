import { sinceOf, type HistoryEntry } from '../../ipam/records/history-entry.ts'
import { leaseKey } from '../../ipam/records/records.ts'
import { linked } from '../history-chain.ts'
import type { StoredRecord } from '../lease-store.ts'
import type { Note } from '../shared/journal.ts'
import { readLastChange } from './last-change.ts'
import type { Commit } from './ledger-rows.ts'
import type { Salvage } from './salvage.ts'

type StoredNote = Note & { readonly text: string }

export interface Completed {
  readonly records: readonly StoredRecord[]
  readonly notes: readonly StoredNote[]
  /** The newest first. */
  readonly history: readonly HistoryEntry[]
  /** Acknowledged changes of which nothing at all is known. */
  readonly unknown: number
}

const id = ({ kind, key }: { readonly kind: string; readonly key: string }): string => `${kind} ${key}`

/** Puts all that the last acknowledged change wrote over what could be read, where it is newer. */
export function withLastChange(path: string, { records, notes, history, seal }: Salvage): Completed {
  const found = { records, notes, history }
  const last = readLastChange(path)
  if (!last || !seal || last.seal.ledger !== seal.ledger || last.seal.commits <= seal.commits)
    return { ...found, unknown: 0 }
  const missing = last.seal.commits - seal.commits
  if (last.writes === null) return { ...found, unknown: missing }
  const [keptRecords, keptNotes] = [
    new Map(records.map(record => [id(record), record])),
    new Map(notes.map(note => [id(note), note])),
  ]
  const entries = [...history]
  for (const { change, events, notes: written } of JSON.parse(last.writes) as readonly Commit[]) {
    for (const { kind, key, record } of change) {
      if (record === null) keptRecords.delete(id({ kind, key }))
      else keptRecords.set(id({ kind, key }), { kind, key, text: JSON.stringify(record) })
    }
    for (const { kind, key, text } of written) {
      if (text === null) keptNotes.delete(id({ kind, key }))
      else keptNotes.set(id({ kind, key }), { kind, key, text })
    }
    for (const event of events) {
      const newest = entries.find(entry => leaseKey(entry) === leaseKey(event))
      const [last] = entries
      // Behind changes of which nothing is known the links begin again.
      const before = missing === 1 || last !== history[0] ? last : undefined
      entries.unshift(linked({ ...event, id: (last?.id ?? 0) + 1, since: sinceOf(event, newest) }, before))
    }
  }
  return {
    ...{ records: [...keptRecords.values()], notes: [...keptNotes.values()], history: entries },
    unknown: missing - 1,
  }
}
