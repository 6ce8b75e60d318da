import { status } from '@grpc/grpc-js'
import { setTimeout as delay } from 'node:timers/promises'
import type { EtcdClient } from './etcd-client.ts'
import type { EtcdEndpoint } from './etcd-endpoint.ts'
import { EtcdFailure } from './etcd-failure.ts'
import { endOfRecords } from './etcd-keys.ts'
import {
  readWatchReply,
  watchCreateRequest,
  watchProgressRequest,
  type EtcdPosition,
  type KeyValue,
  type WatchEvent,
  type WatchReply,
} from './etcd-messages.ts'

/** Where a watch puts what it hears. */
export interface WatchSink {
  /** All keys of the prefix as they were at a revision. */
  listed(kvs: readonly KeyValue[], position: EtcdPosition): void
  /** In the order of revisions; all events of each of them, up to `revision`. */
  changed(events: readonly WatchEvent[], revision: number): void
  /** Told of each failure; undefined when changes are heard of again. */
  trouble(reason: string | undefined): void
}

/** Milliseconds. */
export interface WatchTiming {
  /** A stream that brings nothing for so long is asked for a sign of life, and given up after the same time again. */
  readonly silence: number
  /** Between two attempts; grows to the second from the first. */
  readonly pauses: readonly [shortest: number, longest: number]
}

export const standardWatchTiming: WatchTiming = { silence: 5_000, pauses: [100, 5_000] }

/** Records of one answer of a list: about 1 KiB each. */
const pageSize = 1_000

/** What is to be heard of next cannot be told any more: all has to be listed. */
class Lost extends Error {}

/** A stream that ended; whether it had worked. */
interface Ended {
  readonly failure: EtcdFailure | Lost
  readonly worked: boolean
}

/** Hears of all changes under a prefix: a list, then a watch, taken up where it broke off while etcd remembers that. */
export class EtcdWatch {
  readonly #client: EtcdClient
  readonly #prefix: string
  readonly #sink: WatchSink
  readonly #timing: WatchTiming
  readonly #stop = new AbortController()
  /** Up to where all is heard; undefined: from nowhere. */
  #heard: number | undefined
  #turn: number
  /** Events of a message that goes on in the next one. */
  #pending: WatchEvent[] = []
  /** Ends the stream that is open. */
  #breakOff: () => void = () => undefined
  #running: Promise<void> | undefined

