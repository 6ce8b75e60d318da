import type { Test } from 'tap'
import { until } from './poll.ts'

/**
 * Asserts that a program's log says something, now or soon: what it did is seen before its line about it is written and has
 * come through the pipe.
 */
export async function logs(
  t: Test,
  { log }: { readonly log: () => string },
  wanted: RegExp | string,
  what = `the log says ${String(wanted)}`,
): Promise<void> {
  const says = (): boolean => (typeof wanted === 'string' ? log().includes(wanted) : wanted.test(log()))
  await until(what, says).catch(() => undefined)
  t.match(log(), wanted, what)
}
