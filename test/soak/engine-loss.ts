/** The engine loses what is in it, or goes back to what was in it once, under daemons that run and some that do not. */
import { setTimeout as delay } from 'node:timers/promises'
import type { EtcdSide } from '../many-nodes/etcd-side.ts'
import type { LossEvent } from '../many-nodes/history.ts'
import type { Mishap, MishapTools } from '../many-nodes/mishaps.ts'
import { until } from '../rigs/poll.ts'
import type { Stage } from './stage.ts'

/** Milliseconds until all daemons work with it again. */
const backWithin = 60_000

/** `lost` is told of each, when all daemons have it again. */
export function engineLosses(
  stage: Stage,
  engine: EtcdSide,
  lost: (event: LossEvent) => void,
): readonly Mishap[] {
  const nodes = stage.machines.map(({ node }) => node)
  let number = 0
  const lose = async (
    { random, withAll }: MishapTools,
    snapshot: (() => Promise<string>) | undefined,
  ): Promise<boolean> => {
    const saved = performance.now()
    const file = await snapshot?.().catch(() => 'none')
    if (file === 'none') return false
    // Those are down while it is lost, and come back to it later.
    const down = nodes.filter(() => random.chance(0.25))
    return await withAll([...engine.servers, ...down], async () => {
      for (const node of down) await node.kill(random.chance(0.7) ? 'SIGKILL' : 'SIGTERM')
      const from = performance.now()
      // With the name of the first one the new cluster has its ID, too.
      await engine.reset(file, random.chance(0.5) ? undefined : `again-${++number}`)
      await engine.healthy()
      await delay(random.between(0, 2000))
      for (const node of down) await node.start()
      await until(
        'every daemon works with the engine that lost its data',
        async () => {
          for (const node of nodes)
            if (node.isUp() && (await node.status().catch(() => undefined))?.store.state !== 'ready')
              return false
          return true
        },
        backWithin,
      )
      lost({ kind: 'loss', from, to: performance.now(), ...(file !== undefined && { snapshot: saved }) })
    })
  }
  return [
    { kind: 'engine wiped', happen: tools => lose(tools, undefined) },
    {
      kind: 'engine restored',
      happen: tools =>
        lose(tools, async () => {
          const file = stage.folder.file(`snapshot-${++number}`)
          await engine.save(file)
          await tools.wait(1000, 4000)
          return file
        }),
    },
  ]
}
