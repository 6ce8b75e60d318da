/** What goes wrong with daemons, with the servers of what they share, and with the way between. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Cut } from '../rigs/cuts.ts'
import type { SharedNode } from '../rigs/shared-node.ts'
import type { EngineSide } from './engine-side.ts'
import type { Mishap } from './mishaps.ts'

const cuts: readonly Cut[] = ['both', 'requests', 'replies', 'refused', 30]

export function daemonMishaps(nodes: readonly SharedNode[]): readonly Mishap[] {
  return [
    {
      kind: 'daemon killed',
      weight: 3,
      happen: ({ random, wait, withOne }) =>
        withOne(random.pick(nodes), async node => {
          await node.kill(random.chance(0.8) ? 'SIGKILL' : 'SIGTERM')
          await wait(0, 2000)
          await node.start()
        }),
    },
    {
      kind: 'daemon frozen',
      happen: ({ random, wait, withOne }) =>
        withOne(random.pick(nodes), async node => {
          node.freeze()
          await wait(500, 8000)
          node.thaw()
        }),
    },
  ]
}

export function engineMishaps(nodes: readonly SharedNode[], engine: EngineSide): readonly Mishap[] {
  const { servers } = engine
  const several = servers.length > 1
  return [
    {
      kind: 'node cut off',
      weight: 3,
      happen: ({ random, wait, withOne }) =>
        withOne(random.pick(nodes), async node => {
          await node.cut(random.pick(cuts))
          await wait(500, 10_000)
          // Also a daemon that starts while it is cut off.
          if (random.chance(0.2)) {
            await node.kill()
            await node.start()
          }
          await node.mend()
        }),
    },
    {
      kind: 'server killed',
      weight: several ? 1 : 3,
      happen: ({ random, wait, withOne }) =>
        withOne(random.pick(servers), async server => {
          await server.kill()
          await wait(200, 4000)
          await server.start()
        }),
    },
    {
      kind: 'server frozen',
      weight: several ? 1 : 2,
      happen: ({ random, wait, withOne }) =>
        withOne(random.pick(servers), async server => {
          server.freeze()
          await wait(500, 8000)
          server.thaw()
        }),
    },
    {
      kind: 'engine slow',
      happen: ({ random, withAll }) =>
        withAll(servers, async () => {
          for (let times = random.between(5, 20); times > 0; times--) {
            for (const server of servers) server.freeze()
            await delay(random.between(50, 400))
            for (const server of servers) server.thaw()
            await delay(random.between(10, 50))
          }
        }),
    },
    {
      kind: 'compacted',
      happen: async () =>
        await engine.compact().then(
          () => true,
          () => false,
        ),
    },
    ...(several ? severalServerMishaps(engine) : []),
  ]
}

function severalServerMishaps({ servers }: EngineSide): readonly Mishap[] {
  return [
    {
      kind: 'server isolated',
      weight: 2,
      happen: ({ random, wait, withOne }) =>
        withOne(random.pick(servers), async server => {
          await server.isolate?.()
          await wait(500, 8000)
          await server.join?.()
        }),
    },
    {
      kind: 'engine killed',
      happen: ({ wait, withAll }) =>
        withAll(servers, async () => {
          for (const server of servers) await server.kill()
          await wait(200, 3000)
          for (const server of servers) await server.start()
        }),
    },
  ]
}
