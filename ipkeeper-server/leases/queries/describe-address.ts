import type { AddressReply, AddressState } from '../../../shared/api/address.schema.ts'
import { parseAddress, type Address } from '../../../shared/net/address.ts'
import { formatTime } from '../../ipam/records/times.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { OwnAddress } from '../../ipam/pools/own-addresses.ts'
import { describeMove, promisedAway } from '../../ipam/choose/promised-address.ts'
import { locateAddress, type AddressPlace } from '../../ipam/pools/pool-record.ts'
import {
  describeHolder,
  describeNote,
  describeReservation,
  holderKey,
  isTimeOver,
  type AttachmentRecord,
  type LeaseKey,
  type LeaseRecord,
  type ReservationRecord,
} from '../../ipam/records/records.ts'
import { describeStanding, remedyFor, standingOf, type Standing } from '../../ipam/records/standing.ts'
import { describeContactAge } from '../../ipam/records/last-contact.ts'
import { ownAddresses } from '../verbs/add.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { listOwnHistory } from './list-history.ts'
import { attachmentItem, leaseItem, reservationItem } from './listing.ts'
import { readLeaseKey } from '../verbs/reserve.ts'
import type { LeaseService } from '../verbs/service.ts'

/** How many tenures say what an address was used for lately. */
const tenureCount = 3

/** What there is of an address at one moment. */
interface Findings {
  readonly key: LeaseKey
  readonly state: AddressState
  readonly place: AddressPlace
  /** Where this node has the address itself. */
  readonly own: OwnAddress | undefined
  readonly node: string
  readonly lease: LeaseRecord | undefined
  /** The sandbox that has the address, by a lease or from a fallback. */
  readonly attachment: AttachmentRecord | undefined
  readonly standing: Standing | undefined
  /** Whether it is known what other nodes have. */
  readonly heard: boolean
  readonly silence: AddressReply['nodeSilence']
  /** The same for people. */
  readonly silenceSays: string | undefined
  readonly reservation: ReservationRecord | undefined
  /** Of the lease: since when its holder has the address. */
  readonly holderSince: number | null
}

/** An address of a fallback is in no lease; only its attachment says so, as that plugin wrote it. */
function givenByFallback(ledger: Ledger, address: Address): AttachmentRecord | undefined {
  const isIt = (text: string): boolean => {
    const given = parseAddress(text.replace(/\/[0-9]+$/, ''))
    return given?.family === address.family && given.value === address.value
  }
  for (const attachment of ledger.search('attachment', text => text.includes('"given":')))
    if (attachment.given?.some(isIt)) return attachment
  return undefined
}

function stateOf(
  { lease, attachment, reservation, place }: Omit<Findings, 'state'>,
  now: number,
): AddressState {
  if (lease) return isTimeOver(lease, now) ? 'expired' : lease.state
  if (attachment) return 'fallback'
  if (reservation) return 'reserved'
  return place.kind === 'usable' ? 'free' : place.kind
}

const until = ({ lease }: Findings): string =>
  typeof lease?.until === 'number' ? `until ${formatTime(lease.until)}` : 'without an end'

const holderOf = ({ lease, attachment }: Findings): string => {
  const either = lease ?? attachment
  return either ? describeHolder(either.holder) : 'nobody'
}

const sandboxOf = ({ attachment, standing }: Findings): string => {
  if (!attachment) return ''
  const dead = standing?.kind === 'ended' ? ', whose sandbox is proved dead' : ''
  return `container ${attachment.containerId.slice(0, 13)} on node ${attachment.node}${dead}`
}

const poolOf = ({ place }: Findings): string => (place.kind === 'outside' ? '' : ` in pool ${place.pool}`)

const ofNode = (node: string, { link }: OwnAddress): string => `that of node ${node} itself, on link ${link}`

/** What a pool could give, but for the node that has it. */
function placeOf(place: AddressPlace, own: OwnAddress | undefined, node: string): AddressPlace {
  return own && place.kind === 'usable'
    ? { kind: 'unusable', pool: place.pool, why: ofNode(node, own) }
    : place
}

/** The one line for people, by state. */
const sentences: Readonly<Record<AddressState, (found: Findings) => string>> = {
  bound: found =>
    `is bound to ${holderOf(found)} (${sandboxOf(found)}; ${found.lease?.source ?? ''})` +
    (found.holderSince === null ? '' : `, which has had it since ${formatTime(found.holderSince)}`),
  held: found => `is kept for ${holderOf(found)} ${until(found)}`,
  cooling: found =>
    `is cooling down ${until(found)}; it was released by ${holderOf(found)}, and a pod that asks for it by name gets it at once`,
  expired: found => `was kept for ${holderOf(found)} ${until(found)}; that is over, and it is free`,
  fallback: found =>
    `was assigned by fallback ${found.attachment?.delegatedTo ?? ''} to ${holderOf(found)} (${sandboxOf(found)})`,
  reserved: found => `is unused${poolOf(found)}`,
  free: found => `is free${poolOf(found)}`,
  unusable: ({ place }) =>
    place.kind === 'unusable'
      ? `cannot be assigned: in pool ${place.pool} it is ${place.why}`
      : 'cannot be assigned',
  outside: ({ key }) => `is in no pool known so far in segment ${key.segment}`,
}

