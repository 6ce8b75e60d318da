import { randomBytes } from 'node:crypto'
import type { ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { resourcePath } from './api-path.ts'
import type { ClientClock, ClusterLog } from './client-context.ts'
import {
  clipNote,
  EventSeries,
  seriesWindow,
  type EventSubject,
  type PodEvent,
  type Series,
  TokenBucket,
} from './event-series.ts'
import { backoff, jittered } from './watch-progress.ts'

/** Where decisions about pods are told; never waits and never fails. */
export interface EventRecorder {
  record(pod: EventSubject, event: PodEvent): void
}

export interface EventCounts {
  readonly queued: number
  readonly written: number
  /** Not written: the queue was full, the API refused, or it was away for too long. */
  readonly dropped: number
}

/**
 * events.k8s.io/v1 and not the older core v1, which shows the same objects: it knows `series`, so that a repetition is
 * a small patch, and it has fields for who reports, which core v1 has only since it borrowed them.
 */
const apiVersion = 'events.k8s.io/v1'
const reportingController = 'ipkeeper.io/ipkeeper-server'
/** Limits that the API sets (events.k8s.io/v1, validation). */
const longestNote = 1024
const longestName = 128

const queueLimit = 500
/** client-go writes as many for one object; here they are for one node. */
const perSecond = 5
const burst = 25
/** Milliseconds that `stop` waits for what is still queued. */
const lastWords = 1_000

/** "2026-11-21T10:00:00.000000Z": MicroTime takes six digits and nothing else. */
const microTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z')

/** Writes Events on pods, one at a time and behind everybody's back. */
export class ApiEventRecorder implements EventRecorder {
  readonly #client: ApiClient
  readonly #node: string
  readonly #clock: ClientClock
  readonly #log: ClusterLog
  readonly #series = new EventSeries()
  readonly #queue: Series[] = []
  readonly #bucket = new TokenBucket(perSecond, burst)
  #written = 0
  #dropped = 0
  #failures = 0
  #draining: Promise<void> | undefined
  #wake: (() => void) | undefined
  #stopped = false
  #complained = false

  constructor(client: ApiClient, node: string, clock: ClientClock, log: ClusterLog) {
    this.#client = client
    this.#node = node
    this.#clock = clock
    this.#log = log
  }

  record(pod: EventSubject, event: PodEvent): void {
    if (this.#stopped) return
    const series = this.#series.add(pod, event, this.#clock.now())
    if (series.queued) return
    series.queued = true
    this.#queue.push(series)
    if (this.#queue.length > queueLimit) this.#drop(this.#queue.shift())
    this.#draining ??= this.#drain().finally(() => (this.#draining = undefined))
  }

  counts(): EventCounts {
    return { queued: this.#queue.length, written: this.#written, dropped: this.#dropped }
  }

  /** Gives what is queued a moment to be written; what is under way then ends with the client. */
  async stop(): Promise<void> {
    const draining = this.#draining
    if (draining && this.#failures === 0) {
      let timer: NodeJS.Timeout | undefined
      await Promise.race([
        draining,
        new Promise<void>(resolve => {
          timer = setTimeout(resolve, lastWords)
        }),
      ])
      clearTimeout(timer)
    }
    this.#stopped = true
    this.#wake?.()
    for (const series of this.#queue.splice(0)) this.#drop(series)
  }

  async #drain(): Promise<void> {
    while (!this.#stopped) {
      const [series] = this.#queue
      if (!series) return
      if (Math.abs(this.#clock.now() - series.lastAt) >= seriesWindow) {
        this.#drop(this.#queue.shift())
        continue
      }
      await this.#sleep(this.#bucket.take(this.#clock.monotonic()), () =>
        this.#bucket.take(this.#clock.monotonic()),
      )
      if (this.#queue[0] !== series) continue
      this.#queue.shift()
      series.queued = false
      await this.#write(series)
    }
  }

  /** Sleeps, and again for as long as `more` says. */
  async #sleep(milliseconds: number, more: () => number = () => 0): Promise<void> {
    for (let left = milliseconds; left > 0 && !this.#stopped; left = more()) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = undefined
    }
  }

  async #write(series: Series): Promise<void> {
    try {
      await (series.object === undefined ? this.#create(series) : this.#repeat(series))
      this.#written++
      this.#failures = 0
    } catch (error) {
      const { status = 0, retryAfter = 0 } = error instanceof ApiError ? error : { status: 400 }
      if (status === 404 && series.object !== undefined) {
        // Events expire, after an hour as a rule.
        series.object = undefined
        this.#again(series)
      } else if (status >= 400 && status < 500 && ![401, 408, 429].includes(status)) {
        this.#dropped++
        this.#complain(error)
      } else {
        this.#again(series)
        this.#failures++
        const pause = Math.max(backoff(this.#failures), 2 * retryAfter)
        await this.#sleep(jittered(pause, this.#clock.random()))
      }
    }
  }

  #again(series: Series): void {
    if (series.queued || this.#stopped) return
    series.queued = true
    this.#queue.unshift(series)
  }

  #drop(series: Series | undefined): void {
    if (!series) return
    series.queued = false
    this.#dropped++
  }

  /** Once: a right that is missing, or a name that is none, would otherwise be told with every event. */
  #complain(error: unknown): void {
    if (this.#complained) return
    this.#complained = true
    const reason = error instanceof Error ? error.message : String(error)
    this.#log.warn({ reason }, 'an Event was refused; further refusals are only counted')
  }

  async #create(series: Series): Promise<void> {
    const { pod, event, firstAt } = series
    const name = `${pod.name.slice(0, 230).replace(/[^a-z0-9]+$/, '')}.${randomBytes(8).toString('hex')}`
    await this.#client.post(resourcePath(apiVersion, 'events', { namespace: pod.namespace }), {
      apiVersion,
      kind: 'Event',
      metadata: { namespace: pod.namespace, name },
      eventTime: microTime(firstAt),
      reportingController,
      reportingInstance: this.#node.slice(0, longestName),
      regarding: {
        apiVersion: pod.kind === 'IPPool' ? 'ipkeeper.io/v1alpha1' : 'v1',
        kind: pod.kind ?? 'Pod',
        ...(pod.kind === undefined && { namespace: pod.namespace }),
        name: pod.name,
        ...(pod.uid !== null && { uid: pod.uid }),
      },
      type: event.type,
      reason: event.reason.slice(0, longestName),
      action: event.action.slice(0, longestName),
      note: clipNote(event.message, event.remedy ?? '', longestNote),
      ...(series.count > 1 && { series: repetitions(series) }),
    })
    series.object = name
  }

  async #repeat(series: Series): Promise<void> {
    const { namespace } = series.pod
    const path = resourcePath(apiVersion, 'events', { namespace, name: series.object ?? '' })
    await this.#client.patch(path, { series: repetitions(series) })
  }
}

function repetitions({ count, lastAt }: Series): object {
  return { count, lastObservedTime: microTime(lastAt) }
}
