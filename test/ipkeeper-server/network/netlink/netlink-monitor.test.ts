import t from 'tap'
import { NetlinkMonitor } from '../../../../ipkeeper-server/network/netlink/netlink-monitor.ts'
import { MalformedAnswer } from '../../../../ipkeeper-server/network/netlink/route-message.ts'
import {
  NetlinkFault,
  NewsLost,
  type RouteSockets,
} from '../../../../ipkeeper-server/network/netlink/route-sockets.ts'
import type { KernelNews } from '../../../../ipkeeper-server/network/plan/node-links.ts'
import { attribute, message } from '../../../fuzz/arbitraries/netlink.ts'

/** 10.22.0.5/24 on link 1. */
const told = message(
  ...([20, 0, 0] as const),
  Buffer.concat([Buffer.from([2, 24, 0, 0, 1, 0, 0, 0]), attribute(2, Buffer.from([10, 22, 0, 5]))]),
)
const cutOff = told.subarray(0, 30)

/** A monitor whose socket has these datagrams, and then an error. */
function monitorOf(datagrams: readonly Buffer[], error?: Error) {
  const waiting = [...datagrams]
  const seen = { news: [] as KernelNews[], ends: [] as string[], left: [] as unknown[], closed: 0 }
  let wake = (): void => undefined
  const sockets = {
    listen: (_groups: number, onNews: () => void) => {
      wake = onNews
      return {
        receive: () => {
          const next = waiting.shift()
          if (!next && error) throw error
          return next
        },
        close: () => seen.closed++,
      }
    },
  } as unknown as RouteSockets
  const listener = {
    onNews: (news: KernelNews) => seen.news.push(news),
    onEnd: (why: string) => seen.ends.push(why),
  }
  const monitor = new NetlinkMonitor(sockets, left => seen.left.push(left), listener)
  const wakeUp = (): void => {
    wake()
  }
  return { monitor, seen, wake: wakeUp }
}

t.test('what is there is told to who asks, and when the event loop finds it', t => {
  const asked = monitorOf([told, told])
  t.ok(asked.monitor.listens())
  t.ok(asked.monitor.hasToldAll())
  t.match(asked.seen.news, [{ cidr: '10.22.0.5/24', link: 1 }, { gone: false }])
  const woken = monitorOf([told])
  woken.wake()
  t.equal(woken.seen.news.length, 1)
  for (const { monitor, seen } of [asked, woken]) {
    monitor.end()
    monitor.end('again')
    t.strictSame([seen.ends, seen.closed], [['netlink is no longer listened to'], 1])
    t.notOk(monitor.hasToldAll())
    t.notOk(monitor.listens())
  }
  t.end()
})

t.test('where something is missing it ends', t => {
  for (const [what, datagrams, error, why, isLeft] of [
    [
      'there was too much',
      [told],
      new NewsLost('No buffer space available'),
      'No buffer space available',
      false,
    ],
    ['netlink fails', [told], new NetlinkFault('no news'), 'no news', true],
    ['it is too long', [told], new MalformedAnswer('too long'), 'too long', true],
    ['it is not whole', [told, cutOff], undefined, 'a message cannot have 32 bytes', true],
  ] as const) {
    const { monitor, seen } = monitorOf(datagrams, error)
    t.notOk(monitor.hasToldAll(), what)
    t.equal(seen.news.length, 1, what)
    t.strictSame([seen.ends, seen.closed, seen.left.length], [[why], 1, isLeft ? 1 : 0], what)
  }
  const wrong = monitorOf([], new TypeError('a mistake'))
  t.throws(
    () => wrong.monitor.hasToldAll(),
    { message: 'a mistake' },
    'a mistake of ours is no fault of netlink',
  )
  t.end()
})
