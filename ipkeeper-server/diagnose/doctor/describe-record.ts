import { statSync } from 'node:fs'
import type { Flight } from '../../../shared/api/flight.schema.ts'
import type { AttachmentItem } from '../../../shared/api/listing.schema.ts'

/** Whether the path of a network namespace leads to something. */
function stateOfPath(netns: string): string {
  if (netns === '') return 'no namespace is recorded'
  try {
    return statSync(netns, { throwIfNoEntry: false })
      ? `namespace ${netns} exists`
      : `namespace ${netns} is gone`
  } catch {
    return `namespace ${netns} cannot be checked`
  }
}

/** One sandbox that the daemon knows, in a line. */
export function describeAttachmentItem(item: AttachmentItem, here: string | undefined): string {
  const { containerId, pod, network, ifname, addresses, node, netns, since } = item
  const who = pod ? `pod ${pod.namespace}/${pod.name}` : 'no pod'
  const place = node === here ? stateOfPath(netns) : `on node ${node}`
  return `sandbox ${containerId} of ${who} has ${addresses.join(', ') || 'no address'} in network ${network} (${ifname}) since ${since}; ${place}`
}

/** One run of the plugin in a line. */
export function describeFlight({ at, verb, ifname, exit, code, message, addresses, queued }: Flight): string {
  const outcome =
    exit === 0
      ? (addresses?.join(', ') ?? (queued === true ? 'queued until the daemon is back' : 'done'))
      : `failed${code === undefined ? '' : ` ${code}`}: ${message ?? ''}`
  return `${at} ${verb} ${ifname ?? '-'}: ${outcome}`
}
