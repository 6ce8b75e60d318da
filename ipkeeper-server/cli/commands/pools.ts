import { command } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { distance, formatTable } from '../framework/terminal-text.ts'
import type { PoolsReply } from '../../../shared/api/listing.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'

export const poolsCommand = command({
  name: 'pools',
  watch: true,
  arguments: [{ name: 'POOL', text: 'only this pool', optional: true, offers: 'pool' }],
  summary: 'List pools: addresses used, kept and free, and when the next address becomes free',
  options: {},
  examples: [
    { line: 'ipkeeperctl pools', does: 'Show how full each pool is' },
    { line: 'ipkeeperctl pools prod', does: 'Show one pool' },
    { line: 'ipkeeperctl pools -o json', does: 'Print JSON, for scripts' },
  ],
  run: async (daemon, { positionals: [wanted] }) => {
    if (wanted !== undefined) return { pools: await listPool(daemon, wanted) }
    return (await daemon.ask('GET', '/v1/pools')) as PoolsReply
  },
  print: ({ pools }, paint) =>
    formatTable(
      ['POOL', 'SEGMENT', 'FAMILY', 'CAPACITY', 'USED', 'HELD', 'FREE', 'NEXT FREE', 'RANGES'],
      pools.flatMap(({ name, segment, families }) =>
        families.map(({ family, capacity, used, held, free, nextFreeAt, ranges }) => [
          ...[name, segment, family],
          ...[capacity, used, held].map(String),
          String(free) === '0' ? ({ text: '0', tone: 'bad' } as const) : String(free),
          nextFreeAt === null ? '-' : distance(nextFreeAt),
          ranges.map(set => set.join(',')).join(' '),
        ]),
      ),
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
