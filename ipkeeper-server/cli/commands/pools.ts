import { command } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { distance, formatTable } from '../framework/terminal-text.ts'
import type { PoolsReply } from '../../../shared/api/listing.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'

export const poolsCommand = command({
  name: 'pools',
  watch: true,
  arguments: [{ name: 'POOL', text: 'this one alone', optional: true, offers: 'pool' }],
  summary: 'list pools: how many addresses are used, kept, free, and when the next gets free',
  options: {},
  examples: [
    { line: 'ipkeeperctl pools', does: 'shows how full each pool is' },
    { line: 'ipkeeperctl pools prod', does: 'shows one of them' },
    { line: 'ipkeeperctl pools -o json', does: 'the same for scripts' },
  ],
  run: async (daemon, { positionals: [wanted] }) => {
    if (wanted !== undefined) return { pools: await listPool(daemon, wanted) }
    return (await daemon.ask('GET', '/v1/pools')) as PoolsReply
  },
  print: ({ pools }, paint) =>
    formatTable(
      ['POOL', 'SEGMENT', 'CAPACITY', 'USED', 'HELD', 'FREE', 'NEXT FREE', 'RANGES'],
      pools.map(pool => [
        pool.name,
        pool.segment,
        ...[pool.capacity, pool.used, pool.held].map(String),
        String(pool.free) === '0' ? ({ text: '0', tone: 'bad' } as const) : String(pool.free),
        pool.nextFreeAt === null ? '-' : distance(pool.nextFreeAt),
        pool.ranges.map(set => set.join(',')).join(' '),
      ]),
      'no pools: a pool appears with the first ADD of its network',
      paint,
    ),
})

/** The pool of this name, once for each segment that has one. Throws IPK_REQUEST_INVALID where there is none. */
export async function listPool(daemon: DaemonClient, name: string): Promise<PoolsReply['pools']> {
  const { pools } = (await daemon.ask('GET', '/v1/pools')) as PoolsReply
  const chosen = pools.filter(pool => pool.name === name)
  if (chosen.length > 0) return chosen
  throw new Problem('IPK_REQUEST_INVALID', `there is no pool ${name}`, {
    hint: 'a pool of a network appears with its first ADD; see: ipkeeperctl pools',
  })
}
