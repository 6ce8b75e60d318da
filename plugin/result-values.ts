import type { AddResult } from '../shared/api/cni.schema.ts'
import { clipped, isSameKey } from '../shared/json/fold.ts'
import { isNameserver, parseAddress, type Family } from '../shared/net/address.ts'
import { parseCidr, type Cidr } from '../shared/net/cidr.ts'

/** Keys of the objects of a Result in all versions, as Go's libraries know them (cni-protocol 1.E). */
const keys = {
  result: ['cniVersion', 'interfaces', 'ips', 'routes', 'ip4', 'ip6', 'dns'],
  interface: ['name', 'mac', 'mtu', 'sandbox', 'socketPath', 'pciID'],
  ip: ['version', 'address', 'gateway', 'interface'],
  family: ['ip', 'gateway', 'routes'],
  route: ['dst', 'gw', 'mtu', 'advmss', 'priority', 'table', 'scope'],
  dns: ['nameservers', 'domain', 'search', 'options'],
} as const

type Part = keyof typeof keys
type Ip = NonNullable<AddResult['ips']>[number]
type Route = NonNullable<AddResult['routes']>[number]
type FamilyConfig = NonNullable<AddResult['ip4']>

/** Which of them are numbers, and texts that the schema does not look at: of another type, Go refuses the whole Result. */
const numbers: readonly string[] = ['mtu', 'advmss', 'priority', 'table', 'scope']
const texts: readonly string[] = ['mac', 'sandbox', 'socketPath', 'pciID']

const macForm = /^(?:[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?:(?:[:-][0-9a-f]{2}){2}|(?:[:-][0-9a-f]{2}){14})?)?$/i

/**
 * The first value of a Result that its readers would stumble over, or read as something else than was checked: where it
 * stands, and what it is not. undefined when there is none. The schema has been checked before.
 */
export function valueFault(result: AddResult): string | undefined {
  return faultsOf(result).next().value ?? undefined
}

function* faultsOf(result: AddResult): Generator<string, undefined> {
  const { interfaces, ips = [], routes = [], ip4, ip6, dns } = result
  yield* partFaults('result', '', result)
  for (const [index, link] of (interfaces ?? []).entries())
    yield* partFaults('interface', `interfaces[${index}]`, link)
  for (const [index, ip] of ips.entries()) {
    yield* ipFaults(ip, `ips[${index}]`, interfaces?.length ?? 0)
    if (ips.slice(0, index).some(other => isSameAddress(other, ip)))
      yield says(`ips[${index}].address`, ip.address, 'is there twice')
  }
  for (const [index, route] of routes.entries()) yield* routeFaults(route, `routes[${index}]`)
  if (ip4) yield* familyFaults(ip4, 'ip4', 4)
  if (ip6) yield* familyFaults(ip6, 'ip6', 6)
  if (!dns) return
  yield* partFaults('dns', 'dns', dns)
  for (const [index, text] of (dns.nameservers ?? []).entries())
    if (!isNameserver(text)) yield says(`dns.nameservers[${index}]`, text, 'is no IP address')
  const { domain = '', search = [], options = [] } = dns
  for (const [path, words] of [
    ['dns.domain', [domain]],
    ['dns.search', search],
    ['dns.options', options],
  ] as const) {
    const odd = words.find(word => /[\s\p{Cc}]/u.test(word))
    if (odd !== undefined) yield says(path, odd, 'is more than one word')
  }
}

function* ipFaults(ip: Ip, path: string, links: number): Generator<string> {
  yield* partFaults('ip', path, ip)
  const cidr = podAddress(ip.address)
  if (!cidr) {
    yield says(`${path}.address`, ip.address, noCidr)
    return
  }
  const { family } = cidr.address
  yield* gatewayFaults(ip.gateway, `${path}.gateway`, family)
  if (ip.version !== undefined && ip.version !== String(family))
    yield says(`${path}.version`, ip.version, `is not that of ${ip.address}`)
  if (ip.interface !== undefined && ip.interface >= links)
    yield `${path}.interface is ${ip.interface}, of ${links} interfaces`
}

