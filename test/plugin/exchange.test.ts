/** One exchange against servers that behave, and against many that do not. */
import { writeFileSync } from 'node:fs'
import net, { type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createAbandonment } from '../../plugin/abandonment.ts'
import type { Connect } from '../../plugin/connection.ts'
import { createExchange, type ExchangeError, type HttpReply } from '../../plugin/exchange.ts'
import { createNetConnect } from '../../plugin/edges/node/net-connection.ts'
import { findPipeConnect } from '../../plugin/edges/node/pipe-connection.ts'
import { leaveStaleSocket, listenScripted, replyText, type Script } from '../rigs/scripted-socket.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const folder = tempFolder(t)
let sockets = 0
const newPath = (): string => folder.file(`${++sockets}.sock`)

const sending =
  (...parts: readonly string[]) =>
  (connection: Socket): void => {
    for (const part of parts) connection.write(part)
  }
const sendingAndEnding =
  (text: string) =>
  (connection: Socket): void => {
    connection.end(text)
  }

/** Writes until the other side has had enough. */
function sendForEver(connection: Socket, text: string, first: string): void {
  connection.write(first)
  const more = (): void => {
    while (!connection.destroyed && connection.write(text));
  }
  connection.on('drain', more)
  more()
}

const byPipe = findPipeConnect()

t.test('this Node gives its pipe away, and one that does not is not taken for it', t => {
  t.not(byPipe, undefined)
  t.equal(findPipeConnect({ pipe: {}, stream: {} }), undefined)
  t.end()
})

