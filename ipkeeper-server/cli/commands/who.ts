import type { AddressReply } from '../../../shared/api/address.schema.ts'
import type { AttachmentsReply, LeasesReply, ReservationsReply } from '../../../shared/api/listing.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { isPodName } from '../../../shared/text/pod-name.ts'
import { visible } from '../../../shared/text/visible.ts'
import { command, type ReadCall } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { tableOf } from '../framework/listing.ts'
import { segmentOption } from '../framework/options.ts'
import { distance, whoHas } from '../framework/terminal-text.ts'
import { addressPath, toTheSecond, readAddress, segmentWords, withoutPrefixLength } from './addresses.ts'
import { tenureColumns } from './history.ts'

/** Of a pod: all that it has. Of an address: what is known of it, alone. */
interface PodReply {
  readonly pod: string
  readonly addresses: readonly AddressReply[]
}

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
    `${attachment.netns || (lease ? `known to node ${lease.node} alone` : 'no namespace')}, ${attachment.provedDead ? 'proved dead' : 'not proved dead'}`
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
    ['since', lease ? `${toTheSecond(lease.since)}, ${distance(lease.since)} ago` : null],
    ['had since', reply.holderSince === null ? null : toTheSecond(reply.holderSince)],
    [
      'free in',
      free === null
        ? lease?.state === 'held'
          ? 'never'
          : null
        : reply.state === 'expired'
          ? 'now'
          : `${distance(free)}, at ${toTheSecond(free)}`,
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
    value === null || value === undefined ? [] : [`${name.padEnd(9)}  ${visible(value)}\n`],
  )
  return said.join('')
}

/** No name of a pod or namespace looks so: a namespace has no dots, a name no colons. */
const looksLikeAddress = (word: string): boolean => word.includes(':') || /^[0-9.]+(\/[0-9]+)?$/.test(word)

interface Place {
  readonly segment: string
  readonly address: string
}

/** What a pod has, keeps, was given by a fallback, or has been promised; each address once, what it has first. */
async function placesOfPod(daemon: DaemonClient, pod: string): Promise<readonly Place[]> {
  const query = new URLSearchParams({ pod }).toString()
  const { leases } = (await daemon.ask('GET', `/v1/leases?${query}&sort=state`)) as LeasesReply
  const { attachments } = (await daemon.ask('GET', `/v1/attachments?${query}`)) as AttachmentsReply
  const { reservations } = (await daemon.ask('GET', `/v1/reservations?${query}`)) as ReservationsReply
  const given = attachments
    .filter(({ delegatedTo }) => delegatedTo !== null)
    .flatMap(({ addresses }) => addresses.map(withoutPrefixLength))
    .map(address => ({ segment: 'default', address }))
  const places = [...leases, ...given, ...reservations].map(({ segment, address }) => ({ segment, address }))
  return [...new Map(places.map(place => [`${place.segment} ${place.address}`, place])).values()]
}

/** How many names are looked through for the one that was meant. */
const mostNames = 2_000

async function unknownPod(daemon: DaemonClient, pod: string): Promise<Problem> {
  const { leases } = (await daemon.ask('GET', `/v1/leases?limit=${mostNames}`)) as LeasesReply
  const [name = '', namespace] = pod.split('/').reverse()
  const known = leases.flatMap(({ pod: one }) =>
    one === null ? [] : [namespace === undefined ? one.name : `${one.namespace}/${one.name}`],
  )
  const meant = nearestWord(pod, known)
  const question = meant === undefined ? '' : `; did you mean ${meant}?`
  const list = `ipkeeperctl leases${namespace === undefined ? '' : ` -n ${namespace}`}`
  return new Problem('IPK_POD_UNKNOWN', `no address is known of pod ${pod}${question}`, {
    hint:
      namespace === undefined || !isPodName(namespace, name)
        ? `see: ${list}`
        : `see: ${list}; what an ADD of it would get: ipkeeperctl explain ${namespace}/${name}`,
  })
}

/** Throws IPK_POD_UNKNOWN where it has no address, nor ever will by a reservation. */
async function askForPod(daemon: DaemonClient, pod: string, args: ReadCall): Promise<PodReply> {
  if (!/^([^/\s]+\/)?[^/\s]+$/.test(pod))
    throw new Problem('IPK_USAGE', `"${pod}" is neither an address, NAMESPACE/POD nor POD`)
  const { segment } = args.options
  const places = (await placesOfPod(daemon, pod)).filter(
    place => segment === undefined || place.segment === segment,
  )
  if (places.length === 0) throw await unknownPod(daemon, pod)
  const addresses: AddressReply[] = []
  for (const place of places) addresses.push((await daemon.ask('GET', addressPath(place))) as AddressReply)
  return { pod, addresses }
}

const ofOneAddress = tenureColumns.filter(({ key }) => key !== 'address')

const textOf = (reply: AddressReply): string =>
  `${reply.sentence}\n\n${facts(reply)}` +
  (reply.tenures.length === 0 ? '' : `\n${tableOf(ofOneAddress, reply.tenures)}`)

export const whoCommand = command<AddressReply | PodReply>({
  name: 'who',
  watch: true,
  arguments: [
    { name: 'ADDRESS|POD', text: 'an IPv4 or IPv6 address, NAMESPACE/POD, or POD', offers: 'address or pod' },
  ],
  summary: 'Show who has an address, or which addresses a pod has, and what else is known',
  about: [
    'Of a pod every address is shown that it has, that is kept or reserved for it, or that a fallback plugin gave it. With -o json and -o yaml the answer is then {"pod": ..., "addresses": [...]}, each of them as for an address alone.',
  ],
  options: { segment: segmentOption },
  examples: [
    { line: 'ipkeeperctl who 10.22.0.50', does: 'Show its state, holder, sandbox and last holders' },
    { line: 'ipkeeperctl who shop/web-0', does: 'Show which addresses the pod has, and since when' },
    {
      line: 'ipkeeperctl who fd00:22::50 --segment lab -o json',
      does: 'Show an address of another segment, as JSON',
    },
  ],
  run: async (daemon, args, terminal) => {
    const [word = ''] = args.positionals
    if (word !== '' && !looksLikeAddress(word)) return await askForPod(daemon, word, args)
    const reply = (await daemon.ask('GET', readAddress(args).path)) as AddressReply
    for (const segment of reply.elsewhere)
      terminal.err(
        `note: a pool of segment ${segment} also has this address; see: ipkeeperctl who ${reply.address}${segmentWords(segment)}\n`,
      )
    return reply
  },
  print: reply => ('addresses' in reply ? reply.addresses.map(textOf).join('\n') : textOf(reply)),
})
