import { join } from 'node:path'
import type { Flight, FlightsReply } from '../../shared/api/flight.schema.ts'
import type {
  AttachmentItem,
  AttachmentsReply,
  LeaseItem,
  LeasesReply,
  PoolsReply,
  ReserveReply,
  ReservationsReply,
  StatusReply,
} from '../../shared/api/listing.schema.ts'
import { defaultPaths, stateFolders } from '../../shared/paths.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { DaemonClient } from './daemon-client.ts'
import { readFlights } from './read-flights.ts'
import { readLimit } from './read-limit.ts'
import { flightFilter, selectFlights } from './select-flights.ts'
import { formatTable } from './table.ts'
import type { Terminal } from './terminal.ts'

/** What a command was called with, beyond the common options. */
export interface CommandArguments {
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
}

/** One command of ipkeeperctl. It returns data; `print` turns them into text for people, `-o json` prints them as they are. */
export interface Command {
  readonly name: string
  readonly arguments: string
  readonly summary: string
  /** Options with a value, by name: what the value is called, and what it does. */
  readonly options: Readonly<Record<string, readonly [value: string, text: string]>>
  /** Options without one. */
  readonly flags?: Readonly<Record<string, string>>
  readonly example: string
  readonly run: (daemon: DaemonClient, args: CommandArguments, terminal: Terminal) => Promise<unknown>
  readonly print: (data: unknown) => string
}

/** Ties a command's data type together once, so that run and print agree. */
function command<T>(
  row: Omit<Command, 'run' | 'print'> & {
    run: (daemon: DaemonClient, args: CommandArguments, terminal: Terminal) => Promise<T>
    print: (data: T) => string
  },
): Command {
  return { ...row, print: data => row.print(data as T) }
}

function expectPositionals(args: CommandArguments, names: readonly string[]): readonly string[] {
  if (args.positionals.length !== names.length) {
    const wanted = names.length === 0 ? 'takes no arguments' : `takes ${names.join(' ')}`
    const got = args.positionals.length === 0 ? 'none' : args.positionals.join(' ')
    throw new Problem('IPK_USAGE', `this command ${wanted}; got ${got}`)
  }
  return args.positionals
}

/** What the daemon says of a kept address of a container without a pod does not name the container. */
function whoHas({ pod, containerId }: Pick<LeaseItem, 'pod' | 'containerId'>): string {
  if (pod) return `${pod.namespace}/${pod.name}`
  return containerId === null ? '-' : `container ${containerId.slice(0, 13)}`
}

