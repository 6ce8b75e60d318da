import { renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { Problem } from '../../../shared/problem/problem.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { RecordKind, RecordTypes, Write } from '../../ipam/records/records.ts'
import { renameDurablySync } from '../../host/durable-file.ts'
import { makeFolder } from '../../host/make-folder.ts'
import type { Rescued, StoredRecord } from '../lease-store.ts'
import type { Note } from '../shared/journal.ts'
import { LedgerFile } from './ledger-file.ts'
import { lastChangePath } from './last-change.ts'

/** Records or entries of one transaction: some milliseconds. */
const atOnce = 1000

export interface Contents {
  readonly records: readonly StoredRecord[]
  readonly notes: readonly Note[]
  /** Returns what of it could not be read. */
  readonly history: Generator<HistoryEntry, readonly string[]>
}

type Written = Pick<Rescued, 'kinds' | 'notes' | 'history' | 'unreadable'>

const write = ({ kind, key, text }: StoredRecord): Write =>
  ({ kind, key, expect: null, record: JSON.parse(text) as RecordTypes[RecordKind] }) as Write

/**
 * Makes a ledger of contents, and reads it again: what is there afterwards was there.
 *
 * @param path what stands there is replaced
 * @throws IPK_STORE_FAILED, and leaves nothing of it
 */
export async function writeLedger(path: string, contents: Contents): Promise<Written> {
  makeFolder(dirname(path))
  // Of one that was broken off in the middle nobody must think that it is all there was.
  const unfinished = `${path}.unfinished`
  remove(unfinished)
  try {
    const written = await fill(unfinished, contents)
    await compare(unfinished, contents)
    renameDurablySync(unfinished, path)
    return written
  } catch (error) {
    remove(unfinished)
    throw error
  } finally {
    rmSync(lastChangePath(unfinished), { force: true })
  }
}

function remove(path: string): void {
  for (const suffix of ['', '-wal']) rmSync(path + suffix, { force: true })
}

async function fill(path: string, { records, notes, history }: Contents): Promise<Written> {
  const file = LedgerFile.open(path)
  try {
    for (let done = 0; done < records.length; done += atOnce) {
      file.write([{ change: records.slice(done, done + atOnce).map(write), events: [], notes: [] }])
      await breathe()
    }
    // Also without any: a ledger that was ever written to is no new one, at the next start neither.
    file.write([{ change: [], events: [], notes }])
    let entries = 0
    let unreadable: readonly string[] | undefined
    while (!unreadable) {
      const page: HistoryEntry[] = []
      while (page.length < atOnce && !unreadable) {
        const { done, value } = history.next()
        if (done) unreadable = value
        else page.push(value)
      }
      file.adoptHistory(table => {
        for (const entry of page) table.adopt(entry)
      })
      entries += page.length
      await breathe()
    }
    const byKind = Map.groupBy(records, ({ kind }) => kind)
    const kinds = Object.fromEntries([...byKind].map(([kind, of]) => [kind, of.length]))
    return { kinds, notes: notes.length, history: entries, unreadable }
  } finally {
    file.close()
  }
}

/** Reads what was written, by somebody who has not written it. */
async function compare(path: string, { records, notes }: Contents): Promise<void> {
  await breathe()
  // SQLite's own check is a part of opening it, or follows.
  const file = LedgerFile.open(path)
  try {
    await file.verify(false)
    file.assertSound()
    const found = new Map<string, string | null>()
    file.load(({ kind, key, text }) => found.set(`${kind} ${key}`, text))
    file.loadNotes(({ kind, key, text }) => found.set(`note ${kind} ${key}`, text))
    const wanted = [
      ...records.map(({ kind, key, text }) => [`${kind} ${key}`, text] as const),
      ...notes.map(({ kind, key, text }) => [`note ${kind} ${key}`, text] as const),
    ]
    const wrong = wanted.find(([id, text]) => found.get(id) !== text)?.[0]
    if (wrong !== undefined || found.size !== wanted.length)
      throw new Problem(
        'IPK_STORE_FAILED',
        `${path} was written, and does not have what it is to have: ${wrong ?? 'more'}`,
      )
  } finally {
    file.close()
  }
}

/** "20260102T030405Z", for names of files. */
export const timeStamp = (): string => new Date().toISOString().replace(/[-:]|\.\d+/g, '')

/** Puts a ledger in the place of whatever stands there now; returns where that is. */
export function putInPlace(made: string, path: string, stamp: string): readonly string[] {
  const aside: string[] = []
  // The log first: beside a database that it does not belong to, SQLite would read it.
  for (const suffix of ['-wal', '']) {
    if (!statSync(path + suffix, { throwIfNoEntry: false })) continue
    const target = `${path}.before-rescue-${stamp}${suffix}`
    renameSync(path + suffix, target)
    aside.push(target)
  }
  renameDurablySync(made, path)
  return aside
}
