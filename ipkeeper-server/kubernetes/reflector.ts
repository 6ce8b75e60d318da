import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import { metadataListOnly, metadataOnly, type ApiClient } from './api-client.ts'
import { ApiError, statusError } from './api-error.ts'
import type { ClientClock, ClusterLog } from './client-context.ts'
import { IdleTimer, JsonLines } from './watch-stream.ts'
import { at, readMeta } from './kube-object.ts'
import { afterOutcome, beginning, jittered, type ListFrom, type PhaseOutcome } from './watch-progress.ts'

/** Where a reflector puts what it reads; keys are "namespace/name", or "name" outside of namespaces. */
export interface Sink<Entry> {
  /** All there is now; what is not in it has gone. */
  replace(entries: ReadonlyMap<string, Entry>): void
  put(key: string, entry: Entry): void
  remove(key: string): void
}

/** A sink that has to know at which version of the collection it is told something. */
export interface VersionedSink<Entry> {
  replace(entries: ReadonlyMap<string, Entry>, resourceVersion: string): void
  put(key: string, entry: Entry): void
  /** `last` is how it was, with the resource version of its deletion. */
  remove(key: string, last: Entry): void
  /** Nothing has happened up to this version. */
  passed?(resourceVersion: string): void
}

/** Milliseconds. */
export interface ReflectorTiming {
  /** The server is asked to end a watch after a time between this and twice this. */
  readonly watchFor: number
  /**
   * A watch that delivers no byte for this long is replaced: its peer may be gone, which TCP itself notices only after more
   * than ten minutes. apiserver sends a bookmark about once a minute, except on a watch of a resource that has not changed
   * since it started.
   */
  readonly idleLimit: number
  /** A watch that was open for so long had worked. */
  readonly proof: number
}

const standardTiming: ReflectorTiming = { watchFor: 300_000, idleLimit: 100_000, proof: 5_000 }

/** Objects per answer: nodes have 15 KiB each, and more where they hold many images. */
const standardPageSize = 250

export interface ReflectorOptions<Entry> {
  readonly client: ApiClient
  /** For status and log: "pods". */
  readonly resource: string
  /** Of the collection: "/api/v1/pods". */
  readonly path: string
  readonly fieldSelector?: string
  /** Whether entries are made of metadata alone. */
  readonly representation: 'metadata' | 'full'
  /**
   * "cache" where the selector would make the store read all there is to find a few, and where a state of some seconds ago
   * does no harm.
   */
  readonly firstList: ListFrom
  /** Objects per answer of a list. */
  readonly pageSize?: number
  /** Called once for each object as it arrives, so that what is not kept never adds up. */
  readonly project: (object: JsonObject) => Entry | undefined
  readonly sink: VersionedSink<Entry>
  /**
   * Called when a list begins: gives what judges the version of its answer by what was known then. Where that says no, the
   * server has gone back, and all is listed anew. With it the version is asked for before each watch that goes on.
   */
  readonly expect?: () => (resourceVersion: string) => boolean
  /** Whether what a list failed with is a lack that one can live with: then it is tried ever more seldom. */
  readonly canLack?: (error: unknown) => boolean
  /** What keeps it from following; undefined once it follows again. Told when it changes. */
  readonly onTrouble?: (error: Error | undefined) => void
  readonly clock: ClientClock
  readonly log: ClusterLog
  readonly timing?: Partial<ReflectorTiming>
}

export interface ReflectorStatus {
  readonly resource: string
  /** Whether a watch is open. */
  readonly connected: boolean
  /** Whether everything was listed at least once. */
  readonly synced: boolean
  /** When the server was last heard of, in milliseconds since the epoch. */
  readonly lastContact: number | undefined
  readonly lastError: { readonly at: number; readonly message: string } | undefined
}

/** What apiserver answers to a version that it does not have yet ("Too large resource version"), where it says so. */
const tooLarge = 504

/** A stream that cannot be parsed. */
class Garbled extends Error {}

/** A watch that delivered no byte for too long. */
class IdleWatch extends Error {}

/**
 * Keeps a sink equal to a collection of the API: list, then watch, resumed where it ended for as long as the server
 * still knows that moment (API concepts, "Efficient detection of changes"). What the sink holds stays in it while the
 * server is away.
 */
export class Reflector<Entry> {
  readonly #options: ReflectorOptions<Entry>
  readonly #timing: ReflectorTiming
  #stopped = false
  #running: Promise<void> | undefined
  #abort: AbortController | undefined
  #wake: (() => void) | undefined
  #connected = false
  #synced = false
  /** On the clock that never jumps. */
  #heardAt: number | undefined
  #lastError: ReflectorStatus['lastError']
  #troubled: string | undefined
  /** What is under way is of no use any more. */
  #relisting = false

  constructor(options: ReflectorOptions<Entry>) {
    this.#options = options
    this.#timing = { ...standardTiming, ...options.timing }
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#abort?.abort()
    this.#wake?.()
    await this.#running
  }

  /** The server is known to answer again: there is nothing to wait for. */
  hurry(): void {
    this.#wake?.()
  }

