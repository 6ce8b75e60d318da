import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { HistoryEntry } from '../ipam/records/history-entry.ts'
import { isSoundEntry } from '../ipam/plan/record-fault.ts'

/**
 * A part of what a node has recorded, as it is kept in the engine for all: entries that follow each other. A stretch is what a journal
 * sends without a break; a journal that was replaced, or put back, begins another one.
 */
export interface HistoryPart extends PartName {
  /** ID of its last entry. */
  readonly last: number
  /** Until when nothing else was recorded: milliseconds since the epoch. */
  readonly to: number
  readonly entries: number
  /** As packEntries makes it. */
  readonly data: string
}

/** By what a part is known; whoever puts one with the name of another replaces it. */
export interface PartName {
  /** Whose daemon recorded it. */
  readonly node: string
  readonly stretch: string
  /** ID of its first entry. */
  readonly first: number
  /** When that was written: milliseconds since the epoch. */
  readonly from: number
}

/** What an engine keeps of the histories of all nodes: beside its records, and heard of by nobody who does not ask. Rejects as Engine.commit does. */
export interface HistoryArchive {
  put(part: HistoryPart): Promise<void>
  /** A page after the other, of one node or of all. */
  list(node?: string): AsyncIterable<readonly HistoryPart[]>
  /** One that is not there is no failure. */
  remove(name: PartName): Promise<void>
  /** Removes all parts that were begun before a moment, in milliseconds since the epoch: also those of nodes that are gone. */
  removeBegunBefore(moment: number): Promise<number>
}

/** Milliseconds after which a node that has told nothing is not taken for one that records nothing: it tells every hour. */
export const toldAtLeastEvery = 2 * 3_600_000

/** Entries of a whole part: some 80 KB in the engine. */
export const entriesOfPart = 500

/** Bytes of a part that is opened; a larger one is none of ours. */
const mostBytes = 4 * 1024 * 1024

const [pack, unpack] = [promisify(gzip), promisify(gunzip)]

/** One JSON text per line, gzip, base64. */
export async function packEntries(entries: readonly HistoryEntry[]): Promise<string> {
  const lines = entries.map(entry => JSON.stringify(entry)).join('\n')
  return (await pack(lines)).toString('base64')
}

/**
 * The entries of a part whose line fits. Lines that are no entries are left out, and so is all of what cannot be read: another node wrote
 * it.
 */
export async function unpackEntries(
  data: string,
  fits: (line: string) => boolean = () => true,
): Promise<HistoryEntry[]> {
  let text: string
  try {
    text = (await unpack(Buffer.from(data, 'base64'), { maxOutputLength: mostBytes })).toString('utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap(line => (fits(line) ? (readEntry(line) ?? []) : []))
}

function readEntry(line: string): HistoryEntry | undefined {
  try {
    const entry = JSON.parse(line) as HistoryEntry
    return Number.isSafeInteger(entry.id) && isSoundEntry(entry) ? entry : undefined
  } catch {
    return undefined
  }
}
