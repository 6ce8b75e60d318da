import {
  arrayField,
  booleanField,
  clipped,
  field,
  hasField,
  isJsonObject,
  objectArrayField,
  objectField,
  showJson,
  stringField,
  type JsonObject,
} from '../../../shared/json/fold.ts'
import { noCniArgs, soundArgs, type CniArgs, type ParsedCniArgs } from '../../../shared/cni/cni-args.ts'
import { configVersion, networkName } from '../../../shared/cni/netconf.ts'
import { IpamSchema, RangeSchema, RouteSchema } from '../../../shared/cni/netconf.schema.ts'
import type { ResultRoute } from '../../../shared/cni/result.ts'
import { isSupportedVersion, type CniVersion } from '../../../shared/cni/versions.ts'
import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import { formatCidr, parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { CniChannel } from './merge-requests.ts'
import { parseAddressRequest, parseAddressRange, type AddressRange } from './parse-addresses.ts'
import type { StringMap } from '../records/pod-facts.ts'
import { isPoolName, canonicalPool, isSegmentName, type Pool, type RangeDefinition } from '../pools/pool.ts'
import type { AddressRequest, PoolRequest } from './request.ts'
import { sectionReader } from './section-fields.ts'
import { misspeltWord } from '../../../shared/text/nearest-word.ts'

/** An attachment that the runtime still knows (CNI SPEC, GC: cni.dev/valid-attachments). */
export interface ValidAttachment {
  readonly containerId: string
  readonly ifname: string
}

/** What the name and version checks of every verb leave: who is meant, in which words to answer. */
export interface NetworkIdentity {
  readonly name: string
  readonly version: CniVersion
  /** Whether the netconf itself is ours: then the daemon wires the pod. */
  readonly mainRole: boolean
}

/** The configuration of an ADD in the IPAM role, read and checked. */
export interface IpamConfig {
  /** Of its own ranges; undefined where it has none. */
  readonly inline: Pool | undefined
  /** Pools of the daemon's configuration that it names. */
  readonly pools: readonly PoolRequest[]
  readonly routes: readonly ResultRoute[]
  readonly resolvConf: string | undefined
  /** CNI's own channels that ask for addresses, highest first. */
  readonly channels: readonly CniChannel[]
  /** undefined when the runtime passes none on: the conflist does not declare the capability, or the caller has no use for it. */
  readonly podAnnotations: StringMap | undefined
  /** Whether they were to be passed on, and were not: containerd and CRI-O do so for every pod, Multus for none. */
  readonly annotationsWithheld: boolean
  /** Whether STATUS is to fail when no address is free. */
  readonly statusReportsExhaustion: boolean
}

const invalid = (message: string, hint?: string): Problem =>
  new Problem('IPK_CONFIG_INVALID', message, hint === undefined ? {} : { hint })

/** With the reference's text alone as message, which its users match; where it is said goes to the details. */
const invalidAt = (path: string, message: string): Problem =>
  new Problem('IPK_CONFIG_INVALID', message, { details: `in ${path}` })

/** Name and version of a netconf whose shape the plugin has checked already; checked again, as the socket is open to others. */
export function readIdentity(config: JsonObject): NetworkIdentity {
  const name = networkName(config)
  const version = configVersion(config)
  const spoken = version === '' ? '0.1.0' : version
  if (!isSupportedVersion(spoken)) {
    throw new Problem('IPK_VERSION_INCOMPATIBLE', 'incompatible CNI versions', {
      details: `config is "${spoken}"`,
    })
  }
  return { name, version: spoken, mainRole: stringField(config, 'type', 'type') === 'ipkeeper' }
}

function readAddress(text: string | undefined, path: string): Address | undefined {
  if (text === undefined || text === '') return undefined
  const address = parseAddress(text)
  if (!address) throw invalidAt(path, `invalid IP address: ${text}`)
  return address
}

function readExclusion(value: unknown, path: string): AddressRange {
  const run = typeof value === 'string' ? parseAddressRange(value) : undefined
  if (run) return run
  throw invalid(`${path}: ${showJson(value)} is no address, FIRST-LAST or CIDR`)
}

const ipamSection = sectionReader(IpamSchema)
const rangeSection = sectionReader(RangeSchema)
const routeSection = sectionReader(RouteSchema)

function readRange(object: JsonObject, path: string): RangeDefinition {
  if (path !== 'ipam') refuseMisspelt(object, RangeSchema, path)
  const section = rangeSection(object, path)
  const text = section.subnet
  if (text === undefined) throw invalid(`${path}: missing "subnet"`)
  const subnet = parseCidr(text)
  if (!subnet) throw invalidAt(`${path}.subnet`, `invalid CIDR address: ${text}`)
  const rangeStart = readAddress(section.rangeStart, `${path}.rangeStart`)
  const rangeEnd = readAddress(section.rangeEnd, `${path}.rangeEnd`)
  const gateway = readAddress(section.gateway, `${path}.gateway`)
  const exclude = (section.exclude ?? []).map((value, index) =>
    readExclusion(value, `${path}.exclude[${index}]`),
  )
  return {
    subnet,
    ...(rangeStart && { rangeStart }),
    ...(rangeEnd && { rangeEnd }),
    ...(gateway && { gateway }),
    exclude,
  }
}

function readRangeSets(value: readonly unknown[] | undefined, path: string): RangeDefinition[][] {
  return (value ?? []).map((set, index) =>
    (objectArrayField({ set }, 'set', `${path}[${index}]`) ?? []).map((range, position) =>
      readRange(range, `${path}[${index}][${position}]`),
    ),
  )
}

function readRoute(object: JsonObject, path: string): ResultRoute {
  const route = routeSection(object, path)
  const dst = route.dst ?? ''
  const destination = parseCidr(dst)
  if (!destination) throw invalidAt(`${path}.dst`, `invalid CIDR address: ${dst}`)
  const gw = readAddress(route.gw, `${path}.gw`)
  if (gw && gw.family !== destination.address.family)
    throw invalid(`${path}: gw and dst are of different families`)
  const numbers: Partial<Record<'mtu' | 'advmss' | 'priority' | 'table' | 'scope', number>> = {}
  for (const key of ['mtu', 'advmss', 'priority', 'table', 'scope'] as const) {
    const number = route[key]
    if (number === undefined) continue
    if (number < 0) throw invalid(`${path}.${key}: ${number} is negative`)
    numbers[key] = number
  }
  return { dst: formatCidr(destination), ...(gw && { gw: formatAddress(gw) }), ...numbers }
}

/** Requests of one channel; `context` goes before host-local's text of an address that is none. */
function readAddresses(values: readonly unknown[], source: string, context = ''): AddressRequest[] {
  return values.map(value => {
    const request = typeof value === 'string' ? parseAddressRequest(value, source, 'cni') : undefined
    if (request) return request
    const text = typeof value === 'string' ? clipped(value) : showJson(value)
    const message = `${context}invalid IP address ${text}`
    throw new Problem('IPK_ADDRESS_INVALID', message, { details: `in ${source}` })
  })
}

/** CNI's own channels, highest first (cni:CONVENTIONS.md; catalogue I4). */
function readChannels(config: JsonObject, args: CniArgs): CniChannel[] {
  const runtime = objectField(config, 'runtimeConfig', 'runtimeConfig')
  // `args` is optional metadata: content of another shape is none of ours (catalogue I8). A request for addresses is.
  const metadata = field(config, 'args')
  const cni = isJsonObject(metadata) ? field(metadata, 'cni') : undefined
  const byRuntime = runtime && arrayField(runtime, 'ips', 'runtimeConfig.ips')
  const byArgs = isJsonObject(cni) ? arrayField(cni, 'ips', 'args.cni.ips') : undefined
  const { ip = '' } = args
  const pair = `ARGS: error parsing value of pair "IP=${ip}": `
  return [
    { name: 'runtimeConfig.ips', addresses: readAddresses(byRuntime ?? [], 'runtimeConfig.ips') },
    { name: 'args.cni.ips', addresses: readAddresses(byArgs ?? [], 'args.cni.ips') },
    { name: 'CNI_ARGS IP', addresses: readAddresses(ip === '' ? [] : ip.split(','), 'CNI_ARGS IP', pair) },
  ]
}

const annotationsKey = 'io.kubernetes.cri.pod-annotations'

/** Of a pod without annotations containerd passes null on: the key is what tells. */
function withholdsAnnotations(config: JsonObject): boolean {
  const declared = field(config, 'capabilities')
  if (!isJsonObject(declared) || declared[annotationsKey] !== true) return false
  const runtime = field(config, 'runtimeConfig')
  return !(isJsonObject(runtime) && hasField(runtime, annotationsKey))
}

function readAnnotations(config: JsonObject): StringMap | undefined {
  const runtime = objectField(config, 'runtimeConfig', 'runtimeConfig')
  const key = annotationsKey
  const annotations = runtime && objectField(runtime, key, `runtimeConfig.${key}`)
  if (!annotations) return undefined
  return Object.fromEntries(
    Object.entries(annotations).map(([name, value]): [string, string] => {
      if (typeof value !== 'string') throw invalid(`runtimeConfig.${key}: value of ${name} is no string`)
      return [name, value]
    }),
  )
}

/** "prod", or one name per family: "prod4,prod6". */
function readPoolNames(text: string | undefined): PoolRequest[] {
  if (text === undefined) return []
  return text.split(',').map(part => {
    const name = part.trim()
    if (!isPoolName(name)) throw invalid(`ipam.pool: ${showJson(text)} is no name of a pool`)
    return { name, source: '"ipam.pool"' }
  })
}

/**
 * Refuses, in host-local's words, a configuration that has neither ranges nor a pool to take addresses from. `havePools`:
 * whether the daemon has pools of its own, which then serve.
 */
export function checkHasRanges({ inline, pools }: IpamConfig, havePools: boolean): void {
  if (inline !== undefined || pools.length > 0 || havePools) return
  throw invalid(
    'no IP ranges specified',
    'give "ipam" a "subnet" or "ranges", or the "pool" of the daemon\'s configuration',
  )
}

/**
 * Reads `ipam` with host-local's keys and order of checks (catalogue H9): missing section, CNI_ARGS, requested addresses,
 * ranges, one address per family before 0.3.0, overlaps.
 */
export function readIpamConfig(
  config: JsonObject,
  identity: NetworkIdentity,
  parsedArgs: ParsedCniArgs = noCniArgs,
): IpamConfig {
  const section = objectField(config, 'ipam', 'ipam')
  if (!section) throw invalid("IPAM config missing 'ipam' key")
  refuseMisspelt(section, IpamSchema, 'ipam')
  const ipam = ipamSection(section, 'ipam')
  const channels = readChannels(config, soundArgs(parsedArgs))
  const segment = ipam.segment ?? 'default'
  if (!isSegmentName(segment))
    throw invalid(`ipam.segment: "${segment}" is no name of letters, digits and "-"`)
  const single = field(section, 'subnet') === undefined ? [] : [[readRange(section, 'ipam')]]
  const runtime = objectField(config, 'runtimeConfig', 'runtimeConfig')
  const definitions = [
    ...readRangeSets(
      runtime && arrayField(runtime, 'ipRanges', 'runtimeConfig.ipRanges'),
      'runtimeConfig.ipRanges',
    ),
    ...single,
    ...readRangeSets(ipam.ranges, 'ipam.ranges'),
  ]
  const perFamily = (family: 4 | 6): number =>
    definitions.filter(set => set[0]?.subnet.address.family === family).length
  if (
    (identity.version === '0.1.0' || identity.version === '0.2.0') &&
    (perFamily(4) > 1 || perFamily(6) > 1)
  ) {
    throw new Problem(
      'IPK_FAMILY_UNSUPPORTED',
      `CNI version ${identity.version} does not support more than 1 address per family`,
    )
  }
  const pools = readPoolNames(ipam.pool)
  if (pools.length > 0 && definitions.length > 0) {
    throw invalid(
      'ipam: both "pool" and ranges are given',
      'give "ipam" its "pool" or its "ranges", not both',
    )
  }
  return {
    inline: definitions.length === 0 ? undefined : canonicalPool(identity.name, segment, definitions),
    pools,
    routes: (ipam.routes ?? []).map((route, index) => readRoute(route, `ipam.routes[${index}]`)),
    resolvConf: ipam.resolvConf || undefined,
    channels,
    podAnnotations: readAnnotations(config),
    annotationsWithheld: withholdsAnnotations(config),
    statusReportsExhaustion: ipam.statusReportsExhaustion ?? false,
  }
}

/**
 * Whether the configuration leaves its ranges to the runtime. They come in `runtimeConfig`, which libcni makes for ADD,
 * CHECK and DEL from the capabilities, and not for STATUS.
 */
export function rangesComeWithAdd(config: JsonObject): boolean {
  const capabilities = objectField(config, 'capabilities')
  const ipam = objectField(config, 'ipam')
  if (!ipam || !capabilities || booleanField(capabilities, 'ipRanges', 'capabilities.ipRanges') !== true)
    return false
  return (
    field(ipam, 'subnet') === undefined &&
    field(ipam, 'pool') === undefined &&
    (arrayField(ipam, 'ranges', 'ipam.ranges') ?? []).length === 0
  )
}

/**
 * The runtime's list for GC: `cni.dev/valid-attachments`, else `cni.dev/attachments` (libcni up to 1.2.2 and the 1.1.0
 * text differ). `null` and `[]` mean that nothing is valid; undefined, that no list was sent.
 */
export function readValidAttachments(config: JsonObject): readonly ValidAttachment[] | undefined {
  const key = ['cni.dev/valid-attachments', 'cni.dev/attachments'].find(name => hasField(config, name))
  if (key === undefined) return undefined
  return (objectArrayField(config, key) ?? []).map((object, index) => {
    const { containerID, ifname: name, ...others } = object
    // As every runtime writes it: a list may be long, and all wait while it is read.
    if (typeof containerID === 'string' && typeof name === 'string' && isEmpty(others))
      return { containerId: containerID, ifname: name }
    const containerId = stringField(object, 'containerID', `${key}[${index}].containerID`)
    const ifname = stringField(object, 'ifname', `${key}[${index}].ifname`)
    if (containerId === undefined || ifname === undefined)
      throw invalid(`${key}[${index}]: needs "containerID" and "ifname"`)
    return { containerId, ifname }
  })
}

function isEmpty(object: object): boolean {
  for (const _key in object) return false
  return true
}

/** Addresses of prevResult in CIDR notation, in whatever version's shape; undefined when there is none. */
export function readPreviousAddresses(config: JsonObject): readonly string[] | undefined {
  const previous = field(config, 'prevResult')
  if (!isJsonObject(previous)) return undefined
  const ips = field(previous, 'ips')
  const listed = Array.isArray(ips)
    ? ips.map(ip => (isJsonObject(ip) ? field(ip, 'address') : undefined))
    : []
  const byFamily = ['ip4', 'ip6'].map(key => {
    const family = field(previous, key)
    return isJsonObject(family) ? field(family, 'ip') : undefined
  })
  return [...listed, ...byFamily].filter(value => typeof value === 'string')
}

/** What prevResult says of the pod's interface: as the last plugin of the chain has left it. */
export interface PreviousInterface {
  readonly mac: string | undefined
  readonly sandbox: string | undefined
}

/**
 * What prevResult says of the interface of that name in a sandbox; undefined where it has none, as in versions before
 * 0.3.0.
 */
export function readPreviousInterface(config: JsonObject, ifname: string): PreviousInterface | undefined {
  const previous = field(config, 'prevResult')
  const interfaces = isJsonObject(previous) ? field(previous, 'interfaces') : undefined
  const found = (Array.isArray(interfaces) ? (interfaces as readonly unknown[]) : [])
    .filter(isJsonObject)
    .find(link => field(link, 'name') === ifname && typeof field(link, 'sandbox') === 'string')
  if (!found) return undefined
  const [mac, sandbox] = ['mac', 'sandbox'].map(key => field(found, key))
  return {
    mac: typeof mac === 'string' && mac !== '' ? mac.toLowerCase() : undefined,
    sandbox: typeof sandbox === 'string' && sandbox !== '' ? sandbox : undefined,
  }
}

/**
 * Foreign keys are nobody's business (catalogue C7); one that is a letter away from ours is a mistake that does harm.
 * `path` is where the object is in the configuration, '' for the configuration itself.
 *
 * @throws Problem IPK_CONFIG_INVALID that names the key and the one that was meant
 */
export function refuseMisspelt(
  object: JsonObject,
  { properties }: { readonly properties: object },
  path: string,
): void {
  const known = Object.keys(properties)
  for (const key of Object.keys(object)) {
    const meant = misspeltWord(key, known)
    if (meant === undefined) continue
    const place = path === '' ? '' : `${path}: `
    throw new Problem('IPK_CONFIG_INVALID', `${place}unknown key ${showJson(key)}; did you mean "${meant}"?`)
  }
}
