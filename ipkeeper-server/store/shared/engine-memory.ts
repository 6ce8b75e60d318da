import { epochOf, firstEpoch } from '../../ipam/records/node-record.ts'
import type { NodeRecord } from '../../ipam/records/records.ts'
import type { EnginePosition, EngineRecord } from './engine.ts'
import { endedElsewhere } from './endings.ts'
import type { Note } from './journal.ts'
import { recordId } from '../../ipam/records/records.ts'

/** As it stands in the journal. */
interface Remembered extends EnginePosition {
  /** Another engine: what is remembered is not about it. */
  readonly location: string
  readonly epoch: number
  /** Whether a node was heard to have told in that epoch. Absent in a journal of old: by then nothing was waited for, or it is unknown. */
  readonly told?: boolean
  /** Nodes that the engine had records of, but for those that are gone for good. */
  readonly nodes: readonly string[]
  /** By names of this node: how another machine stands to them. */
  readonly others?: Readonly<Record<string, Sharing>>
  /** What a loss was found by, while it is made good. */
  readonly loss?: { readonly reason: string; readonly since: number }
}

/** Another machine has claimed a name of this node, or had before this one. */
export type Sharing = 'has it' | 'had it'

export const foundBy = ({ name }: NodeRecord): string => `node ${name} has found that it lost records`

export const lacksNode = (name: string): string => `it has no record of node ${name} any more`

export interface HeardAll {
  readonly records: readonly EngineRecord[]
  readonly position: EnginePosition
  /** Leases that are bound here by the journal, and no commit is under way for: IDs, and the revisions that they had at the least. */
  readonly bound: ReadonlyMap<string, number>
  /** The revision that a record had when it was last heard of here. */
  readonly revisionOf: (record: EngineRecord) => number | undefined
  readonly isOwn: (node: string) => boolean
  /** Whether this is the first list of this run, and nothing was written before it. */
  readonly isFirst: boolean
  readonly keepsNodes: boolean
  /** Whether the engine keeps traces of what other nodes have ended, so that a missing lease was lost. */
  readonly keepsEndings: boolean
}

/** What this node remembers of an engine, beyond the records: by it one knows that the engine has lost some. */
export class EngineMemory {
  readonly #location: string
  #position: EnginePosition | undefined
  /** The newest revision since the last list; one that is under way may be older. */
  #passed = 0
  #epoch = firstEpoch
  #isTold = true
  #nodes = new Set<string>()
  #others = new Map<string, Sharing>()
  #loss: Remembered['loss']
  #isNew = true

  constructor(location: string) {
    this.#location = location
  }

