import type { HistoryCheck, HistoryReply, TenureItem } from '../../../shared/api/address.schema.ts'
import { historyTerms } from '../../../shared/api/listing-query.schema.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import type { CtlCommand, ReadCall } from '../framework/command.ts'
import { type Column, csvColumn, listing, peopleOnly, wideOnly } from '../framework/listing.ts'
import { listingOptions, listingQueryText } from '../framework/listing-options.ts'
import { readTimeOption } from '../framework/time-option.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import { readLimit, segmentOption } from '../framework/options.ts'
import { whoHas } from '../framework/terminal-text.ts'
import { readAddress, toTheSecond } from './addresses.ts'
import { faultText, newestText, unlinkedLines, wholeText } from './chain-texts.ts'
import { checkHistoryCopy, describeCopy, isCheckedCopy, isWhole } from './check-history-copy.ts'
import { printHistory } from './print-history.ts'

/** What the daemon gives at most, and what it gives when nothing is said. */
const mostTenures = 1000
const usualTenures = 50

export const tenureColumns: readonly Column<TenureItem>[] = [
  csvColumn('id', ({ id }) => id),
  csvColumn('segment', ({ segment }) => segment),
  { title: 'ADDRESS', key: 'address', value: ({ address }) => address },
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
function earlierLine({ positionals, options }: ReadCall, { from, id }: TenureItem): string {
  // IDs are in the order of one address; of several, the page before goes by time.
  const place = positionals.length > 0 ? { before: String(id) } : { until: from }
  return shellLine([
    ...['ipkeeperctl', 'history', ...positionals],
    ...Object.entries({ ...options, ...place }).flatMap(([name, value]) => [`--${name}`, value]),
  ])
}

const momentText =
  'a time such as 2026-11-21T14:00 (of this machine), 2026-11-21, 2026-11-21T14:00Z, or how long ago: 2h'

const subjects = ['pod', 'owner', 'namespace'] as const

/** Throws IPK_USAGE. */
function historyQuery(args: ReadCall): URLSearchParams {
  const query = new URLSearchParams(listingQueryText(historyTerms, args))
  const { limit, before, at, since, until } = args.options
  query.set('limit', String(limit === undefined ? usualTenures : readLimit(limit, mostTenures)))
  if (args.positionals.length > 0) {
    const { address, segment } = readAddress(args)
    query.set('address', address)
    query.set('segment', segment)
  } else if (!subjects.some(name => args.options[name] !== undefined))
    throw new OptionProblem('--pod', 'name an ADDRESS, or --pod, --owner or --namespace')
  if (before !== undefined) {
    if (!/^[1-9][0-9]{0,14}$/.test(before))
      throw new OptionProblem('--before', `--before "${before}" is not the ID of an entry`)
    if (!query.has('address'))
      throw new OptionProblem('--before', '--before goes with an ADDRESS; without one, use --until')
    query.set('before', before)
  }
  if (at !== undefined && (since ?? until) !== undefined)
    throw new OptionProblem('--at', '--at is one moment: it does not go with --since or --until')
  for (const [name, text] of Object.entries({ at, since, until }))
    if (text !== undefined) query.set(name, readTimeOption(`--${name}`, text, Date.now()))
  return query
}

const tenures = listing<HistoryReply, TenureItem>({
  name: 'history',
  arguments: [{ name: 'ADDRESS', text: 'an IPv4 or IPv6 address', optional: true, offers: 'any address' }],
  summary: 'List who had an address when, or which addresses a pod had, newest first',
  about: [
    'Without ADDRESS, say whose addresses are meant: --pod, --owner or --namespace.',
    'What is not known is said, and is not taken for "nobody": a history begins at some time, and older entries are pruned ("history" in the configuration).',
    'Each entry bears a hash over itself and the hash of the entry before it. --verify reads all of them, and says which were changed or taken out since they were written.',
  ],
  options: {
    ...listingOptions(historyTerms),
    segment: segmentOption,
    at: { value: 'TIME', text: `who had it at this moment: ${momentText}` },
    since: { value: 'TIME', text: 'only what lasted then or later' },
    until: { value: 'TIME', text: 'only what lasted then, or had ended before' },
    limit: {
      value: 'N',
      text: `at most N, the newest ones, up to ${mostTenures} (default: ${usualTenures})`,
    },
    before: { value: 'ID', text: 'only entries before the one with this ID (-o json shows IDs)' },
    verify: { text: 'check whether the history of this node is as it was written' },
    file: {
      value: 'FILE',
      text: 'with --verify: check a copy instead, of --export or of a syslog receiver; needs no daemon; "-" is standard input',
      offers: 'file',
    },
    export: {
      text: 'print the history of this node as JSON Lines, the oldest entry first; with --since, only later ones',
    },
  },
  examples: [
    { line: 'ipkeeperctl history 10.22.0.50', does: 'List its holders, newest first' },
    {
      line: 'ipkeeperctl history 10.22.0.50 --at 2026-11-21T14:00',
      does: 'Show who had it at that time',
    },
    {
      line: 'ipkeeperctl history --pod shop/web-0 --since 7d',
      does: 'List the addresses that a pod had in the last seven days',
    },
    {
      line: 'ipkeeperctl history 10.22.0.50 --limit 10 --before 4711',
      does: 'List the ten entries before the one with ID 4711',
    },
    {
      line: 'ipkeeperctl history 10.22.0.50 -n shop --sort-by oldest',
      does: 'List when pods of a namespace had it, in the order of time',
    },
    { line: 'ipkeeperctl history --verify', does: 'Check that no entry was changed or taken out' },
    { line: 'ipkeeperctl history --export >history.jsonl', does: 'Copy the history of this node' },
    { line: 'ipkeeperctl history --verify --file history.jsonl', does: 'Check a copy, without the daemon' },
  ],
  exits: {
    0: 'done',
    1: 'refused or failed; with --verify: entries were changed or are missing, or a copy has none',
  },
  run: async (daemon, args, terminal) => {
    const query = historyQuery(args)
    const reply = (await daemon.ask('GET', `/v1/history?${query.toString()}`)) as HistoryReply
    const [oldest] = reply.history.toSorted((a, b) => a.id - b.id)
    if (oldest && String(reply.history.length) === query.get('limit'))
      terminal.err(`note: for earlier tenures: ${earlierLine(args, oldest)}\n`)
    return reply
  },
  rows: ({ history }) => history,
  columns: tenureColumns,
  nameOf: ({ id }) => String(id),
  below: ({ notKnown }) => notKnown.map(line => `${line}\n`).join(''),
  empty: ({ notKnown }) =>
    notKnown.length === 0 ? 'nobody had it in that time' : 'no record of anybody who had it',
})

function describeCheck({ node, entries, unlinked, pruned, begins, last, faults }: HistoryCheck): string {
  const [first] = begins
  return [
    `node ${node}: ${wholeText(entries, faults.length)}`,
    ...faults.map(faultText),
    ...unlinkedLines(unlinked),
    ...(pruned ? ['older entries were pruned by the limits of the history'] : []),
    ...(first && !pruned ? [`links begin with entry ${first.id} of ${toTheSecond(first.at)}`] : []),
    ...begins.slice(1).map(({ id, at }) => `links begin again with entry ${id} of ${toTheSecond(at)}`),
    ...(last ? [newestText(last)] : []),
    '',
  ].join('\n')
}

const isCheck = (data: unknown): data is HistoryCheck =>
  typeof data === 'object' && data !== null && 'faults' in data

/** Throws IPK_USAGE. */
function expectNoMore({ positionals, options, flags }: ReadCall): void {
  const [name] = Object.keys(options)
  if (positionals.length > 0 || name !== undefined || flags.has('export'))
    throw new OptionProblem(
      '--verify',
      '--verify looks at the whole history of this node, and takes nothing else but --file',
    )
}

/** undefined: of tenures. */
function printed(data: unknown): string | undefined {
  if (data === '') return data
  if (isCheckedCopy(data)) return describeCopy(data)
  return isCheck(data) ? describeCheck(data) : undefined
}

export const historyCommand: CtlCommand = {
  ...tenures,
  run: async (daemon, args, terminal, tell) => {
    if (args.options['file'] !== undefined) return checkHistoryCopy(args)
    if (args.flags.has('verify')) {
      expectNoMore(args)
      return await daemon.ask('GET', '/v1/history/check')
    }
    if (args.flags.has('export')) return await printHistory(daemon, args, terminal)
    return await tenures.run(daemon, args, terminal, tell)
  },
  print: (data, paint, headers) => printed(data) ?? tenures.print(data, paint, headers),
  formats: Object.fromEntries(
    Object.entries(tenures.formats ?? {}).map(([name, show]) => [
      name,
      (data, paint, headers) => printed(data) ?? show(data, paint, headers),
    ]),
  ),
  exitCode: data => {
    if (isCheckedCopy(data)) return isWhole(data) ? 0 : 1
    return isCheck(data) && data.faults.length > 0 ? 1 : 0
  },
}
