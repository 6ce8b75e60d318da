import t from 'tap'
import { bodyLimit, createReplyReader, type HttpReply } from '../../plugin/http-reply.ts'

/** Pushes a text in pieces of one size; the reply, or undefined while it is not complete. */
function read(text: string, pieceLength: number): HttpReply | undefined {
  const reader = createReplyReader()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceLength) {
    const reply = reader.push(bytes.subarray(at, at + pieceLength))
    if (reply) return at + pieceLength >= bytes.length ? reply : undefined
  }
  return undefined
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

t.test('complete replies, in pieces of every size', t => {
  const replies: readonly [name: string, text: string, status: number, body: string][] = [
    ['length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}', 200, '{}'],
    ['no reason phrase', 'HTTP/1.1 409\r\ncontent-length:2\r\n\r\n{}', 409, '{}'],
    ['no body', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 200, ''],
    [
      'other headers',
      'HTTP/1.1 503 X\r\nA: b\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
      503,
      '{}',
    ],
    ['equal lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}', 200, '{}'],
    ['not ASCII', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"\u00e9"', 200, '"\u00e9"'],
    [
      'interim first',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}',
      200,
      '{}',
    ],
    ['chunked', `${chunked}2\r\n{"\r\n3;ext=1\r\na":\r\n02\r\n1}\r\n0\r\n\r\n`, 200, '{"a":1}'],
    ['chunked, trailer', `${chunked}2\r\n{}\r\n0\r\nA: b\r\n\r\n`, 200, '{}'],
    ['chunked, empty', `${chunked}0\r\n\r\n`, 200, ''],
  ]
  for (const [name, text, status, body] of replies) {
    for (const pieceLength of [1, 2, 3, 7, 1000]) {
      const reply = read(text, pieceLength)
      t.same(reply && [reply.status, reply.body.toString()], [status, body], `${name}, by ${pieceLength}`)
    }
  }
  t.end()
})

t.test('what a reply says of the state folder', t => {
  for (const [line, beats] of [
    ['ipkeeper-state-folder: takes-writes', true],
    ['IPKeeper-State-Folder:takes-writes ', true],
    ['ipkeeper-state-folder: no', undefined],
    ['x: takes-writes', undefined],
  ] as const) {
    const text = `HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 2\r\n\r\n{}`
    t.equal(read(text, 1000)?.stateFolderBeats, beats, line)
  }
  t.end()
})

t.test('replies that are not complete', t => {
  const texts = [
    '',
    'HTTP',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{',
    'HTTP/1.1 100 Continue\r\n\r\n',
    `${chunked}2\r\n{}\r\n`,
    `${chunked}2\r\n{}\r\n0\r\n`,
    `${chunked}ff\r\n{}`,
  ]
  for (const text of texts) t.equal(read(text, 1), undefined, JSON.stringify(text))
  const reader = createReplyReader()
  reader.push(Buffer.from('HTTP/1.1'))
  t.equal(reader.received(), 8)
  t.end()
})

t.test('what is no reply', t => {
  const head = 'HTTP/1.1 200 OK\r\n'
  const faults: readonly [text: string, message: RegExp][] = [
    ['<html>', /does not begin with an HTTP status line/],
    ['SSH-2.0', /does not begin with an HTTP status line/],
    ['HTTP/2 200\r\nContent-Length: 0\r\n\r\n', /status line/],
    ['HTTP/1.1 abc\r\n\r\n', /status line/],
    [`${head}no colon\r\n\r\n`, /no colon/],
    [`${head}\r\n{}`, /no Content-Length/],
    [`${head}Content-Length: two\r\n\r\n`, /Content-Length is not a number/],
    [`${head}Content-Length: -1\r\n\r\n`, /Content-Length is not a number/],
    [`${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, /two Content-Lengths/],
    [`${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, /both/],
    [`${head}Transfer-Encoding: gzip\r\n\r\n`, /not "chunked"/],
    [`${head}Content-Length: 2\r\n\r\n{}{}`, /more after its end/],
    [`${head}Content-Length: ${bodyLimit + 1}\r\n\r\n`, /longer than/],
    [`${head}X: ${'x'.repeat(70_000)}`, /head is too long/],
    [`${chunked}zz\r\n`, /no size/],
    [`${chunked}\r\n`, /no size/],
    [`${chunked}1\r\n{}\r\n`, /longer than it says/],
    [`${chunked}7fffffff\r\n`, /longer than/],
    [`${chunked}${'0'.repeat(2000)}`, /too long/],
    [`${chunked}2\r\n{}\r\n0\r\n\r\nx`, /more after its end/],
  ]
  for (const [text, message] of faults)
    t.throws(() => read(text, 100_000), { message }, JSON.stringify(text.slice(0, 80)))
  t.end()
})

t.test('a body in a million chunks costs what its bytes cost', t => {
  const reader = createReplyReader()
  reader.push(Buffer.from(chunked))
  const thousand = Buffer.from('1\r\nx\r\n'.repeat(1000))
  const before = process.memoryUsage().heapUsed
  for (let count = 0; count < 1000; count++) reader.push(thousand)
  const grown = process.memoryUsage().heapUsed - before
  t.ok(grown < 50e6, `${Math.round(grown / 1e6)} MB`)
  t.equal(reader.push(Buffer.from('0\r\n\r\n'))?.body.toString(), 'x'.repeat(1_000_000))
  t.end()
})

t.test('a body of the greatest length', t => {
  const reader = createReplyReader()
  t.equal(reader.push(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${bodyLimit}\r\n\r\n`)), undefined)
  const piece = Buffer.alloc(bodyLimit / 64, 'a')
  for (let count = 1; count < 64; count++) t.equal(reader.push(piece), undefined)
  t.equal(reader.push(piece)?.body.length, bodyLimit)
  t.end()
})
