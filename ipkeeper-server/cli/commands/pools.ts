import { listing } from '../framework/listing.ts'
import { listingOptions, listingQueryText } from '../framework/listing-options.ts'
import { poolTerms, type ListingTerms } from '../../../shared/api/listing-query.schema.ts'
import { distance } from '../framework/terminal-text.ts'
import type { PoolFamily, PoolsReply } from '../../../shared/api/listing.schema.ts'

interface PoolRow extends PoolFamily {
  readonly name: string
  readonly segment: string
}

/** The pool is the argument. */
const poolOptions: ListingTerms = { ...poolTerms, filters: [] }

const ranges = (row: PoolRow): string => row.ranges.map(set => set.join(',')).join(' ')

export const poolsCommand = listing<PoolsReply, PoolRow>({
  name: 'pools',
  arguments: [{ name: 'POOL', text: 'only this pool', optional: true, offers: 'pool' }],
  summary: 'List pools: addresses used, kept and free, and when the next address becomes free',
  options: listingOptions(poolOptions),
  examples: [
    { line: 'ipkeeperctl pools', does: 'Show how full each pool is' },
    { line: 'ipkeeperctl pools prod', does: 'Show one pool' },
    { line: 'ipkeeperctl pools --sort-by free', does: 'Show those that are full first at the top' },
    { line: 'ipkeeperctl pools -o json', does: 'Print JSON, for scripts' },
  ],
  run: async (daemon, { positionals: [pool], options }) => {
    const asked = { options: pool === undefined ? options : { ...options, pool } }
    return (await daemon.ask('GET', `/v1/pools${listingQueryText(poolTerms, asked)}`)) as PoolsReply
  },
  more: ({ more }) => more,
  rows: ({ pools }): readonly PoolRow[] =>
    pools.flatMap(({ name, segment, families }) => families.map(family => ({ name, segment, ...family }))),
  columns: [
    { title: 'POOL', key: 'name', value: row => row.name },
    { title: 'SEGMENT', key: 'segment', value: row => row.segment },
    { title: 'FAMILY', key: 'family', value: row => row.family },
    { title: 'CAPACITY', key: 'capacity', value: row => row.capacity },
    { title: 'USED', key: 'used', value: row => row.used },
    { title: 'HELD', key: 'held', value: row => row.held },
    {
      ...{ title: 'FREE', key: 'free', value: row => row.free },
      text: row => (String(row.free) === '0' ? { text: '0', tone: 'bad' } : String(row.free)),
    },
    {
      ...{ title: 'NEXT FREE', key: 'nextFreeAt', value: row => row.nextFreeAt },
      text: row => (row.nextFreeAt === null ? '-' : distance(row.nextFreeAt)),
    },
    { title: 'RANGES', key: 'ranges', value: ranges },
  ],
  nameOf: row => row.name,
  empty: 'no pools: a pool appears with the first ADD of its network',
})
