import { setTimeout as delay } from 'node:timers/promises'

/** Waits until something holds, looking often; fails after the deadline, naming what did not come. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  milliseconds = 20_000,
): Promise<void> {
  const deadline = performance.now() + milliseconds
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`)
    await delay(5)
  }
}
