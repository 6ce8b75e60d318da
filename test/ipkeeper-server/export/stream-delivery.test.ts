import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { Delivery } from '../../../ipkeeper-server/export/delivery.ts'
import { openStream } from '../../../ipkeeper-server/export/stream-delivery.ts'
import { until } from '../../rigs/poll.ts'

interface Receiver {
  readonly port: number
  /** All that it has read. */
  readonly read: () => string
  readonly connections: () => number
}

/** A receiver that does something with each connection, until the test ends. */
async function receiver(t: Test, serve: (socket: Socket) => void): Promise<Receiver> {
  const sockets = new Set<Socket>()
  let text = ''
  const server: Server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    serve(socket)
    socket.on('data', chunk => (text += chunk.toString()))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await once(server.close(), 'close')
  })
  return {
    port: (server.address() as AddressInfo).port,
    read: () => text,
    connections: () => sockets.size,
  }
}

/** Closes when all is read, as receivers do. */
const usual = (socket: Socket): void => {
  socket.on('end', () => socket.end())
}

const open = (port: number, answer = 60_000): Promise<Delivery> =>
  openStream({ host: '127.0.0.1', port }, undefined, { limits: { connect: 60_000, answer } })

t.test('lines are counted out, and have come there when it has finished', async t => {
  const { port, read } = await receiver(t, usual)
  const delivery = await open(port)
  await delivery.send(['<134>1 a', 'b'])
  await delivery.send(['c'.repeat(12)])
  await delivery.finish()
  t.equal(read(), `8 <134>1 a1 b12 ${'c'.repeat(12)}`)
})

const faults: readonly (readonly [what: string, serve: (socket: Socket) => void, why: RegExp])[] = [
  [
    'it closes before all is sent',
    socket => {
      socket.end()
    },
    /^it closed the connection before all was sent$/,
  ],
  [
    'it answers',
    socket => {
      usual(socket)
      socket.write('SSH-2.0-OpenSSH\r\n')
    },
    /^it answers, and syslog knows no answers/,
  ],
  [
    'it answers when all is sent, as a web server does',
    socket => {
      socket.on('end', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    },
    /^it answers, /,
  ],
  [
    'it resets the connection',
    socket => {
      socket.once('data', () => socket.resetAndDestroy())
    },
    /ECONNRESET|EPIPE|the connection was lost/,
  ],
]

for (const [what, serve, why] of faults)
  t.test(what, async t => {
    const { port } = await receiver(t, serve)
    const sent = (async () => {
      const delivery = await open(port)
      await delivery.send(['a'])
      await delivery.finish()
    })()
    await t.rejects(sent, { message: why })
  })

t.test('it reads nothing', async t => {
  const { port } = await receiver(t, socket => socket.pause())
  const delivery = await open(port, 300)
  await delivery.send(['a'])
  await t.rejects(delivery.finish(), {
    message:
      /^it did not close the connection within 0\.3 s after the last line, so it may not have read it$/,
  })
  const other = await open(port, 300)
  const line = 'x'.repeat(2 ** 20)
  const sending = (async () => {
    for (let count = 0; count < 200; count++) await other.send([line])
  })()
  await t.rejects(sending, { message: /^it has read nothing for 0\.3 s$/ })
})

t.test('nobody listens', async t => {
  const { port, read } = await receiver(t, usual)
  t.equal(read(), '')
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const gone = (server.address() as AddressInfo).port
  await once(server.close(), 'close')
  await t.rejects(open(gone), { code: 'ECONNREFUSED' })
  const ended = AbortSignal.abort()
  await t.rejects(openStream({ host: '127.0.0.1', port }, undefined, { signal: ended }), {
    message: 'given up',
  })
})

t.test('whatever waits ends when it is given up', async t => {
  const site = await receiver(t, socket => socket.pause())
  const stop = new AbortController()
  const delivery = await openStream({ host: '127.0.0.1', port: site.port }, undefined, {
    signal: stop.signal,
  })
  await until('connected', () => site.connections() === 1)
  const finished = t.rejects(delivery.finish(), { message: 'given up' })
  stop.abort()
  await finished
})
