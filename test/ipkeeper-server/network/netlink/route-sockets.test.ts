import { openSync } from 'node:fs'
import t from 'tap'
import { linkQuery } from '../../../../ipkeeper-server/network/netlink/line-messages.ts'
import { MalformedAnswer } from '../../../../ipkeeper-server/network/netlink/route-message.ts'
import {
  NetlinkFault,
  NewsLost,
  RouteSockets,
  type KernelCalls,
} from '../../../../ipkeeper-server/network/netlink/route-sockets.ts'

interface Datagram {
  readonly bytes: Buffer
  /** Port of who sent it; the kernel has 0. */
  readonly from?: number
}

/** What the kernel says to message 1 when it is done. */
function acknowledged(errno = 0): Buffer {
  const bytes = Buffer.alloc(36)
  bytes.writeUInt32LE(36, 0)
  bytes.writeUInt16LE(2, 4)
  bytes.writeUInt32LE(1, 8)
  bytes.writeInt32LE(-errno, 16)
  bytes.writeUInt32LE(16, 20)
  return bytes
}

class Aborted extends Error {}

/** Sockets on calls of which each does what is said here. */
function socketsOn(more: Partial<KernelCalls> & { readonly datagrams?: readonly Datagram[] } = {}) {
  const { datagrams = [], ...replaced } = more
  const waiting = [...datagrams]
  const called: string[] = []
  const calls: KernelCalls = {
    socket: () => {
      called.push('socket')
      return openSync('/dev/null', 'r')
    },
    setns: fd => {
      called.push(`setns ${fd}`)
      return 0
    },
    bind: () => 0,
    setsockopt: () => 0,
    poll: () => () => undefined,
    send: async (_fd, _bytes, length) => await Promise.resolve(length),
    recvfrom: (_fd, into, _length, _flags, from) => {
      const next = waiting.shift()
      if (!next) return -1
      into.set(next.bytes.subarray(0, into.length))
      Buffer.from(from.buffer).writeUInt32LE(next.from ?? 0, 4)
      return next.bytes.length
    },
    errno: () => 11,
    strerror: errno => `error ${errno}`,
    ...replaced,
  }
  const abort = (): never => {
    called.push('abort')
    throw new Aborted()
  }
  return { sockets: new RouteSockets(calls, 100, abort), called }
}

t.test('a socket in a namespace is made between two changes of it', t => {
  const { sockets, called } = socketsOn()
  sockets.open(5).close()
  t.strictSame(called, ['setns 5', 'socket', 'setns 100'])
  sockets.open().close()
  t.strictSame(called.slice(3), ['socket'])
  t.end()
})

t.test('where a namespace cannot be entered, or has no netlink, the process is in its own', t => {
  const closed = socketsOn({ setns: () => -1 })
  t.throws(() => closed.sockets.open(5), { message: 'the namespace of the pod cannot be entered: error 11' })
  t.strictSame(closed.called, [])
  const bare = socketsOn({ socket: () => -1 })
  t.throws(() => bare.sockets.open(5), { message: 'no socket of netlink: error 11' })
  t.strictSame(bare.called, ['setns 5', 'setns 100'])
  t.throws(() => bare.sockets.open(), { message: 'no socket of netlink: error 11' })
  t.end()
})

t.test('a process that does not come back ends', t => {
  for (const socket of [() => openSync('/dev/null', 'r'), () => -1]) {
    const { sockets, called } = socketsOn({ socket, setns: fd => (fd === 100 ? -1 : 0) })
    t.throws(() => sockets.open(5), new Aborted())
    t.strictSame(called, ['abort'])
  }
  t.end()
})

t.test('only the kernel is believed, and only what is whole', async t => {
  for (const [what, datagrams, outcome] of [
    ['done', [{ bytes: acknowledged() }], { errno: 0 }],
    ['refused', [{ bytes: acknowledged(17) }], { errno: 17 }],
    ['another sender', [{ bytes: acknowledged(), from: 7 }, { bytes: acknowledged(17) }], { errno: 17 }],
    ['another sender alone', [{ bytes: acknowledged(), from: 7 }], 'no answer of the kernel: error 11'],
    ['nothing', [], 'no answer of the kernel: error 11'],
    ['too much', [{ bytes: Buffer.alloc(40_000) }], 'an answer cannot have 40000 bytes'],
    ['half', [{ bytes: acknowledged().subarray(0, 30) }], 'a message cannot have 36 bytes'],
  ] as const) {
    const { sockets } = socketsOn({ datagrams })
    const socket = sockets.open()
    const asked = socket.ask(linkQuery('lo'))
    if (typeof outcome === 'string') await t.rejects(asked, { message: outcome }, what)
    else t.match(await asked, outcome, what)
    socket.close()
  }
  const { sockets } = socketsOn({ send: () => Promise.resolve(-1) })
  const socket = sockets.open()
  await t.rejects(socket.ask(linkQuery('lo')), { message: 'a message could not be sent' })
  socket.close()
})