  /** What was heard counts no more: all is listed anew, whatever is under way. */
  relist(): void {
    this.#relisting = true
    this.#abort?.abort()
    this.#wake?.()
  }

  get synced(): boolean {
    return this.#synced
  }

  /** Milliseconds since the last contact with the server; Infinity before the first. */
  lastContactAge(): number {
    return this.#heardAt === undefined ? Infinity : this.#options.clock.monotonic() - this.#heardAt
  }

  status(): ReflectorStatus {
    const { clock, resource } = this.#options
    return {
      resource,
      connected: this.#connected,
      synced: this.#synced,
      lastContact: this.#heardAt === undefined ? undefined : clock.now() - Math.round(this.lastContactAge()),
      lastError: this.#lastError,
    }
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    let progress = beginning(this.#options.firstList)
    let last: PhaseOutcome | undefined
    let relisted = -Infinity
    while (!this.#stopped) {
      const { phase } = progress
      let outcome: PhaseOutcome
      if (this.#relisting) {
        this.#relisting = false
        // The server answers, however long it was away. One that goes back again and again is asked ever more seldom.
        outcome = { kind: 'expired', proved: clock.monotonic() - relisted > this.#timing.proof }
        relisted = clock.monotonic()
      } else if (phase.next === 'list') outcome = await this.#list(phase.from)
      else {
        const ahead = this.#mayBeAhead(last) ? await this.#lookAhead(phase.resourceVersion) : undefined
        outcome = ahead ?? (await this.#watch(phase.resourceVersion))
      }
      if (this.#mustRelist()) continue
      last = outcome
      const step = afterOutcome(progress, outcome)
      progress = step.progress
      await this.#sleep(jittered(step.pause, clock.random()))
    }
  }

  /** It may have been told so while something was waited for. */
  #mustRelist(): boolean {
    return this.#relisting
  }

  /**
   * Whether the server may not have come as far as the next watch is to begin: it was restored from a backup. Such a watch
   * is not refused, and tells nothing until the server has come as far once more.
   */
  #mayBeAhead(last: PhaseOutcome | undefined): boolean {
    if (this.#options.expect) return last?.kind !== 'listed'
    return last?.kind === 'silent' || (last?.kind === 'failed' && last.status === tooLarge)
  }

  /** undefined: it has come as far. */
  async #lookAhead(from: string): Promise<PhaseOutcome | undefined> {
    const { client, path, fieldSelector, firstList } = this.#options
    try {
      const holds = this.#options.expect?.()
      const answer = await client.get(path, {
        accept: metadataListOnly,
        query: {
          ...(fieldSelector !== undefined && { fieldSelector }),
          ...(firstList === 'cache' && { resourceVersion: '0' }),
          limit: '1',
        },
      })
      this.#heard()
      const version = String(at(answer, 'metadata', 'resourceVersion'))
      const isBehind = holds ? !holds(version) : Number(version) < Number(from)
      return isBehind || this.#relisting ? { kind: 'expired', proved: false } : undefined
    } catch (error) {
      return this.#failed(error, from, false)
    }
  }

  async #sleep(milliseconds: number): Promise<void> {
    if (milliseconds === 0 || this.#stopped || this.#relisting) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }

  async #list(from: ListFrom): Promise<PhaseOutcome> {
    const { client, path, fieldSelector, representation, sink, pageSize = standardPageSize } = this.#options
    const entries = new Map<string, Entry>()
    const holds = this.#options.expect?.()
    let proceed = ''
    try {
      for (;;) {
        const answer = await client.get(path, {
          ...(representation === 'metadata' && { accept: metadataListOnly }),
          query: {
            ...(fieldSelector !== undefined && { fieldSelector }),
            ...(from === 'cache' ? { resourceVersion: '0' } : { limit: String(pageSize) }),
            ...(proceed !== '' && { continue: proceed }),
          },
        })
        if (this.#stopped || this.#relisting) return { kind: 'expired', proved: false }
        this.#heard()
        // An empty list of metadata has null for its items.
        const items = answer['items'] ?? []
        const resourceVersion = at(answer, 'metadata', 'resourceVersion')
        if (!Array.isArray(items) || typeof resourceVersion !== 'string' || resourceVersion === '') {
          throw new ApiError(`GET ${path}: the answer is no list`)
        }
        for (const item of items) this.#take(item, (key, entry) => entries.set(key, entry))
        const next = at(answer, 'metadata', 'continue')
        if (typeof next !== 'string' || next === '') {
          if (holds?.(resourceVersion) === false) return { kind: 'expired', proved: false }
          sink.replace(entries, resourceVersion)
          this.#synced = true
          return { kind: 'listed', resourceVersion }
        }
        proceed = next
      }
    } catch (error) {
      return this.#failed(error, undefined, false)
    }
  }

  async #watch(from: string): Promise<PhaseOutcome> {
    const { clock } = this.#options
    const { idleLimit, proof } = this.#timing
    const abort = new AbortController()
    this.#abort = abort
    const startedAt = clock.monotonic()
    let resourceVersion = from
    let events = 0
    const proved = (): boolean => events > 0 || clock.monotonic() - startedAt >= proof
    const idle = new IdleTimer(idleLimit, clock.monotonic, () => {
      abort.abort(new IdleWatch())
    })
    try {
      const stream = await this.#openWatch(from, abort.signal)
      this.#connected = true
      this.#heard()
      this.#recovered()
      idle.start()
      const lines = new JsonLines()
      for await (const chunk of stream) {
        idle.touch()
        this.#heard()
        for (const line of lines.push(chunk)) {
          if (this.#relisting) return { kind: 'expired', proved: false }
          resourceVersion = this.#apply(line)
          events++
        }
      }
      return { kind: 'ended', resourceVersion, proved: proved() }
    } catch (error) {
      // Not yet trouble: where nothing happens, a server may have nothing to say. The next watch decides.
      if (abort.signal.reason instanceof IdleWatch) return { kind: 'silent', resourceVersion }
      return this.#failed(error, resourceVersion, proved())
    } finally {
      idle.stop()
      this.#connected = false
      this.#abort = undefined
      abort.abort()
    }
  }

  async #openWatch(
    resourceVersion: string,
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<ApiClient['watch']>>> {
    const { client, path, fieldSelector, representation, clock } = this.#options
    const seconds = Math.ceil((this.#timing.watchFor * (1 + clock.random())) / 1000)
    const query = {
      ...{ watch: 'true', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds: String(seconds) },
      ...(fieldSelector !== undefined && { fieldSelector }),
    }
    return await client.watch(
      path,
      { ...(representation === 'metadata' && { accept: metadataOnly }), query },
      signal,
    )
  }

  /** Carries out one event; returns the resource version from which the watch could now go on. */
  #apply(line: string): string {
    const { path, sink } = this.#options
    let event: unknown
    try {
      event = JSON.parse(line)
    } catch {
      throw new Garbled(`GET ${path}: an event is no JSON`)
    }
    const type = isJsonObject(event) ? event['type'] : undefined
    const object = isJsonObject(event) ? event['object'] : undefined
    if (type === 'ERROR') throw statusError(`GET ${path}`, 500, object)
    if (type === 'BOOKMARK' && isJsonObject(object)) {
      const resourceVersion = at(object, 'metadata', 'resourceVersion')
      if (typeof resourceVersion === 'string' && resourceVersion !== '') {
        sink.passed?.(resourceVersion)
        return resourceVersion
      }
    }
    if (type === 'ADDED' || type === 'MODIFIED') {
      return this.#take(object, (key, entry) => {
        sink.put(key, entry)
      })
    }
    if (type === 'DELETED') {
      return this.#take(object, (key, last) => {
        sink.remove(key, last)
      })
    }
    throw new Garbled(`GET ${path}: an event of no known type`)
  }

