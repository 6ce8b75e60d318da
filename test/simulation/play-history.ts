import { setImmediate as nextTurn } from 'node:timers/promises'
import { EngineDouble } from '../rigs/engine-double.ts'
import type { Violation } from './judge.ts'
import type { History } from './steps.ts'
import { NoEnd, VirtualTime } from './virtual-time.ts'
import { World } from './world.ts'

export interface Outcome {
  /** In the order in which they were found. */
  readonly violations: readonly Violation[]
  /** What happened, each line with its second; violations stand where they were found. */
  readonly story: readonly string[]
}

export interface PlayOptions {
  /** What machines share: another one than usual where a test wants a fault to be found. */
  readonly engine?: EngineDouble
}

/** Plays a history from its beginning to its end; the same one ends the same way each time. */
export async function playHistory(history: History, options: PlayOptions = {}): Promise<Outcome> {
  const thrown: unknown[] = []
  const note = (error: unknown): number => thrown.push(error)
  const worlds: World[] = []
  process.on('unhandledRejection', note)
  try {
    await VirtualTime.run(async time => {
      const world = new World(time, history, options.engine ?? new EngineDouble())
      worlds.push(world)
      try {
        await play(world, history, time)
      } finally {
        world.stop()
      }
    }).catch(note)
    // Of rejections that nobody waits for, node tells when it has nothing else to do.
    await nextTurn()
  } finally {
    process.off('unhandledRejection', note)
  }
  const [world] = worlds
  if (!world) throw thrown[0]
  for (const error of thrown) {
    if (error instanceof NoEnd) world.stop()
    world.judge.complain(
      error instanceof NoEnd ? 'a history ends' : 'nothing unforeseen is thrown',
      String(error),
    )
  }
  return { violations: world.judge.violations, story: world.story }
}

async function play(world: World, { moments, end }: History, time: VirtualTime): Promise<void> {
  await world.begin()
  const began = time.now()
  for (const { at, step } of moments) {
    await time.pass(began + at - time.now())
    world.play(step)
  }
  await time.pass(began + end - time.now())
  await world.settle()
}
