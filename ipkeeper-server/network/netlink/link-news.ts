import { canonicalCidr, isLinkLocalAddress, type KernelNews } from '../plan/node-links.ts'
import { MalformedAnswer, messageTypes, readAttributes, readMessages } from './route-message.ts'

/** RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR of linux/rtnetlink.h. */
export const newsGroups = 0x1 | 0x10 | 0x100

/** Families of linux/socket.h. A bridge tells of its ports once more, in its own. */
const families = { any: 0, ipv4: 2, ipv6: 10 } as const

/** Attributes of linux/if_link.h and linux/if_addr.h. A radio link tells of its radio in messages with little else. */
const linkAttributes = { address: 1, name: 3, master: 10, wireless: 11 } as const
const wantedOfLinks = Object.values(linkAttributes)
const addressAttributes = { address: 1, local: 2 } as const
const wantedOfAddresses = Object.values(addressAttributes)

const decoder = new TextDecoder()

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/**
 * What a datagram says of links and addresses; all else is passed over.
 *
 * @throws MalformedAnswer
 */
export function readNews(datagram: Uint8Array): readonly KernelNews[] {
  return [...readMessages(datagram)].flatMap(({ type, body }): readonly KernelNews[] => {
    if (type === messageTypes.newLink || type === messageTypes.deleteLink)
      return readLink(body, type === messageTypes.deleteLink)
    if (type === messageTypes.newAddress || type === messageTypes.deleteAddress)
      return readAddress(body, type === messageTypes.deleteAddress)
    return []
  })
}

/** struct ifinfomsg: family, type, index, flags, change. */
function readLink(body: Uint8Array, gone: boolean): readonly KernelNews[] {
  if (body.length < 16) throw new MalformedAnswer('a link is cut off')
  if (body[0] !== families.any) return []
  const values = readAttributes(body.subarray(16), wantedOfLinks)
  if (values.has(linkAttributes.wireless)) return []
  const index = indexOf(view(body).getInt32(4, true))
  const name = values.get(linkAttributes.name)
  if (name?.at(-1) !== 0) throw new MalformedAnswer(`link ${index} has no name`)
  const master = values.get(linkAttributes.master)
  if (master && master.length !== 4) throw new MalformedAnswer(`link ${index} has no such master`)
  return [
    {
      kind: 'link',
      key: String(index),
      name: decoder.decode(name.subarray(0, -1)),
      master: master && indexOf(view(master).getInt32(0, true)),
      mac: Array.from(values.get(linkAttributes.address) ?? [], byte => hex(byte, 2)).join(':'),
      gone,
    },
  ]
}

/** struct ifaddrmsg: family, prefix, flags, scope, index. */
function readAddress(body: Uint8Array, gone: boolean): readonly KernelNews[] {
  if (body.length < 8) throw new MalformedAnswer('an address is cut off')
  const [family, prefix = 0] = body
  if (family !== families.ipv4 && family !== families.ipv6) return []
  const values = readAttributes(body.subarray(8), wantedOfAddresses)
  const index = indexOf(view(body).getInt32(4, true))
  // Of one with a peer that is the peer's, and IFA_LOCAL its own.
  const far = textOf(values.get(addressAttributes.address), family)
  const near = values.has(addressAttributes.local) ? textOf(values.get(addressAttributes.local), family) : far
  if (near === undefined) throw new MalformedAnswer(`link ${index} has an address without a value`)
  if (isLinkLocalAddress(near)) return []
  const peer = far === undefined || far === near ? '' : canonicalCidr(`${far}/${prefix}`)
  const cidr = canonicalCidr(peer === '' ? `${near}/${prefix}` : near)
  return [{ kind: 'address', key: `${index} ${cidr} ${peer}`, cidr, link: index, gone }]
}

function textOf(value: Uint8Array | undefined, family: 2 | 10): string | undefined {
  if (!value) return undefined
  if (value.length !== (family === families.ipv4 ? 4 : 16))
    throw new MalformedAnswer(`an address cannot have ${value.length} bytes`)
  if (family === families.ipv4) return value.join('.')
  return Array.from({ length: 8 }, (_, group) => hex(view(value).getUint16(group * 2), 1)).join(':')
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

function indexOf(value: number): number {
  if (value <= 0) throw new MalformedAnswer(`a link cannot have index ${value}`)
  return value
}
