import type {
  AttachmentItem,
  AttachmentsReply,
  LeaseItem,
  LeasesReply,
} from '../../../shared/api/listing.schema.ts'
import { command } from '../framework/command.ts'
import { distance, formatTable, type Tone, whoHas } from '../framework/terminal-text.ts'
import { listPool } from './pools.ts'
import { readLimit } from '../framework/options.ts'

function givenBy({ addresses, delegatedTo }: AttachmentItem): string {
  const list = addresses.join(',')
  if (delegatedTo === null) return list
  return list === '' ? `delegated to ${delegatedTo}` : `${list} by ${delegatedTo}`
}

/** "12m"; "with StatefulSet web"; "-" while a sandbox has it. */
function freeIn({ until, state, retain, owner }: LeaseItem): string {
  if (until !== null) return distance(until)
  if (state !== 'held') return '-'
  if (retain !== 'while-owner-exists') return 'never'
  return owner === null ? 'owner unknown' : `with ${owner.replace(/ .*\//, ' ')}`
}

const tones = { bound: 'good', held: 'warn', cooling: 'faint' } as const satisfies Readonly<
  Record<LeaseItem['state'], Tone>
>

export const leasesCommand = command({
  name: 'leases',
  watch: true,
  arguments: [],
  summary: 'List leases: addresses that are in use, kept or cooling down, with their holders',
  options: {
    limit: { value: 'N', text: 'show at most N leases' },
    pool: { value: 'NAME', text: 'only leases of this pool', offers: 'pool' },
  },
  examples: [
    { line: 'ipkeeperctl leases', does: 'List who has which address, and since when' },
    { line: 'ipkeeperctl leases --pool prod', does: 'List the leases of one pool' },
    { line: 'ipkeeperctl leases --watch', does: 'Show them, refreshed until Ctrl-C' },
    { line: 'ipkeeperctl leases -o json', does: 'Print JSON, for scripts' },
  ],
  run: async (daemon, args) => {
    const { pool } = args.options
    const limit = args.options['limit'] === undefined ? undefined : readLimit(args.options['limit'])
    const query = limit === undefined || pool !== undefined ? '' : `?limit=${limit}`
    const { leases } = (await daemon.ask('GET', `/v1/leases${query}`)) as LeasesReply
    if (pool === undefined) return { leases }
    const chosen = leases.filter(lease => lease.pool === pool)
    // A name with a slip in it would look like a pool that nobody uses.
    if (chosen.length === 0) await listPool(daemon, pool)
    return { leases: chosen.slice(0, limit) }
  },
  print: ({ leases }, paint) =>
    formatTable(
      ['ADDRESS', 'STATE', 'HOLDER', 'NETWORK', 'NODE', 'CONTAINER', 'IFNAME', 'SOURCE', 'SINCE', 'FREE IN'],
      leases.map(lease => [
        `${lease.address}/${lease.prefixLength}`,
        { text: lease.state, tone: tones[lease.state] },
        whoHas(lease),
        lease.network,
        lease.node,
        (lease.containerId ?? '-').slice(0, 13),
        lease.ifname,
        lease.source,
        distance(lease.since),
        freeIn(lease),
      ]),
      'no leases',
      paint,
    ),
})

export const attachmentsCommand = command({
  name: 'attachments',
  watch: true,
  arguments: [],
  summary: 'List attached interfaces, including those addressed by a fallback plugin',
  options: {},
  examples: [{ line: 'ipkeeperctl attachments', does: 'List the interfaces that ipkeeper has added' }],
  run: async daemon => (await daemon.ask('GET', '/v1/attachments')) as AttachmentsReply,
  print: ({ attachments }, paint) =>
    formatTable(
      ['NETWORK', 'CONTAINER', 'IFNAME', 'HOST LINK', 'HOLDER', 'NODE', 'SINCE', 'ADDRESSES', 'NETNS'],
      attachments.map(item => [
        item.network,
        item.containerId.slice(0, 13),
        item.ifname,
        item.hostLink ?? '-',
        whoHas(item),
        item.node,
        distance(item.since),
        givenBy(item),
        item.netns,
      ]),
      'no attachments',
      paint,
    ),
})
