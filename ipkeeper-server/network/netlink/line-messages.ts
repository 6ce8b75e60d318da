import { parseAddress, type Family } from '../../../shared/net/address.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'
import { inheritedNamespace } from '../plan/command.ts'
import {
  bytesOf32,
  bytesOf8,
  creation,
  messageTypes,
  zeroEnded,
  type Attribute,
  type RouteMessage,
} from './route-message.ts'

/** A line of a batch of `ip`, as what the kernel is to be asked. */
export interface LineRequest {
  /** Names of the links whose indexes the message has, each with what `ip` says where there is none. */
  readonly links: ReadonlyMap<string, string>
  readonly message: (indexOf: (link: string) => number) => RouteMessage
  /**
   * A link that comes up by it, and is to be asked for behind it, as `ip` does for its next line: the kernel may tell of a
   * carrier once in a second, except to whoever asks. Until then the link is up, but not running.
   */
  readonly comesUp?: string
  /** Removes links, for which the kernel keeps whoever asks for 10 to 26 ms. */
  readonly removes?: true
}

type Options = ReadonlyMap<string, string>

/** Words that may follow, each with the number of its values. */
type Grammar = Readonly<Record<string, 0 | 1>>

/** undefined where a word is none of the grammar, comes twice, or lacks its value. */
function readOptions(words: readonly string[], grammar: Grammar): Options | undefined {
  const options = new Map<string, string>()
  for (let at = 0; at < words.length; at++) {
    const key = words[at] ?? ''
    if (!Object.hasOwn(grammar, key) || options.has(key)) return undefined
    const value = grammar[key] === 1 ? words[++at] : ''
    if (value === undefined) return undefined
    options.set(key, value)
  }
  return options
}

/** What no form here can say: the line is left to `ip`. */
class LeftToIp extends Error {}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new LeftToIp()
  return value
}

/** As the kernel has names; `ip` takes "if7" for the link of index 7 where none is called so. */
function linkName(text: string | undefined): string {
  if (text === undefined || !/^[A-Za-z0-9_.:+=,-]{1,15}$/.test(text) || /^if\d+$/.test(text))
    throw new LeftToIp()
  return text
}

function number32(text: string | undefined, most = 0xffffffff): number {
  if (text === undefined || !/^(?:0|[1-9]\d{0,9})$/.test(text) || Number(text) > most) throw new LeftToIp()
  return Number(text)
}

function macBytes(text: string | undefined): Uint8Array {
  if (text === undefined || !/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i.test(text)) throw new LeftToIp()
  return Uint8Array.from(text.split(':'), octet => Number.parseInt(octet, 16))
}

const inet = { 4: 2, 6: 10 } as const satisfies Record<Family, number>

interface WireAddress {
  readonly family: Family
  readonly bytes: Uint8Array
}

function wireAddress(text: string | undefined): WireAddress {
  const address = must(text === undefined ? undefined : parseAddress(text))
  // "::ffff:10.22.0.1" is an address of IPv6 to `ip`, and not to us.
  if (must(text).includes(':') !== (address.family === 6)) throw new LeftToIp()
  const length = address.family === 6 ? 16 : 4
  const bytes = Uint8Array.from({ length }, (_, at) =>
    Number((address.value >> BigInt(8 * (length - 1 - at))) & 0xffn),
  )
  return { family: address.family, bytes }
}

function wirePrefix(text: string | undefined): WireAddress & { readonly length: number } {
  const { prefixLength } = must(text === undefined ? undefined : parseCidr(text))
  return { ...wireAddress(must(text).replace(/\/.*/, '')), length: prefixLength }
}

/** struct ifinfomsg. @param changes which flags change */
function linkHeader(index: number, flags = 0, changes = flags): Uint8Array {
  const header = new Uint8Array(16)
  header.set(bytesOf32(index), 4)
  header.set(bytesOf32(flags), 8)
  header.set(bytesOf32(changes), 12)
  return header
}

const flagUp = 1

/** Attributes of links (linux/if_link.h). */
const ifla = {
  ...{ address: 1, name: 3, mtu: 4, link: 5, master: 10, info: 18, alias: 20, family: 26, group: 27 },
  ...{ netnsFd: 28, extMask: 29 },
} as const
const infoOf = { kind: 1, data: 2, slaveKind: 4, slaveData: 5 } as const

const noDevice = (name: string): string => `Cannot find device "${name}"`

