import type { ReservationsReply, ReserveReply } from '../../../shared/api/listing.schema.ts'
import { command, expectPositionals } from '../command.ts'
import { distance } from '../distance.ts'
import { formatTable } from '../table.ts'

export const reservationsCommand = command({
  name: 'reservations',
  arguments: '',
  summary: 'list promised addresses with their owners',
  options: {},
  example: 'ipkeeperctl reservations',
  run: async (daemon, args) => {
    expectPositionals(args, [])
    return (await daemon.ask('GET', '/v1/reservations')) as ReservationsReply
  },
  print: ({ reservations }) =>
    formatTable(
      ['ADDRESS', 'SEGMENT', 'OWNER', 'SINCE', 'NOTE'],
      reservations.map(item => [item.address, item.segment, item.owner, distance(item.since), item.note]),
      'no reservations',
    ),
})

export const reserveCommand = command({
  name: 'reserve',
  arguments: 'ADDRESS OWNER',
  summary: 'promise an address to NS/POD, NS/KIND/NAME, or external:NAME',
  options: {
    segment: ['NAME', 'segment of the address (default: default)'],
    note: ['TEXT', 'why, shown in listings and errors; without it an earlier note stays'],
  },
  example: 'ipkeeperctl reserve 10.22.0.50 shop/web-0 --note "licence server"',
  run: async (daemon, args, terminal) => {
    const [address, owner] = expectPositionals(args, ['ADDRESS', 'OWNER'])
    const request = { address, owner, ...args.options }
    const made = (await daemon.ask('POST', '/v1/reservations', request)) as ReserveReply
    if (made.pool === null)
      terminal.err(
        `note: no pool known so far in segment ${made.segment} has ${made.address}; ` +
          'a pool becomes known with the first ADD of its network; see: ipkeeperctl pools\n',
      )
    return made
  },
  print: item => `${item.address} is reserved for ${item.owner}\n`,
})

export const unreserveCommand = command({
  name: 'unreserve',
  arguments: 'ADDRESS',
  summary: 'take a promise back; a lease that uses the address stays',
  options: { segment: ['NAME', 'segment of the address (default: default)'] },
  example: 'ipkeeperctl unreserve 10.22.0.50',
  run: async (daemon, args) => {
    const [address = ''] = expectPositionals(args, ['ADDRESS'])
    const segment = args.options['segment'] ?? 'default'
    await daemon.ask(
      'DELETE',
      `/v1/reservations/${encodeURIComponent(segment)}/${encodeURIComponent(address)}`,
    )
    return { address, segment }
  },
  print: ({ address }) => `${address} is no longer reserved\n`,
})
