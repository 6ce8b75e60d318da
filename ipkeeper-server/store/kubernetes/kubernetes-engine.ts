import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { leaseKey, type ReservationRecord } from '../../ipam/records/records.ts'
import type { ApiClient } from '../../kubernetes/api-client.ts'
import { ApiError } from '../../kubernetes/api-error.ts'
import { systemClock, type ClientClock, type ClusterLog } from '../../kubernetes/client-context.ts'
import { Reflector, type ReflectorTiming } from '../../kubernetes/reflector.ts'
import {
  EngineAway,
  type Engine,
  type EngineFeed,
  type EngineRecord,
  type EngineWrite,
  type SharedKind,
} from '../shared/engine.ts'
import { ApiContinuity } from './api-continuity.ts'
import { isConflict, judgeFailure, KindRefused } from './api-failure.ts'
import { holderSpec } from './holder-object.ts'
import {
  isKept,
  kinds,
  nameInNamespace,
  objectNames,
  readObjectEntry,
  unreadable,
  type KeptKind,
  type ObjectEntry,
} from './object-entry.ts'
import { KubernetesHistory } from './kubernetes-history.ts'
import { ObjectNews } from './object-news.ts'
import { ObjectWriter } from './object-writer.ts'
import { planWrite } from './plan-write.ts'
import { PoolGuard, type PoolGuardOptions } from './pool-guard.ts'
import type { PoolReader } from './pool-in-force.ts'
import { readApiRecord } from './read-object.ts'
import { ReservationBook } from './reservation-book.ts'
import { apiVersion, collectionPath, resources, type ResourceKind } from './resources.ts'

export interface KubernetesEngineOptions {
  /** The engine's own: it is closed with it. */
  readonly client: ApiClient
  readonly log: ClusterLog
  readonly readPool: PoolReader
  /** Whether leases of the pool of this name are bound or kept; undefined while that is not known. */
  readonly isPoolInUse: PoolGuardOptions['isPoolInUse']
  /** Namespace of reservations whose owner is no pod. */
  readonly externalNamespace?: string
  /** Milliseconds that a call may take. */
  readonly deadlineMs?: number
  readonly clock?: ClientClock
  readonly timing?: Partial<ReflectorTiming>
}

/** Objects per answer of a list: each has about a kilobyte. */
const pageSize = 1000
const standardDeadline = 10_000
/** Milliseconds for which no record of a node is written after the server has refused one. */
const refusedFor = 600_000

/**
 * Records as custom resources. An IPLease or IPHolder is one record each, an IPReservation one for each of its addresses; an
 * IPPool that people made is a pool that no daemon changes. Revisions are resource versions, which the API server compares.
 */
