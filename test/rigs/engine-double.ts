/**
 * An engine for several nodes within this process, true to the contract of store/shared/engine.ts, with switches for what
 * goes wrong between a node and its engine. What a real engine does by itself is tested with the real ones.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  EngineAway,
  isGuard,
  type Engine,
  type EngineFeed,
  type SharedKind,
  type EngineRecord,
  type EngineWrite,
} from '../../ipkeeper-server/store/shared/engine.ts'
import { StoreConflict } from '../../ipkeeper-server/store/lease-store.ts'
import { Problem } from '../../shared/problem/problem.ts'

/**
 * What becomes of a commit. `conflict`: refused as if somebody had been quicker. `refused`: for good, such as for a
 * missing right. `untold`: so many of its writes are carried out, and then nothing is heard of it. `late`: so many
 * milliseconds after its caller has given it up it is carried out after all, if it then still can be.
 */
export type Fate =
  'carried out' | 'conflict' | 'refused' | { readonly untold: number } | { readonly late: number }

/** Of one node's connection. */
export interface EngineSwitches {
  /** `refuses`: calls fail at once, as at a closed port. `silent`: after the deadline. No news comes either way. */
  readonly away: false | 'refuses' | 'silent'
  /** Milliseconds that a call takes until it is carried out, and again until its caller is told; asked for each. */
  readonly slowMs: number | (() => number)
  /** Milliseconds by which news comes later. */
  readonly lagMs: number
  /** No news comes, and nothing says why: a watch that was lost. */
  readonly deaf: boolean
  /** Asked for each commit. */
  readonly fate: (writes: readonly EngineWrite[]) => Fate
}

export interface NodeEngineOptions {
  readonly ignores?: readonly SharedKind[]
  /** Writes are carried out one by one and taken back when a later one conflicts, as without transactions. */
  readonly piecewise?: boolean
  /** Default: 100. */
  readonly deadlineMs?: number
}

/** One node's view of the engine. */
export interface NodeEngine extends Engine {
  turn(switches: Partial<EngineSwitches>): void
  /** Commits that were asked of it so far. */
  commits(): number
}

interface Version {
  readonly kind: SharedKind
  readonly key: string
  readonly text: string | null
  readonly revision: number
}

function stamped({ kind, key, text, revision }: Version): EngineRecord | undefined {
  return text === null ? undefined : { kind, key, text, revision }
}

const idOf = ({ kind, key }: Pick<Version, 'kind' | 'key'>): string => JSON.stringify([kind, key])

export interface Snapshot {
  readonly records: readonly EngineRecord[]
  readonly revision: number
}

/** What all nodes share. */
export class EngineDouble {
  /** The newest version of each record that there is or was. */
  readonly #newest = new Map<string, Version>()
  /** Oldest first, without gaps, up to the present revision. */
  #log: Version[] = []
  #revision = 0
  readonly #wakes = new Set<() => void>()
  /** Grows when the data becomes other data in a way that the engine tells of. */
  #life = 1

