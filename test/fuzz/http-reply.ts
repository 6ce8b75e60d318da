/** The plugin's reader of one HTTP reply, fed by a stranger. */
import fc from 'fast-check'
import { createReplyReader, ReplyFormatError, type HttpReply } from '../../plugin/http-reply.ts'
import { property } from './property.ts'

interface Sent {
  readonly bytes: Buffer
  readonly status: number
  readonly body: Buffer
}

const body = fc.oneof(
  fc.json({ maxDepth: 2 }).map(text => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
  fc
    .constantFrom('', '{}', '\r\n\r\n', '0\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    .map(text => Buffer.from(text)),
)
const otherHeader = fc.constantFrom(
  ...[
    'Date: Sat, 21 Nov 2026 10:28:23 GMT',
    'Connection: close',
    'X:',
    'a: b: c',
    'content-length-x: 7',
    'X: \t y ',
  ],
)
const casing = fc.constantFrom(
  (name: string) => name,
  (name: string) => name.toLowerCase(),
  (name: string) => name.toUpperCase(),
)
const interim = fc.constantFrom(
  '',
  '',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n',
)

const chunk = fc.record({
  size: fc.integer({ min: 1, max: 40 }),
  zeros: fc.nat(3),
  upper: fc.boolean(),
  extension: fc.constantFrom('', ';a', '; a="b"', ' '),
})

const made = fc.record({
  interim,
  version: fc.constantFrom('1.1', '1.1', '1.0'),
  status: fc.integer({ min: 200, max: 599 }),
  reason: fc.constantFrom(' OK', '', ' ', ' Not Found'),
  before: fc.array(otherHeader, { maxLength: 2 }),
  after: fc.array(otherHeader, { maxLength: 2 }),
  casing,
  body,
  chunks: fc.option(fc.array(chunk, { minLength: 1, maxLength: 6 }), { nil: undefined, freq: 2 }),
  trailer: fc.constantFrom('', 'A: b\r\n'),
})
type Made = typeof made extends fc.Arbitrary<infer Value> ? Value : never

/** The reply as an HTTP/1.1 server writes it; `missing` is how much less than there is its lengths say. */
function write(reply: Made, missing = 0): Buffer {
  const framing =
    reply.chunks === undefined
      ? `Content-Length: ${reply.body.length - missing}`
      : 'Transfer-Encoding: chunked'
  const [name = '', value = ''] = framing.split(': ')
  const headers = [...reply.before, `${reply.casing(name)}: ${value}`, ...reply.after]
  const head = `${reply.interim}HTTP/${reply.version} ${reply.status}${reply.reason}\r\n${headers.join('\r\n')}\r\n\r\n`
  const content =
    reply.chunks === undefined ? reply.body : inChunks(reply.body, reply.chunks, reply.trailer, missing)
  return Buffer.concat([Buffer.from(head), content])
}

/** A well-formed reply. */
const sent: fc.Arbitrary<Sent> = made.map(reply => ({
  bytes: write(reply),
  status: reply.status,
  body: reply.body,
}))

type Chunk = typeof chunk extends fc.Arbitrary<infer Value> ? Value : never

function inChunks(whole: Buffer, chunks: readonly Chunk[], trailer: string, missing: number): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0, nth = 0; at < whole.length; nth++) {
    const how = chunks[nth % chunks.length]
    if (!how) break
    const piece = whole.subarray(at, at + how.size)
    const size = '0'.repeat(how.zeros) + Math.max(1, piece.length - (nth === 0 ? missing : 0)).toString(16)
    const line = (how.upper ? size.toUpperCase() : size) + how.extension
    pieces.push(Buffer.from(`${line}\r\n`), piece, Buffer.from('\r\n'))
    at += piece.length
  }
  return Buffer.concat([...pieces, Buffer.from(`0\r\n${trailer}\r\n`)])
}

/** Cuts bytes at these places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...places.map(place => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return at.map((end, index) => bytes.subarray(at[index - 1] ?? 0, end))
}

/** All replies that come of the pieces; a connection is closed after the first. */
function read(pieces: readonly Buffer[]): HttpReply | undefined {
  const reader = createReplyReader()
  for (const piece of pieces) {
    const reply = reader.push(piece)
    if (reply) return reply
  }
  return undefined
}

