import { statSync } from 'node:fs'
import type { AttachmentItem } from '../../../shared/api/listing.schema.ts'

/** Whether the path of a network namespace leads to something. */
function stateOfPath(netns: string): string {
  if (netns === '') return 'no namespace was given'
  try {
    return statSync(netns, { throwIfNoEntry: false })
      ? `namespace ${netns} is there`
      : `namespace ${netns} is gone`
  } catch {
    return `namespace ${netns} cannot be looked at`
  }
}

/** One sandbox that the daemon knows, in a line. */
export function describeAttachment(item: AttachmentItem, here: string | undefined): string {
  const { containerId, pod, network, ifname, addresses, node, netns, since } = item
  const who = pod ? `pod ${pod.namespace}/${pod.name}` : 'no pod'
  const place = node === here ? stateOfPath(netns) : `on node ${node}`
  return `sandbox ${containerId} of ${who} has ${addresses.join(', ') || 'no address'} in network ${network} (${ifname}) since ${since}; ${place}`
}
