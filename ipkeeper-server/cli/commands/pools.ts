import type { PoolsReply } from '../../../shared/api/listing.schema.ts'
import { command, expectPositionals } from '../command.ts'
import { formatTable } from '../table.ts'

export const poolsCommand = command({
  name: 'pools',
  arguments: '',
  summary: 'list pools with their ranges and how many addresses are used, kept and free',
  options: {},
  example: 'ipkeeperctl pools',
  run: async (daemon, args) => {
    expectPositionals(args, [])
    return (await daemon.ask('GET', '/v1/pools')) as PoolsReply
  },
  print: ({ pools }) =>
    formatTable(
      ['POOL', 'SEGMENT', 'CAPACITY', 'USED', 'HELD', 'FREE', 'RANGES'],
      pools.map(pool => [
        pool.name,
        pool.segment,
        ...[pool.capacity, pool.used, pool.held, pool.free].map(String),
        pool.ranges.map(set => set.join(',')).join(' '),
      ]),
      'no pools: a pool appears with the first ADD of its network',
    ),
})