  #take(object: unknown, keep: (key: string, entry: Entry) => void): string {
    const meta = isJsonObject(object) ? readMeta(object, () => false) : undefined
    const entry = isJsonObject(object) && meta ? this.#options.project(object) : undefined
    if (!meta || entry === undefined)
      throw new Garbled(`GET ${this.#options.path}: an object without metadata`)
    keep(meta.namespace === undefined ? meta.name : `${meta.namespace}/${meta.name}`, entry)
    return meta.resourceVersion
  }

  #failed(error: unknown, resourceVersion: string | undefined, proved: boolean): PhaseOutcome {
    if (this.#stopped || this.#relisting) return { kind: 'expired', proved: false }
    if (error instanceof ApiError && error.status === 410) return { kind: 'expired', proved }
    const wasCut = proved && error instanceof ApiError && error.status === undefined
    this.#trouble(error instanceof Error ? error : new Error(String(error)), wasCut)
    if (!(error instanceof ApiError) && resourceVersion !== undefined) {
      return { kind: 'garbled', resourceVersion, proved }
    }
    const { status, retryAfter } =
      error instanceof ApiError ? error : { status: undefined, retryAfter: undefined }
    const canWait = resourceVersion === undefined && this.#options.canLack?.(error) === true
    return { kind: 'failed', status, retryAfter, resourceVersion, proved, canWait }
  }

  #heard(): void {
    this.#heardAt = this.#options.clock.monotonic()
  }

  /**
   * One line in the log for a trouble, not one for each attempt, and none for a watch that was cut after it had worked:
   * load balancers cut what is quiet, every few minutes. If the server is away, the next attempt tells.
   */
  #trouble(error: Error, wasCut: boolean): void {
    const { clock, log, resource, client, onTrouble } = this.#options
    const { message } = error
    this.#lastError = { at: clock.now(), message }
    if (wasCut || this.#troubled === message) return
    this.#troubled = message
    log.warn(
      { resource, server: client.server, reason: message },
      'cannot follow the Kubernetes API; trying on',
    )
    onTrouble?.(error)
  }

  #recovered(): void {
    const { log, resource, client, onTrouble } = this.#options
    if (this.#troubled === undefined) return
    this.#troubled = undefined
    log.info({ resource, server: client.server }, 'following the Kubernetes API again')
    onTrouble?.(undefined)
  }
}
