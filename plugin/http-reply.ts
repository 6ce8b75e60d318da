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

const headEnd = Buffer.from('\r\n\r\n')
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
      if (!/^[0-9]{1,15}$/.test(value)) throw new ReplyFormatError('its Content-Length is no number')
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
const surplus = (): ReplyFormatError => new ReplyFormatError('there is more after its end')

/**
 * Reads one HTTP/1.1 reply to a POST out of the chunks of a connection. Knows Content-Length and chunked bodies, no
 * other framing; bytes after the end of the reply make it invalid.
 */
export function createReplyReader(): ReplyReader {
  let pending: Buffer = Buffer.alloc(0)
  let received = 0
  let head: Head | undefined
  let body = Buffer.alloc(0)
  let bodyLength = 0
  const readChunk = chunkReader()

  const take = (length: number): Buffer => {
    const taken = pending.subarray(0, length)
    pending = pending.subarray(length)
    return taken
  }
  /** One buffer that doubles, not a list: a body in chunks of one byte would cost a hundred times its length. */
  const keep = (piece: Buffer): void => {
    const length = bodyLength + piece.length
    if (length > bodyLimit) throw tooLong()
    if (length > body.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * body.length))
      body.copy(larger, 0, 0, bodyLength)
      body = larger
    }
    piece.copy(body, bodyLength)
    bodyLength = length
  }

  /** Steps over the head, and over interim (1xx) ones; undefined while it is not complete. */
  function readHead(): Head | undefined {
    for (;;) {
      const end = pending.indexOf(headEnd)
      if (end > headLimit || (end < 0 && pending.length > headLimit)) {
        throw new ReplyFormatError('its head is too long')
      }
      if (end < 0) {
        // What cannot become a reply is refused at once, not only when the other side closes.
        const begin = pending.toString('latin1', 0, 5)
        if (!'HTTP/'.startsWith(begin))
          throw new ReplyFormatError('it does not begin with an HTTP status line')
        return undefined
      }
      const text = take(end + headEnd.length).toString('latin1', 0, end)
      if (!/^HTTP\/1\.[01] 1[0-9]{2}/.test(text)) return parseHead(text)
    }
  }

  /** A chunked body is read line, data, line, data; each call moves as far as the bytes at hand allow. */
  function chunkReader(): () => boolean {
    let missing = 0
    let state: 'size' | 'data' | 'data-end' | 'trailer' = 'size'
    const line = (): string | undefined => {
      const end = pending.indexOf('\r\n')
      if (end > chunkLineLimit || (end < 0 && pending.length > chunkLineLimit)) {
        throw new ReplyFormatError('a line of its chunked body is too long')
      }
      return end < 0 ? undefined : take(end + 2).toString('latin1', 0, end)
    }
    return () => {
      for (;;) {
        if (state === 'data') {
          const piece = take(Math.min(missing, pending.length))
          keep(piece)
          missing -= piece.length
          if (missing > 0) return false
          state = 'data-end'
          continue
        }
        const text = line()
        if (text === undefined) return false
        if (state === 'data-end') {
          if (text !== '') throw new ReplyFormatError('a chunk of its body is longer than it says')
          state = 'size'
        } else if (state === 'trailer') {
          if (text === '') return true
        } else {
          const size = /^([0-9a-fA-F]{1,8})[ \t]*(?:;.*)?$/.exec(text)?.[1]
          if (size === undefined) throw new ReplyFormatError('a chunk of its body has no size')
          missing = Number.parseInt(size, 16)
          if (bodyLength + missing > bodyLimit) throw tooLong()
          state = missing === 0 ? 'trailer' : 'data'
        }
      }
    }
  }

  function readBody(framing: Framing): boolean {
    if (framing.kind === 'chunked') return readChunk()
    keep(take(Math.min(framing.length - bodyLength, pending.length)))
    return bodyLength === framing.length
  }

  return {
    push(chunk) {
      received += chunk.length
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      head ??= readHead()
      if (head === undefined || !readBody(head.framing)) return undefined
      if (pending.length > 0) throw surplus()
      return {
        status: head.status,
        body: body.subarray(0, bodyLength),
        ...(head.beats && { stateFolderBeats: true as const }),
      }
    },
    received: () => received,
  }
}
