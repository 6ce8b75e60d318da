import { connect, type NetConnectOpts, type Socket } from 'node:net'

export interface RawReply {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Resolves when the other side has closed it: who is turned away in the middle of a piece is told so by a reset as well. */
export function closed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined)
  return new Promise(resolve => {
    socket.once('close', () => {
      resolve()
    })
  })
}

/** What comes back, reply by reply, until the other side closes the connection. Ours stays open. */
export async function sendRaw(
  to: NetConnectOpts,
  ...pieces: readonly (string | Buffer)[]
): Promise<RawReply[]> {
  const socket = connect(to)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const piece of pieces) socket.write(piece)
  await closed(socket)
  return splitReplies(Buffer.concat(chunks).toString())
}

function splitReplies(text: string): RawReply[] {
  const replies: RawReply[] = []
  for (let rest = text; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n')
    const head = end < 0 ? rest : rest.slice(0, end)
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    const body = end < 0 ? '' : rest.slice(end + 4, end + 4 + length)
    replies.push({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body })
    rest = end < 0 ? '' : rest.slice(end + 4 + length)
  }
  return replies
}

const host = 'Host: ipkeeper\r\n'
const close = 'Connection: close\r\n'
const long = 'x'.repeat(100_000)

/** What no client of ours sends, each the beginning of a connection. */
export const oddRequests: readonly (readonly [name: string, text: string | Buffer])[] = [
  ['CONNECT', `CONNECT example:443 HTTP/1.1\r\n${host}\r\n`],
  ['TRACE', `TRACE / HTTP/1.1\r\n${host}${close}\r\n`],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${host}${close}\r\n`],
  ['a method of WebDAV', `PROPFIND / HTTP/1.1\r\n${host}${close}\r\n`],
  ['QUERY', `QUERY / HTTP/1.1\r\n${host}${close}\r\n`],
  ['no method', `NONSENSE / HTTP/1.1\r\n${host}${close}\r\n`],
  [
    'an upgrade to another protocol, of what is not there',
    `GET /chat HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
  ],
  ['no Host', `GET /nowhere HTTP/1.1\r\n${close}\r\n`],
  [
    'an expectation',
    `POST /nowhere HTTP/1.1\r\n${host}${close}Expect: a miracle\r\nContent-Length: 2\r\n\r\n{}`,
  ],
  ['a long header', `GET / HTTP/1.1\r\n${host}X: ${long}\r\n\r\n`],
  ['many headers', `GET / HTTP/1.1\r\n${host}${'A: b\r\n'.repeat(10_000)}\r\n`],
  ['a long path', `GET /${long} HTTP/1.1\r\n${host}\r\n`],
  ['a path that is none', `GET /%zz%ff HTTP/1.1\r\n${host}${close}\r\n`],
  ['no HTTP', 'nonsense\r\n\r\n'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/3.7', `GET / HTTP/3.7\r\n${host}\r\n`],
  ['TLS', Buffer.from('1603010200010001fc0303', 'hex')],
  ['a NUL', `GET / HTTP/1.1\r\n${host}A: b\0c\r\n\r\n`],
  ['a length that is none', `POST / HTTP/1.1\r\n${host}Content-Length: x\r\n\r\n`],
  ['two lengths', `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
  ['length and chunks', `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ['another coding', `POST / HTTP/1.1\r\n${host}${close}Transfer-Encoding: gzip\r\n\r\n`],
]