export class KubernetesEngine implements Engine {
  readonly kind = 'kubernetes'
  readonly location: string
  readonly fences = false
  readonly history: KubernetesHistory
  readonly #options: KubernetesEngineOptions
  readonly #deadline: number
  readonly #clock: ClientClock
  readonly #client: ApiClient
  readonly #writer: ObjectWriter
  readonly #news: Readonly<Record<ResourceKind, ObjectNews<ObjectEntry>>>
  readonly #reflectors: readonly Reflector<ObjectEntry>[]
  readonly #reservations: ReservationBook
  readonly #continuity: ApiContinuity
  /** Keys of records by the names of their objects. */
  readonly #keys: Readonly<Record<KeptKind, Map<string, string>>> = {
    lease: new Map(),
    holder: new Map(),
    reservation: new Map(),
    pool: new Map(),
    node: new Map(),
  }
  /** Why objects cannot be read, by kind and name. */
  readonly #faults = new Map<string, string>()
  readonly #madeByPeople = new Set<string>()
  readonly #guard: PoolGuard
  readonly #toldTwice = new Set<string>()
  readonly #troubles = new Map<ResourceKind, string>()
  #trouble: string | undefined
  /** Collections that are still to be heard of. */
  readonly #unsynced = new Set<ResourceKind>(Object.values(kinds))
  /** Why no records of nodes are kept; an upgrade of the daemons may come before that of their rights and resources. */
  #lack: { readonly reason: KindRefused; readonly until: number } | undefined
  /** Why what was heard is not what the API has; until all collections are listed anew. */
  #broken: string | undefined
  /** All that was heard until all collections were listed once. */
  #first: Map<string, EngineRecord> | undefined = new Map()
  #feed: EngineFeed | undefined

  constructor(options: KubernetesEngineOptions) {
    const { client, log, clock = systemClock, timing = {}, deadlineMs = standardDeadline } = options
    this.#options = options
    this.#deadline = deadlineMs
    this.#clock = clock
    this.#client = client
    this.location = client.server
    this.history = new KubernetesHistory(client)
    this.#reservations = new ReservationBook({
      put: record => {
        this.#put(record)
      },
      remove: key => {
        this.#remove('reservation', key)
      },
      twice: (key, counts, ignored) => {
        this.#sayTwice(key, counts, ignored)
      },
    })
    this.#guard = new PoolGuard({
      client,
      clock,
      isPoolInUse: options.isPoolInUse,
      onProblem: (name, error) => {
        const reason = error instanceof Error ? error.message : String(error)
        log.warn({ kind: 'IPPool', name, reason }, 'an object cannot be kept from going while it is in use')
      },
    })
    this.#news = {
      IPLease: this.#newsOf('lease'),
      IPHolder: this.#newsOf('holder'),
      IPPool: this.#newsOf('pool'),
      IPReservation: this.#newsOf('reservation'),
      IPNode: this.#newsOf('node'),
    }
    const newest = (): number => Math.max(...Object.values(this.#news).map(news => news.newest))
    this.#continuity = new ApiContinuity(newest, reason => {
      this.#break(reason)
    })
    this.#writer = new ObjectWriter({
      client,
      clock,
      continuity: this.#continuity,
      witness: {
        written: (kind, object) => {
          this.#answered(kind, object)
        },
        deleted: (kind, object, base) => {
          this.#news[kind].toldGone(nameInNamespace(object), base)
        },
        newest,
      },
    })
    this.#reflectors = Object.values<ResourceKind>(kinds).map(
      kind =>
        new Reflector<ObjectEntry>({
          client,
          log,
          clock,
          timing,
          resource: resources[kind].plural,
          path: collectionPath(kind),
          representation: 'full',
          firstList: 'store',
          pageSize,
          project: object => readObjectEntry(kind, object, options.readPool),
          sink: this.#news[kind],
          expect: () => {
            const start = this.#continuity.begin()
            return version => this.#continuity.holds(Number(version), start)
          },
          ...(kind === 'IPNode' && {
            canLack: error => judgeFailure(error, kind, 'list') instanceof KindRefused,
          }),
          onTrouble: error => {
            this.#troubled(kind, error)
          },
        }),
    )
  }

  get ignores(): readonly SharedKind[] {
    return this.lacks === undefined ? ['quota', 'mac', 'ending'] : ['quota', 'mac', 'ending', 'node']
  }

  get lacks(): string | undefined {
    if (this.#lack && this.#lack.until <= this.#clock.monotonic()) this.#lack = undefined
    if (!this.#lack) return undefined
    const { message, remedy } = this.#lack.reason
    return `no records of nodes are kept: ${message}; ${remedy}`
  }

  start(feed: EngineFeed): void {
    this.#feed = feed
    for (const reflector of this.#reflectors) reflector.start()
  }

  async stop(): Promise<void> {
    this.#guard.stop()
    const stopping = this.#reflectors.map(reflector => reflector.stop())
    // A list that is under way ends with its connection.
    await this.#client.close()
    await Promise.all(stopping)
  }

  /** A dry run has the server check rights and schema, and that it can read what is there. */
  async probe(): Promise<void> {
    const spec = holderSpec({
      generation: 1,
      holder: { kind: 'container', network: 'probe', containerId: 'probe', ifname: 'probe' },
      attachment: null,
      leases: [],
    })
    const kind = 'IPHolder'
    const manifest = { apiVersion, kind, metadata: { generateName: 'probe-' }, spec }
    await this.#writer.send(kind, 'create', this.#clock.monotonic() + this.#deadline, timeout =>
      this.#client.post(collectionPath(kind), manifest, { query: { dryRun: 'All' }, timeout }),
    )
    if (this.#trouble !== undefined) for (const reflector of this.#reflectors) reflector.hurry()
  }

  /** A creation may still come late: the API has nothing that all objects of a commit could be compared with. */
  async fence(): Promise<void> {
    await this.probe()
  }

  async read(kind: SharedKind, key: string): Promise<EngineRecord | undefined> {
    if (!isKept(kind) || this.ignores.includes(kind)) return undefined
    this.#expectHeard()
    const until = this.#clock.monotonic() + this.#deadline
    if (kind === 'reservation') return await this.#readReservation(key, until)
    const resource = kinds[kind]
    const name = objectNames[kind](key)
    // A list tells as of when there was none, which an object that is not there cannot.
    const { items, resourceVersion } = await this.#list(resource, until, `metadata.name=${name}`)
    const [object] = items
    if (!object) {
      this.#news[resource].toldGone(name, resourceVersion)
      return undefined
    }
    const entry = this.#answered(resource, object)
    if (entry.fault !== undefined) throw unreadable(resource, name, entry.fault)
    if (entry.key !== key) throw unreadable(resource, name, 'it is of another record')
    return { kind, key, text: JSON.stringify(entry.records[0]), revision: entry.revision }
  }

  async commit(writes: readonly EngineWrite[]): Promise<readonly (number | null)[]> {
    this.#expectHeard()
    const { ignores } = this
    const { externalNamespace = 'default' } = this.#options
    const objects = {
      reservations: this.#reservations,
      madeByPeople: this.#madeByPeople,
      externalNamespace,
    }
    const planned = writes.map(write =>
      isKept(write.kind) && write.text !== undefined && !ignores.includes(write.kind)
        ? planWrite(write.kind, { ...write, text: write.text }, objects)
        : undefined,
    )
    const present = planned.filter(what => what !== undefined)
    const made = present.filter(({ spec }) => spec !== null)
    const steps = [
      made.filter(({ kind }) => kind === 'IPHolder'),
      made.filter(({ kind }) => kind === 'IPLease'),
      made.filter(({ kind }) => kind !== 'IPHolder' && kind !== 'IPLease'),
      present.filter(({ spec }) => spec === null),
    ]
    let revisions
    try {
      revisions = await this.#writer.commit(steps, this.#deadline)
    } catch (error) {
      if (!(error instanceof KindRefused && error.kind === 'IPNode')) throw error
      this.#setLack(error, this.#clock.monotonic() + refusedFor)
      return await this.commit(writes)
    }
    return planned.map((what, index) => {
      const write = writes[index]
      if (!write || write.text === null) return null
      if (write.text === undefined) return write.base
      // Nobody can tell the versions of what is not kept.
      if (!what) return 0
      return write.kind === 'reservation'
        ? (this.#reservations.get(write.key)?.revision ?? null)
        : (revisions.get(what) ?? null)
    })
  }

  // ---- Objects to records

  #answered(kind: ResourceKind, object: JsonObject): ObjectEntry {
    const meta = readApiRecord(object)
    const entry = readObjectEntry(kind, object, this.#options.readPool)
    if (!meta || !entry) throw new EngineAway(`the Kubernetes API gave something for an ${kind} that is none`)
    this.#news[kind].told(nameInNamespace(meta), entry)
    return entry
  }

  #newsOf(kind: KeptKind): ObjectNews<ObjectEntry> {
    const keys = this.#keys[kind]
    const resource = kinds[kind]
    return new ObjectNews<ObjectEntry>({
      put: (name, entry) => {
        this.#setFault(resource, name, entry.fault)
        if (resource === 'IPPool') {
          if (entry.byPeople) {
            this.#madeByPeople.add(name)
            this.#guard.put(entry.byPeople)
            // What it said before stays in force.
            if (entry.fault !== undefined) return
          } else this.#madeByPeople.delete(name)
        }
        if (kind === 'reservation') {
          const records = entry.records as readonly ReservationRecord[]
          this.#reservations.put(name, { ...entry, records })
          return
        }
        const [record] = entry.records
        const before = keys.get(name)
        if (before !== undefined && before !== entry.key) this.#remove(kind, before)
        if (!record) {
          keys.delete(name)
          return
        }
        keys.set(name, entry.key)
        this.#put({ kind, key: entry.key, text: JSON.stringify(record), revision: entry.revision })
      },
      remove: (name, revision) => {
        this.#setFault(resource, name, undefined)
        if (resource === 'IPPool') {
          this.#madeByPeople.delete(name)
          this.#guard.remove(name)
        }
        if (kind === 'reservation') this.#reservations.remove(name, revision)
        const key = keys.get(name)
        keys.delete(name)
        if (key !== undefined) this.#remove(kind, key)
      },
      broke: reason => {
        this.#continuity.break(reason)
      },
      synced: () => {
        this.#heardOf(resource)
      },
    })
  }

  #heardOf(resource: ResourceKind): void {
    this.#unsynced.delete(resource)
    if (this.#unsynced.size > 0 || !this.#first) return
    const all = [...this.#first.values()]
    this.#first = undefined
    this.#broken = undefined
    // A collection that is lacking was not listed.
    const listed = Object.values(this.#news).flatMap(({ newest }) => (newest > 0 ? [newest] : []))
    this.#feed?.replace(all, { revision: Math.min(...listed) })
    this.#guard.start()
  }

  /** The API has other data than it had: nothing of what was heard counts, and nothing is written before all was heard anew. */
  #break(reason: string): void {
    this.#broken = reason
    for (const name of this.#madeByPeople) this.#guard.remove(name)
    this.#madeByPeople.clear()
    this.#reservations.clear()
    this.#faults.clear()
    for (const keys of Object.values(this.#keys)) keys.clear()
    for (const news of Object.values(this.#news)) news.reset()
    this.#first = new Map()
    for (const kind of Object.values<ResourceKind>(kinds)) this.#unsynced.add(kind)
    // What is lacking is not listed, and nobody waits for it.
    if (this.#lack?.until === Infinity) this.#unsynced.delete('IPNode')
    this.#feed?.broke(reason)
    for (const reflector of this.#reflectors) reflector.relist()
  }

  #expectHeard(): void {
    if (this.#broken !== undefined) throw new EngineAway(`the Kubernetes API: ${this.#broken}`)
  }

  #put(record: EngineRecord): void {
    if (this.#first) this.#first.set(`${record.kind} ${record.key}`, record)
    else this.#feed?.put(record)
  }

  #remove(kind: KeptKind, key: string): void {
    if (this.#first) this.#first.delete(`${kind} ${key}`)
    else this.#feed?.remove(kind, key)
  }

  // ---- Asking

  async #readReservation(key: string, until: number): Promise<EngineRecord | undefined> {
    const { items, resourceVersion } = await this.#list('IPReservation', until)
    const entries = items.flatMap((object): [string, ObjectEntry][] => {
      const meta = readApiRecord(object)
      const entry = readObjectEntry('IPReservation', object, this.#options.readPool)
      return meta && entry ? [[nameInNamespace(meta), entry]] : []
    })
    this.#news.IPReservation.listed(new Map(entries), resourceVersion)
    const promised = this.#reservations.get(key)
    const record = promised?.object.records.find(one => leaseKey(one) === key)
    if (!promised || !record) return undefined
    return { kind: 'reservation', key, text: JSON.stringify(record), revision: promised.revision }
  }

  /** The newest state there is, and its version (API concepts, "Resource versions": unset is the most recent). */
  async #list(
    kind: ResourceKind,
    until: number,
    fieldSelector?: string,
  ): Promise<{ readonly items: readonly JsonObject[]; readonly resourceVersion: number }> {
    const items: JsonObject[] = []
    const start = this.#continuity.begin()
    let proceed = ''
    for (;;) {
      const query = {
        ...(fieldSelector !== undefined && { fieldSelector }),
        ...(fieldSelector === undefined && { limit: String(pageSize) }),
        ...(proceed !== '' && { continue: proceed }),
      }
      const answer = await this.#writer
        .send(kind, 'list', until, timeout => this.#client.get(collectionPath(kind), { query, timeout }))
        .catch((error: unknown) => {
          throw isConflict(error) ? judgeFailure(error, kind, 'list') : error
        })
      const { metadata } = answer
      if (Array.isArray(answer['items'])) items.push(...answer['items'].filter(isJsonObject))
      const more = isJsonObject(metadata) ? metadata['continue'] : undefined
      if (typeof more !== 'string' || more === '') {
        const version = Number(isJsonObject(metadata) ? metadata['resourceVersion'] : undefined)
        if (!this.#continuity.holds(version, start)) this.#continuity.expectSame(start)
        return { items, resourceVersion: version }
      }
      proceed = more
    }
  }

  // ---- Telling

  #setFault(kind: ResourceKind, name: string, fault: string | undefined): void {
    const id = `${kind} ${name}`
    if (fault === undefined) {
      this.#faults.delete(id)
      return
    }
    if (this.#faults.get(id) === fault) return
    this.#faults.set(id, fault)
    this.#options.log.warn(
      { kind, name, reason: fault },
      `${resources[kind].singular} ${name}: ${fault}; it is left alone, and what it said before stays in force`,
    )
  }

  #sayTwice(key: string, counts: string, ignored: string): void {
    const id = JSON.stringify([key, counts, ignored])
    if (this.#toldTwice.has(id)) return
    this.#toldTwice.add(id)
    const [segment, address] = JSON.parse(key) as [string, string]
    this.#options.log.warn(
      { segment, address, counts, ignored },
      'two IPReservations promise one address: the older one counts',
    )
  }

  #setLack(reason: KindRefused, until: number): void {
    if (this.#lack?.reason.message !== reason.message)
      this.#options.log.warn(
        { reason: reason.message, hint: reason.hint },
        'no records of nodes are kept; all else goes on',
      )
    this.#lack = { reason, until }
  }

  #troubled(kind: ResourceKind, error: Error | undefined): void {
    const judged = error instanceof ApiError ? judgeFailure(error, kind, 'list') : error
    if (kind === 'IPNode') {
      if (!judged) this.#lack = undefined
      if (judged instanceof KindRefused) {
        this.#setLack(judged, Infinity)
        this.#heardOf(kind)
        return
      }
    }
    if (judged) this.#troubles.set(kind, judged.message)
    else this.#troubles.delete(kind)
    const [reason] = this.#troubles.values()
    if (reason === this.#trouble) return
    this.#trouble = reason
    this.#feed?.trouble(reason)
  }
}
