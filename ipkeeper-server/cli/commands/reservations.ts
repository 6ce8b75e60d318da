import type { ReservationItem, ReservationsReply, ReserveReply } from '../../../shared/api/listing.schema.ts'
import { command } from '../framework/command.ts'
import { listing } from '../framework/listing.ts'
import { listingOptions, listingQueryText } from '../framework/listing-options.ts'
import { reservationTerms } from '../../../shared/api/listing-query.schema.ts'
import { distance } from '../framework/terminal-text.ts'
import { segmentOption } from '../framework/options.ts'
import { withoutPrefixLength } from './addresses.ts'

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

export const reserveCommand = command({
  name: 'reserve',
  arguments: [
    { name: 'ADDRESS', text: 'an IPv4 or IPv6 address' },
    { name: 'OWNER', text: 'NAMESPACE/POD, NAMESPACE/KIND/NAME, or external:NAME', offers: 'pod' },
  ],
  summary: 'Reserve an address for a pod, a workload, or something outside the cluster',
  options: {
    segment: segmentOption,
    note: { value: 'TEXT', text: 'reason, shown in listings and errors (default: keep an earlier note)' },
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
  ],
  run: async (daemon, args, terminal) => {
    const [address, owner] = args.positionals
    const request = { address, owner, ...args.options }
    const made = (await daemon.ask('POST', '/v1/reservations', request)) as ReserveReply
    if (made.pool === null)
      terminal.err(
        `note: no known pool of segment ${made.segment} has ${made.address}; ` +
          'a pool becomes known with the first ADD of its network; see: ipkeeperctl pools\n',
      )
    return made
  },
  print: item => `${item.address} is reserved for ${item.owner}\n`,
})

export const unreserveCommand = command({
  name: 'unreserve',
  arguments: [{ name: 'ADDRESS', text: 'a reserved address', offers: 'reserved address' }],
  summary: 'Remove a reservation; a lease of the address stays',
  options: { segment: segmentOption },
  examples: [
    { line: 'ipkeeperctl unreserve 10.22.0.50', does: 'Make it available to every pod, once it is free' },
  ],
  run: async (daemon, args) => {
    const [word = ''] = args.positionals
    const address = withoutPrefixLength(word)
    const segment = args.options['segment'] ?? 'default'
    await daemon.ask(
      'DELETE',
      `/v1/reservations/${encodeURIComponent(segment)}/${encodeURIComponent(address)}`,
    )
    return { address, segment }
  },
  print: ({ address }) => `${address} is no longer reserved\n`,
})
