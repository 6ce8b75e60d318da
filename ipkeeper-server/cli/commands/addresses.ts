import type {
  ForcedReleaseReply,
  HistoryReply,
  ReleaseReply,
  TenureItem,
} from '../../../shared/api/address.schema.ts'
import { formatAddress } from '../../../shared/net/address.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { command, type ReadCall } from '../framework/command.ts'
import { type Column, csvColumn, listing, peopleOnly, wideOnly } from '../framework/listing.ts'
import { whoHas } from '../framework/terminal-text.ts'
import { forcedText, forceOptions, isForced, runForced } from './force-release.ts'
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

export const addressPath = ({
  segment,
  address,
}: {
  readonly segment: string
  readonly address: string
}): string => `/v1/addresses/${encodeURIComponent(segment)}/${encodeURIComponent(address)}`

export const segmentWords = (segment: string): string =>
  segment === 'default' ? '' : ` --segment ${segment}`

/** Absolute: a history is read beside other logs. */
export const moment = (time: string): string => time.replace(/\.[0-9]{3}Z$/, 'Z')

export const tenureColumns: readonly Column<TenureItem>[] = [
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
        `note: for earlier tenures: ipkeeperctl history ${last.address}${segmentWords(segment)} --before ${last.id}\n`,
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

export const releaseCommand = command<ReleaseReply | ForcedReleaseReply>({
  name: 'release',
  arguments: [
    {
      ...{ name: 'ADDRESS', offers: 'kept address' },
      text: 'an address that is kept for a holder or cooling down; with --force also a bound one',
    },
  ],
  summary: 'Release an address that is kept for a holder or cooling down',
  about: [
    'An address that a sandbox has is released with --force alone. The command says what it will do and to whom, and asks. The sandbox is cut off before its address may go to others: by the daemon of this node, or by that of its own, which is asked. All addresses of the sandbox end with it; the pod keeps running without that interface.',
    'Where the daemon of the node does not answer, nobody can cut the sandbox off, and your word is recorded in its place. It is refused while that node may still run: its link or one of its addresses answers, or nobody has declared it gone. Make sure that the machine is off, and add --powered-off. If it is not off, two pods answer for one address until its daemon reaches the store again, learns of it before it serves anything, and cuts the sandbox off.',
  ],
  options: { segment: segmentOption, ...forceOptions },
  examples: [
    {
      line: 'ipkeeperctl release 10.22.0.50',
      does: 'Free an address that was kept for a deleted pod',
    },
    {
      line: 'ipkeeperctl release --force 10.22.0.50',
      does: 'Take an address from the pod that has it, after a question',
    },
    {
      line: 'ipkeeperctl release --force --powered-off 10.22.0.50 --yes',
      does: 'Free the address of a pod on a machine that is known to be off, without a question',
    },
  ],
  run: async (daemon, args, terminal): Promise<ReleaseReply | ForcedReleaseReply> => {
    const path = `${readAddress(args).path}/release`
    if (isForced(args)) return await runForced(daemon, path, args, terminal)
    return (await daemon.ask('POST', path)) as ReleaseReply
  },
  print: reply => {
    if ('plan' in reply) return forcedText(reply)
    const { released, reservation } = reply
    const stays = reservation ? `; it stays reserved for ${reservation.owner}` : ''
    return `${released.address} is released: ${whatItWas(reply)}${stays}\n`
  },
})
