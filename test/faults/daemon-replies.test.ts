/** A daemon that answers every kind of rubbish: each reply, for each verb. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { ErrorReply } from '../../shared/api/cni.schema.ts'
import {
  askedOf,
  configFor,
  done,
  each,
  failsProperly,
  goodReply,
  isQueued,
  listenFor,
  newPath,
  queuedIn,
  result,
  runVerb,
  succeeds,
  verbs,
  type Expected,
} from '../rigs/plugin-under-fault.ts'
import { supportedVersions } from '../../shared/cni/versions.ts'
import { isSanitizedPlugin, missing } from '../rigs/requirements.ts'
import { replyText } from '../rigs/scripted-socket.ts'
import { startProcess } from '../rigs/plugin-process.ts'

const skip = missing('executables')

const ok = 'HTTP/1.1 200 OK\r\n'
const chunkedOk = `${ok}Transfer-Encoding: chunked\r\n\r\n`

/**
 * What becomes of a verb whose reply cannot be used. `undone`: the ADD may have been carried out, and the plugin sends
 * a DEL. `lost`: the connection ended, so the plugin asks again, and the daemon has undone the ADD by itself.
 */
type Fate = 'undone' | 'lost' | 'failed'

const unusable: readonly [name: string, reply: string | Buffer, fate: Fate][] = [
  ['nothing at all', '', 'lost'],
  ['half a status line', 'HTTP/1.1 2', 'lost'],
  ['half a header', `${ok}Content-Le`, 'lost'],
  ['half a body', goodReply('POST /v1/cni/add ').slice(0, -20), 'lost'],
  ['a Content-Length that is too large', `${ok}Content-Length: 100\r\n\r\n{}`, 'lost'],
  ['a Content-Length that is too small', `${ok}Content-Length: 1\r\n\r\n{}`, 'undone'],
  ['a Content-Length that is negative', `${ok}Content-Length: -1\r\n\r\n{}`, 'undone'],
  ['a Content-Length that is no number', `${ok}Content-Length: 0x10\r\n\r\n{}`, 'undone'],
  ['two Content-Lengths', `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 'undone'],
  ['no Content-Length', `${ok}\r\n{}`, 'undone'],
  ['length and chunks', `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`, 'undone'],
  ['gzip', `${ok}Transfer-Encoding: gzip\r\n\r\n{}`, 'undone'],
  ['half a chunk', `${chunkedOk}5\r\n{`, 'lost'],
  ['chunks without an end', `${chunkedOk}2\r\n{}\r\n`, 'lost'],
  ['a chunk without a size', `${chunkedOk}x\r\n{}\r\n`, 'undone'],
  ['a chunk of 4 GB', `${chunkedOk}ffffffff\r\n`, 'undone'],
  ['a chunk that is longer than it says', `${chunkedOk}1\r\n{}\r\n0\r\n\r\n`, 'undone'],
  ['200 without a body', replyText(200, ''), 'undone'],
  ['200 null', replyText(200, null), 'undone'],
  ['200 {}', replyText(200, {}), 'undone'],
  ['200 []', replyText(200, []), 'undone'],
  ['200 and a text', replyText(200, '"done"'), 'undone'],
  ['200 and half a document', replyText(200, '{"requestId":"r-1",'), 'undone'],
  ['200 and an error', replyText(200, { code: 11, msg: 'no' }), 'undone'],
  ['200 and wrong types', replyText(200, { requestId: 1, stateDir: [], result }), 'undone'],
  ['two documents in one body', replyText(200, JSON.stringify({ ...done, result }).repeat(2)), 'undone'],
  ['two replies', replyText(200, { ...done, result }).repeat(2), 'undone'],
  ['bytes after the end', `${replyText(200, { ...done, result })}\n`, 'undone'],
  ['500 {}', replyText(500, {}), 'failed'],
  ['500 without a body', replyText(500, ''), 'failed'],
  ['500 and HTML', replyText(500, '<html><h1>Internal error'), 'failed'],
  ['404 of another program', replyText(404, { error: 'page not found' }), 'failed'],
  ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n', 'failed'],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 'undone'],
  ['HTML', '<html>', 'undone'],
  ['HTML in HTTP', replyText(200, '<html>'), 'undone'],
  ['HTTP/2', Buffer.from('000012040000000000000300000080', 'hex'), 'undone'],
  ['a TLS alert', Buffer.from('15030100020228', 'hex'), 'undone'],
  ['a status that is none', 'HTTP/1.1 999 X\r\nContent-Length: 2\r\n\r\n{}', 'undone'],
  ['a header without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n', 'undone'],
  ['NUL bytes', Buffer.alloc(100_000), 'undone'],
]

/** One table row: every verb against the reply, on a daemon and a state folder of its own. */
async function tryReply(t: Test, name: string, reply: string | Buffer, fate: Fate): Promise<void> {
  for (const verb of verbs) {
    const stateDir = newPath()
    const daemon = await listenFor(t, (connection, { head }) => {
      // What undoes the ADD is answered as it should be.
      if (verb === 'ADD' && head.startsWith('POST /v1/cni/del ')) connection.end(goodReply(head))
      else connection.end(reply)
    })
    // A lost reply is asked for again until the time is up.
    const timeout = fate === 'lost' ? 1 : 20
    const finished = await runVerb(verb, configFor(daemon.path, { stateDir, timeout }))
    const what = `${verb}, ${name}`
    if (verb === 'DEL') {
      isQueued(t, what, finished, stateDir)
      continue
    }
    failsProperly(t, what, finished, {
      ...(verb === 'STATUS'
        ? { code: 50, details: /IPK_NOT_AVAILABLE/ }
        : { code: 11, details: /IPK_DAEMON_REPLY_INVALID/ }),
      msg: fate === 'lost' ? /broke off: the connection ended/ : /is no reply of ipkeeper-server/,
    })
    const dels = askedOf(daemon).filter(asked => asked === 'DEL')
    t.equal(dels.length, verb === 'ADD' && fate === 'undone' ? 1 : 0, `${what}: undone or not`)
  }
}

t.test('replies that no verb can use', { skip }, async t => {
  await each(unusable, ([name, reply, fate]) => tryReply(t, name, reply, fate))
})

t.test('results that an ADD cannot use', { skip }, async t => {
  const ips = [{ address: '10.22.0.50/16' }]
  const results: readonly [name: string, result: unknown, version?: string][] = [
    ['none', undefined],
    ['null', null],
    ['without addresses', { cniVersion: '1.1.0' }],
    ['with an empty list of addresses', { cniVersion: '1.1.0', ips: [] }],
    ['with an address that is no text', { cniVersion: '1.1.0', ips: [{ address: 7 }] }],
    ['with addresses that are no list', { cniVersion: '1.1.0', ips: { address: '10.22.0.50/16' } }],
    ['with routes that are no list', { cniVersion: '1.1.0', ips, routes: '0.0.0.0/0' }],
    ['with a route that is a text', { cniVersion: '1.1.0', ips, routes: ['0.0.0.0/0'] }],
    ['with DNS that is a list', { cniVersion: '1.1.0', ips, dns: ['192.0.2.1'] }],
    ['with an interface that is a number', { cniVersion: '1.1.0', ips, interfaces: [0] }],
    ['without a version', { ips }],
    ['of an older version', { cniVersion: '1.0.0', ips }],
    ['of a version that does not exist', { cniVersion: '9.9.9', ips }],
    ['in the shape of 0.2.0', { cniVersion: '1.1.0', ip4: { ip: '10.22.0.50/16' } }],
    ['in the shape of 1.1.0', { cniVersion: '0.2.0', ips }, '0.2.0'],
    ['an error', { code: 11, msg: 'no' }],
  ]
  await each(results, ([name, given, version]) => isUndone(t, name, given, version))
})

/** A daemon's Result is not printed; the ADD fails, and is undone. */
async function isUndone(
  t: Test,
  name: string,
  given: unknown,
  version = '1.1.0',
  expected: Expected = {},
): Promise<void> {
  const daemon = await listenFor(t, (connection, { head }) => {
    connection.end(
      replyText(200, { ...done, ...(head.startsWith('POST /v1/cni/add ') && { result: given }) }),
    )
  })
  const finished = await runVerb('ADD', configFor(daemon.path, {}, version))
  failsProperly(t, name, finished, { code: 11, details: /IPK_DAEMON_REPLY_INVALID/, ...expected })
  t.same(askedOf(daemon), ['ADD', 'DEL'], `${name}: undone`)
}

t.test('results whose addresses are none, in every version', { skip }, async t => {
  const good = { address: '10.22.0.50/16', gateway: '10.22.0.1' }
  /** How a Result says it, from 0.3.0 on and before; where before has no way to, nothing. */
  const faults: readonly [name: string, listed: object, byFamily?: object][] = [
    ['an address without a prefix', { ips: [{ address: '10.22.0.50' }] }, { ip4: { ip: '10.22.0.50' } }],
    ['a prefix that is too long', { ips: [{ address: '10.22.0.50/33' }] }, { ip4: { ip: '10.22.0.50/33' } }],
    ['the second address', { ips: [good, { address: 'fd00::x/64' }] }, { ip6: { ip: 'fd00::x/64' } }],
    [
      'a gateway of another family',
      { ips: [{ ...good, gateway: 'fd00::1' }] },
      { ip4: { ip: '10.22.0.50/16', gateway: 'fd00::1' } },
    ],
    [
      'a destination without a prefix',
      { ips: [good], routes: [{ dst: '0.0.0.0' }] },
      { ip4: { ip: '10.22.0.50/16', routes: [{ dst: '0.0.0.0' }] } },
    ],
    [
      'the way of a route',
      { ips: [good], routes: [{ dst: '0.0.0.0/0', gw: 'router' }] },
      { ip4: { ip: '10.22.0.50/16', routes: [{ dst: '0.0.0.0/0', gw: 'router' }] } },
    ],
    [
      'a name server',
      { ips: [good], dns: { nameservers: ['dns.example'] } },
      { ip4: { ip: '10.22.0.50/16' }, dns: { nameservers: ['dns.example'] } },
    ],
    ['an interface that is not listed', { ips: [{ ...good, interface: 1 }], interfaces: [{ name: 'eth0' }] }],
    ['the other family', { ips: [{ ...good, version: '6' }] }, { ip6: { ip: '10.22.0.50/16' } }],
    [
      'a key that Go reads as another',
      { ips: [good], IPS: [{ address: 'x' }] },
      { ip4: { ip: '10.22.0.50/16', IP: 'x' } },
    ],
  ]
  // All of them in one version of each shape, some in the others.
  const rows = supportedVersions.flatMap(cniVersion =>
    faults.flatMap(([name, listed, byFamily], nth) => {
      if (!['0.2.0', '1.1.0'].includes(cniVersion) && nth % 4 !== 0) return []
      const given = cniVersion < '0.3.0' ? byFamily : listed
      return given ? [{ name: `${cniVersion}, ${name}`, given: { cniVersion, ...given }, cniVersion }] : []
    }),
  )
  await each(rows, ({ name, given, cniVersion }) =>
    isUndone(t, name, given, cniVersion, { msg: /answered a result whose / }),
  )
})

t.test('a reply from the daemon of another state folder', { skip }, async t => {
  const daemon = await listenFor(t, (connection, { head }) => {
    connection.end(goodReply(head, '/somewhere/else'))
  })
  const finished = await runVerb('ADD', configFor(daemon.path))
  failsProperly(t, 'ADD', finished, { code: 7, msg: /^state folders differ: / })
  t.same(askedOf(daemon), ['ADD', 'DEL'])
})

const refusal: ErrorReply = {
  code: 'IPK_ADDRESS_HELD',
  message: '10.22.0.50 is held',
  hint: 'take another one',
  retryable: false,
  cniCode: 101,
  details: 'by shop/web-0',
  requestId: 'r-1',
  stateDir: done.stateDir,
}

t.test('refusals', { skip }, async t => {
  const understood: readonly [name: string, more: Partial<ErrorReply>, expected: Expected][] = [
    [
      'as the daemon words them',
      {},
      { code: 101, msg: '10.22.0.50 is held', details: /^by shop.*IPK_ADDRESS_HELD/ },
    ],
    ['with the largest code', { cniCode: 999 }, { code: 999 }],
    ['with a code of a later version', { code: 'IPK_FROM_THE_FUTURE' }, { details: /IPK_FROM_THE_FUTURE/ }],
    ['with control characters', { message: 'a\u0000b\u0007\n\u2028c' }, { msg: 'a\u0000b\u0007\n\u2028c' }],
    ['with half a character', { message: 'a\ud800b' }, { msg: 'a\ud800b' }],
    ['in words that runtimes swallow', { message: 'X Not Found', details: 'no such file or directory' }, {}],
  ]
  await each(understood, async ([name, more, expected]) => {
    for (const verb of verbs) {
      const stateDir = newPath()
      const daemon = await listenFor(t, connection => {
        connection.end(replyText(409, { ...refusal, ...more }))
      })
      const finished = await runVerb(verb, configFor(daemon.path, { stateDir }))
      if (name.endsWith('swallow') && verb !== 'DEL') t.equal(finished.exit, 1, `${verb}, ${name}`)
      else failsProperly(t, `${verb}, ${name}`, finished, expected)
      t.same(queuedIn(stateDir), [], `${verb}, ${name}: nothing is queued`)
      t.same(askedOf(daemon), [verb], `${verb}, ${name}: nothing is undone`)
    }
  })

  const huge = 'x'.repeat(1_000_000)
  const wordy = await listenFor(t, connection => {
    connection.end(replyText(409, { ...refusal, message: huge, details: huge }))
  })
  const long = await runVerb('ADD', configFor(wordy.path))
  const { msg, details } = JSON.parse(long.stdout) as ErrorReply & { readonly msg: string }
  t.equal(long.exit, 1)
  t.ok(msg === huge && details.startsWith(huge), 'two megabytes arrive whole')

  const latin1 = Buffer.from(replyText(409, { ...refusal, message: 'caf\u00e9' }), 'latin1')
  const length = replyText(409, { ...refusal, message: 'cafe' })
  const daemon = await listenFor(t, connection => {
    connection.end(
      Buffer.concat([
        Buffer.from(length.slice(0, length.indexOf('{'))),
        latin1.subarray(latin1.indexOf('{')),
      ]),
    )
  })
  failsProperly(t, 'bytes that are no UTF-8', await runVerb('ADD', configFor(daemon.path)), {
    msg: 'caf\ufffd',
  })
})

t.test('refusals that are none', { skip }, async t => {
  const rows: readonly [name: string, more: Record<string, unknown>][] = [
    ['code 0', { cniCode: 0 }],
    ['a negative code', { cniCode: -1 }],
    ['a fraction', { cniCode: 1.5 }],
    ['one that tells the runtime to leave a DEL out', { cniCode: 3 }],
    ['one that CNI keeps for itself', { cniCode: 99 }],
    ['one beyond ours', { cniCode: 1000 }],
    ['2^32', { cniCode: 2 ** 32 }],
    ['2^40', { cniCode: 2 ** 40 }],
    ['1e308', { cniCode: 1e308 }],
    ['a text', { cniCode: '11' }],
    ['no message', { message: '' }],
    ['a message that is an object', { message: { text: 'no' } }],
    ['no state folder', { stateDir: undefined }],
  ]
  await each(rows, ([name, more]) => tryReply(t, name, replyText(409, { ...refusal, ...more }), 'failed'))
})

t.test('a retryable refusal: a DEL is queued', { skip }, async t => {
  const stateDir = newPath()
  const daemon = await listenFor(t, connection => {
    connection.end(replyText(503, { ...refusal, code: 'IPK_STORE_FAILED', retryable: true, cniCode: 11 }))
  })
  isQueued(t, 'DEL', await runVerb('DEL', configFor(daemon.path, { stateDir })), stateDir)
})

t.test('replies that are unusual, and good', { skip }, async t => {
  const body = (head: string): string => goodReply(head).split('\r\n\r\n')[1] ?? ''
  const replies: readonly [name: string, reply: (head: string) => string][] = [
    [
      'chunked',
      head => `${chunkedOk}${body(head).length.toString(16)};x=y\r\n${body(head)}\r\n0\r\nA: b\r\n\r\n`,
    ],
    ['after a thousand others', head => 'HTTP/1.1 103 Hints\r\nA: b\r\n\r\n'.repeat(1000) + goodReply(head)],
    ['in capitals', head => goodReply(head).replace('Content-Length', 'CONTENT-LENGTH')],
    ['with spaces around', head => replyText(200, `\r\n\t ${body(head)} \n`)],
    [
      'with unknown keys',
      head => replyText(200, { ...(JSON.parse(body(head)) as object), toJSON: 1, later: [] }),
    ],
  ]
  await each(replies, async ([name, reply]) => {
    for (const verb of verbs) {
      const daemon = await listenFor(t, (connection, { head }) => {
        connection.end(reply(head))
      })
      const finished = await runVerb(verb, configFor(daemon.path))
      succeeds(t, `${verb}, ${name}`, finished, verb === 'ADD' ? result : undefined)
    }
  })
})

t.test('answers that come before the question', { skip }, async t => {
  const path = newPath()
  const server = createServer(connection => {
    connection.on('error', () => undefined)
    connection.end(goodReply('POST /v1/cni/add '))
  })
  await once(server.listen(path), 'listening')
  t.teardown(() => server.close())
  for (const verb of ['ADD', 'CHECK'] as const) {
    const finished = await runVerb(verb, configFor(path, { timeout: 1 }))
    // Whether the reply is read before the write fails is the kernel's to say; both are whole.
    if (finished.exit === 0) succeeds(t, verb, finished, verb === 'ADD' ? result : undefined)
    else failsProperly(t, verb, finished, { code: 11 })
  }
})

/** Sends as fast as the other side reads, until it closes. */
function flood(
  connection: Socket,
  begin: string,
  piece: Buffer,
  most: number,
  sent: (bytes: number) => void,
): void {
  connection.write(begin)
  let total = 0
  const go = (): void => {
    while (total < most && !connection.destroyed) {
      total += piece.length
      sent(total)
      if (!connection.write(piece)) {
        connection.once('drain', go)
        return
      }
    }
    connection.end()
  }
  go()
}

t.test('replies without measure are cut off: little is read, little is kept', { skip }, async t => {
  const hundredMegabytes = 100_000_000
  const block = Buffer.alloc(1_000_000, 'x')
  const tiny = Buffer.from('1\r\nx\r\n'.repeat(100_000))
  type Flood = readonly [name: string, begin: string, piece: Buffer, read: number]
  const floods: readonly Flood[] = [
    ['a body that says its length', `${ok}Content-Length: ${hundredMegabytes}\r\n\r\n`, block, 10e6],
    ['one chunk', `${chunkedOk}${hundredMegabytes.toString(16)}\r\n`, block, 10e6],
    // With a sanitizer these take more than a minute, and each byte is kept for a while after its end.
    ...(isSanitizedPlugin ? [] : [['chunks of one byte', chunkedOk, tiny, 60e6] as const]),
    ['a head', 'HTTP/1.1 200 OK\r\nX: ', block, 10e6],
    ['a status line', 'HTTP/1.1 ', block, 10e6],
    ['no HTTP', '', block, 10e6],
    ['a size of a chunk', chunkedOk, Buffer.alloc(1_000_000, '0'), 10e6],
  ]
  for (const [name, begin, piece, most] of floods) {
    let bytes = 0
    const daemon = await listenFor(t, (connection, { head }) => {
      if (head.startsWith('POST /v1/cni/del ')) connection.end(goodReply(head))
      else flood(connection, begin, piece, hundredMegabytes, sent => (bytes = sent))
    })
    const run = startProcess('ADD', configFor(daemon.path, { timeout: 60 }))
    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, residentPeak(run.child.pid))), 10)
    const finished = await run.finished
    clearInterval(watch)
    failsProperly(t, name, finished, { code: 11, details: /IPK_DAEMON_REPLY_INVALID/ })
    t.ok(bytes <= most, `${name}: ${bytes} bytes were sent`)
    t.ok(peak < 300e6, `${name}: ${Math.round(peak / 1e6)} MB were resident`)
    t.same(askedOf(daemon), ['ADD', 'DEL'], `${name}: undone`)
  }
})

/** VmHWM of a process, in bytes; 0 when it has gone. */
function residentPeak(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid ?? 0}/status`, 'latin1')
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
