import type {
  AddressReply,
  HistoryReply,
  ReleaseReply,
  TenureItem,
} from '../../../shared/api/address.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { command, type ReadCall } from '../framework/command.ts'
import { type Column, csvColumn, listing, peopleOnly, tableOf, wideOnly } from '../framework/listing.ts'
import { distance, whoHas } from '../framework/terminal-text.ts'
import { readLimit, segmentOption } from '../framework/options.ts'

/** What the daemon gives at most, and what it gives when nothing is said. */
const mostTenures = 1000
const usualTenures = 50

/** The one address of a command line and its segment. */
function readAddress(args: ReadCall): { address: string; segment: string; path: string } {
  const [address = ''] = args.positionals
  const segment = args.options['segment'] ?? 'default'
  if (address === '' || segment === '') throw new Problem('IPK_USAGE', 'the address or the segment is empty')
  return {
    address,
    segment,
    path: `/v1/addresses/${encodeURIComponent(segment)}/${encodeURIComponent(address)}`,
  }
}

const option = (segment: string): string => (segment === 'default' ? '' : ` --segment ${segment}`)

/** Absolute: a history is read beside other logs. */
const moment = (time: string): string => time.replace(/\.[0-9]{3}Z$/, 'Z')

const tenureColumns: readonly Column<TenureItem>[] = [
  csvColumn('id', ({ id }) => id),
  csvColumn('segment', ({ segment }) => segment),
  csvColumn('address', ({ address }) => address),
  { title: 'FROM', key: 'from', value: ({ from }) => from, text: ({ from }) => moment(from) },
  { title: 'TO', key: 'to', value: ({ to }) => to, text: ({ to }) => (to === null ? 'now' : moment(to)) },
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

function silenceOf({ nodeSilence }: AddressReply): string | null {
  if (!nodeSilence) return null
  const { node, silentSeconds, neededSeconds } = nodeSilence
  if (silentSeconds === null || neededSeconds === null) return null
  return `node ${node} was last heard from ${silentSeconds} s ago; its addresses can be taken over after ${neededSeconds} s`
}

/** Rows of "name  value"; those that say nothing are left out. */
function facts(reply: AddressReply): string {
  const { lease, attachment, reservation, pool, unusable } = reply
  const free = lease?.until ?? null
  const sandbox =
    attachment &&
    `${attachment.netns || 'no namespace'}, ${attachment.provedDead ? 'proved dead' : 'not proved dead'}`
  const rows: readonly (readonly [name: string, value: string | null | undefined])[] = [
    ['state', reply.state],
    ['pool', pool === null ? null : `${pool}${unusable === null ? '' : `: ${unusable}`}`],
    ['segment', reply.segment],
    ['holder', lease ? whoHas(lease) : attachment && whoHas(attachment)],
    ['pod UID', (lease ?? attachment)?.pod?.uid],
    ['network', (lease ?? attachment)?.network],
    ['interface', (lease ?? attachment)?.ifname],
    ['container', attachment?.containerId],
    ['node', (lease ?? attachment)?.node],
    ['sandbox', sandbox],
    ['contact', silenceOf(reply)],
    ['since', lease ? `${moment(lease.since)}, ${distance(lease.since)} ago` : null],
    ['had since', reply.holderSince === null ? null : moment(reply.holderSince)],
    [
      'free in',
      free === null
        ? lease?.state === 'held'
          ? 'never'
          : null
        : reply.state === 'expired'
          ? 'now'
          : `${distance(free)}, at ${moment(free)}`,
    ],
    ['retention', lease?.retain],
    ['source', lease?.source],
    ['MAC', lease?.mac],
    ['fallback', attachment?.delegatedTo],
    [
      'reserved',
      reservation && `for ${reservation.owner}${reservation.note === '' ? '' : ` (${reservation.note})`}`,
    ],
  ]
  const said = rows.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name.padEnd(9)}  ${value}\n`],
  )
  return said.join('')
}

export const whoCommand = command({
  name: 'who',
  watch: true,
  arguments: [{ name: 'ADDRESS', text: 'an IPv4 or IPv6 address', offers: 'any address' }],
  summary: 'Show who has an address, and everything else known about it',
  options: { segment: segmentOption },
  examples: [
    { line: 'ipkeeperctl who 10.22.0.50', does: 'Show its state, holder, sandbox and last holders' },
    {
      line: 'ipkeeperctl who fd00:22::50 --segment lab -o json',
      does: 'Show an address of another segment, as JSON',
    },
  ],
  run: async (daemon, args, terminal) => {
    const reply = (await daemon.ask('GET', readAddress(args).path)) as AddressReply
    for (const segment of reply.elsewhere)
      terminal.err(
        `note: a pool of segment ${segment} also has this address; see: ipkeeperctl who ${reply.address}${option(segment)}\n`,
      )
    return reply
  },
  print: reply =>
    `${reply.sentence}\n\n${facts(reply)}` +
    (reply.tenures.length === 0 ? '' : `\n${tableOf(tenureColumns, reply.tenures)}`),
})

export const historyCommand = listing<HistoryReply, TenureItem>({
  name: 'history',
  arguments: [{ name: 'ADDRESS', text: 'an IPv4 or IPv6 address', offers: 'any address' }],
  summary: 'List the holders of an address over time, newest first',
  options: {
    segment: segmentOption,
    limit: { value: 'N', text: `at most N, up to ${mostTenures} (default: ${usualTenures})` },
    before: { value: 'ID', text: 'only entries before the one with this ID (-o json shows IDs)' },
  },
  examples: [
    { line: 'ipkeeperctl history 10.22.0.50', does: 'List its holders, newest first' },
    {
      line: 'ipkeeperctl history 10.22.0.50 --limit 10 --before 4711',
      does: 'List the ten entries before the one with ID 4711',
    },
  ],
  run: async (daemon, args, terminal) => {
    const { address, segment } = readAddress(args)
    const limit =
      args.options['limit'] === undefined ? usualTenures : readLimit(args.options['limit'], mostTenures)
    const { before } = args.options
    if (before !== undefined && !/^[1-9][0-9]{0,14}$/.test(before))
      throw new Problem('IPK_USAGE', `--before "${before}" is not the ID of an entry`)
    const query = new URLSearchParams({
      address,
      segment,
      limit: String(limit),
      ...(before !== undefined && { before }),
    })
    const reply = (await daemon.ask('GET', `/v1/history?${query.toString()}`)) as HistoryReply
    const last = reply.history.at(-1)
    if (last && reply.history.length === limit)
      terminal.err(
        `note: for earlier tenures: ipkeeperctl history ${last.address}${option(segment)} --before ${last.id}\n`,
      )
    return reply
  },
  rows: ({ history }) => history,
  columns: tenureColumns,
  nameOf: ({ id }) => String(id),
  empty: 'no history: the address was never used, or its history has expired',
})

function whatItWas({ released }: ReleaseReply): string {
  const who = released.pod || released.containerId !== null ? whoHas(released) : 'a deleted container'
  if (released.state === 'cooling') return `it was cooling down; ${who} had released it`
  return `it was kept for ${who} ${released.until === null ? 'with no end' : `until ${moment(released.until)}`}`
}

export const releaseCommand = command({
  name: 'release',
  arguments: [
    { name: 'ADDRESS', text: 'an address that is kept for a holder or cooling down', offers: 'kept address' },
  ],
  summary: 'Release an address that is kept for a holder or cooling down',
  options: { segment: segmentOption },
  examples: [
    {
      line: 'ipkeeperctl release 10.22.0.50',
      does: 'Free an address that was kept for a deleted pod',
    },
  ],
  run: async (daemon, args) =>
    (await daemon.ask('POST', `${readAddress(args).path}/release`)) as ReleaseReply,
  print: reply => {
    const { released, reservation } = reply
    const stays = reservation ? `; it stays reserved for ${reservation.owner}` : ''
    return `${released.address} is released: ${whatItWas(reply)}${stays}\n`
  },
})