/** @param links each with what `ip` says of it when it is missing */
function request(links: Iterable<readonly [string, string]>, message: LineRequest['message']): LineRequest {
  return { links: new Map(links), message }
}

/** What a link is asked for by name, that needs the index of no other one. */
function linkAttributes(options: Options, netns: number | undefined): Attribute[] {
  const [name, address, mtu] = [options.get('name'), options.get('address'), options.get('mtu')]
  const inside = options.get('netns')
  if (inside !== undefined && inside !== inheritedNamespace) throw new LeftToIp()
  return [
    ...(name === undefined ? [] : [[ifla.name, zeroEnded(linkName(name))] as const]),
    ...(address === undefined ? [] : [[ifla.address, macBytes(address)] as const]),
    ...(mtu === undefined ? [] : [[ifla.mtu, bytesOf32(number32(mtu))] as const]),
    ...(inside === undefined ? [] : [[ifla.netnsFd, bytesOf32(must(netns))] as const]),
  ]
}

const macvlanModes: Readonly<Record<string, number>> = { private: 1, vepa: 2, bridge: 4, passthru: 8 }

/** What stands behind `type KIND`. */
function kindData(kind: string, words: readonly string[], netns: number | undefined): Attribute[] {
  switch (kind) {
    case 'bridge':
      if (words.length > 0) throw new LeftToIp()
      return []
    case 'veth': {
      const [peer, ...rest] = words
      const options = must(readOptions(rest, { name: 1, address: 1, mtu: 1, netns: 1 }))
      if (peer !== 'peer') throw new LeftToIp()
      const nest = { header: linkHeader(0), attributes: linkAttributes(options, netns) }
      return [[1, nest]]
    }
    case 'macvlan': {
      const options = must(readOptions(words, { mode: 1 }))
      return [[1, bytesOf32(must(macvlanModes[must(options.get('mode'))]))]]
    }
    default:
      throw new LeftToIp()
  }
}

function addLink(words: readonly string[], netns: number | undefined): LineRequest {
  const at = words.indexOf('type')
  if (at < 0) throw new LeftToIp()
  const options = must(readOptions(words.slice(0, at), { link: 1, name: 1, address: 1, mtu: 1, netns: 1 }))
  const kind = must(words[at + 1])
  const data = kindData(kind, words.slice(at + 2), netns)
  const own = linkAttributes(options, netns)
  const below = options.get('link')
  const info: Attribute = [
    ifla.info,
    {
      attributes: [
        [infoOf.kind, new TextEncoder().encode(kind)],
        ...(data.length === 0 ? [] : [[infoOf.data, { attributes: data }] as const]),
      ],
    },
  ]
  return request(below === undefined ? [] : [[linkName(below), noDevice(below)]], indexOf => ({
    type: messageTypes.newLink,
    flags: creation.create | creation.exclusive,
    header: linkHeader(0),
    attributes: [
      ...(below === undefined ? [] : [[ifla.link, bytesOf32(indexOf(below))] as const]),
      ...own,
      info,
    ],
  }))
}

/** linux/if_link.h: IN6_ADDR_GEN_MODE_NONE of IFLA_INET6_ADDR_GEN_MODE. */
const withoutGeneratedAddress: Attribute = [
  ifla.family,
  { attributes: [[inet[6], { attributes: [[8, bytesOf8(1)]] }]] },
]

/** IFLA_BRPORT_MODE. */
const hairpinOn: Attribute = [
  ifla.info,
  {
    attributes: [
      [infoOf.slaveKind, new TextEncoder().encode('bridge')],
      [infoOf.slaveData, { attributes: [[4, bytesOf8(1)]] }],
    ],
  },
]

const setGrammar: Grammar = {
  ...{ dev: 1, up: 0, down: 0, alias: 1, master: 1, mtu: 1, address: 1, name: 1, addrgenmode: 1, group: 1 },
}

/** A number: `ip` knows names as well, from a file. */
function linkGroup(text: string | undefined): readonly Attribute[] {
  return text === undefined ? [] : [[ifla.group, bytesOf32(number32(text, 0x7fffffff))]]
}

