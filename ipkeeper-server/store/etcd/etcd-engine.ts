import { randomBytes } from 'node:crypto'
import { Problem } from '../../../shared/problem/problem.ts'
import { StoreConflict } from '../lease-store.ts'
import {
  EngineAway,
  type Engine,
  type EngineFeed,
  type SharedKind,
  type EngineRecord,
  type EngineWrite,
} from '../shared/engine.ts'
import { isGuard, type SharedRecordName } from '../shared/engine.ts'
import type { EtcdAccess } from './etcd-access.ts'
import { AnswerLost, EtcdClient } from './etcd-client.ts'
import { EtcdFence } from './etcd-fence.ts'
import { EtcdHistory } from './etcd-history.ts'
import { fenceKey, fromEtcdKey, toEtcdKey } from './etcd-keys.ts'
import type { EtcdPosition, KeyValue, TxnReply, TxnRequest, WatchEvent } from './etcd-messages.ts'
import { readValue, etcdSchemaVersion, writeValue } from './etcd-values.ts'
import { EtcdWatch, standardWatchTiming, type WatchTiming } from './etcd-watch.ts'

export interface EtcdEngineOptions {
  readonly access: EtcdAccess
  /** Of all keys; ends with "/". */
  readonly prefix: string
  /** This one. */
  readonly node: string
  /** Milliseconds that a call may take. */
  readonly deadlineMs?: number
  readonly watch?: WatchTiming
  /** From 0 to below 1. */
  readonly random?: () => number
}

/** Milliseconds that a reading waits until the feed has come as far. */
const catchUpMs = 2_000

/** Milliseconds that have to be left for another try. */
const againMs = 50

/** What a caller was told of a key: what the feed tells must not be older. */
interface Told {
  readonly revision: number
  readonly record: EngineRecord | undefined
}

/** A reading that is under way, and may wait for the feed. */
interface Reading {
  readonly etcdKey: string
  /** What the feed told of this key since the reading began. */
  fed: Told | undefined
  /** Up to where the feed has to come; undefined while etcd has not answered. */
  revision: number | undefined
  readonly caughtUp: PromiseWithResolvers<boolean>
}

/** A record that cannot be used: where it is, and what is wrong with it. */
function unusable(etcdKey: string, why: string): Problem {
  return new Problem('IPK_STORE_FAILED', `etcd: ${etcdKey} is ${why}`, {
    hint: `update ipkeeper on this node to a version that knows schema ${etcdSchemaVersion + 1} or later; if the key was written by hand, delete or correct it`,
  })
}

/**
 * Records in etcd: one key each, all of a commit in one transaction, which compares the mod_revision of every key it
 * writes. See Engine for the contract.
 */
export class EtcdEngine implements Engine {
  readonly kind = 'etcd'
  readonly location: string
  readonly ignores: readonly SharedKind[] = []
  readonly fences = true
  readonly history: EtcdHistory
  readonly #client: EtcdClient
  readonly #fence: EtcdFence
  readonly #prefix: string
  readonly #deadlineMs: number
  readonly #watchOptions: { readonly timing: WatchTiming; readonly random: () => number }
  /** Of this run of the daemon; with a number behind it, of a commit. */
  readonly #author: string
  #commits = 0
  #feed: EngineFeed | undefined
  #watch: EtcdWatch | undefined
  /** Up to which revision the feed has heard. */
  #passed = 0
  readonly #told = new Map<string, Told>()
  readonly #readings = new Set<Reading>()
  /** Records of a newer ipkeeper, and what is none: what is wrong with them, by key. */
  readonly #unusable = new Map<string, string>()
  #unheard: string | undefined
  #reported: string | undefined
  /** Why what was heard is not what etcd has; until all is listed anew. */
  #broken: string | undefined

