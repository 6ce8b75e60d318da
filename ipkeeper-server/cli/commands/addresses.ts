import type { HistoryReply, TenureItem } from '../../../shared/api/address.schema.ts'
import { historyTerms } from '../../../shared/api/listing-query.schema.ts'
import { addressBits, formatAddress } from '../../../shared/net/address.ts'
import { firstOf, parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellLine, shellWord } from '../../../shared/text/shell-word.ts'
import type { ReadCall } from '../framework/command.ts'
import { type Column, csvColumn, listing, peopleOnly, wideOnly } from '../framework/listing.ts'
import { listingOptions, listingQueryText } from '../framework/listing-options.ts'
import { whoHas } from '../framework/terminal-text.ts'
import { readLimit, segmentOption } from '../framework/options.ts'

/** What the daemon gives at most, and what it gives when nothing is said. */
const mostTenures = 1000
const usualTenures = 50

/** The one address of a command line and its segment. Listings print "10.22.0.50/16", and people copy it. */
export function readAddress(args: Pick<ReadCall, 'positionals' | 'options'>): {
  readonly address: string
  readonly segment: string
  readonly path: string
} {
  const [word = ''] = args.positionals
  const segment = args.options['segment'] ?? 'default'
  if (word === '' || segment === '') throw new Problem('IPK_USAGE', 'the address or the segment is empty')
  const address = withoutPrefixLength(word)
  return { address, segment, path: addressPath({ segment, address }) }
}

export function withoutPrefixLength(word: string): string {
  const cidr = parseCidr(word)
  return cidr ? formatAddress(cidr.address) : word
}

/** "10.22.0.64/26" is all hosts of a network, and "10.22.0.65/26" an address as listings print it. */
export function isNetwork(word: string): boolean {
  const cidr = parseCidr(word)
  return (
    cidr !== undefined &&
    cidr.prefixLength < addressBits[cidr.address.family] &&
    firstOf(cidr).value === cidr.address.value
  )
}

export const addressPath = ({
  segment,
  address,
}: {
  readonly segment: string
  readonly address: string
}): string => `/v1/addresses/${encodeURIComponent(segment)}/${encodeURIComponent(address)}`

export const segmentWords = (segment: string): string =>
  segment === 'default' ? '' : ` --segment ${shellWord(segment)}`

/** Absolute: a history is read beside other logs. */
export const toTheSecond = (time: string): string => time.replace(/\.[0-9]{3}Z$/, 'Z')

export const tenureColumns: readonly Column<TenureItem>[] = [
  csvColumn('id', ({ id }) => id),
  csvColumn('segment', ({ segment }) => segment),
  csvColumn('address', ({ address }) => address),
  { title: 'FROM', key: 'from', value: ({ from }) => from, text: ({ from }) => toTheSecond(from) },
  {
    title: 'TO',
    key: 'to',
    value: ({ to }) => to,
    text: ({ to, ended }) => (to !== null ? toTheSecond(to) : ended === null ? 'now' : 'not known'),
  },
  { title: 'STATE', key: 'state', value: ({ state }) => state },
  { title: 'POOL', key: 'pool', value: ({ pool }) => pool, in: wideOnly },
  { title: 'NETWORK', key: 'network', value: ({ network }) => network, in: wideOnly },
  { title: 'HOLDER', key: 'holder', value: whoHas, in: peopleOnly },
  csvColumn('namespace', ({ pod }) => pod?.namespace ?? null),
  csvColumn('pod', ({ pod }) => pod?.name ?? null),
  { title: 'POD UID', key: 'podUid', value: ({ pod }) => pod?.uid ?? null },
  {
    ...{ title: 'CONTAINER', key: 'containerId', value: ({ containerId }) => containerId },
    text: ({ containerId }) => (containerId ?? '-').slice(0, 13),
  },
  { title: 'IFNAME', key: 'ifname', value: ({ ifname }) => ifname, in: wideOnly },
  { title: 'NODE', key: 'node', value: ({ node }) => node },
  { title: 'SOURCE', key: 'source', value: ({ source }) => source },
  { title: 'ENDED', key: 'ended', value: ({ ended }) => ended },
]

/** The same call, for the page before. */
function earlierLine({ options }: ReadCall, { address, id }: TenureItem): string {
  const again = Object.entries({ ...options, before: String(id) })
  return shellLine([
    ...['ipkeeperctl', 'history', address],
    ...again.flatMap(([name, value]) => [`--${name}`, value]),
  ])
}

export const historyCommand = listing<HistoryReply, TenureItem>({
  name: 'history',
  arguments: [{ name: 'ADDRESS', text: 'an IPv4 or IPv6 address', offers: 'any address' }],
  summary: 'List the holders of an address over time, newest first',
  options: {
    ...listingOptions(historyTerms),
    segment: segmentOption,
    limit: {
      value: 'N',
      text: `at most N, the newest ones, up to ${mostTenures} (default: ${usualTenures})`,
    },
    before: { value: 'ID', text: 'only entries before the one with this ID (-o json shows IDs)' },
  },
  examples: [
    { line: 'ipkeeperctl history 10.22.0.50', does: 'List its holders, newest first' },
    {
      line: 'ipkeeperctl history 10.22.0.50 --limit 10 --before 4711',
      does: 'List the ten entries before the one with ID 4711',
    },
    {
      line: 'ipkeeperctl history 10.22.0.50 -n shop --sort-by oldest',
      does: 'List when pods of a namespace had it, in the order of time',
    },
  ],
  run: async (daemon, args, terminal) => {
    const { address, segment } = readAddress(args)
    const limit =
      args.options['limit'] === undefined ? usualTenures : readLimit(args.options['limit'], mostTenures)
    const { before } = args.options
    if (before !== undefined && !/^[1-9][0-9]{0,14}$/.test(before))
      throw new Problem('IPK_USAGE', `--before "${before}" is not the ID of an entry`)
    const query = new URLSearchParams(listingQueryText(historyTerms, args))
    for (const [key, value] of Object.entries({ address, segment, limit: String(limit), before }))
      if (value !== undefined) query.set(key, value)
    const reply = (await daemon.ask('GET', `/v1/history?${query.toString()}`)) as HistoryReply
    const [oldest] = reply.history.toSorted((a, b) => a.id - b.id)
    if (oldest && reply.history.length === limit)
      terminal.err(`note: for earlier tenures: ${earlierLine(args, oldest)}\n`)
    return reply
  },
  rows: ({ history }) => history,
  columns: tenureColumns,
  nameOf: ({ id }) => String(id),
  empty: 'no history: the address was never used, or its history has expired',
})
