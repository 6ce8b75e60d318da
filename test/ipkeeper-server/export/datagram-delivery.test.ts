import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { openDatagrams } from '../../../ipkeeper-server/export/datagram-delivery.ts'
import { until } from '../../rigs/poll.ts'

/** On a port of its own; closed with the test. */
async function receiver(t: Test): Promise<Socket> {
  const socket = createSocket('udp4')
  await once(socket.bind(0, '127.0.0.1'), 'listening')
  t.teardown(() => socket.close())
  return socket
}

t.test('a line in each datagram', async t => {
  const socket = await receiver(t)
  const lines: string[] = []
  socket.on('message', message => lines.push(message.toString()))
  const delivery = await openDatagrams({ host: '127.0.0.1', port: socket.address().port })
  await delivery.send(['one', 'two'])
  await delivery.finish()
  await until('they have come', () => lines.length === 2)
  t.strictSame(lines.sort(), ['one', 'two'])
})

t.test('that nobody has the port is heard', async t => {
  const { port } = (await receiver(t)).address()
  const other = createSocket('udp4')
  await once(other.bind(0, '127.0.0.1'), 'listening')
  const gone = other.address().port
  other.close()
  t.not(gone, port)
  const sent = (async () => {
    const delivery = await openDatagrams({ host: '127.0.0.1', port: gone })
    await delivery.send(['one'])
    await delivery.finish()
  })()
  await t.rejects(sent, { code: 'ECONNREFUSED' })
})

t.test('given up', async t => {
  const { port } = (await receiver(t)).address()
  await t.rejects(openDatagrams({ host: '127.0.0.1', port }, { signal: AbortSignal.abort() }), {
    message: 'given up',
  })
  const stop = new AbortController()
  const delivery = await openDatagrams({ host: '127.0.0.1', port }, { signal: stop.signal })
  const finished = t.rejects(delivery.finish(), { message: 'given up' })
  stop.abort()
  await finished
})