  constructor(options: EtcdEngineOptions) {
    const { access, prefix, node, deadlineMs = 5_000, watch, random = Math.random } = options
    this.location = access.endpoints.join(',')
    this.#client = new EtcdClient(access, deadlineMs, random, reason => {
      this.#break(reason)
    })
    this.history = new EtcdHistory(this.#client, prefix)
    this.#fence = new EtcdFence(this.#client, fenceKey(prefix, node))
    this.#prefix = prefix
    this.#deadlineMs = deadlineMs
    this.#watchOptions = { timing: watch ?? standardWatchTiming, random }
    this.#author = randomBytes(6).toString('hex')
  }

  start(feed: EngineFeed): void {
    this.#feed = feed
    const sink = {
      listed: (kvs: readonly KeyValue[], position: EtcdPosition) => {
        this.#listed(feed, kvs, position)
      },
      changed: (events: readonly WatchEvent[], revision: number) => {
        this.#changed(feed, events, revision)
      },
      trouble: (reason: string | undefined) => {
        this.#unheard = reason
        this.#report()
      },
    }
    this.#watch = new EtcdWatch(this.#client, this.#prefix, sink, this.#watchOptions)
    this.#watch.start()
  }

  async read(kind: SharedKind, key: string): Promise<EngineRecord | undefined> {
    this.#expectHeard()
    const ends = performance.now() + this.#deadlineMs
    const etcdKey = toEtcdKey(this.#prefix, kind, key)
    const reading: Reading = {
      ...{ etcdKey, fed: undefined, revision: undefined },
      caughtUp: Promise.withResolvers(),
    }
    this.#readings.add(reading)
    try {
      const { kvs, revision } = await this.#client.range({ key: etcdKey })
      const [kv] = kvs
      const record = kv && this.#usable({ kind, key }, kv)
      const read = { revision: kv?.modRevision ?? revision, record }
      const isAhead = record !== undefined && this.#feed !== undefined && read.revision > this.#passed
      // Who hears of a guard goes by what stands behind it, and so the watch comes first.
      if (isAhead && isGuard(kind)) await this.#catchUp(reading, read, ends)
      const told = this.#tell({ kind, key }, etcdKey, read)
      if (isAhead && !isGuard(kind)) await this.#catchUp(reading, told, ends)
      const { fed } = reading
      return fed && fed.revision > told.revision ? fed.record : told.record
    } finally {
      this.#readings.delete(reading)
    }
  }

  async commit(writes: readonly EngineWrite[]): Promise<readonly (number | null)[]> {
    if (writes.length === 0) return []
    this.#expectHeard()
    const keys = writes.map(({ kind, key }) => toEtcdKey(this.#prefix, kind, key))
    const keyed = writes.map((write, index) => ({ ...write, etcdKey: keys[index] ?? '' }))
    this.#refuseClaims(writes)
    const by = `${this.#author}.${(this.#commits++).toString(36)}`
    const { reply, repeated } = await this.#carryOut({
      compare: keyed.map(({ etcdKey, base }) => ({ key: etcdKey, modRevision: base ?? 0 })),
      success: keyed.flatMap(({ etcdKey, text }) =>
        text === undefined
          ? []
          : [text === null ? { delete: etcdKey } : { put: etcdKey, value: writeValue(by, text) }],
      ),
      failure: keys.map(get => ({ get })),
    })
    const revision = reply.succeeded
      ? reply.revision
      : this.#refused(writes, reply, repeated ? by : undefined)
    return keyed.map(({ kind, key, etcdKey, base, text }) => {
      if (text === undefined) return base
      const record = text === null ? undefined : { kind, key, text, revision }
      this.#tell({ kind, key }, etcdKey, { revision, record })
      return text === null ? null : revision
    })
  }

  /**
   * A transaction behind the fence. Where an answer is lost, the fence is raised, and it is tried again: now either it was
   * carried out, or it never will be.
   */
  async #carryOut(request: TxnRequest): Promise<{ readonly reply: TxnReply; readonly repeated: boolean }> {
    const ends = performance.now() + this.#deadlineMs
    const { key } = this.#fence
    let lost: AnswerLost | undefined
    for (;;) {
      // Found meanwhile: what is compared here was heard of other data.
      this.#expectHeard()
      let revision: number | undefined
      try {
        revision = await this.#fence.revision(ends)
        const compare = [{ key, modRevision: revision }, ...request.compare]
        const failure = [{ get: key }, ...request.failure]
        const reply = await this.#client.txn({ ...request, compare, failure }, ends)
        if (reply.succeeded) return { reply, repeated: false }
        const [fence, ...found] = reply.found
        if (fence?.modRevision === revision)
          return { reply: { ...reply, found }, repeated: lost !== undefined }
        this.#fence.drop(revision)
        // Nobody takes it away, and each write makes it newer.
        if ((fence?.modRevision ?? 0) < revision)
          this.#client.continuity.break(
            `etcd has ${key} ${fence ? `as of revision ${fence.modRevision}` : 'no more'}, which was written at ${revision}`,
          )
        this.#expectHeard()
      } catch (error) {
        if (revision !== undefined && error instanceof AnswerLost && ends - performance.now() > againMs) {
          lost = error
          this.#fence.drop(revision)
        } else throw error instanceof EngineAway ? error : (lost ?? error)
      }
    }
  }

  /** What etcd has is not what it had: nothing is written before it is known what there is. */
  #break(reason: string): void {
    this.#broken = reason
    this.#fence.forget()
    this.#feed?.broke(reason)
    this.#watch?.begin()
  }

  #expectHeard(): void {
    if (this.#broken !== undefined) throw new EngineAway(`etcd: ${this.#broken}`)
  }

  async fence(): Promise<void> {
    await this.#fence.raise(performance.now() + this.#deadlineMs)
  }

  async probe(): Promise<void> {
    // Never done, and yet it needs a majority, the right to write and room for it.
    const key = `${this.#prefix}probe`
    await this.#client.repeat({
      compare: [{ key, versionBelow: 0 }],
      success: [{ put: key, value: '' }],
      failure: [],
    })
  }

  async stop(): Promise<void> {
    const ended = this.#watch?.stop()
    this.#client.close()
    await ended
  }

  /**
   * While there are records of a newer ipkeeper, what is new is refused: what they say of addresses and quotas is not
   * known. What changes or ends a record that was read goes on.
   */
  #refuseClaims(writes: readonly EngineWrite[]): void {
    if (!writes.some(({ base, text }) => base === null && typeof text === 'string')) return
    for (const [etcdKey, why] of this.#unusable) throw unusable(etcdKey, why)
  }

  /**
   * A transaction whose comparisons did not hold: throws, unless it was carried out after all.
   *
   * @param by where an earlier attempt of it may have been carried out, what that has put into each value
   * @returns the revision at which it was
   */
  #refused(writes: readonly EngineWrite[], { found }: TxnReply, by: string | undefined): number {
    const others = writes.flatMap((write, index) => {
      const kv = found[index]
      return (kv?.modRevision ?? null) === write.base ? [] : [{ ...write, kv }]
    })
    if (by !== undefined) {
      for (const kv of found) {
        const value = kv && readValue(kv.value)
        if (value && 'by' in value && value.by === by) return kv.modRevision
      }
      // It would have changed every record that it writes.
      const [changed, written] = [others, writes].map(
        all => all.filter(({ text }) => text !== undefined).length,
      )
      if (changed === written)
        throw new EngineAway('etcd: an answer was lost, and the records have been changed since')
    }
    for (const { kind, key, kv } of others) {
      if (kv) this.#usable({ kind, key }, kv)
    }
    const [first] = others
    if (!first) throw new EngineAway('etcd: a comparison failed, and yet all records are as they were')
    throw new StoreConflict(first.kind, first.key)
  }

  /** Throws IPK_STORE_FAILED for a record that must not be misread. */
  #usable({ kind, key }: { readonly kind: SharedKind; readonly key: string }, kv: KeyValue): EngineRecord {
    const value = readValue(kv.value)
    if ('text' in value) return { kind, key, text: value.text, revision: kv.modRevision }
    throw unusable(kv.key, value.unreadable)
  }

  /**
   * Remembers what a caller is told, and lets the feed hear of it: news of an older version may just have come, and would
   * count until the watch has got there. What is newer stays, and is returned.
   */
  #tell({ kind, key }: SharedRecordName, etcdKey: string, told: Told): Told {
    const before = this.#told.get(etcdKey)
    if (before && before.revision > told.revision) return before
    if (this.#feed !== undefined && told.revision <= this.#passed) return told
    this.#told.set(etcdKey, told)
    // Before the first list there is nothing that it could be news to.
    if (this.#passed > 0) {
      if (told.record) this.#feed?.put(told.record)
      else this.#feed?.remove(kind, key)
    }
    return told
  }

  /** So that a plan made next sees all that was there at the moment of the reading. */
  async #catchUp(reading: Reading, { revision, record }: Told, ends: number): Promise<void> {
    const { promise, resolve } = reading.caughtUp
    reading.revision = revision
    const timer = setTimeout(resolve, Math.min(catchUpMs, Math.max(ends - performance.now(), 0)), false)
    const inTime = await promise
    clearTimeout(timer)
    // Behind a quota or a MAC stands what the feed told; all else stands for itself.
    if (!inTime && record && isGuard(record.kind))
      throw new EngineAway(
        `etcd: its watch lags behind${this.#unheard === undefined ? '' : `: ${this.#unheard}`}`,
      )
  }

  #listed(feed: EngineFeed, kvs: readonly KeyValue[], position: EtcdPosition): void {
    const { revision } = position
    // What was told out of other data has no meaning.
    if (this.#broken !== undefined) this.#told.clear()
    this.#broken = undefined
    const records = new Map<string, EngineRecord>()
    this.#unusable.clear()
    for (const kv of kvs) {
      const record = this.#recordOf(kv)
      if (record) records.set(kv.key, record)
    }
    for (const [etcdKey, told] of this.#told) {
      if (told.revision <= revision) continue
      if (told.record) records.set(etcdKey, told.record)
      else records.delete(etcdKey)
    }
    feed.replace([...records.values()], position)
    this.#pass(revision)
    this.#report()
  }

  #changed(feed: EngineFeed, events: readonly WatchEvent[], revision: number): void {
    for (const { type, kv } of events) {
      const told = this.#told.get(kv.key)
      const isNews = told === undefined || told.revision < kv.modRevision
      const named = fromEtcdKey(this.#prefix, kv.key)
      if (!named) continue
      let record: EngineRecord | undefined
      if (type === 'put') {
        record = this.#recordOf(kv)
        // What it was before is the best that is known of it.
        if (!record || !isNews) continue
        feed.put(record)
      } else {
        this.#unusable.delete(kv.key)
        if (!isNews) continue
        feed.remove(named.kind, named.key)
      }
      for (const reading of this.#readings)
        if (reading.etcdKey === kv.key) reading.fed = { revision: kv.modRevision, record }
    }
    this.#pass(revision)
    this.#report()
  }

  /** undefined for what is no record of ours, or not to be used. */
  #recordOf(kv: KeyValue): EngineRecord | undefined {
    const named = fromEtcdKey(this.#prefix, kv.key)
    if (!named) return undefined
    const value = readValue(kv.value)
    if ('text' in value) {
      this.#unusable.delete(kv.key)
      return { ...named, text: value.text, revision: kv.modRevision }
    }
    this.#unusable.set(kv.key, value.unreadable)
    return undefined
  }

  #pass(revision: number): void {
    this.#passed = revision
    this.#client.continuity.passed(revision)
    for (const [etcdKey, told] of this.#told) if (told.revision <= revision) this.#told.delete(etcdKey)
    for (const reading of this.#readings)
      if (reading.revision !== undefined && reading.revision <= revision) reading.caughtUp.resolve(true)
  }

  #report(): void {
    const [newer] = this.#unusable
    const reason = this.#unheard ?? (newer && `${newer[0]} is ${newer[1]}`)
    if (reason === this.#reported) return
    this.#reported = reason
    this.#feed?.trouble(reason)
  }
}
