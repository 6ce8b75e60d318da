import type { ChangeEvent, HelloEvent } from '../../../../shared/api/event.schema.ts'
import type { Contact } from './freshness.ts'

export interface LiveEventHooks {
  readonly onHello: (hello: HelloEvent) => void
  readonly onChange: (change: ChangeEvent) => void
  readonly onFindings: () => void
}

/** Milliseconds until a connection that was refused is tried again; a browser does so by itself only for one that broke. */
const retryAfter = 3_000

/**
 * The daemon's notices of changes, while somebody looks: a page in the background closes its connection, of which a browser
 * has six for all pages of one address.
 */
export class LiveEvents {
  readonly #hooks: LiveEventHooks
  #source: EventSource | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #heardAt: number | undefined
  #beat = 10_000

  constructor(hooks: LiveEventHooks) {
    this.#hooks = hooks
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#close()
      else this.#open()
    })
    this.#open()
  }

  get contact(): Contact {
    return { heardAt: this.#heardAt, beat: this.#beat, open: this.#source?.readyState === EventSource.OPEN }
  }

  #open(): void {
    this.#close()
    if (document.hidden) return
    const source = new EventSource('/v1/events')
    this.#source = source
    const on = (name: string, hear: (data: unknown) => void): void => {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        this.#heardAt = performance.now()
        hear(JSON.parse(data))
      })
    }
    on('hello', data => {
      const hello = data as HelloEvent
      this.#beat = hello.beatSeconds * 1000
      this.#hooks.onHello(hello)
    })
    on('change', data => {
      this.#hooks.onChange(data as ChangeEvent)
    })
    on('findings', () => {
      this.#hooks.onFindings()
    })
    on('beat', () => undefined)
    source.addEventListener('error', () => {
      if (source.readyState !== EventSource.CLOSED) return
      this.#retry = setTimeout(() => {
        this.#open()
      }, retryAfter)
    })
  }

  #close(): void {
    clearTimeout(this.#retry)
    this.#source?.close()
    this.#source = undefined
  }
}