function* familyFaults(config: FamilyConfig, path: string, family: Family): Generator<string> {
  yield* partFaults('family', path, config)
  const { ip, gateway, routes = [] } = config
  if (podAddress(ip)?.address.family !== family) yield says(`${path}.ip`, ip, ofFamily(noCidr, family))
  yield* gatewayFaults(gateway, `${path}.gateway`, family)
  for (const [index, route] of routes.entries()) yield* routeFaults(route, `${path}.routes[${index}]`, family)
}

function* routeFaults(route: Route, path: string, family?: Family): Generator<string> {
  yield* partFaults('route', path, route)
  const { dst, gw } = route
  const destination = inOwnSpelling(dst, parseCidr(dst))
  const wanted = family ?? destination?.address.family
  if (wanted === undefined || destination?.address.family !== wanted)
    yield says(`${path}.dst`, dst, family === undefined ? noCidr : ofFamily(noCidr, family))
  else yield* gatewayFaults(gw, `${path}.gw`, wanted)
}

/** An empty text is as good as none to Go's libraries. */
function* gatewayFaults(text: string | undefined, path: string, family: Family): Generator<string> {
  if (text === undefined || text === '') return
  const address = parseAddress(text)
  if (address?.family !== family || text.includes(':') !== (family === 6))
    yield says(path, text, ofFamily('is no address', family))
}

/** Keys that Go takes for others than those that were checked, and values of another type than it decodes. */
function* partFaults(part: Part, path: string, object: object): Generator<string> {
  const within = path === '' ? '' : `${path}.`
  const known: readonly string[] = keys[part]
  for (const [key, value] of Object.entries(object)) {
    const meant = known.includes(key) ? key : known.find(name => isSameKey(name, key))
    if (meant === undefined) continue
    if (meant !== key) yield `key ${JSON.stringify(clipped(within + key))} would be read as "${meant}"`
    // null is as good as absent to Go's decoder.
    if (value === undefined || value === null) continue
    if (numbers.includes(key) && !(Number.isSafeInteger(value) && value >= 0))
      yield `${within}${key} is no whole number from 0 up`
    if (texts.includes(key) && typeof value !== 'string') yield `${within}${key} is no text`
    if (key === 'mac' && !macForm.test(String(value))) yield says(`${within}mac`, String(value), 'is no MAC')
  }
}

/** An address that an interface can have, with its prefix length. */
function podAddress(text: string): Cidr | undefined {
  const cidr = inOwnSpelling(text, parseCidr(text))
  if (!cidr) return undefined
  const { family, value } = cidr.address
  const multicast = family === 4 ? value >> 28n === 0xen : value >> 120n === 0xffn
  const loopback = family === 4 ? value >> 24n === 127n : value === 1n
  const none = value === 0n || (family === 4 && value === 0xffffffffn)
  return multicast || loopback || none ? undefined : cidr
}

/** Whether two entries are of one address, however it is spelt. */
function isSameAddress({ address: one }: Ip, { address: other }: Ip): boolean {
  return (
    parseCidr(one)?.address.value === parseCidr(other)?.address.value &&
    one.includes(':') === other.includes(':')
  )
}

/** An IPv4 address that is written as one of IPv6 is of either family, by who reads it. */
function inOwnSpelling(text: string, cidr: Cidr | undefined): Cidr | undefined {
  return cidr && text.includes(':') === (cidr.address.family === 6) ? cidr : undefined
}

const noCidr = 'is no address with a prefix'
const ofFamily = (words: string, family: Family): string => `${words} of IPv${family}`
const says = (path: string, text: string, what: string): string =>
  `${path} ${JSON.stringify(clipped(text))} ${what}`