  /** All there is, to go back to. */
  snapshot(): Snapshot {
    return { records: this.records(), revision: this.#revision }
  }

  /**
   * Goes back to what it was; without a snapshot, to nothing. `seen`: by the engine itself, as by another cluster ID or a
   * revision that went back; else all that nodes hear is a list.
   */
  restore(snapshot: Snapshot = { records: [], revision: 0 }, seen = true): void {
    this.#newest.clear()
    for (const { kind, key, text, revision } of snapshot.records)
      this.#newest.set(idOf({ kind, key }), { kind, key, text, revision })
    this.#log = []
    if (seen) {
      this.#revision = snapshot.revision
      this.#life++
    } else this.#revision = Math.max(this.#revision, snapshot.revision) + 1_000_000
    for (const wake of this.#wakes) wake()
  }

  /** All records, read past every node. */
  records(): readonly EngineRecord[] {
    return [...this.#newest.values()].flatMap(version => stamped(version) ?? [])
  }

  get(kind: SharedKind, key: string): EngineRecord | undefined {
    const version = this.newest({ kind, key })
    return version && stamped(version)
  }

  /** Writes whatever is there, past every node. `text` null deletes. */
  put(kind: SharedKind, key: string, text: string | null): void {
    this.#apply({ kind, key, text })
  }

  /** Forgets all versions but the present ones: a node that is behind has to begin anew. */
  compact(): void {
    this.#log = []
  }

  connect(options: NodeEngineOptions = {}): NodeEngine {
    return new Connection(this, options)
  }

  // ---- For connections

  get revision(): number {
    return this.#revision
  }

  get life(): number {
    return this.#life
  }

  newest(record: Pick<Version, 'kind' | 'key'>): Version | undefined {
    return this.#newest.get(idOf(record))
  }

  /** The version after a revision that is not the present one; undefined: it is forgotten. */
  after(revision: number): Version | undefined {
    const [oldest] = this.#log
    return oldest && this.#log[revision + 1 - oldest.revision]
  }

  onChange(wake: () => void): () => void {
    this.#wakes.add(wake)
    return () => this.#wakes.delete(wake)
  }

  /** The first of the writes whose record is not at its base. */
  conflictOf(writes: readonly EngineWrite[]): EngineWrite | undefined {
    return writes.find(write => (this.get(write.kind, write.key)?.revision ?? null) !== write.base)
  }

  /** Carries out all writes, whatever is there. */
  carryOut(writes: readonly EngineWrite[]): readonly Version[] {
    return writes.flatMap(({ kind, key, text }) =>
      text === undefined ? [] : this.#apply({ kind, key, text }),
    )
  }

  #apply({ kind, key, text }: Omit<Version, 'revision'>): Version {
    const version = { kind, key, text, revision: ++this.#revision }
    this.#newest.set(idOf(version), version)
    this.#log.push(version)
    for (const wake of this.#wakes) wake()
    return version
  }
}

class Connection implements NodeEngine {
  readonly kind = 'double'
  readonly location = 'in this process'
  readonly ignores: readonly SharedKind[]
  readonly fences = false
  readonly #engine: EngineDouble
  readonly #piecewise: boolean
  readonly #deadlineMs: number
  #switches: EngineSwitches = {
    away: false,
    slowMs: 0,
    lagMs: 0,
    deaf: false,
    fate: () => 'carried out',
  }
  #commits = 0
  #feed: EngineFeed | undefined
  #trouble: string | undefined
  /** Up to which revision news was given; undefined: nothing yet. */
  #heard: number | undefined
  /** The newest revision of each record that a caller was told of. */
  readonly #told = new Map<string, number>()
  #pumping = false
  /** Of the engine, as far as this node has noticed. */
  #life: number
  #isBroken = false
  #unwatch: () => void = () => undefined
  #stopped = false

  constructor(
    engine: EngineDouble,
    { ignores = [], piecewise = false, deadlineMs = 100 }: NodeEngineOptions,
  ) {
    this.#engine = engine
    this.#life = engine.life
    this.ignores = ignores
    this.#piecewise = piecewise
    this.#deadlineMs = deadlineMs
  }

  turn(switches: Partial<EngineSwitches>): void {
    this.#switches = { ...this.#switches, ...switches }
    this.#wake()
  }

  commits(): number {
    return this.#commits
  }

  start(feed: EngineFeed): void {
    this.#feed = feed
    this.#unwatch = this.#engine.onChange(() => {
      this.#wake()
    })
    this.#wake()
  }

  async read(kind: SharedKind, key: string): Promise<EngineRecord | undefined> {
    await this.#reach()
    const { life } = this.#engine
    const version = this.#engine.newest({ kind, key })
    await this.#tell()
    this.#expectSame(life)
    // Who hears of a guard goes by what stands behind it, and so the feed comes first.
    if (version && isGuard(kind)) await this.#catchUp(version)
    if (version) this.#remember(version)
    return version && stamped(version)
  }

  async commit(writes: readonly EngineWrite[]): Promise<readonly (number | null)[]> {
    this.#commits++
    await this.#reach()
    this.#expectSame()
    const { life } = this.#engine
    const kept = writes.filter(({ kind }) => !this.ignores.includes(kind))
    const fate = this.#switches.fate(writes)
    const [first] = kept
    if (fate === 'refused') throw new Problem('IPK_STORE_FAILED', 'the engine refuses this')
    if (fate === 'conflict' && first) throw new StoreConflict(first.kind, first.key)
    if (typeof fate === 'object' && 'late' in fate) {
      const away = await this.#noAnswer()
      setTimeout(() => {
        if (!this.#engine.conflictOf(kept)) this.#engine.carryOut(kept)
      }, fate.late)
      throw away
    }
    if (typeof fate === 'object') {
      if (!this.#engine.conflictOf(kept)) this.#engine.carryOut(kept.slice(0, fate.untold))
      throw await this.#noAnswer()
    }
    const versions = this.#piecewise ? await this.#oneByOne(kept) : this.#allAtOnce(kept)
    await this.#tell()
    this.#expectSame(life)
    for (const version of versions) this.#remember(version)
    const told = [...versions]
    // A kind that it has no use for gets a revision that nothing is ever compared with.
    return writes.map(write => {
      if (write.text === undefined) return write.base
      const version = kept.includes(write) ? told.shift() : undefined
      return write.text === null ? null : (version?.revision ?? 0)
    })
  }

  async probe(): Promise<void> {
    await this.#reach()
    await this.#tell()
  }

  /** What is on its way may come late, as with an engine that cannot see to it. */
  async fence(): Promise<void> {
    await this.probe()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#unwatch()
    return Promise.resolve()
  }

  // ---- Calls

  /** What a caller is told, the feed has heard, unless it heard of something newer. */
  #remember(version: Version): void {
    const id = idOf(version)
    if (this.#heard === undefined || version.revision <= Math.max(this.#heard, this.#told.get(id) ?? 0))
      return
    this.#told.set(id, version.revision)
    this.#give(version)
  }

  /** As etcd's client does: behind a quota or a MAC stands what the feed told, which has to come as far. */
  async #catchUp({ text, revision }: Version): Promise<void> {
    const isAhead = (): boolean => text !== null && revision > (this.#heard ?? 0)
    if (isAhead()) await delay(Math.min(this.#switches.lagMs, this.#deadlineMs))
    if (isAhead()) throw new EngineAway('its watch lags behind')
  }

  #give(version: Version): void {
    const record = stamped(version)
    if (record) this.#feed?.put(record)
    else this.#feed?.remove(version.kind, version.key)
  }

  /** As etcd's clients notice with each answer. `life`: of the engine that gave it. */
  #expectSame(life = this.#engine.life): void {
    if (this.#life !== this.#engine.life) {
      this.#life = this.#engine.life
      this.#isBroken = true
      this.#heard = undefined
      this.#told.clear()
      this.#feed?.broke('it has gone back')
      this.#wake()
    }
    if (this.#isBroken || life !== this.#life) throw new EngineAway('the engine has gone back')
  }

  #allAtOnce(writes: readonly EngineWrite[]): readonly Version[] {
    const conflict = this.#engine.conflictOf(writes)
    if (conflict) throw new StoreConflict(conflict.kind, conflict.key)
    return this.#engine.carryOut(writes)
  }

  async #oneByOne(writes: readonly EngineWrite[]): Promise<readonly Version[]> {
    const done: (readonly [version: Version, before: Version | undefined])[] = []
    for (const write of writes) {
      const before = this.#engine.newest(write)
      if (this.#engine.conflictOf([write])) {
        for (const [version, previous] of done.reverse()) this.#takeBack(version, previous?.text ?? null)
        throw new StoreConflict(write.kind, write.key)
      }
      for (const version of this.#engine.carryOut([write])) done.push([version, before])
      await delay(this.#slowness())
    }
    return done.map(([version]) => version)
  }

  #takeBack({ kind, key, text, revision }: Version, before: string | null): void {
    const back = { kind, key, base: text === null ? null : revision, text: before }
    if (!this.#engine.conflictOf([back])) this.#engine.carryOut([back])
  }

  async #reach(): Promise<void> {
    const slowMs = this.#slowness()
    if (slowMs > 0) await delay(Math.min(slowMs, this.#deadlineMs))
    if (this.#stopped) throw new EngineAway('the engine was stopped')
    if (this.#switches.away === 'refuses') throw new EngineAway('the engine refuses connections')
    if (this.#switches.away === 'silent' || slowMs > this.#deadlineMs) throw await this.#noAnswer()
  }

  #slowness(): number {
    const { slowMs } = this.#switches
    return typeof slowMs === 'number' ? slowMs : slowMs()
  }

  async #tell(): Promise<void> {
    const slowMs = this.#slowness()
    if (slowMs > 0) await delay(slowMs)
    if (this.#switches.away !== false) throw await this.#noAnswer()
  }

  async #noAnswer(): Promise<EngineAway> {
    await delay(this.#deadlineMs)
    return new EngineAway(`no answer within ${this.#deadlineMs} ms`)
  }

  // ---- News

  #wake(): void {
    if (this.#pumping || this.#feed === undefined) return
    this.#pumping = true
    void this.#pump(this.#feed).finally(() => {
      this.#pumping = false
      if (this.#hasNews()) this.#wake()
    })
  }

  #hasNews(): boolean {
    const { away, deaf } = this.#switches
    // Other data may be of the same revision.
    const isBehind = this.#heard !== this.#engine.revision || this.#life !== this.#engine.life
    return !this.#stopped && away === false && !deaf && isBehind
  }

  async #pump(feed: EngineFeed): Promise<void> {
    do {
      // Never within the call that made the news.
      await delay(this.#switches.lagMs)
      if (this.#stopped) return
      const { away } = this.#switches
      const trouble =
        away === false ? undefined : `the engine ${away === 'silent' ? 'is silent' : 'refuses connections'}`
      if (trouble !== this.#trouble) feed.trouble((this.#trouble = trouble))
      if (!this.#hasNews()) return
      this.#hear(feed)
    } while (this.#hasNews())
  }

  /** Gives all news that there is. */
  #hear(feed: EngineFeed): void {
    if (this.#life !== this.#engine.life) {
      this.#life = this.#engine.life
      this.#heard = undefined
      this.#told.clear()
      feed.broke('it has gone back')
    }
    while (this.#heard !== this.#engine.revision) {
      const version = this.#heard === undefined ? undefined : this.#engine.after(this.#heard)
      if (version === undefined) {
        this.#heard = this.#engine.revision
        this.#isBroken = false
        const records = this.#engine.records().filter(({ kind }) => !this.ignores.includes(kind))
        feed.replace(records, { cluster: String(this.#life), revision: this.#heard })
        return
      }
      this.#heard = version.revision
      if (this.ignores.includes(version.kind) || version.revision <= (this.#told.get(idOf(version)) ?? 0))
        continue
      this.#give(version)
    }
  }
}
