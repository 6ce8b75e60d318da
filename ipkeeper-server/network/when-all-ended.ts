/**
 * Waits for all, also when one fails: whoever hears of the fault undoes what they did, or closes what they use, and must not
 * meet them at it. Then rejects with the fault of the first in the list.
 */
export async function whenAllEnded<T>(steps: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(steps)
  const results: T[] = []
  for (const step of steps) results.push(await step)
  return results
}
