import type { ServerResponse } from 'node:http'
import type { ChangeEvent, HelloEvent } from '../../../shared/api/event.schema.ts'

export interface EventStreamOptions {
  readonly hello: Omit<HelloEvent, 'beatSeconds'>
  /** Milliseconds that changes are gathered for before they are told. */
  readonly quiet?: number
  /** Milliseconds between two lines when nothing happens. */
  readonly beat?: number
  /** So many read at most. */
  readonly readers?: number
}

/** Bytes that may wait for a reader; one who has more is not reading. */
const backlog = 64 * 1024
/** So many pools are named; with more of them everything is to be looked at anew. */
const mostNamed = 64

const spell = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/**
 * Tells browsers that something has changed, not what: they ask for it. While nobody reads, nothing is gathered and no
 * timer runs.
 */
export class EventStream {
  readonly #options: EventStreamOptions
  readonly #quiet: number
  readonly #beat: number
  readonly #most: number
  readonly #readers = new Set<ServerResponse>()
  #pools = new Set<string>()
  #everything = false
  #findings = false
  #flush: NodeJS.Timeout | undefined
  #beats: NodeJS.Timeout | undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.#quiet = options.quiet ?? 300
    this.#beat = options.beat ?? 10_000
    this.#most = options.readers ?? 16
  }

  get readers(): number {
    return this.#readers.size
  }

  /** false: there are as many readers as there may be, and nothing was sent. */
  open(response: ServerResponse): boolean {
    if (this.#readers.size >= this.#most) return false
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    // A browser tries again after so many milliseconds.
    response.write('retry: 2000\n\n')
    response.write(spell('hello', { ...this.#options.hello, beatSeconds: this.#beat / 1000 }))
    this.#readers.add(response)
    response.on('close', () => {
      this.#readers.delete(response)
      if (this.#readers.size === 0) this.#rest()
    })
    this.#beats ??= setInterval(() => {
      this.#send(spell('beat', {}))
    }, this.#beat)
    return true
  }

  /** An address of the pool has changed; undefined: of any. */
  changed(pool: string | undefined): void {
    if (this.#readers.size === 0) return
    if (pool === undefined || this.#pools.size >= mostNamed) this.#everything = true
    else this.#pools.add(pool)
    this.#soon()
  }

  /** What is wrong with the node has changed. */
  found(): void {
    if (this.#readers.size === 0) return
    this.#findings = true
    this.#soon()
  }

  close(): void {
    this.#rest()
    for (const reader of this.#readers) reader.destroy()
    this.#readers.clear()
  }

  /** Not put off by further changes: under load each reader hears as often, and no more. */
  #soon(): void {
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined
      const change: ChangeEvent = { pools: this.#everything ? null : [...this.#pools] }
      const texts = [
        ...(this.#everything || this.#pools.size > 0 ? [spell('change', change)] : []),
        ...(this.#findings ? [spell('findings', {})] : []),
      ]
      this.#forget()
      this.#send(texts.join(''))
    }, this.#quiet)
  }

  #send(text: string): void {
    for (const reader of this.#readers) {
      if (reader.writableLength > backlog) reader.destroy()
      else reader.write(text)
    }
  }

  #forget(): void {
    this.#pools = new Set()
    this.#everything = false
    this.#findings = false
  }

  #rest(): void {
    clearTimeout(this.#flush)
    clearInterval(this.#beats)
    this.#flush = undefined
    this.#beats = undefined
    this.#forget()
  }
}
