import {
  longestNote,
  type ReservationItem,
  type ReservationsReply,
  type ReserveReply,
} from '../../../shared/api/listing.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import { command, type ReadCall } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { listing } from '../framework/listing.ts'
import {
  filterOptionsOf,
  listingOptions,
  listingQueryText,
  selectionQuery,
} from '../framework/listing-options.ts'
import { type ListingTerms, reservationTerms } from '../../../shared/api/listing-query.schema.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import { distance } from '../framework/terminal-text.ts'
import { segmentOption } from '../framework/options.ts'
import type { Terminal } from '../framework/terminal.ts'
import { readAddress, withoutPrefixLength } from './addresses.ts'
import {
  bulkExit,
  bulkExits,
  bulkOptions,
  bulkText,
  changeInBulk,
  isOneAddress,
  namedTargets,
  targetsOf,
  type BulkReport,
  type BulkTarget,
} from './bulk-change.ts'

export const reservationsCommand = listing<ReservationsReply, ReservationItem>({
  name: 'reservations',
  arguments: [],
  summary: 'List reserved addresses with their owners',
  options: listingOptions(reservationTerms),
  examples: [
    { line: 'ipkeeperctl reservations', does: 'List which address is reserved for whom' },
    { line: 'ipkeeperctl reservations --pool prod', does: 'List what is reserved in one pool' },
  ],
  run: async (daemon, args) =>
    (await daemon.ask(
      'GET',
      `/v1/reservations${listingQueryText(reservationTerms, args)}`,
    )) as ReservationsReply,
  rows: ({ reservations }) => reservations,
  more: ({ more }) => more,
  columns: [
    { title: 'ADDRESS', key: 'address', value: item => item.address },
    { title: 'SEGMENT', key: 'segment', value: item => item.segment },
    { title: 'OWNER', key: 'owner', value: item => item.owner },
    { title: 'SINCE', key: 'since', value: item => item.since, text: item => distance(item.since) },
    { title: 'NOTE', key: 'note', value: item => item.note, text: item => item.note },
  ],
  nameOf: item => item.address,
  empty: 'no reservations',
})

const ownerForms = 'NAMESPACE/POD, NAMESPACE/KIND/NAME, or external:NAME'

/** One address is reserved as it is typed. */
async function reserveOne(
  daemon: DaemonClient,
  [address = '', owner = '']: readonly string[],
  { options, terminal }: { readonly options: ReadCall['options']; readonly terminal: Terminal },
): Promise<ReserveReply> {
  const { segment, note } = options
  const request = {
    ...{ address: withoutPrefixLength(address), owner },
    ...(segment !== undefined && { segment }),
    ...(note !== undefined && { note }),
  }
  const made = (await daemon.ask('POST', '/v1/reservations', request)) as ReserveReply
  if (made.pool === null)
    terminal.err(
      `note: no known pool of segment ${made.segment} has ${made.address}; ` +
        'a pool becomes known with the first ADD of its network; see: ipkeeperctl pools\n',
    )
  return made
}

const isOwner = (word: string): boolean => /^external:|^[^.:]+\//.test(word)

/** Throws IPK_USAGE. */
function checkCall(command: 'reserve' | 'move', { positionals, options }: ReadCall): void {
  const length = Array.from(options['note'] ?? '').length
  if (length > longestNote)
    throw new OptionProblem(
      '--note',
      `--note has ${length} characters, of which at most ${longestNote} are kept`,
    )
  const owner = positionals.find(isOwner)
  if (owner === undefined || isOwner(positionals.at(-1) ?? '')) return
  const line = shellLine(['ipkeeperctl', command, ...positionals.filter(word => word !== owner), owner])
  throw new Problem('IPK_USAGE', `OWNER is the last word, and ${owner} is not`, { hint: `type: ${line}` })
}

/** Of a file each line may name its owner; OWNER is of those that name none. */
function reserveTargets(args: ReadCall): readonly BulkTarget[] {
  const words = [...args.positionals]
  const owner = isOwner(words.at(-1) ?? '') ? words.pop() : undefined
  const { note } = args.options
  return namedTargets(words, args).map(line => {
    const whose = line.owner ?? owner
    if (whose === undefined)
      throw new Problem('IPK_USAGE', `for whom is ${line.addresses} meant? OWNER is ${ownerForms}`)
    return { ...(note !== undefined && { note }), ...line, owner: whose }
  })
}

