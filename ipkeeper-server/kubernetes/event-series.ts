/** What is to be told of a pod, or of this node. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  /** One CamelCase word that machines read. */
  readonly reason: string
  /** What people read. */
  readonly message: string
  /** What to do, which stands behind it; absent: nothing. */
  readonly remedy?: string
  /** What was being done, one CamelCase word. */
  readonly action: string
}

export interface EventSubject {
  /** Default: Pod. */
  readonly kind?: 'Node' | 'IPPool'
  /** Of what has none, the one its Events are in. */
  readonly namespace: string
  readonly name: string
  readonly uid: string | null
}

/** One event and its repetitions. */
export interface Series {
  readonly pod: EventSubject
  readonly event: PodEvent
  /** Milliseconds since the epoch. */
  readonly firstAt: number
  lastAt: number
  count: number
  /** Name of the Event object, once there is one. */
  object: string | undefined
  /** Whether it waits for being written. */
  queued: boolean
}

/** Milliseconds within which a repetition counts as one. */
export const seriesWindow = 600_000
const remembered = 1_000

/** Which events are the same: those of one pod with one reason and message, within ten minutes of each other. */
export class EventSeries {
  /** In the order of their last occurrence. */
  readonly #series = new Map<string, Series>()

  /** @param now milliseconds since the epoch */
  add(pod: EventSubject, event: PodEvent, now: number): Series {
    const key = JSON.stringify([
      pod.uid,
      pod.namespace,
      pod.name,
      event.type,
      event.reason,
      event.message,
      event.remedy,
    ])
    const known = this.#series.get(key)
    const goesOn = known !== undefined && Math.abs(now - known.lastAt) < seriesWindow
    const series: Series = goesOn
      ? known
      : { pod, event, firstAt: now, lastAt: now, count: 0, object: undefined, queued: false }
    series.count++
    series.lastAt = now
    this.#series.delete(key)
    this.#series.set(key, series)
    this.#forget(now)
    return series
  }

  #forget(now: number): void {
    for (const [key, { lastAt }] of this.#series) {
      if (this.#series.size <= remembered && Math.abs(now - lastAt) < seriesWindow) return
      this.#series.delete(key)
    }
  }
}

/** A text cut to so many bytes of UTF-8, never inside a character. */
export function clipBytes(text: string, limit: number): string {
  const encoder = new TextEncoder()
  if (encoder.encode(text).length <= limit) return text
  const mark = '...'
  const room = new Uint8Array(limit - mark.length)
  const { read } = encoder.encodeInto(text, room)
  return `${text.slice(0, read)}${mark}`
}

/** Where a text can be cut that has commands in it. */
const boundary = /[;,.] /g

/** A text with commands, cut between two of its parts; "" where not even the first one fits. */
function clipBetween(text: string, limit: number): string {
  const clipped = clipBytes(text, limit)
  if (clipped === text) return text
  const end = [...clipped.matchAll(boundary)].at(-1)?.index
  return end === undefined ? '' : `${clipped.slice(0, end)}...`
}

/** A message and its remedy in so many bytes: the end of the message goes first, since half a command is worse than none. */
export function clipNote(message: string, remedy: string, limit: number): string {
  const whole = [message, remedy].filter(part => part !== '').join('; ')
  const size = (text: string): number => Buffer.byteLength(text)
  if (size(whole) <= limit) return whole
  const least = Math.min(size(message), Math.floor(limit / 4))
  const said = clipBetween(remedy, limit - least - '; '.length)
  const behind = said === '' ? '' : `; ${said}`
  const room = limit - size(behind)
  if (size(message) <= room && said !== '') return `${message}${behind}`
  const before = size(message) <= room - '...'.length ? `${message}...` : clipBetween(message, room)
  return `${before || clipBytes(message, room)}${behind}`
}

/** So many at once, then so many per second. Knows no clock: moments are handed in, in milliseconds. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #at = -Infinity

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#tokens = burst
  }

  /** Takes one and returns 0, or takes none and returns the milliseconds until there is one. */
  take(now: number): number {
    if (now > this.#at) {
      this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond)
      this.#at = now
    }
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1000)
    this.#tokens--
    return 0
  }
}
