import { setTimeout as delay } from 'node:timers/promises'

/**
 * Milliseconds after which what has not come will never come. It ends a test that would hang; a busy machine may take most of it,
 * so nothing is promised by it.
 */
export const hangMs = 60_000

/** Waits until something holds, looking often unless told otherwise; fails after the deadline, naming what did not come. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  milliseconds = hangMs,
  everyMs = 5,
): Promise<void> {
  const deadline = performance.now() + milliseconds
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`)
    await delay(everyMs)
  }
}