const ways: readonly (readonly [name: string, connect: Connect])[] = [
  ...(byPipe ? [["libuv's pipe", byPipe] as const] : []),
  ['node:net', createNetConnect(net)],
]
for (const [way, connect] of ways)
  t.test(way, t => {
    const exchange = createExchange(connect)
    const post = (socket: string, timeoutMs = 10_000, body = '{}'): Promise<HttpReply> =>
      exchange({ socket, path: '/v1/cni/add', body, timeoutMs })

    /** Outcome of one exchange with a server of this script: status and body, or fault and message. */
    async function meet(
      t: Test,
      script: Script,
      timeoutMs?: number,
    ): Promise<readonly [number | string, string]> {
      const path = newPath()
      const server = await listenScripted(path, script)
      t.teardown(() => server.close())
      try {
        const reply = await post(path, timeoutMs)
        return [reply.status, reply.body.toString()]
      } catch (error) {
        const { fault, message } = error as ExchangeError
        return [fault, message]
      } finally {
        // Whatever came of it, the connection is not left open.
        await server.quiet()
      }
    }

    t.test('the request on the wire', async t => {
      const path = newPath()
      const server = await listenScripted(path, sending(replyText(200, {})))
      t.teardown(() => server.close())
      await post(path, 1000, '{"text":"\u00e9"}')
      const [request] = server.requests
      t.same(request?.head.split('\r\n'), [
        'POST /v1/cni/add HTTP/1.1',
        'Host: ipkeeper',
        'Connection: close',
        'Content-Type: application/json',
        'Content-Length: 13',
      ])
      t.equal(request?.body, '{"text":"\u00e9"}')
    })

    t.test('replies', async t => {
      const long = JSON.stringify('a'.repeat(1_000_000))
      const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
      const cases: readonly [name: string, script: Script, outcome: readonly [number, string]][] = [
        ['200', sending(replyText(200, {})), [200, '{}']],
        ['200 and closed', sendingAndEnding(replyText(200, {})), [200, '{}']],
        ['an error', sending(replyText(409, { code: 'X' })), [409, '{"code":"X"}']],
        ['500 {}', sending(replyText(500, {})), [500, '{}']],
        ['200 without a body', sending(replyText(200, '')), [200, '']],
        ['200 null', sending(replyText(200, null)), [200, 'null']],
        ['HTML in a valid reply', sending(replyText(200, '<html></html>')), [200, '<html></html>']],
        ['chunked', sending(`${chunked}1\r\n{\r\n`, '1\r\n}\r\n0\r\n\r\n'), [200, '{}']],
        ['a megabyte', sending(replyText(200, long)), [200, long]],
        ['two documents of one length', sending(replyText(200, '{}{}')), [200, '{}{}']],
      ]
      for (const [name, script, outcome] of cases) t.same(await meet(t, script), outcome, name)
    })

    t.test('connections that end too early', async t => {
      const whole = replyText(200, { requestId: 'r' })
      const cases: readonly [name: string, script: Script, message: string][] = [
        ['at once', connection => connection.destroy(), 'without a reply'],
        ['half closed', sendingAndEnding(''), 'without a reply'],
        [
          'half a head',
          sendingAndEnding('HTTP/1.1 200 OK\r\nConte'),
          'after 22 bytes of an incomplete reply',
        ],
        ['half a body', sendingAndEnding(whole.slice(0, -5)), 'bytes of an incomplete reply'],
        [
          'a length that is too great',
          sendingAndEnding(whole.replace(/Length: \d+/, 'Length: 2000')),
          'bytes of an incomplete reply',
        ],
        [
          'an unfinished chunk',
          sendingAndEnding('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{}'),
          'bytes of an incomplete reply',
        ],
      ]
      for (const [name, script, message] of cases) {
        const [fault, text] = await meet(t, script)
        t.equal(fault, 'lost', name)
        t.match(text, message, name)
      }
    })

    t.test('what is no HTTP reply', async t => {
      const cases: readonly [name: string, script: Script][] = [
        ['HTML alone', sending('<!doctype html><html></html>')],
        ['a length that is too small', sending(replyText(200, { a: 1 }).replace(': 7', ': 3'))],
        ['two replies', sending(replyText(200, {}) + replyText(200, {}))],
        ['no length', sendingAndEnding('HTTP/1.1 200 OK\r\n\r\n{}')],
        [
          'an endless head',
          connection => {
            sendForEver(connection, 'x'.repeat(10_000), 'HTTP/1.1 200 OK\r\nX: ')
          },
        ],
        ['100 MB announced', sending('HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n')],
        [
          '100 MB in chunks',
          connection => {
            sendForEver(
              connection,
              `10000\r\n${'x'.repeat(0x10000)}\r\n`,
              'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
            )
          },
        ],
      ]
      for (const [name, script] of cases) t.equal((await meet(t, script))[0], 'malformed', name)
    })

    t.test('silence ends with the deadline', async t => {
      t.same(await meet(t, () => undefined, 50), ['late', 'the time was up'])
      t.same(await meet(t, sending('HTTP/1.1 200 OK\r\n'), 50), ['late', 'the time was up'])
    })

    t.test('abandoned: the other side hears of it, and a reply that crosses is returned', async t => {
      const rows: readonly [name: string, script: Script, outcome: object][] = [
        ['no reply', () => undefined, { fault: 'lost', message: 'the connection ended without a reply' }],
        [
          'a reply',
          connection => connection.prependListener('end', () => connection.write(replyText(200, {}))),
          { status: 200 },
        ],
        [
          'half a reply',
          sending('HTTP/1.1 200 OK\r\n'),
          { fault: 'lost', message: /17 bytes of an incomplete/ },
        ],
      ]
      for (const [name, script, expected] of rows) {
        const path = newPath()
        const abandonment = createAbandonment()
        const server = await listenScripted(path, (connection, request) => {
          script(connection, request)
          setTimeout(abandonment.abandon, 10)
        })
        t.teardown(() => server.close())
        const outcome = await exchange({
          socket: path,
          path: '/',
          body: '{}',
          timeoutMs: 60_000,
          abandonment,
        }).catch((error: unknown) => error)
        t.match(outcome, expected, name)
        await server.quiet()
      }
      const late = createAbandonment()
      late.abandon()
      const never = await exchange({
        socket: newPath(),
        path: '/',
        body: '{}',
        timeoutMs: 1,
        abandonment: late,
      }).catch((error: unknown) => error)
      t.match(never, { fault: 'lost' }, 'one that begins abandoned asks for nothing')
    })

    t.test('a daemon that is not there', async t => {
      const file = folder.file('plain')
      writeFileSync(file, '')
      const stale = newPath()
      leaveStaleSocket(stale)
      const cases: readonly [path: string, fault: string, message: string | RegExp][] = [
        [folder.file('none.sock'), 'missing', 'there is no such socket'],
        [
          folder.file('plain', 'x.sock'),
          'missing',
          'there is no such socket: a part of its path is not a folder',
        ],
        [stale, 'refused', 'nothing listens on the socket'],
        [file, 'refused', 'nothing listens on the socket'],
        [folder.file('x'.repeat(200)), 'unusable', /connect fails with/],
      ]
      for (const [path, fault, message] of cases)
        await t.rejects(post(path), { fault, message }, path.slice(-20))
    })

    t.test('errors name no errno text that a runtime would take for success: F1', async t => {
      const error = await post(folder.file('none.sock')).catch((reason: unknown) => reason)
      t.notMatch((error as Error).message, /not found|no such file/i)
    })
    t.end()
  })