/** "12s", "5m", "3h", "2d": how far a moment is from now. */
function distance(time: string): string {
  const seconds = Math.abs(Date.now() - Date.parse(time)) / 1000
  if (seconds < 120) return `${Math.round(seconds)}s`
  if (seconds < 7200) return `${Math.round(seconds / 60)}m`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)}h`
  return `${Math.round(seconds / 86_400)}d`
}

function givenBy({ addresses, delegatedTo }: AttachmentItem): string {
  const list = addresses.join(',')
  if (delegatedTo === null) return list
  return list === '' ? `left to ${delegatedTo}` : `${list} by ${delegatedTo}`
}

/** Said only when there is something to look at. */
function queueLine({ stateDir, deferredDels: { waiting, quarantined } }: StatusReply): string[] {
  if (waiting + quarantined === 0) return []
  const aside =
    quarantined === 0
      ? ''
      : `, ${quarantined} ${quarantined === 1 ? 'file' : 'files'} put aside in ${join(stateDir, stateFolders.quarantine)}`
  return [`queue   ${waiting} ${waiting === 1 ? 'DEL' : 'DELs'} waiting${aside}`]
}

/** A terminal would obey control characters, and the plugin records what it was given. */
const visible = (text: string): string => text.replaceAll(/\p{Cc}/gu, '?')

function whatCameOfIt({ message, addresses, queued, delegatedTo }: Flight): string {
  const by = delegatedTo === undefined ? '' : ` by ${delegatedTo}`
  return `${queued === true ? 'queued: ' : ''}${message ?? addresses?.join(', ') ?? ''}${by}`
}

export const commands: readonly Command[] = [
  command({
    name: 'leases',
    arguments: '',
    summary: 'list addresses in use, kept and cooling, with their holders',
    options: { limit: ['N', 'at most N leases'] },
    example: 'ipkeeperctl leases -o json',
    run: async (daemon, args) => {
      expectPositionals(args, [])
      const { limit } = args.options
      const query = limit === undefined ? '' : `?limit=${readLimit(limit)}`
      return (await daemon.ask('GET', `/v1/leases${query}`)) as LeasesReply
    },
    print: ({ leases }) =>
      formatTable(
        [
          'ADDRESS',
          'STATE',
          'HOLDER',
          'NETWORK',
          'NODE',
          'CONTAINER',
          'IFNAME',
          'SOURCE',
          'SINCE',
          'FREE IN',
        ],
        leases.map(lease => [
          `${lease.address}/${lease.prefixLength}`,
          lease.state,
          whoHas(lease),
          lease.network,
          lease.node,
          (lease.containerId ?? '-').slice(0, 13),
          lease.ifname,
          lease.source,
          distance(lease.since),
          lease.until !== null ? distance(lease.until) : lease.state === 'held' ? 'never' : '-',
        ]),
        'no leases',
      ),
  }),
  command({
    name: 'attachments',
    arguments: '',
    summary: 'list interfaces that were added and not deleted, also those that the fallback serves',
    options: {},
    example: 'ipkeeperctl attachments',
    run: async (daemon, args) => {
      expectPositionals(args, [])
      return (await daemon.ask('GET', '/v1/attachments')) as AttachmentsReply
    },
    print: ({ attachments }) =>
      formatTable(
        ['NETWORK', 'CONTAINER', 'IFNAME', 'HOLDER', 'NODE', 'SINCE', 'ADDRESSES', 'NETNS'],
        attachments.map(item => [
          item.network,
          item.containerId.slice(0, 13),
          item.ifname,
          whoHas(item),
          item.node,
          distance(item.since),
          givenBy(item),
          item.netns,
        ]),
        'no attachments',
      ),
  }),
  command({
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
  }),
  command({
    name: 'reservations',
    arguments: '',
    summary: 'list addresses promised to pods',
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
  }),
  command({
    name: 'reserve',
    arguments: 'ADDRESS NAMESPACE/POD',
    summary: 'promise an address to a pod, which need not exist yet',
    options: {
      segment: ['NAME', 'segment of the address (default: default)'],
      note: ['TEXT', 'why, shown in listings and errors; without it an earlier note stays'],
    },
    example: 'ipkeeperctl reserve 10.22.0.50 shop/web-0 --note "licence server"',
    run: async (daemon, args, terminal) => {
      const [address, owner] = expectPositionals(args, ['ADDRESS', 'NAMESPACE/POD'])
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
  }),
  command({
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
  }),
  command({
    name: 'status',
    arguments: '',
    summary: 'show whether the daemon answers, its version, node, store and counts',
    options: {},
    example: 'ipkeeperctl status',
    run: async (daemon, args) => {
      expectPositionals(args, [])
      return (await daemon.ask('GET', '/v1/status')) as StatusReply
    },
    print: status =>
      [
        `ipkeeper-server ${status.version} on node ${status.node}, pid ${status.pid}, up ${distance(status.startedAt)}`,
        `socket  ${status.socket}`,
        `state   ${status.stateDir}`,
        `store   ${status.store.kind} ${status.store.location}`,
        `leases  ${status.store.leases}, attachments ${status.store.attachments}, pools ${status.pools}`,
        ...queueLine(status),
        '',
      ].join('\n'),
  }),
  command({
    name: 'flights',
    arguments: '',
    summary: 'show what each run of the plugin was asked, did and printed; needs no daemon',
    options: {
      container: ['ID', 'only those of the container whose ID begins so'],
      pod: ['NS/NAME', 'only those of this pod'],
      verb: ['VERB', 'only ADD, DEL, CHECK, GC, STATUS or VERSION'],
      limit: ['N', 'at most N, the newest ones (default: 50)'],
      'state-dir': [
        'DIR',
        `state folder of the plugin (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})`,
      ],
    },
    flags: { failed: 'only those that failed' },
    example: 'ipkeeperctl flights --container 3f2a91c0d1e2 --failed',
    run: async (_daemon, args, terminal) => {
      expectPositionals(args, [])
      const filter = flightFilter(args.options, args.flags)
      const stateDir =
        args.options['state-dir'] ?? (terminal.env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir)
      const { flights, unreadable } = readFlights(join(stateDir, stateFolders.flights))
      if (unreadable > 0)
        terminal.err(`note: ${unreadable} ${unreadable === 1 ? 'line' : 'lines'} could not be read\n`)
      const reply: FlightsReply = { flights: [...selectFlights(flights, filter)] }
      return Promise.resolve(reply)
    },
    print: ({ flights }) =>
      formatTable(
        ['AT', 'VERB', 'CONTAINER', 'IFNAME', 'POD', 'EXIT', 'CODE', 'PRINTED', 'MS', 'WHAT'],
        flights.map(flight =>
          [
            flight.at,
            flight.verb,
            (flight.containerId ?? '-').slice(0, 13),
            flight.ifname ?? '-',
            flight.pod ?? '-',
            String(flight.exit),
            flight.code ?? '-',
            String(flight.printed),
            String(flight.durationMs),
            whatCameOfIt(flight),
          ].map(visible),
        ),
        'no flights: none recorded there, or none that matches; see: ipkeeperctl flights --help',
      ),
  }),
]
