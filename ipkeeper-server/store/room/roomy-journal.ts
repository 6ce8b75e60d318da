import { lacksRoom } from '../../../shared/problem/disk-fault.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipam/records/history-entry.ts'
import type { Change, RecordKind, RecordTypes } from '../../ipam/records/records.ts'
import type { FileAspect, HistoryBegin, HistoryQuery, HistoryRule, StoredRecord } from '../lease-store.ts'
import type { Journal, Note } from '../shared/journal.ts'
import type { Room } from './room.ts'
import { takesRoom } from './takes-room.ts'

/**
 * A store like the one inside, that goes on with whatever ends or keeps something while its disk is full, by what is kept for
 * that; and that says of each failure what is wrong with the disk.
 */
export class RoomyJournal implements Journal {
  readonly #inner: Journal
  readonly #room: Room
  /** Changes that are tried again, one after the other: whatever comes later has to be applied later. */
  #tail: Promise<void> | undefined

  constructor(inner: Journal, room: Room) {
    this.#inner = inner
    this.#room = room
  }

  get kind(): string {
    return this.#inner.kind
  }

  get location(): string {
    return this.#inner.location
  }

  get file(): FileAspect | undefined {
    return this.#inner.file
  }

  async commit(change: Change, events?: readonly HistoryEvent[], notes?: readonly Note[]): Promise<void> {
    const commit = (): Promise<void> => this.#inner.commit(change, events, notes)
    // In the usual case nothing is between the caller and the store: changes of one turn share a write.
    if (!this.#tail) {
      try {
        await commit()
        return
      } catch (error) {
        if (this.#room.faultOf(error) === undefined) throw error
        await this.#inTurn(() => this.#withRoom(commit, takesRoom(change), error))
        return
      }
    }
    await this.#inTurn(() => this.#withRoom(commit, takesRoom(change)))
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = (this.#tail ?? Promise.resolve()).then(work)
    const tail = turn.catch(() => undefined)
    this.#tail = tail
    void tail.then(() => {
      if (this.#tail === tail) this.#tail = undefined
    })
    await turn
  }

  /** `refused`: what it was refused with already. */
  async #withRoom(commit: () => Promise<void>, takes: boolean, refused?: unknown): Promise<void> {
    let error = refused
    for (;;) {
      if (error !== undefined) {
        const fault = this.#room.faultOf(error)
        if (takes && lacksRoom(fault)) this.#room.note(fault)
        if (takes || !this.#room.giveUp(fault)) throw this.#room.explain(error, fault)
      }
      try {
        await commit()
        return
      } catch (again) {
        if (this.#room.faultOf(again) === undefined) throw again
        error = again
      }
    }
  }

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    await this.#explained(this.#inner.load(visit))
  }

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    return await this.#explained(this.#inner.read(kind, key))
  }

  mayHaveAttachment(key: string): boolean {
    return this.#inner.mayHaveAttachment(key)
  }

  loadNotes(visit: (note: Note & { readonly text: string }) => void): void {
    this.#inner.loadNotes(visit)
  }

  async history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    return await this.#explained(this.#inner.history(query))
  }

  async historyBegins(): Promise<HistoryBegin | undefined> {
    return await this.#explained(this.#inner.historyBegins())
  }

  async pruneHistory(rule: HistoryRule): Promise<number> {
    return await this.#explained(this.#inner.pruneHistory(rule))
  }

  async adoptHistory(entries: readonly HistoryEntry[]): Promise<void> {
    await this.#explained(this.#inner.adoptHistory(entries))
  }

  async probe(): Promise<void> {
    await this.#explained(this.#inner.probe())
  }

  async close(): Promise<void> {
    await this.#tail
    await this.#inner.close()
  }

  async #explained<T>(result: Promise<T>): Promise<T> {
    try {
      return await result
    } catch (error) {
      throw this.#room.explain(error, this.#room.faultOf(error))
    }
  }
}
