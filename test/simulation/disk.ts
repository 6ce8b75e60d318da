import { Problem } from '../../shared/problem/problem.ts'
import type {
  Change,
  Began,
  AttachmentKey,
  RecordKind,
  RecordTypes,
} from '../../ipkeeper-server/ipam/records/records.ts'
import { AnsweredMarks, type MarkOwner } from '../../ipkeeper-server/reconcile/answered-marks.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipkeeper-server/ipam/records/history-entry.ts'
import {
  StoreConflict,
  type HistoryQuery,
  type StoredRecord,
} from '../../ipkeeper-server/store/lease-store.ts'
import type { Journal, Note } from '../../ipkeeper-server/store/shared/journal.ts'
import type { Life } from './life.ts'
import type { PoolForm } from './pools.ts'

/** A DEL that waits in a file for the daemon. */
export interface QueuedDel {
  readonly key: AttachmentKey
  readonly began: Began
}

interface Entry extends StoredRecord {
  readonly generation: number
}

/** What a machine's state folder has, whichever daemon runs; identity is in a real folder. */
export class Disk {
  readonly records = new Map<string, Entry>()
  readonly notes = new Map<string, Note & { readonly text: string }>()
  readonly marks = new Map<string, MarkOwner>()
  queue: QueuedDel[] = []
  history: HistoryEntry[] = []
  /** What of the configuration was in force last. */
  pool: PoolForm = 'whole'
  /** What the fallback of the conflist has given, by container; without the daemon. */
  readonly fallback = new Map<string, string>()

  /** What another machine had noted of a store that nodes share is put aside. */
  forgetJournal(): void {
    this.records.clear()
    this.notes.clear()
    this.history = []
  }

  /** As it is now, whatever is written later. */
  copy(): Disk {
    const { records, notes, marks, queue, history, pool, fallback } = this
    return Object.assign(new Disk(), {
      ...{ records: new Map(records), notes: new Map(notes), marks: new Map(marks), pool },
      ...{ queue: [...queue], history: [...history] },
      fallback: new Map(fallback),
    })
  }
}

const idOf = (kind: string, key: string): string => `${kind} ${key}`

export interface DiskJournalOptions {
  readonly disk: Disk
  readonly life: Life
  /** Milliseconds that the next write takes. */
  readonly latency: () => Promise<void>
  /** A commit is noted that may still come to the engine. */
  readonly onIndeterminate: (what: string) => void
}

/** The file of a ledger, or of a journal, on such a disk. What its daemon had not written when it was killed is not there. */
export class DiskJournal implements Journal {
  readonly kind = 'disk'
  readonly location = 'in this process'
  readonly #disk: Disk
  readonly #life: Life
  readonly #latency: () => Promise<void>
  readonly #onIndeterminate: (what: string) => void
  #tail: Promise<unknown> = Promise.resolve()

  constructor({ disk, life, latency, onIndeterminate }: DiskJournalOptions) {
    this.#disk = disk
    this.#life = life
    this.#latency = latency
    this.#onIndeterminate = onIndeterminate
  }

  load(visit: (stored: StoredRecord) => void): Promise<void> {
    for (const { kind, key, text } of this.#disk.records.values()) visit({ kind, key, text })
    return this.#life.edge(Promise.resolve())
  }

  loadNotes(visit: (note: Note & { readonly text: string }) => void): void {
    for (const note of this.#disk.notes.values()) visit(note)
  }

  mayHaveAttachment(key: string): boolean {
    return this.#disk.records.has(idOf('attachment', key))
  }

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    await this.#life.edge(this.#tail)
    const entry = this.#disk.records.get(idOf(kind, key))
    return entry && (JSON.parse(entry.text) as RecordTypes[K])
  }

  commit(change: Change, events: readonly HistoryEvent[] = [], notes: readonly Note[] = []): Promise<void> {
    if (change.length === 0 && notes.length === 0) return Promise.resolve()
    const turn = this.#tail.then(async () => {
      await this.#life.edge(this.#latency())
      this.#write(change, events, notes)
      // Written, and nobody knows: a crash may come here.
      await this.#life.edge(this.#latency())
    })
    this.#tail = turn.catch(() => undefined)
    return turn
  }

  #write(change: Change, events: readonly HistoryEvent[], notes: readonly Note[]): void {
    const { records, notes: noted, history } = this.#disk
    for (const { kind, key, expect } of change)
      if ((records.get(idOf(kind, key))?.generation ?? null) !== expect) throw new StoreConflict(kind, key)
    for (const { kind, key, record } of change) {
      if (record === null) records.delete(idOf(kind, key))
      else
        records.set(idOf(kind, key), {
          kind,
          key,
          generation: record.generation,
          text: JSON.stringify(record),
        })
    }
    for (const event of events) history.push({ ...event, id: history.length + 1, since: event.at })
    for (const { kind, key, text } of notes) {
      if (text === null) noted.delete(idOf(kind, key))
      else {
        if (kind === 'late') this.#onIndeterminate(key)
        noted.set(idOf(kind, key), { kind, key, text })
      }
    }
  }

  history({ segment, address, limit }: HistoryQuery): Promise<readonly HistoryEntry[]> {
    const found = this.#disk.history.filter(one => one.segment === segment && one.address === address)
    return Promise.resolve(found.slice(-limit).reverse())
  }

  historyBegins(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  pruneHistory(): Promise<number> {
    return Promise.resolve(0)
  }

  adoptHistory(): Promise<void> {
    return Promise.reject(new Problem('IPK_STORE_FAILED', 'a simulated disk keeps no history'))
  }

  probe(): Promise<void> {
    return this.#life.edge(this.#latency())
  }

  close(): Promise<void> {
    return this.#tail.then(() => undefined)
  }
}

/** The folder of marks on such a disk. */
export class DiskMarks extends AnsweredMarks {
  readonly #marks: Map<string, MarkOwner>
  readonly #life: Life

  constructor(disk: Disk, life: Life) {
    super('/nowhere')
    this.#marks = disk.marks
    this.#life = life
  }

  override get hasFolder(): boolean {
    return true
  }

  override list(): Promise<ReadonlyMap<string, MarkOwner>> {
    return this.#life.edge(Promise.resolve(new Map(this.#marks)))
  }

  override async claim(name: string): Promise<MarkOwner> {
    await this.#life.edge(Promise.resolve())
    const owner = this.#marks.get(name)
    if (owner === undefined) this.#marks.set(name, 'daemon')
    return owner ?? 'daemon'
  }

  override ownerOf(name: string): Promise<MarkOwner | undefined> {
    return this.#life.edge(Promise.resolve(this.#marks.get(name)))
  }

  override async remove(name: string, owner: MarkOwner): Promise<void> {
    await this.#life.edge(Promise.resolve())
    if (this.#marks.get(name) === owner) this.#marks.delete(name)
  }
}
