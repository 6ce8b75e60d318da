import { listing, wideOnly } from '../framework/listing.ts'
import { listingOptions, listingQueryText } from '../framework/listing-options.ts'
import { poolTerms } from '../../../shared/api/listing-query.schema.ts'
import { type Cell, distance } from '../framework/terminal-text.ts'
import type { PoolFamily, PoolsReply } from '../../../shared/api/listing.schema.ts'
import type { PoolDescription } from '../../../shared/api/pool-description.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { poolFacts } from '../../../shared/text/pool-facts.ts'
import { poolNotes } from '../../../shared/text/pool-notes.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import { readCount } from '../framework/options.ts'

interface PoolRow extends PoolFamily {
  readonly name: string
  readonly segment: string
}

/** Of one pool that was named there is more to say. */
type PoolsData = PoolsReply & { readonly description?: PoolDescription }

/** What the daemon lists at most. */
const mostFree = 1000

function describe(description: PoolDescription): string {
  const { free } = description
  const families = [
    free.filter(address => !address.includes(':')),
    free.filter(address => address.includes(':')),
  ]
  return [
    ...poolFacts(description),
    ...families.filter(lines => lines.length > 0).map(lines => ({ name: 'free', lines })),
  ]
    .flatMap(({ name, lines }) =>
      lines.map((line, index) => `${(index === 0 ? name : '').padEnd(9)}  ${line}\n`),
    )
    .join('')
}

const noteLines = (pools: PoolsReply['pools']): string =>
  poolNotes(pools)
    .map(({ says, next }) => `${says}\nnext: ${shellLine(next)}\n`)
    .join('')

/** What drains has nothing free either, but was meant to. */
const isFull = ({ free, drains }: PoolRow): boolean => String(free) === '0' && !drains

/** When it is full, if it goes on growing as it did; -o wide says why that is not known. */
function fullIn(row: PoolRow): Cell {
  const { forecast } = row
  if (isFull(row)) return { text: 'full', tone: 'bad' }
  return typeof forecast?.fullAt === 'string' ? distance(forecast.fullAt) : '-'
}

const ranges = (row: PoolRow): string => row.ranges.map(set => set.join(',')).join(' ')

const familiesWithoutFree = ({ pools }: PoolsReply, { free }: PoolDescription): readonly string[] =>
  pools
    .flatMap(({ families }) => families)
    .map(({ family }) => family)
    .filter(family => !free.some(address => address.includes(':') === (family === 'IPv6')))

export const poolsCommand = listing<PoolsData, PoolRow>({
  name: 'pools',
  arguments: [{ name: 'POOL', text: 'only this pool', optional: true, offers: 'pool' }],
  summary: 'List pools: addresses used, kept and free, and when the next address becomes free',
  options: {
    ...listingOptions(poolTerms),
    pool: { value: 'NAME', text: 'only this pool', offers: 'pool' },
    free: {
      value: 'N',
      text: `with POOL: list the first N free addresses of each family, up to ${mostFree}`,
    },
  },
  examples: [
    { line: 'ipkeeperctl pools', does: 'Show how full each pool is' },
    { line: 'ipkeeperctl pools prod', does: 'Show one pool, with its ranges, exclusions and rules' },
    { line: 'ipkeeperctl pools prod --free 10', does: 'Also list the next ten free addresses' },
    {
      line: 'ipkeeperctl pools -o wide',
      does: 'Show when each pool is full, and from what that is concluded',
    },
    { line: 'ipkeeperctl pools --sort-by free', does: 'Show the fullest first' },
    { line: 'ipkeeperctl pools -o json', does: 'Print JSON, for scripts' },
  ],
  run: async (daemon, { positionals: [pool], options }, terminal) => {
    const asked = { options: pool === undefined ? options : { ...options, pool } }
    const { free } = options
    if (pool !== undefined && options['pool'] !== undefined)
      throw new OptionProblem('--pool', 'either POOL or --pool, not both')
    if (free !== undefined && pool === undefined) throw new Problem('IPK_USAGE', '--free goes with POOL')
    const query = free === undefined ? '' : `?free=${readCount('--free', free, mostFree)}`
    const reply = (await daemon.ask('GET', `/v1/pools${listingQueryText(poolTerms, asked)}`)) as PoolsReply
    if (pool === undefined) return reply
    const path = `/v1/pools/${encodeURIComponent(pool)}/description${query}`
    const description = (await daemon.ask('GET', path)) as PoolDescription
    if (free !== undefined)
      for (const family of familiesWithoutFree(reply, description))
        terminal.err(`note: no ${family} address of pool ${pool} is free\n`)
    return { ...reply, description }
  },
  below: ({ description, pools }) =>
    [noteLines(pools), description ? describe(description) : '']
      .filter(part => part !== '')
      .map(part => `\n${part}`)
      .join(''),
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
      text: row => (isFull(row) ? { text: '0', tone: 'bad' } : String(row.free)),
    },
    {
      ...{ title: 'NEXT FREE', key: 'nextFreeAt', value: row => row.nextFreeAt },
      text: row => (row.nextFreeAt === null ? '-' : distance(row.nextFreeAt)),
    },
    {
      ...{ title: 'FULL IN', key: 'fullAt', value: row => row.forecast?.fullAt ?? null },
      text: row => fullIn(row),
    },
    { title: 'RANGES', key: 'ranges', value: ranges },
    { title: 'FORECAST', key: 'forecast', value: row => row.forecast?.says ?? null, in: wideOnly },
  ],
  nameOf: row => row.name,
  empty: 'no pools: a pool appears with the first ADD of its network',
})