export const reserveCommand = command<ReserveReply | BulkReport>({
  name: 'reserve',
  arguments: [
    {
      name: 'ADDRESS',
      text: 'an IPv4 or IPv6 address, a range FIRST-LAST or a network 10.22.0.64/26',
      optional: true,
      repeated: true,
    },
    {
      name: 'OWNER',
      text: `${ownerForms}; with --file of lines that name none`,
      optional: true,
      offers: 'pod',
    },
  ],
  summary: 'Reserve addresses for a pod, a workload, or an owner outside',
  about: [
    'A single address is reserved at once. For a range, a list or a file, the plan is printed first; if one of the addresses cannot be reserved, none is. An address that is assigned to another holder while the question is open is refused and listed. It is safe to run the command again.',
  ],
  options: {
    segment: segmentOption,
    note: { value: 'TEXT', text: 'reason, shown in listings and errors (default: keep an earlier note)' },
    ...bulkOptions,
  },
  examples: [
    {
      line: 'ipkeeperctl reserve 10.22.0.50 shop/web-0 --note "licence server"',
      does: 'Reserve it for the pod with this name',
    },
    {
      line: 'ipkeeperctl reserve 10.22.0.51 shop/statefulset/db',
      does: 'Reserve it for the pods of a workload',
    },
    {
      line: 'ipkeeperctl reserve 10.22.0.60 external:printer-3',
      does: 'Reserve it for something that is not a pod',
    },
    {
      line: 'ipkeeperctl reserve 10.22.0.50-10.22.0.60 10.22.0.70 shop/sts/web',
      does: 'Reserve a range and another address, once you agree to the plan',
    },
    {
      line: 'ipkeeperctl reserve --file reservations.csv --yes',
      does: 'Reserve what a file lists, such as the output of ipkeeperctl reservations -o csv',
    },
  ],
  exits: bulkExits,
  run: async (daemon, args, terminal, tell) => {
    checkCall('reserve', args)
    const [first = '', , ...others] = args.positionals
    if (others.length === 0 && args.positionals.length === 2 && isOneAddress([first], args))
      return await reserveOne(daemon, args.positionals, { options: args.options, terminal })
    const targets = reserveTargets(args)
    return await changeInBulk({ daemon, args, terminal, tell }, { action: 'reserve', targets, wholly: true })
  },
  exitCode: reply => ('outcome' in reply ? bulkExit(reply) : 0),
  print: reply =>
    'outcome' in reply ? bulkText(reply) : `${reply.address} is reserved for ${reply.owner}\n`,
})

export const moveCommand = command<BulkReport>({
  name: 'move',
  arguments: [
    {
      ...{
        name: 'ADDRESS',
        text: 'an IPv4 or IPv6 address, a range FIRST-LAST or a network 10.22.0.64/26',
        offers: 'any address',
      },
      ...{ optional: true, repeated: true },
    },
    { name: 'OWNER', text: ownerForms, optional: true, offers: 'pod' },
  ],
  summary: 'Give addresses that pods have to another owner',
  about: [
    'The plan is printed first. A running pod keeps its address. Once its sandbox is deleted, or proved gone, the address goes to the next pod of OWNER, at once and without a cool-down, and to no other pod; a pod of OWNER that is already running has to be restarted to get it. Until then, unreserve undoes the move.',
    'The reservation stays until it is removed. To disconnect a pod that cannot be deleted, see release --force.',
  ],
  options: {
    segment: segmentOption,
    note: { value: 'TEXT', text: 'reason, shown in listings and errors' },
    ...bulkOptions,
  },
  examples: [
    {
      line: 'ipkeeperctl move 10.22.0.50 shop/web-1',
      does: 'Show the plan, and give it to another pod once the one that has it is deleted',
    },
    {
      line: 'ipkeeperctl move 10.22.0.50 shop/deployment/web --dry-run',
      does: 'Show who has it and what to do, and change nothing',
    },
    { line: 'ipkeeperctl unreserve 10.22.0.50', does: 'Undo it' },
  ],
  exits: bulkExits,
  run: async (daemon, args, terminal, tell) => {
    checkCall('move', args)
    const bulk = { action: 'move', targets: reserveTargets(args), wholly: true } as const
    return await changeInBulk({ daemon, args, terminal, tell }, bulk)
  },
  exitCode: bulkExit,
  print: bulkText,
})

const unreserveFilters: ListingTerms = { ...reservationTerms, sorts: ['address'] }

export const unreserveCommand = command<{ address: string; segment: string } | BulkReport>({
  name: 'unreserve',
  arguments: [
    {
      ...{
        name: 'ADDRESS',
        text: 'a reserved address, a range FIRST-LAST or a network 10.22.0.64/26',
        offers: 'reserved address',
      },
      ...{ optional: true, repeated: true },
    },
  ],
  summary: 'Remove reservations; leases of their addresses stay',
  about: [
    'One address is done at once. Of a range, a list, a file or a selection by filters the plan is printed first.',
  ],
  options: { segment: segmentOption, ...filterOptionsOf(unreserveFilters), ...bulkOptions },
  examples: [
    { line: 'ipkeeperctl unreserve 10.22.0.50', does: 'Make it available to every pod, once it is free' },
    {
      line: 'ipkeeperctl unreserve 10.22.0.50-10.22.0.60',
      does: 'Remove the reservations of a range, once you agree to the plan',
    },
    {
      line: 'ipkeeperctl unreserve --owner external:printer-3 --yes',
      does: 'Remove every reservation of an owner',
    },
  ],
  exits: bulkExits,
  run: async (daemon, args, terminal, tell) => {
    const selects = selectionQuery(unreserveFilters, args) !== undefined
    if (!selects && isOneAddress(args.positionals, args)) {
      const { address, segment } = readAddress(args)
      const path = `${encodeURIComponent(segment)}/${encodeURIComponent(address)}`
      await daemon.ask('DELETE', `/v1/reservations/${path}`)
      return { address, segment }
    }
    const targets = await targetsOf(args, unreserveFilters, {
      listed: async query =>
        ((await daemon.ask('GET', `/v1/reservations${query}`)) as ReservationsReply).reservations,
      target: ({ address, segment }) => ({ addresses: address, segment }),
    })
    const bulk = { action: 'unreserve', targets, wholly: true } as const
    return await changeInBulk({ daemon, args, terminal, tell }, bulk)
  },
  exitCode: reply => ('outcome' in reply ? bulkExit(reply) : 0),
  print: reply => ('outcome' in reply ? bulkText(reply) : `${reply.address} is no longer reserved\n`),
})