t.test(
  'a kernel that has none of the options repeats what was asked, and says why in a number alone',
  async t => {
    const short = acknowledged(17)
    const bytes = Buffer.concat([short, Buffer.alloc(16)])
    bytes.writeUInt32LE(bytes.length, 0)
    bytes.writeUInt32LE(32, 20)
    const { sockets } = socketsOn({ setsockopt: () => -1, datagrams: [{ bytes }] })
    const socket = sockets.open()
    t.strictSame(await socket.ask(linkQuery('lo')), { errno: 17, text: undefined, linkIndex: undefined })
    socket.close()
  },
)

t.test('news are received as long as there are any, and only those of the kernel', t => {
  const [none, half] = [Buffer.alloc(0), acknowledged().subarray(0, 30)]
  for (const [what, datagrams, errno, heard, end] of [
    ['nothing', [], 11, [], undefined],
    ['some', [{ bytes: half }, { bytes: acknowledged() }], 11, [half, acknowledged()], undefined],
    ['of another sender', [{ bytes: half, from: 7 }, { bytes: half }], 11, [none, half], undefined],
    ['too many', [{ bytes: half }], 105, [half], new NewsLost('error 105')],
    ['no more', [], 9, [], new NetlinkFault('no news of the kernel: error 9')],
    [
      'too much',
      [{ bytes: Buffer.alloc(40_000) }],
      11,
      [],
      new MalformedAnswer('an answer cannot have 40000 bytes'),
    ],
  ] as const) {
    const { sockets } = socketsOn({ datagrams, errno: () => errno })
    const socket = sockets.listen(0x111, () => undefined)
    for (const bytes of heard) t.strictSame(Buffer.from(socket.receive() ?? []), bytes, what)
    if (end) t.throws(() => socket.receive(), end, what)
    else t.equal(socket.receive(), undefined, what)
    socket.close()
  }
  t.end()
})

t.test('who listens is called until it is closed, and told when it cannot listen', t => {
  let called = 0
  let polled: (() => void) | undefined
  const bound: string[] = []
  const calls: Partial<KernelCalls> = {
    bind: (_fd, name) => {
      bound.push(Buffer.from(name).toString('hex'))
      return 0
    },
    poll: (_fd, onReadable) => {
      polled = onReadable
      return () => (polled = undefined)
    },
  }
  const socket = socketsOn(calls).sockets.listen(0x111, () => called++)
  t.strictSame(bound, ['100000000000000011010000'])
  polled?.()
  t.equal(called, 1)
  socket.close()
  t.equal(polled, undefined)
  t.throws(() => socketsOn({ ...calls, bind: () => -1 }).sockets.listen(0x111, () => undefined), {
    message: 'the news of the kernel cannot be heard: error 11',
  })
  t.equal(polled, undefined)
  t.end()
})

t.test('one message at a time, also after one that failed', async t => {
  const sending: PromiseWithResolvers<number>[] = []
  const { sockets } = socketsOn({
    datagrams: [{ bytes: acknowledged() }],
    send: () => {
      const one = Promise.withResolvers<number>()
      sending.push(one)
      return one.promise
    },
  })
  const [first, second] = [sockets.open(), sockets.open()]
  const failing = first.ask(linkQuery('lo'))
  const waiting = second.ask(linkQuery('lo'))
  await new Promise(setImmediate)
  t.equal(sending.length, 1)
  sending[0]?.reject(new Error('broken'))
  await t.rejects(failing, { message: 'broken' })
  await new Promise(setImmediate)
  t.equal(sending.length, 2)
  sending[1]?.resolve(48)
  t.match(await waiting, { errno: 0 })
  first.close()
  second.close()
})

t.test('a removal keeps nothing waiting, and waits for nothing', async t => {
  const sending: PromiseWithResolvers<number>[] = []
  const { sockets } = socketsOn({
    datagrams: [{ bytes: acknowledged() }, { bytes: acknowledged() }],
    send: () => {
      const one = Promise.withResolvers<number>()
      sending.push(one)
      return one.promise
    },
  })
  const [first, second] = [sockets.open(), sockets.open()]
  const removal = { type: 17, flags: 0, attributes: [] }
  const removed = first.ask(removal)
  const asked = second.ask(linkQuery('lo'))
  await t.rejects(first.ask(removal, AbortSignal.abort('late')), 'one that comes too late is not sent')
  await new Promise(setImmediate)
  t.equal(sending.length, 2)
  sending[1]?.resolve(48)
  t.match(await asked, { errno: 0 })
  sending[0]?.resolve(16)
  t.match(await removed, { errno: 0 })
  first.close()
  second.close()
})