function sentenceOf(found: Findings): string {
  const { key, state, reservation, lease } = found
  const moved = describeMove(
    { reservation: () => reservation },
    lease && state !== 'expired' ? lease : undefined,
  )
  const reserved = reservation
    ? `; it is reserved for ${describeReservation(reservation)}${describeNote(reservation)}${moved}`
    : ''
  const silent = found.silenceSays === undefined ? '' : `; ${found.silenceSays}`
  const ownToo = state === 'unusable' || !found.own ? '' : `; it is also ${ofNode(found.node, found.own)}`
  const unheard =
    found.heard || found.lease
      ? ''
      : '; the addresses of other nodes are not known yet, because the store is unreachable'
  return `${key.address} ${sentences[state](found)}${reserved}${silent}${ownToo}${becomingOf(found)}${unheard}`
}

/** What becomes of an address whose sandbox is proved gone, and what a person can do. */
function becomingOf({ lease, standing, reservation }: Findings): string {
  if (!lease || !standing || !isGone(standing)) return ''
  if (promisedAway({ reservation: () => reservation }, lease)) return '; its sandbox is gone'
  const remedy = standing.kind === 'lost' ? `; ${remedyFor(lease, standing)}` : ''
  return `; ${describeStanding(lease, standing)}${remedy}`
}

const isGone = ({ kind }: Standing): boolean => kind === 'ended' || kind === 'lost'

/** Segments beside this one in which a pool has the address. */
function elsewhere(ledger: Ledger, segment: string, address: Address): string[] {
  const others = new Set(Array.from(ledger.pools(), pool => pool.segment))
  others.delete(segment)
  return [...others].filter(other => locateAddress(ledger, other, address).kind !== 'outside').sort()
}

/** Since when the holder of a lease has its address, by the newest entry of the history. */
function holderSinceOf(lease: LeaseRecord, newest: HistoryEntry | undefined): number {
  // A change that is on its way to the store is in the ledger, but not yet in the history.
  const same = newest && holderKey(newest.holder) === holderKey(lease.holder)
  return same ? Math.min(newest.since, lease.since) : lease.since
}

/** For how long the node of a bound address has been silent, where that matters: what stands on a link of other nodes, too. */
function silenceFor(
  { contactAgeOf, node: here }: LeaseService,
  lease: LeaseRecord | undefined,
): Pick<Findings, 'silence' | 'silenceSays'> {
  if (!lease || lease.state !== 'bound' || lease.carried !== 'link' || lease.node === here || !contactAgeOf)
    return { silence: null, silenceSays: undefined }
  const { node } = lease
  const silence = contactAgeOf(node)
  if (silence.kind === 'off') return { silence: null, silenceSays: undefined }
  const seconds = (milliseconds: number): number => Math.round(milliseconds / 1000)
  return {
    silence: {
      node,
      state: silence.kind,
      silentSeconds: 'age' in silence ? seconds(silence.age) : null,
      neededSeconds: 'needed' in silence ? seconds(silence.needed) : null,
    },
    silenceSays: describeContactAge(node, silence),
  }
}

/** Everything that is known of one address now. Throws IPK_ADDRESS_INVALID, IPK_REQUEST_INVALID. */
export async function describeAddress(
  service: LeaseService,
  segment: string,
  text: string,
): Promise<AddressReply> {
  const { ledger, now } = service
  const { key, address } = readLeaseKey(segment, text)
  const tenures = await listOwnHistory(service, key, { limit: tenureCount })
  const [newest] = await ledger.history({ ...key, limit: 1 })
  const own = (await ownAddresses(service)).find(address)
  // From here on nothing is waited for: one moment of the ledger.
  const lease = ledger.lease(key)
  const holderSince = lease ? holderSinceOf(lease, newest) : null
  const attachment = lease
    ? lease.attachment && ledger.attachment(lease.attachment)
    : givenByFallback(ledger, address)
  const facts = {
    ...{ key, lease, holderSince, attachment: attachment ?? undefined },
    standing: attachment ? standingOf(attachment, service) : undefined,
    heard: ledger.isHeard(),
    ...silenceFor(service, lease),
    place: placeOf(locateAddress(ledger, segment, address), own, service.node),
    ...{ own, node: service.node },
    reservation: ledger.reservation(key),
  }
  const found: Findings = { ...facts, state: stateOf(facts, now()) }
  const { place, standing, reservation, state } = found
  const provedDead = standing !== undefined && isGone(standing)
  return {
    ...key,
    state,
    sentence: sentenceOf(found),
    pool: place.kind === 'outside' ? null : place.pool,
    unusable: place.kind === 'unusable' ? place.why : null,
    lease: lease ? leaseItem(lease) : null,
    holderSince: holderSince === null ? null : new Date(holderSince).toISOString(),
    attachment: attachment ? { ...attachmentItem(service, attachment), provedDead } : null,
    nodeSilence: found.silence,
    reservation: reservation ? reservationItem(reservation) : null,
    tenures,
    elsewhere: elsewhere(ledger, segment, address),
  }
}
