import { setTimeout as delay } from 'node:timers/promises'
import type { PrivateHost } from './private-host.ts'

/** Resolves when the kernel has no doubts about an address any more (duplicate address detection takes 1 s to 2 s). */
export async function settledAddresses(host: PrivateHost): Promise<void> {
  const deadline = performance.now() + 10_000
  while ((await host.must('ip', ['-6', 'address', 'show', 'tentative'])).trim() !== '') {
    if (performance.now() > deadline) throw new Error('an address is still tentative after 10 s')
    await delay(50)
  }
}

/**
 * Addresses and routes of a host as `ip` tells them, line by line, apart from how many seconds they have left, and from
 * what the kernel has of the pods' links.
 */
export async function hostAddressing(host: PrivateHost): Promise<readonly string[]> {
  const show = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await host.must('ip', ['-details', '-oneline', ...words])).trim().split('\n')
  const lines = [
    ...(await show('address', 'show')),
    ...(await show('-4', 'route', 'show', 'table', 'all')),
    ...(await show('-6', 'route', 'show', 'table', 'all')),
  ]
  const ofPods = /\bipk[0-9a-f]{12}\b/
  return (
    lines
      .filter(line => !ofPods.test(line))
      .map(line =>
        line
          .replace(/^\d+: |(@if|@)\S+/g, '')
          .replace(/\b\d+sec\b/g, 'some sec')
          .trimEnd(),
      )
      // The kernel lists equal routes of several links in the order in which these came up.
      .sort()
  )
}
