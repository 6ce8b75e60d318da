import {
  arrayField,
  integerField,
  objectArrayField,
  objectField,
  stringArrayField,
  stringField,
  type JsonObject,
} from '../../../shared/json/fold.ts'
import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import { formatCidr, parseCidr, type Cidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'

/** A Result of any plugin, as libcni reads it: keys in any case, those that its version does not know left out. */
export interface PluginResult {
  readonly version: string
  readonly interfaces: readonly ResultLink[]
  readonly ips: readonly ResultIp[]
  readonly routes: readonly ResultHop[]
  readonly dns: JsonObject
}

export interface ResultLink {
  readonly name: string
  readonly mac?: string
  readonly mtu?: number
  readonly sandbox?: string
  readonly socketPath?: string
  readonly pciID?: string
}

export interface ResultIp {
  readonly cidr: Cidr
  /** Canonical, as are all addresses here. */
  readonly address: string
  readonly gateway?: string
  readonly interface?: number
}

export interface ResultHop {
  readonly dst: string
  readonly gw?: string
  readonly numbers: Readonly<Record<string, number>>
}

/** What nobody can decode: its message names the key. */
export class ResultFault extends Error {}

/** Versions whose Results have one object per family (cni-protocol 1.E). */
const byFamily = ['0.1.0', '0.2.0']
/** Those whose addresses name their family. */
const withFamily = ['0.3.0', '0.3.1', '0.4.0']

export const isByFamily = (version: string): boolean => byFamily.includes(version)

function omitAbsent<T extends object>(object: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T
}

function readIp(text: string | undefined, path: string): string | undefined {
  if (text === undefined || text === '') return undefined
  const address = parseAddress(text)
  if (!address) throw new ResultFault(`"${path}" is no address: ${JSON.stringify(text)}`)
  return formatAddress(address)
}

function mustReadCidr(text: string | undefined, path: string): Cidr {
  const cidr = text === undefined ? undefined : parseCidr(text)
  if (cidr) return cidr
  const got = text === undefined ? 'is missing' : `is not ADDRESS/LENGTH: ${JSON.stringify(text)}`
  throw new ResultFault(`"${path}" ${got}`)
}

function readRoutes(owner: JsonObject, path: string): readonly ResultHop[] {
  return (objectArrayField(owner, 'routes', path) ?? []).map((route, index) => {
    const at = `${path}[${index}]`
    const numbers: Record<string, number> = {}
    for (const key of ['mtu', 'advmss', 'priority', 'table', 'scope']) {
      const value = integerField(route, key, `${at}.${key}`)
      // Zero of the first three is as good as absent (cni:pkg/types Route).
      if (value !== undefined && (value !== 0 || key === 'table' || key === 'scope')) numbers[key] = value
    }
    return {
      ...omitAbsent<Pick<ResultHop, 'dst' | 'gw'>>({
        dst: formatCidr(mustReadCidr(stringField(route, 'dst', `${at}.dst`), `${at}.dst`)),
        gw: readIp(stringField(route, 'gw', `${at}.gw`), `${at}.gw`),
      }),
      numbers,
    }
  })
}

function readDns(document: JsonObject): JsonObject {
  const dns = objectField(document, 'dns') ?? {}
  const domain = stringField(dns, 'domain', 'dns.domain')
  const lists = ['nameservers', 'search', 'options'].flatMap(key => {
    const list = stringArrayField(dns, key, `dns.${key}`)
    return list === undefined || list.length === 0 ? [] : [[key, list] as const]
  })
  return { ...Object.fromEntries(lists), ...(domain ? { domain } : {}) }
}

/**
 * Decodes what a plugin printed, in the shape of a version that is known.
 *
 * @throws ResultFault for what libcni could not decode either
 */
export function readResult(document: JsonObject, version: string): PluginResult {
  try {
    const dns = readDns(document)
    if (isByFamily(version)) {
      const families = (['ip4', 'ip6'] as const).flatMap(key => {
        const family = objectField(document, key)
        return family === undefined ? [] : [{ key, family }]
      })
      return {
        ...{ version, interfaces: [], dns },
        ips: families.map(({ key, family }) => {
          const cidr = mustReadCidr(stringField(family, 'ip', `${key}.ip`), `${key}.ip`)
          const gateway = readIp(stringField(family, 'gateway', `${key}.gateway`), `${key}.gateway`)
          return { cidr, address: formatCidr(cidr), ...(gateway !== undefined && { gateway }) }
        }),
        routes: families.flatMap(({ key, family }) => readRoutes(family, `${key}.routes`)),
      }
    }
    return {
      ...{ version, dns },
      interfaces: (objectArrayField(document, 'interfaces') ?? []).map((link, index) => {
        const at = `interfaces[${index}]`
        const text = (key: string): string | undefined => stringField(link, key, `${at}.${key}`) || undefined
        return omitAbsent<ResultLink>({
          name: text('name') ?? '',
          mac: text('mac'),
          mtu: integerField(link, 'mtu', `${at}.mtu`) || undefined,
          sandbox: text('sandbox'),
          socketPath: text('socketPath'),
          pciID: text('pciID'),
        })
      }),
      ips: (objectArrayField(document, 'ips') ?? []).map((ip, index) => {
        const at = `ips[${index}]`
        const cidr = mustReadCidr(stringField(ip, 'address', `${at}.address`), `${at}.address`)
        return omitAbsent<ResultIp>({
          cidr,
          address: formatCidr(cidr),
          gateway: readIp(stringField(ip, 'gateway', `${at}.gateway`), `${at}.gateway`),
          interface: integerField(ip, 'interface', `${at}.interface`),
        })
      }),
      routes: readRoutes(document, 'routes'),
    }
  } catch (error) {
    if (error instanceof Problem) throw new ResultFault(error.message, { cause: error })
    throw error
  }
}

/** Keys of the shape of other versions, which nobody reads in this one; with what they are called here. */
export function strayKeys(document: JsonObject, version: string): readonly string[] {
  const others = isByFamily(version) ? ['ips', 'interfaces'] : ['ip4', 'ip6']
  return others.filter(key =>
    key === 'ips' || key === 'interfaces' ? (arrayField(document, key)?.length ?? 0) > 0 : key in document,
  )
}

const family = (text: string): '4' | '6' => (text.includes(':') ? '6' : '4')

function writeHop({ dst, gw, numbers }: ResultHop): JsonObject {
  return { dst, ...(gw !== undefined && { gw }), ...numbers }
}

/**
 * A Result as libcni hands it on as `prevResult`, in a version that may be another one than it came in: what the Go
 * library prints, with its habits (cni:pkg/types/{020,040,100}; cni-protocol E1, E10).
 */
export function writeResult(result: PluginResult, version: string): JsonObject {
  const { interfaces, ips, routes, dns } = result
  if (isByFamily(version)) {
    const families = (['4', '6'] as const).flatMap(wanted => {
      const ip = ips.find(({ address }) => family(address) === wanted)
      if (!ip) return []
      const own = routes.filter(({ dst }) => family(dst) === wanted).map(writeHop)
      const { address, gateway } = ip
      const document = {
        ip: address,
        ...(gateway !== undefined && { gateway }),
        ...(own.length > 0 && { routes: own }),
      }
      return [[`ip${wanted}`, document] as const]
    })
    return { cniVersion: version, ...Object.fromEntries(families), dns }
  }
  const old = withFamily.includes(version)
  const links = interfaces.map(({ name, mac, mtu, sandbox, socketPath, pciID }) =>
    omitAbsent<Record<string, unknown>>({
      ...{ name, mac, sandbox },
      ...(old ? {} : { mtu, socketPath, pciID }),
    }),
  )
  return {
    cniVersion: version,
    ...(links.length > 0 && { interfaces: links }),
    ...(ips.length > 0 && {
      ips: ips.map(({ address, gateway, interface: index }) => ({
        ...(old && { version: family(address) }),
        ...omitAbsent<Record<string, unknown>>({ interface: index, address, gateway }),
      })),
    }),
    ...(routes.length > 0 && { routes: routes.map(writeHop) }),
    ...((old || Object.keys(dns).length > 0) && { dns }),
  }
}