function setLink(words: readonly string[]): LineRequest {
  const at = words.indexOf('type')
  const options = must(readOptions(at < 0 ? words : words.slice(0, at), setGrammar))
  if (at >= 0 && words.slice(at + 1).join(' ') !== 'bridge_slave hairpin on') throw new LeftToIp()
  if (options.has('addrgenmode') && options.get('addrgenmode') !== 'none') throw new LeftToIp()
  if (options.has('up') && options.has('down')) throw new LeftToIp()
  const dev = linkName(options.get('dev'))
  const [master, alias] = [options.get('master'), options.get('alias')]
  const own = [...linkAttributes(options, undefined), ...linkGroup(options.get('group'))]
  const links = [
    [dev, noDevice(dev)] as const,
    ...(master === undefined
      ? []
      : [[linkName(master), `Error: argument "${master}" is wrong: Device does not exist`] as const]),
  ]
  const message: LineRequest['message'] = indexOf => ({
    type: messageTypes.newLink,
    flags: 0,
    header: linkHeader(
      indexOf(dev),
      options.has('up') ? flagUp : 0,
      options.has('up') || options.has('down') ? flagUp : 0,
    ),
    attributes: [
      ...own,
      ...(master === undefined ? [] : [[ifla.master, bytesOf32(indexOf(master))] as const]),
      ...(alias === undefined ? [] : [[ifla.alias, new TextEncoder().encode(alias)] as const]),
      ...(options.has('addrgenmode') ? [withoutGeneratedAddress] : []),
      ...(at < 0 ? [] : [hairpinOn]),
    ],
  })
  return { ...request(links, message), ...(options.has('up') && { comesUp: dev }) }
}

/** One link by its name, or all of a group. */
function deleteLink(words: readonly string[]): LineRequest {
  const options = must(readOptions(words, { dev: 1, group: 1 }))
  if (options.size !== 1) throw new LeftToIp()
  const [type, attributes] = [messageTypes.deleteLink, linkGroup(options.get('group'))]
  const dev = attributes.length > 0 ? undefined : linkName(options.get('dev'))
  const links = dev === undefined ? [] : [[dev, noDevice(dev)] as const]
  const message: LineRequest['message'] = indexOf => ({
    ...{ type, flags: 0, header: linkHeader(dev === undefined ? 0 : indexOf(dev)), attributes },
  })
  return { ...request(links, message), removes: true }
}

const creationOf: Readonly<Record<string, number>> = {
  add: creation.create | creation.exclusive,
  replace: creation.create | creation.replace,
}

/** linux/if_addr.h: IFA_F_NODAD, IFA_F_NOPREFIXROUTE. */
const addressFlags = { nodad: 0x02, noprefixroute: 0x200 } as const
const scopeHost = 254

function changeAddress(verb: string, words: readonly string[]): LineRequest {
  const [text, ...rest] = words
  const { family, bytes, length } = wirePrefix(text)
  const options = must(readOptions(rest, { dev: 1, nodad: 0, noprefixroute: 0 }))
  const dev = linkName(options.get('dev'))
  const flags =
    (options.has('nodad') ? addressFlags.nodad : 0) |
    (options.has('noprefixroute') ? addressFlags.noprefixroute : 0)
  const scope = family === 4 && bytes[0] === 127 ? scopeHost : 0
  const creates = must(creationOf[verb])
  return request([[dev, noDevice(dev)]], indexOf => ({
    type: messageTypes.newAddress,
    flags: creates,
    // struct ifaddrmsg
    header: Uint8Array.of(inet[family], length, flags > 0xff ? 0 : flags, scope, ...bytesOf32(indexOf(dev))),
    attributes: [
      // IFA_LOCAL, IFA_ADDRESS, IFA_FLAGS
      [2, bytes],
      [1, bytes],
      ...(flags > 0xff ? [[8, bytesOf32(flags)] as const] : []),
    ],
  }))
}

/** linux/neighbour.h: NUD_... */
const neighbourStates: Readonly<Record<string, number>> = { stale: 0x04, permanent: 0x80 }
const flagProxy = 0x08

function changeNeighbour(verb: string, words: readonly string[]): LineRequest {
  const isProxy = words[0] === 'proxy'
  const [text, ...rest] = isProxy ? words.slice(1) : words
  const { family, bytes } = wireAddress(text)
  const options = must(readOptions(rest, { lladdr: 1, dev: 1, nud: 1 }))
  const dev = linkName(options.get('dev'))
  const lladdr = options.get('lladdr')
  const mac = lladdr === undefined ? undefined : macBytes(lladdr)
  const state = must(neighbourStates[options.get('nud') ?? 'permanent'])
  if (verb !== 'replace' && (verb !== 'delete' || mac)) throw new LeftToIp()
  return request([[dev, noDevice(dev)]], indexOf => ({
    type: verb === 'delete' ? messageTypes.deleteNeighbour : messageTypes.newNeighbour,
    flags: verb === 'delete' ? 0 : must(creationOf[verb]),
    // struct ndmsg
    header: Uint8Array.of(
      ...[inet[family], 0, 0, 0],
      ...bytesOf32(indexOf(dev)),
      ...[state, 0, isProxy ? flagProxy : 0, 0],
    ),
    // NDA_DST, NDA_LLADDR
    attributes: [[1, bytes], ...(mac ? [[2, mac] as const] : [])],
  }))
}

