import { createHash } from 'node:crypto'
import { leaseName } from '../shared/lease-name.ts'
import type { LeaseKey } from '../../ipam/records/records.ts'

/** Characters of the readable part: with the hash and what separates them, a name stays well below 253. */
const longestStem = 180
/** Hexadecimal digits: 80 bits, so that no two keys will ever meet. */
const hashLength = 20

const isObjectName = (text: string): boolean =>
  text.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text)

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, hashLength)

/** A name of RFC 1123 that people recognise, and that no other key has. */
function readableName(parts: readonly string[], key: string): string {
  const stem = parts
    .map(part =>
      part
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .replaceAll(/^-|-$/g, ''),
    )
    .filter(part => part !== '')
    .join('.')
    .slice(0, longestStem)
    .replace(/[-.]+$/, '')
  return stem === '' ? hash(key) : `${stem}-${hash(key)}`
}

/** Of the record with this key: see leaseKey. */
export function leaseOfKey(key: string): LeaseKey {
  const [segment, address] = JSON.parse(key) as [string, string]
  return { segment, address }
}

/** The IPLease of the record with this key, or the IPReservation that ipkeeperctl makes for it. */
export function leaseObjectName(key: string): string {
  return leaseName(leaseOfKey(key))
}

/** "shop.web-0.fixed.eth0-4b1fd1ffa8a08b5e9b5c": the IPHolder of the record with this key, see holderKey. */
export function holderObjectName(key: string): string {
  const parts = JSON.parse(key) as
    ['pod', string, string, string, string] | ['container', string, string, string]
  if (parts[0] === 'container') {
    const [, network, containerId, ifname] = parts
    return readableName([containerId.slice(0, 13), network, ifname], key)
  }
  const [, network, namespace, name, ifname] = parts
  return readableName([namespace, name, network, ifname], key)
}

/** The IPPool or IPNode of what has this name: the name where that can be one of an object, else one that tells it. */
export function namedObjectName(name: string): string {
  return isObjectName(name) ? name : readableName([name], name)
}
