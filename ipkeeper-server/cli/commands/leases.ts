import type {
  AttachmentItem,
  AttachmentsReply,
  LeaseItem,
  LeasesReply,
} from '../../../shared/api/listing.schema.ts'
import { csvColumn, listing, peopleOnly, wideOnly } from '../framework/listing.ts'
import { distance, type Tone, whoHas } from '../framework/terminal-text.ts'
import { listingOptions, listingQueryText } from '../framework/listing-options.ts'
import { attachmentTerms, leaseTerms } from '../../../shared/api/listing-query.schema.ts'

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

/** In -o csv the pod of a row has columns of its own. */
const podColumns = <Row extends Pick<LeaseItem, 'pod'>>() => [
  csvColumn<Row>('namespace', ({ pod }) => pod?.namespace ?? null),
  csvColumn<Row>('pod', ({ pod }) => pod?.name ?? null),
  csvColumn<Row>('podUid', ({ pod }) => pod?.uid ?? null),
]

/** The whole ID is for other programs. */
const shortId = (id: string | null): string => (id ?? '-').slice(0, 13)

export const leasesCommand = listing<LeasesReply, LeaseItem>({
  name: 'leases',
  arguments: [],
  summary: 'List leases: addresses that are in use, kept or cooling down, with their holders',
  options: listingOptions(leaseTerms),
  examples: [
    { line: 'ipkeeperctl leases', does: 'List who has which address, and since when' },
    { line: 'ipkeeperctl leases -n shop --state held,cooling', does: 'List what pods of a namespace left' },
    { line: 'ipkeeperctl leases --owner sts/web', does: 'List the addresses of a StatefulSet' },
    { line: 'ipkeeperctl leases --pool prod', does: 'List the leases of one pool' },
    { line: 'ipkeeperctl leases --watch', does: 'Show them, refreshed until Ctrl-C' },
    { line: 'ipkeeperctl leases -o json', does: 'Print JSON, for scripts' },
    { line: 'ipkeeperctl leases -o csv', does: 'Print them for a spreadsheet' },
  ],
  run: async (daemon, args) =>
    (await daemon.ask('GET', `/v1/leases${listingQueryText(leaseTerms, args)}`)) as LeasesReply,
  rows: ({ leases }) => leases,
  more: ({ more }) => more,
  columns: [
    {
      ...{ title: 'ADDRESS', key: 'address', value: lease => lease.address },
      text: lease => `${lease.address}/${lease.prefixLength}`,
    },
    csvColumn('prefixLength', lease => lease.prefixLength),
    { title: 'SEGMENT', key: 'segment', value: lease => lease.segment, in: wideOnly },
    { title: 'POOL', key: 'pool', value: lease => lease.pool, in: wideOnly },
    {
      ...{ title: 'STATE', key: 'state', value: lease => lease.state },
      text: lease => ({ text: lease.state, tone: tones[lease.state] }),
    },
    { title: 'HOLDER', key: 'holder', value: whoHas, in: peopleOnly },
    ...podColumns<LeaseItem>(),
    { title: 'OWNER', key: 'owner', value: lease => lease.owner, in: wideOnly },
    { title: 'NETWORK', key: 'network', value: lease => lease.network },
    { title: 'NODE', key: 'node', value: lease => lease.node },
    {
      ...{ title: 'CONTAINER', key: 'containerId', value: lease => lease.containerId },
      text: lease => shortId(lease.containerId),
    },
    { title: 'IFNAME', key: 'ifname', value: lease => lease.ifname },
    { title: 'MAC', key: 'mac', value: lease => lease.mac, in: wideOnly },
    { title: 'SOURCE', key: 'source', value: lease => lease.source },
    { title: 'RETENTION', key: 'retain', value: lease => lease.retain, in: wideOnly },
    {
      ...{ title: 'SINCE', key: 'since', value: lease => lease.since },
      text: lease => distance(lease.since),
    },
    { title: 'FREE IN', key: 'until', value: lease => lease.until, text: freeIn },
  ],
  nameOf: lease => lease.address,
  empty: 'no leases',
})

export const attachmentsCommand = listing<AttachmentsReply, AttachmentItem>({
  name: 'attachments',
  arguments: [],
  summary: 'List attached interfaces, including those addressed by a fallback plugin',
  options: listingOptions(attachmentTerms),
  examples: [{ line: 'ipkeeperctl attachments', does: 'List the interfaces that ipkeeper has added' }],
  run: async (daemon, args) =>
    (await daemon.ask(
      'GET',
      `/v1/attachments${listingQueryText(attachmentTerms, args)}`,
    )) as AttachmentsReply,
  rows: ({ attachments }) => attachments,
  more: ({ more }) => more,
  columns: [
    { title: 'NETWORK', key: 'network', value: item => item.network },
    {
      ...{ title: 'CONTAINER', key: 'containerId', value: item => item.containerId },
      text: item => shortId(item.containerId),
    },
    { title: 'IFNAME', key: 'ifname', value: item => item.ifname },
    { title: 'HOST LINK', key: 'hostLink', value: item => item.hostLink },
    { title: 'MODE', key: 'mode', value: item => item.mode, in: wideOnly },
    { title: 'HOLDER', key: 'holder', value: whoHas, in: peopleOnly },
    ...podColumns<AttachmentItem>(),
    { title: 'NODE', key: 'node', value: item => item.node },
    { title: 'SINCE', key: 'since', value: item => item.since, text: item => distance(item.since) },
    {
      ...{ title: 'ADDRESSES', key: 'addresses', value: item => item.addresses.join(' ') },
      text: givenBy,
    },
    csvColumn('delegatedTo', item => item.delegatedTo),
    { title: 'NETNS', key: 'netns', value: item => item.netns },
    csvColumn('bootId', item => item.bootId ?? null),
  ],
  nameOf: item => item.containerId,
  empty: 'no attachments',
})