  constructor(
    client: EtcdClient,
    prefix: string,
    sink: WatchSink,
    { timing, random }: { readonly timing: WatchTiming; readonly random: () => number },
  ) {
    this.#client = client
    this.#prefix = prefix
    this.#sink = sink
    this.#timing = timing
    this.#turn = Math.floor(random() * client.endpoints.length)
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** What was heard is not what etcd has: all is listed anew. */
  begin(): void {
    this.#heard = undefined
    this.#breakOff()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #run(): Promise<void> {
    const [shortest, longest] = this.#timing.pauses
    let pause = 0
    while (!this.#isStopped()) {
      try {
        const from = this.#heard ?? (await this.#list())
        this.#heard = from
        const { failure, worked } = await this.#follow(from)
        if (failure instanceof Lost) this.#heard = undefined
        // One that had worked is taken up at once, with another member; only then there is trouble.
        if (!worked) throw failure
        pause = 0
      } catch (error) {
        if (this.#isStopped()) return
        if (!(error instanceof Lost))
          this.#sink.trouble(error instanceof Error ? lineOf(error) : String(error))
        pause = Math.min(Math.max(pause * 2, shortest), longest)
      }
      this.#turn++
      // Aborted: stopped.
      await delay(pause, undefined, { signal: this.#stop.signal }).catch(() => undefined)
    }
  }

  /** Resolves to the revision that was listed, page by page. */
  async #list(): Promise<number> {
    const rangeEnd = endOfRecords(this.#prefix)
    const kvs: KeyValue[] = []
    let key = this.#prefix
    let first: EtcdPosition | undefined
    for (;;) {
      const page = await this.#client.range({
        ...{ key, rangeEnd, limit: pageSize },
        ...(first && { revision: first.revision }),
      })
      if (first && first.cluster !== page.cluster) throw new Lost()
      first ??= page
      for (const kv of page.kvs) kvs.push(kv)
      const last = page.kvs.at(-1)
      if (!page.more || !last) break
      key = `${last.key}\0`
    }
    const { cluster, revision } = first
    if (!this.#isStopped()) this.#sink.listed(kvs, { cluster, revision })
    return revision
  }

  /** One stream, until it ends. */
  async #follow(from: number): Promise<Ended> {
    const { endpoints } = this.#client
    const endpoint = endpoints[this.#turn % endpoints.length]
    if (!endpoint) throw new Error('no endpoints')
    const token = await this.#client.token(endpoint)
    return await new Promise(resolve => {
      if (this.#isStopped()) {
        resolve({ failure: new Lost(), worked: false })
        return
      }
      let worked = false
      let lastHeard = performance.now()
      let asked = false
      let why: EtcdFailure | Lost | undefined
      const end = (failure: EtcdFailure | Lost): void => {
        why ??= failure
        stream.cancel()
      }
      const onStop = (): void => {
        end(new Lost())
      }
      this.#breakOff = onStop
      const listen = (): void => {
        const silent = performance.now() - lastHeard
        const { silence } = this.#timing
        if (silent >= 2 * silence) {
          end(silenceOf(endpoint, silent))
          return
        }
        if (silent >= silence && !asked) {
          asked = true
          stream.send(watchProgressRequest())
        }
        timer = setTimeout(listen, (asked ? 2 : 1) * silence - silent + 1)
      }
      const stream = endpoint.stream('Watch/Watch', readWatchReply, token, {
        message: reply => {
          // What still comes of a stream that was given up may be of data that is gone.
          if (why) return
          lastHeard = performance.now()
          asked = false
          const outcome = this.#take(reply, endpoint, from)
          if (outcome === 'begun') {
            worked = true
            this.#sink.trouble(undefined)
          } else if (outcome !== undefined) end(outcome)
        },
        ended: failure => {
          clearTimeout(timer)
          this.#stop.signal.removeEventListener('abort', onStop)
          const cause = why ?? failure
          // Of a watch, etcd 3.4 says of a token that it does not know only that the permission is missing.
          if (cause instanceof EtcdFailure && isAboutLogin(cause)) this.#client.forget(token)
          resolve({ failure: cause, worked })
        },
      })
      let timer = setTimeout(listen, this.#timing.silence)
      this.#stop.signal.addEventListener('abort', onStop)
      // From what was heard last, not from what follows it: a watch that begins at the very revision that was compacted
      // misses its deletions, without a word, in the etcd of Debian 12 and others of its time (etcd#18089).
      stream.send(watchCreateRequest(this.#prefix, endOfRecords(this.#prefix), from))
    })
  }

  /** What a message means for the stream; undefined: it goes on. */
  #take(reply: WatchReply, endpoint: EtcdEndpoint, from: number): EtcdFailure | Lost | 'begun' | undefined {
    const { created, canceled, compactRevision, cancelReason, events, fragment, watchId, revision } = reply
    if (canceled) {
      if (compactRevision > 0) return new Lost()
      const denied = /permission denied/.test(cancelReason)
      const code = denied ? status.PERMISSION_DENIED : status.UNAVAILABLE
      return new EtcdFailure(endpoint.url, code, cancelReason || 'the watch was cancelled')
    }
    if (created) {
      this.#pending = []
      if (!this.#client.continuity.isOf(reply.cluster)) return new Lost()
      // Of a member that lags, or of a store that was restored from a backup: a list tells which.
      return revision < from ? new Lost() : 'begun'
    }
    for (const event of events) if (event.kv.modRevision > from) this.#pending.push(event)
    if (fragment) return undefined
    const last = this.#pending.at(-1)
    if (last) {
      const told = this.#pending
      this.#pending = []
      this.#heard = last.kv.modRevision
      this.#sink.changed(told, last.kv.modRevision)
    } else if (watchId >= 0 && revision > (this.#heard ?? 0)) {
      // Told unasked, every ten minutes, and in order with events, as an answer to a request (-1) is not before 3.4.25.
      this.#heard = revision
      this.#sink.changed([], revision)
    }
    return undefined
  }
}

function lineOf(error: Error): string {
  return error instanceof EtcdFailure ? error.line : error.message
}

function silenceOf(endpoint: EtcdEndpoint, milliseconds: number): EtcdFailure {
  const text = `nothing was heard for ${Math.round(milliseconds / 1000)} s`
  return new EtcdFailure(endpoint.url, status.DEADLINE_EXCEEDED, text)
}

function isAboutLogin({ code, verdict }: EtcdFailure): boolean {
  return verdict === 'login' || code === status.PERMISSION_DENIED
}