/** linux/rtnetlink.h */
const route = { mainTable: 254, boot: 3, universe: 0, link: 253, unicast: 1 } as const
const rta = { dst: 1, oif: 4, gateway: 5, priority: 6, source: 7, metrics: 8, table: 15 } as const
/** RTAX_... */
const routeMetrics = [
  ['mtu', 2],
  ['advmss', 8],
] as const

function addRoute(verb: string, words: readonly string[]): LineRequest {
  const [text, ...rest] = words
  const { family, bytes, length } = wirePrefix(text)
  const grammar = { via: 1, dev: 1, src: 1, metric: 1, table: 1, scope: 1, mtu: 1, advmss: 1 } as const
  const options = must(readOptions(rest, grammar))
  const dev = linkName(options.get('dev'))
  const ofFamily = (key: string, type: number): Attribute[] => {
    if (!options.has(key)) return []
    const address = wireAddress(options.get(key))
    if (address.family !== family) throw new LeftToIp()
    return [[type, address.bytes]]
  }
  const number = (key: string, most?: number): number | undefined =>
    options.has(key) ? number32(options.get(key), most) : undefined
  const [priority, table = route.mainTable] = [number('metric'), number('table')]
  const isOnLink = family === 4 && !options.has('via')
  const scope = number('scope', 0xff) ?? (isOnLink ? route.link : route.universe)
  const metrics = routeMetrics.flatMap(([key, type]): Attribute[] => {
    const value = number(key)
    return value === undefined ? [] : [[type, bytesOf32(value)]]
  })
  const before: readonly Attribute[] = [
    [rta.dst, bytes],
    ...ofFamily('via', rta.gateway),
    ...ofFamily('src', rta.source),
    ...(priority === undefined ? [] : [[rta.priority, bytesOf32(priority)] as const]),
    ...(metrics.length === 0 ? [] : [[rta.metrics, { attributes: metrics }] as const]),
    ...(table > 0xff ? [[rta.table, bytesOf32(table)] as const] : []),
  ]
  const creates = must(creationOf[verb])
  return request([[dev, noDevice(dev)]], indexOf => ({
    type: messageTypes.newRoute,
    flags: creates,
    // struct rtmsg
    header: Uint8Array.of(
      ...[inet[family], length, 0, 0, table > 0xff ? 0 : table, route.boot, scope, route.unicast],
      ...[0, 0, 0, 0],
    ),
    attributes: [...before, [rta.oif, bytesOf32(indexOf(dev))]],
  }))
}

function readKnownLine([object, verb = '', ...words]: readonly string[], netns?: number): LineRequest {
  switch (object) {
    case 'link':
      if (verb === 'add') return addLink(words, netns)
      if (verb === 'set') return setLink(words)
      if (verb === 'delete') return deleteLink(words)
      throw new LeftToIp()
    case 'address':
      return changeAddress(verb, words)
    case 'neighbour':
      return changeNeighbour(verb, words)
    case 'route':
      return addRoute(verb, words)
    default:
      throw new LeftToIp()
  }
}

/**
 * What the words of a line come to; undefined where some of them are unknown here, and the line is for `ip`.
 *
 * @param netns file descriptor of the namespace that the line names as inheritedNamespace
 */
export function readLine(words: readonly string[], netns?: number): LineRequest | undefined {
  try {
    return readKnownLine(words, netns)
  } catch (error) {
    if (error instanceof LeftToIp) return undefined
    throw error
  }
}

/** RTEXT_FILTER_SKIP_STATS: nobody here counts frames. */
const withoutStatistics = 8

/** Asks for a link by its name. */
export function linkQuery(name: string): RouteMessage {
  return {
    type: messageTypes.getLink,
    flags: 0,
    header: linkHeader(0),
    attributes: [
      [ifla.name, zeroEnded(name)],
      [ifla.extMask, bytesOf32(withoutStatistics)],
    ],
  }
}
