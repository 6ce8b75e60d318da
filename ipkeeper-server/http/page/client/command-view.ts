import type { AddressReply } from '../../../../shared/api/address.schema.ts'
import type { TypedSearch } from './search-terms.ts'

/** What the page does not do, and the words of the command that does; words in capitals are to be replaced. */
export interface CommandHint {
  readonly what: string
  readonly words: readonly string[]
}

const ofPod = (pod: string): CommandHint[] => [
  { what: `Why ${pod} is not running`, words: ['ipkeeperctl', 'doctor', '--pod', pod] },
  {
    what: `What ${pod} gets when it is started again, also after its annotations changed`,
    words: ['ipkeeperctl', 'explain', pod],
  },
]

/** For whoever sees no address. */
export const commandsOfAll: readonly CommandHint[] = [
  { what: 'Why a pod is not running', words: ['ipkeeperctl', 'doctor', '--pod', 'NAMESPACE/POD'] },
  {
    what: 'What a pod gets when it is started again, also after its annotations changed',
    words: ['ipkeeperctl', 'explain', 'NAMESPACE/POD'],
  },
  {
    what: 'Which annotations of other products on pods are not switched on',
    words: ['ipkeeperctl', 'doctor'],
  },
  { what: 'All leases for a spreadsheet', words: ['ipkeeperctl', 'leases', '-o', 'csv'] },
  {
    what: 'Move an address to another pod',
    words: ['ipkeeperctl', 'move', 'ADDRESS', 'NAMESPACE/POD'],
  },
  {
    what: 'Reserve a range for a pod, a workload or a device',
    words: ['ipkeeperctl', 'reserve', 'FIRST-LAST', 'OWNER'],
  },
  {
    what: 'Free all that is kept of a namespace, or with --owner or --node; the plan is shown first',
    words: ['ipkeeperctl', 'release', '-n', 'NAMESPACE'],
  },
]

/** What can be done with an address, as it stands, and with the pod that has or had it. */
export function commandsOfAddress(reply: AddressReply): readonly CommandHint[] {
  const { address, segment, state, lease, attachment, reservation } = reply
  const place = [address, ...(segment === 'default' ? [] : ['--segment', segment])]
  const pod = lease?.pod ?? attachment?.pod
  const isKept = state === 'held' || state === 'cooling'
  const isFree = (state === 'free' || state === 'expired') && !reservation
  return [
    ...(pod ? ofPod(`${pod.namespace}/${pod.name}`) : []),
    ...(isKept ? [{ what: 'Free it now', words: ['ipkeeperctl', 'release', ...place] }] : []),
    ...(isKept || state === 'bound'
      ? [{ what: 'Move it to another pod', words: ['ipkeeperctl', 'move', ...place, 'NAMESPACE/POD'] }]
      : []),
    ...(isFree
      ? [{ what: 'Reserve it for a pod', words: ['ipkeeperctl', 'reserve', ...place, 'NAMESPACE/POD'] }]
      : []),
    ...(reservation
      ? [{ what: 'Give its reservation up', words: ['ipkeeperctl', 'unreserve', ...place] }]
      : []),
  ]
}

const [podPart, namePart] = [/^[a-z0-9][-a-z0-9.]*$/, /^[a-z0-9][-a-z0-9]*$/]

/** The same as a listing, which has more to say of it. Of reservations there is another one. */
function listingOf({ filters, text }: TypedSearch): readonly CommandHint[] {
  const options = Object.entries(filters).flatMap(([name, value]) => [`--${name}`, value])
  if (text !== '' || options.length === 0 || filters.state?.includes('reserved')) return []
  return [{ what: 'These leases in a terminal', words: ['ipkeeperctl', 'leases', ...options] }]
}

/** It may be the name of a pod that never got an address. */
function commandsOfUnknown({ filters, text: typed }: TypedSearch): readonly CommandHint[] {
  const name = filters.pod ?? typed
  const text = filters.namespace === undefined || name.includes('/') ? name : `${filters.namespace}/${name}`
  const [first = '', second, ...others] = text.split('/')
  if (/^[0-9.]*$/.test(name)) return []
  if (second === undefined && podPart.test(first)) return ofPod(`NAMESPACE/${first}`)
  const isPod = others.length === 0 && namePart.test(first) && podPart.test(second ?? '')
  return isPod ? ofPod(text) : []
}

/** @param pods of what was found, "" where no pod has an address */
export function commandsOfSearch(terms: TypedSearch, pods: readonly string[]): readonly CommandHint[] {
  const [pod, ...others] = new Set(pods)
  if (pod === undefined) return commandsOfUnknown(terms)
  return [...(pod === '' || others.length > 0 ? [] : ofPod(pod)), ...listingOf(terms)]
}
