import { statePulse } from '../shared/state-pulse.ts'

/** A complete HTTP reply. */
export interface HttpReply {
  readonly status: number
  readonly body: Buffer
  /** Whether the daemon says that the state folder takes writes (shared/state-pulse.ts). */
  readonly stateFolderBeats?: true
}

/** What was received is no HTTP/1.1 reply, or more than we take. The message says what is wrong with it. */
export class ReplyFormatError extends Error {
  override readonly name = 'ReplyFormatError'
}

export interface ReplyReader {
  /** Takes what arrived; returns the reply once it is complete. Throws ReplyFormatError. */
  push(chunk: Buffer): HttpReply | undefined
  /** Bytes received so far. */
  received(): number
}

const headLimit = 64 * 1024
const chunkLineLimit = 1024
export const bodyLimit = 8 * 1024 * 1024

/** How the head says that the body ends. */
type Framing = { readonly kind: 'length'; readonly length: number } | { readonly kind: 'chunked' }

interface Head {
  readonly status: number
  readonly framing: Framing
  readonly beats: boolean
}

function parseHead(text: string): Head {
  const [statusLine = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/1\.[01] ([1-5][0-9]{2})(?: |$)/.exec(statusLine)?.[1]
  if (status === undefined) throw new ReplyFormatError('it does not begin with an HTTP status line')
  let length: number | undefined
  let chunked = false
  let beats = false
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw new ReplyFormatError('a header line has no colon')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (name === 'content-length') {
      if (!/^[0-9]{1,15}$/.test(value)) throw new ReplyFormatError('its Content-Length is not a number')
      if (length !== undefined && length !== Number(value))
        throw new ReplyFormatError('it has two Content-Lengths')
      length = Number(value)
    } else if (name === 'transfer-encoding') {
      if (value.toLowerCase() !== 'chunked')
        throw new ReplyFormatError('its Transfer-Encoding is not "chunked"')
      chunked = true
    } else if (name === statePulse.header) beats = value === statePulse.value
  }
  if (chunked && length !== undefined)
    throw new ReplyFormatError('it has both Content-Length and Transfer-Encoding')
  if (chunked) return { status: Number(status), framing: { kind: 'chunked' }, beats }
  // Without a length the end of the connection would be the end of the body, and half a body would look whole.
  if (length === undefined) throw new ReplyFormatError('it has no Content-Length')
  if (length > bodyLimit) throw tooLong()
  return { status: Number(status), framing: { kind: 'length', length }, beats }
}

const tooLong = (): ReplyFormatError => new ReplyFormatError(`its body is longer than ${bodyLimit} bytes`)
/** Chunks of a few bytes would cost a hundred times what they bring. */
const receivedLimit = 2 * bodyLimit
const tooManyChunks = (): ReplyFormatError =>
  new ReplyFormatError(`its chunks are so small that they take more than ${receivedLimit} bytes`)
const surplus = (): ReplyFormatError => new ReplyFormatError('there is more after its end')

/** What has arrived and is not read yet. */
class Inbox {
  #pending: Buffer = Buffer.alloc(0)
  /** Where in it the rest begins. */
  #at = 0

  get length(): number {
    return this.#pending.length - this.#at
  }

  put(chunk: Buffer): void {
    this.#pending = this.length === 0 ? chunk : Buffer.concat([this.#pending.subarray(this.#at), chunk])
    this.#at = 0
  }

  /** As much of so many bytes as is there. */
  take(length: number): Buffer {
    const from = this.#at
    this.#at = Math.min(from + length, this.#pending.length)
    return this.#pending.subarray(from, this.#at)
  }

  /** The text before an end mark, which is dropped; undefined while there is none. */
  takeUntil(mark: string, limit: number, tooLong: string): string | undefined {
    const from = this.#at
    const end = this.#pending.indexOf(mark, from)
    if (end - from > limit || (end < 0 && this.length > limit)) throw new ReplyFormatError(tooLong)
    if (end < 0) return undefined
    this.#at = end + mark.length
    return this.#pending.toString('latin1', from, end)
  }

  beginning(length: number): string {
    return this.#pending.toString('latin1', this.#at, this.#at + length)
  }
}

/** One buffer that doubles, not a list: a body in chunks of one byte would cost a hundred times its length. */
class Body {
  #bytes = Buffer.alloc(0)
  length = 0

  add(piece: Buffer): void {
    const length = this.length + piece.length
    if (length > bodyLimit) throw tooLong()
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, this.length)
      this.#bytes = larger
    }
    piece.copy(this.#bytes, this.length)
    this.length = length
  }

  whole(): Buffer {
    return this.#bytes.subarray(0, this.length)
  }
}

/** Steps over the head, and over interim (1xx) ones; undefined while it is not complete. */
function readHead(inbox: Inbox): Head | undefined {
  for (;;) {
    const text = inbox.takeUntil('\r\n\r\n', headLimit, 'its head is too long')
    if (text === undefined) {
      // What cannot become a reply is refused at once, not only when the other side closes.
      if (!'HTTP/'.startsWith(inbox.beginning(5)))
        throw new ReplyFormatError('it does not begin with an HTTP status line')
      return undefined
    }
    if (!/^HTTP\/1\.[01] 1[0-9]{2}/.test(text)) return parseHead(text)
  }
}

/** A chunked body is read line, data, line, data; each call moves as far as the bytes at hand allow. */
function createChunkReader(inbox: Inbox, body: Body): () => boolean {
  let missing = 0
  let state: 'size' | 'data' | 'data-end' | 'trailer' = 'size'
  return () => {
    for (;;) {
      if (state === 'data') {
        const piece = inbox.take(missing)
        body.add(piece)
        missing -= piece.length
        if (missing > 0) return false
        state = 'data-end'
        continue
      }
      const line = inbox.takeUntil('\r\n', chunkLineLimit, 'a line of its chunked body is too long')
      if (line === undefined) return false
      if (state === 'data-end') {
        if (line !== '') throw new ReplyFormatError('a chunk of its body is longer than it says')
        state = 'size'
      } else if (state === 'trailer') {
        if (line === '') return true
      } else {
        const size = /^([0-9a-fA-F]{1,8})[ \t]*(?:;.*)?$/.exec(line)?.[1]
        if (size === undefined) throw new ReplyFormatError('a chunk of its body has no size')
        missing = Number.parseInt(size, 16)
        if (body.length + missing > bodyLimit) throw tooLong()
        state = missing === 0 ? 'trailer' : 'data'
      }
    }
  }
}

/**
 * Reads one HTTP/1.1 reply to a POST out of the chunks of a connection. Knows Content-Length and chunked bodies, no
 * other framing; bytes after the end of the reply make it invalid.
 */
export function createReplyReader(): ReplyReader {
  const inbox = new Inbox()
  const body = new Body()
  const readChunks = createChunkReader(inbox, body)
  let received = 0
  let head: Head | undefined

  function readBody(framing: Framing): boolean {
    if (framing.kind === 'chunked') return readChunks()
    body.add(inbox.take(framing.length - body.length))
    return body.length === framing.length
  }

  return {
    push(chunk) {
      received += chunk.length
      if (received > receivedLimit) throw tooManyChunks()
      inbox.put(chunk)
      head ??= readHead(inbox)
      if (head === undefined || !readBody(head.framing)) return undefined
      if (inbox.length > 0) throw surplus()
      const { status, beats } = head
      return { status, body: body.whole(), ...(beats && { stateFolderBeats: true as const }) }
    },
    received: () => received,
  }
}