  /** Takes note of what the journal has. */
  found(text: string): void {
    const {
      location,
      epoch,
      told,
      nodes,
      others = {},
      loss,
      cluster,
      revision,
    } = JSON.parse(text) as Remembered
    if (location !== this.#location) return
    this.#isNew = false
    this.#epoch = epoch
    this.#isTold = told ?? loss === undefined
    this.#nodes = new Set(nodes)
    this.#others = new Map(Object.entries(others))
    this.#loss = loss
    this.#position = { ...(cluster !== undefined && { cluster }), revision }
  }

  /** Whether this journal has nothing about the engine. */
  get isNew(): boolean {
    return this.#isNew
  }

  get epoch(): number {
    return this.#epoch
  }

  get loss(): Remembered['loss'] {
    return this.#loss
  }

  /** Of this node's names, those that another machine has or had. An engine that forgets a claim does not make it another's. */
  get others(): ReadonlyMap<string, Sharing> {
    return this.#others
  }

  /** Whether that is to be noted. */
  shares(name: string, how: Sharing): boolean {
    const before = this.#others.get(name)
    this.#others.set(name, how)
    return before !== how
  }

  /** Nodes that the engine had records of. */
  get nodes(): ReadonlySet<string> {
    return this.#nodes
  }

  note(): Note {
    const remembered: Remembered = {
      location: this.#location,
      epoch: this.#epoch,
      told: this.#isTold,
      nodes: [...this.#nodes].sort(),
      ...(this.#others.size > 0 && { others: Object.fromEntries(this.#others) }),
      ...(this.#loss && { loss: this.#loss }),
      ...this.#position,
      revision: Math.max(this.#position?.revision ?? 0, this.#passed),
    }
    return { kind: 'engine', key: '', text: JSON.stringify(remembered) }
  }

  /** Why the engine must have lost records, by all that it has now; undefined when nothing says so. */
  lossIn({
    records,
    position,
    bound,
    revisionOf,
    isOwn,
    isFirst,
    keepsNodes,
    keepsEndings,
  }: HeardAll): string | undefined {
    if (this.#isNew) return undefined
    const nodes = records
      .filter(({ kind }) => kind === 'node')
      .map(({ text }) => JSON.parse(text) as NodeRecord)
    const ahead = nodes.find(node => epochOf(node) > this.#epoch)
    if (ahead) return foundBy(ahead)
    const before = this.#position
    if (
      before?.cluster !== undefined &&
      position.cluster !== undefined &&
      before.cluster !== position.cluster
    )
      return `it is another cluster (ID ${position.cluster}) than it was (${before.cluster}): its data was recreated, or restored from a snapshot`
    const passed = Math.max(before?.revision ?? 0, ...(isFirst ? bound.values() : []))
    if (position.revision < passed)
      return `it has gone back from revision ${passed} to ${position.revision}: it was restored from a snapshot`
    const isBack = this.#isTold && nodes.length > 0 && nodes.every(node => epochOf(node) < this.#epoch)
    if (keepsNodes && isBack)
      return 'it has no record of an earlier loss after which nodes reported what they hold: it was restored from a snapshot'
    const there = new Map(records.map(record => [recordId(record), record]))
    const older = records.find(record => record.revision < (revisionOf(record) ?? 0))
    if (older) return `it has ${older.kind} ${older.key} in an older version than before`
    for (const node of keepsNodes ? this.#nodes : [])
      if (!there.has(recordId({ kind: 'node', key: node }))) return lacksNode(node)
    const ended = endedElsewhere(records, isOwn)
    for (const [id, revision] of bound) {
      const present = there.get(id)
      if (present && present.revision < revision) return `it has ${id} in an older version than before`
      if (!present && keepsEndings && !ended.has(id))
        return `it has no ${id} any more, which is bound here and was never released`
    }
    return undefined
  }

  /** A loss was found. `newest` is the epoch of the node that has got farthest. */
  lost(reason: string, newest: number, since: number): void {
    this.#isTold = newest > this.#epoch
    this.#epoch = this.#isTold ? newest : this.#epoch + 1
    this.#loss = { reason, since }
    this.#isNew = false
  }

  /** Nobody is waited for any more. */
  isWhole(): void {
    this.#loss = undefined
  }

  /** All of the engine was heard. */
  heard(position: EnginePosition): void {
    this.#position = position
    this.#passed = 0
    this.#isNew = false
  }

  /** Something of this revision was heard of: no list of a later run is older. */
  passed(revision: number): void {
    if (revision > this.#passed) this.#passed = revision
  }

  /** Whether that is to be noted. */
  sees(node: NodeRecord): boolean {
    const { size } = this.#nodes
    const [epoch, wasTold] = [this.#epoch, this.#isTold]
    if (node.gone) this.#nodes.delete(node.name)
    else this.#nodes.add(node.name)
    if (epochOf(node) >= epoch) {
      this.#epoch = epochOf(node)
      this.#isTold = true
    }
    return this.#nodes.size !== size || this.#epoch !== epoch || this.#isTold !== wasTold
  }

  /** A record that was no node's is gone. Whether that is to be noted. */
  misses(name: string): boolean {
    return this.#nodes.delete(name)
  }
}