const places = fc.oneof(
  fc.array(fc.nat(2000), { maxLength: 6 }),
  fc.constant(Array.from({ length: 400 }, (_, index) => index)),
)

export const wholeReplies = property({
  name: 'whole HTTP replies',
  runs: 700,
  cases: fc.record({ sent, places, last: fc.nat(10_000) }),
  check: given => {
    const { bytes, status, body: wanted } = given.sent
    const reply = read(cut(bytes, given.places))
    if (reply?.status !== status || !reply.body.equals(wanted)) throw new Error('another reply than was sent')
    const part = bytes.subarray(0, given.last % bytes.length)
    if (read(cut(part, given.places))) throw new Error(`a reply out of the first ${part.length} bytes`)
    return /transfer-encoding/i.test(bytes.toString('latin1')) ? 'chunked' : 'by length'
  },
  shares: { chunked: 20, 'by length': 20 },
})

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 3 })
const length = fc.integer({ min: 1, max: 30 })
const mutation = fc.record({
  kind: fc.constantFrom('put' as const, 'insert' as const, 'drop' as const, 'twice' as const),
  at: fc.nat(2000),
  fromEnd: fc.boolean(),
  bytes: someBytes,
  length,
})
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never

function mutate(bytes: Buffer, how: Mutation): Buffer {
  const near = how.at % (bytes.length + 1)
  const at = how.fromEnd ? Math.max(0, bytes.length - (near % 40)) : near
  const before = bytes.subarray(0, at)
  switch (how.kind) {
    case 'put':
      return Buffer.concat([before, how.bytes, bytes.subarray(at + how.bytes.length)])
    case 'insert':
      return Buffer.concat([before, how.bytes, bytes.subarray(at)])
    case 'drop':
      return Buffer.concat([before, bytes.subarray(at + how.length)])
    case 'twice':
      return Buffer.concat([bytes.subarray(0, at + how.length), bytes.subarray(at)])
  }
}

export const brokenReplies = property({
  name: 'broken HTTP replies',
  runs: 1000,
  cases: fc.record({
    sent,
    mutations: fc.array(mutation, { maxLength: 2 }),
    places,
    twice: fc.boolean(),
  }),
  check: given => {
    const bytes = given.mutations.reduce(
      mutate,
      given.twice ? Buffer.concat([given.sent.bytes, given.sent.bytes]) : given.sent.bytes,
    )
    const outcomes = [[], given.places].map(cuts => {
      try {
        const reply = read(cut(bytes, cuts))
        return reply ? `${reply.status} ${reply.body.toString('latin1')}` : undefined
      } catch (error) {
        if (!(error instanceof ReplyFormatError) || error.message === '') throw error
        return error
      }
    })
    const [atOnce, inPieces] = outcomes
    // More after the end is seen only when it comes with the end; what the reply is does not depend on the pieces.
    if (typeof atOnce === 'string' && atOnce !== inPieces) throw new Error('another reply in other pieces')
    if (atOnce === undefined && inPieces !== undefined)
      throw new Error('incomplete at once, not so in pieces')
    if (given.twice && typeof atOnce === 'string' && given.mutations.length === 0)
      throw new Error('two replies are one')
    return typeof atOnce === 'string' ? 'accepted' : atOnce === undefined ? 'incomplete' : 'refused'
  },
  shares: { accepted: 15, incomplete: 2, refused: 25 },
})

export const lyingReplies = property({
  name: 'HTTP replies that are longer than they say',
  runs: 400,
  cases: fc.record({
    reply: made.chain(reply =>
      fc.json({ maxDepth: 2 }).map(text => ({ ...reply, body: Buffer.from(`[${text}]`) })),
    ),
    missing: fc.integer({ min: 1, max: 2 }),
  }),
  check: ({ reply, missing }) => {
    if (reply.chunks?.[0] !== undefined && reply.chunks[0].size < 3) return 'too short to lie'
    try {
      read([write(reply, missing)])
    } catch (error) {
      if (error instanceof ReplyFormatError) return 'refused'
      throw error
    }
    throw new Error('it passes')
  },
  shares: { refused: 60 },
})
