import type { ExportedEntry } from '../ipam/records/exported-entry.ts'
import { linkOf, type ChainFault } from '../store/history-chain.ts'
import { readCopiedLine } from './plan/syslog-line.ts'

/** Entries whose links are remembered, by node: what is sent once more was sent not long before. */
const remembered = 10_000

/** Faults that are listed; the rest is counted. */
const mostFaults = 1000

/** What is wrong with the copy of a node's history, and the number of the line at which it shows. */
export type CopyFault = ChainFault & { readonly line: number }

/** What a copy has of the history of one node. */
export interface CopiedHistory {
  readonly recorder: string
  readonly entries: number
  /** Entries that were sent more than once. */
  readonly repeated: number
  /** Entries of versions that made no links. */
  readonly unlinked: number
  /** Entries that the node had pruned before they could be copied. */
  readonly pruned: number
  readonly first: Pick<ExportedEntry, 'id' | 'at'>
  readonly last: Pick<ExportedEntry, 'id' | 'at' | 'link'>
  /** Entries with which the history begins again, because the node's ledger was replaced by another one. */
  readonly begins: readonly Pick<ExportedEntry, 'id' | 'at'>[]
  readonly faults: readonly CopyFault[]
  /** Faults beside those. */
  readonly moreFaults: number
}

/** Follows the copy of one node's history from its first line on. */
class CopiedChain {
  readonly #recorder: string
  readonly #first: ExportedEntry
  #last: ExportedEntry | undefined
  #counts = { entries: 0, repeated: 0, unlinked: 0, pruned: 0, moreFaults: 0 }
  readonly #begins: Pick<ExportedEntry, 'id' | 'at'>[] = []
  readonly #faults: CopyFault[] = []
  readonly #links = new Map<number, string | undefined>()

  constructor(first: ExportedEntry) {
    this.#recorder = first.recorder
    this.#first = first
  }

  /** @param isAltered whether its line says something else as well */
  add(entry: ExportedEntry, line: number, isAltered: boolean): void {
    const { id, at, link, previous, pruned = 0 } = entry
    const isChanged = isAltered || !isAsWritten(entry)
    if (!isChanged && this.#links.has(id) && this.#links.get(id) === link) {
      this.#counts.repeated++
      return
    }
    const last = this.#last
    this.#last = entry
    this.#remember(entry)
    this.#counts.entries++
    if (last) this.#counts.pruned += pruned
    if (link === undefined) this.#counts.unlinked++
    if (isChanged) this.#fault({ kind: 'changed', from: id, to: id, at, line })
    if (!last) return
    // An ID that was there before, with another content: the node's ledger is another one by now.
    if (id <= last.id) this.#begins.push({ id, at })
    else if (id - pruned - 1 > last.id)
      this.#fault({ kind: 'missing', from: last.id + 1, to: id - pruned - 1, at, line })
    else if (pruned === 0 && previous !== null && previous !== (last.link ?? ''))
      this.#fault({ kind: 'changed', from: last.id, to: last.id, at: last.at, line })
  }

  #remember({ id, link }: ExportedEntry): void {
    this.#links.delete(id)
    this.#links.set(id, link)
    const [oldest] = this.#links.keys()
    if (this.#links.size > remembered && oldest !== undefined) this.#links.delete(oldest)
  }

  #fault(fault: CopyFault): void {
    const told = this.#faults.at(-1)
    if (told?.kind === fault.kind && told.from === fault.from && told.to === fault.to) return
    if (this.#faults.length < mostFaults) this.#faults.push(fault)
    else this.#counts.moreFaults++
  }

  report(): CopiedHistory {
    const [first, last] = [this.#first, this.#last ?? this.#first]
    return {
      ...{ recorder: this.#recorder, ...this.#counts, begins: this.#begins, faults: this.#faults },
      first: { id: first.id, at: first.at },
      last: { id: last.id, at: last.at, link: last.link },
    }
  }
}

/** One whose predecessor's link is not known may be: nothing says otherwise. */
function isAsWritten(entry: ExportedEntry): boolean {
  const { link, previous } = entry
  const written = { ...entry, recorder: undefined, previous: undefined, pruned: undefined }
  return link === undefined || previous === null || link === linkOf(written, previous)
}

/** What a copy of histories has, such as a file of a syslog receiver, which may hold those of many nodes and other programs' lines. */
export class CopyCheck {
  readonly #chains = new Map<string, CopiedChain>()
  #line = 0
  #other = 0
  readonly #cut: number[] = []

  add(text: string): void {
    this.#line++
    if (text.trim() === '') return
    const copied = readCopiedLine(text)
    if (copied.kind === 'other') this.#other++
    else if (copied.kind === 'cut') this.#cut.push(this.#line)
    else {
      const { recorder } = copied.entry
      const chain = this.#chains.get(recorder) ?? new CopiedChain(copied.entry)
      this.#chains.set(recorder, chain)
      chain.add(copied.entry, this.#line, copied.isAltered === true)
    }
  }

  report(): CopyReport {
    return {
      histories: Array.from(this.#chains.values(), chain => chain.report()),
      otherLines: this.#other,
      cutLines: this.#cut,
    }
  }
}

export interface CopyReport {
  readonly histories: readonly CopiedHistory[]
  /** Lines that are none of a history. */
  readonly otherLines: number
  /** Numbers of lines of which the end is missing: their entries cannot be checked. */
  readonly cutLines: readonly number[]
}
