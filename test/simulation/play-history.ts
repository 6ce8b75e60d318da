import type { Violation } from './judge.ts'
import type { History } from './steps.ts'
import { VirtualTime } from './virtual-time.ts'
import { World } from './world.ts'

export interface Outcome {
  /** In the order in which they were found. */
  readonly violations: readonly Violation[]
  /** What happened, each line with its second; the first wrong moment is marked. */
  readonly story: readonly string[]
}

/** Plays a history from its beginning to its end; the same one ends the same way each time. */
export async function playHistory({ kind, seed, moments }: History): Promise<Outcome> {
  return await VirtualTime.run(async time => {
    const world = new World(time, { kind, seed })
    try {
      await world.begin()
      for (const { step, then } of moments) {
        world.play(step)
        await time.pass(then)
      }
      await world.settle()
    } finally {
      world.stop()
    }
    return { violations: world.judge.violations, story: world.story }
  })
}
