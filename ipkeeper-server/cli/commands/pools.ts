import type { PoolsReply } from '../../../shared/api/listing.schema.ts'
import { command } from '../framework/command.ts'
import { listPool } from './list-pool.ts'
import { distance } from '../framework/distance.ts'
import { formatTable } from '../framework/table.ts'

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
