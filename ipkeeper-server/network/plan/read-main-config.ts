import { field, showJson, type JsonObject } from '../../../shared/json/fold.ts'
import type { CniArgs } from '../../../shared/cni/cni-args.ts'
import {
  DnsSchema,
  IpamSchema,
  NetconfSchema,
  type NetconfKeyDoc,
} from '../../../shared/cni/netconf.schema.ts'
import type { ResultDns } from '../../../shared/cni/result.ts'
import { parseAddress, sameAddress } from '../../../shared/net/address.ts'
import { firstOf, formatCidr, parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { wiringModes, type WiringMode } from '../../ipam/records/records.ts'
import { refuseMisspelt } from '../../ipam/request/network-config.ts'
import { sectionReader } from '../../ipam/request/section-fields.ts'
import { checkHostInterface } from './interface-name.ts'
import {
  macvlanModes,
  type MacvlanMode,
  type MainConfig,
  type Masquerade,
} from '../../ipam/request/main-config.ts'
import { mtuLimits } from './mtu-limits.ts'
import { readMacRequest } from './read-mac.ts'
import { readSysctls } from './read-sysctls.ts'

/** Names of bridges that nobody chose; two, as a bridge with an uplink is another network than one without. */
export const standardBridges = { bridge: 'ipk0', underlay: 'ipkul0' } as const

/** Whether a mode asks first that nobody has an address, where the configuration does not say. */
const standardProbe: Readonly<Record<WiringMode, MainConfig['duplicateProbe']>> = {
  bridge: 'among-others',
  // Nobody but the node is on the link of such a pod.
  ptp: false,
  macvlan: true,
  underlay: true,
}

const invalid = (message: string, hint?: string): Problem =>
  new Problem('IPK_CONFIG_INVALID', message, hint === undefined ? {} : { hint })

const quotedList = (words: readonly string[]): string => words.map(word => `"${word}"`).join(', ')

const netconfSection = sectionReader(NetconfSchema)
const ipamSection = sectionReader(IpamSchema)
const dnsSection = sectionReader(DnsSchema)

type Netconf = ReturnType<typeof netconfSection>
type NetconfKey = keyof Netconf

const docOf = (key: NetconfKey): NetconfKeyDoc =>
  (NetconfSchema.properties[key] as { readonly doc?: NetconfKeyDoc }).doc ?? {}

const bridgeOnly = 'take it out, or write "mode": "bridge"; only a bridge has it'
const uplinkHint =
  'to join pods to the network of that link, write "mode": "underlay" (a bridge with the link as a port) or "mode": "macvlan"'

/** What to do instead, of keys that not every mode has. */
const modeHints = {
  bridge: bridgeOnly,
  hairpinMode: bridgeOnly,
  promiscMode: bridgeOnly,
  forceAddress: bridgeOnly,
  vlan: 'take it out; for macvlan and ptp make a VLAN link on the host and name it as "uplink"',
  uplink: uplinkHint,
  master: uplinkHint,
  macvlanMode: 'take it out, or write "mode": "macvlan"',
  moveHostAddresses:
    'take it out; only a link that becomes a port of the bridge has to give up its addresses',
  ipMasq: 'take it out; packets of a macvlan pass the node by, so it can change nothing in them',
  serviceCidrs:
    'pods of a macvlan cannot reach their own node, which would serve them; use "mode": "underlay"',
  duplicateProbe: 'take it out; only the node is on the link of such a pod',
} as const satisfies Partial<Record<NetconfKey, string>>

const isTrue =
  (key: NetconfKey) =>
  (netconf: Netconf): boolean =>
    netconf[key] === true

/** What the reference plugins know and we cannot do: refused where it is asked for, and welcome where it is not. */
interface UnsupportedKey {
  readonly key: NetconfKey
  readonly asked: (netconf: Netconf) => boolean
  readonly hint: (bridge: string) => string
}

const unsupportedKeys: readonly UnsupportedKey[] = [
  {
    key: 'promiscMode',
    asked: isTrue('promiscMode'),
    hint: () => 'take it out; "hairpinMode", which is on unless you say false, lets a pod reach itself',
  },
  {
    key: 'forceAddress',
    asked: isTrue('forceAddress'),
    hint: bridge =>
      `take it out, and remove the wrong address yourself: ip address del ADDRESS dev ${bridge}`,
  },
  {
    key: 'macspoofchk',
    asked: isTrue('macspoofchk'),
    hint: () => 'take it out, or use the reference "bridge" plugin with "ipam": { "type": "ipkeeper" }',
  },
  {
    key: 'disableContainerInterface',
    asked: isTrue('disableContainerInterface'),
    hint: () => 'take it out; an interface that is down needs no address',
  },
  {
    key: 'portIsolation',
    asked: isTrue('portIsolation'),
    hint: () =>
      'take it out; "mode": "ptp" gives each pod a link of its own, where network policies can part them',
  },
  {
    key: 'vlanTrunk',
    asked: ({ vlanTrunk = [] }) => vlanTrunk.length > 0,
    hint: () => 'take it out; "vlan" puts the pod into one VLAN',
  },
  {
    key: 'preserveDefaultVlan',
    asked: netconf => netconf.preserveDefaultVlan === true && isAsked(netconf.vlan),
    hint: () => 'take it out, or write false; a pod with "vlan" is in that VLAN alone',
  },
  {
    key: 'enabledad',
    asked: isTrue('enabledad'),
    hint: () => 'write "duplicateProbe": true, which asks for both families',
  },
  {
    key: 'ipMasqBackend',
    asked: ({ ipMasqBackend = '' }) => !['', 'nftables'].includes(ipMasqBackend),
    hint: () => 'take it out; "ipMasq" is done by nftables',
  },
  {
    key: 'linkInContainer',
    asked: isTrue('linkInContainer'),
    hint: () => 'take it out, and name an uplink of the host',
  },
  {
    key: 'bcqueuelen',
    asked: ({ bcqueuelen = 0 }) => bcqueuelen !== 0,
    hint: () => 'take it out; the kernel has a queue of 1000 broadcasts then',
  },
  {
    key: 'mac',
    asked: ({ mac = '' }) => mac !== '',
    hint: () => 'take it out; a MAC address is of one pod: annotate that with ipkeeper.io/mac',
  },
]

/** Whether a value asks for anything: the reference's programs write false, 0 and '' where nothing is meant. */
function isAsked(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== false && value !== 0 && value !== ''
}

function unknownWord(path: string, what: string, known: readonly string[], word: string): Problem {
  const meant = nearestWord(word, known)
  const guess = meant === undefined ? '' : `; did you mean "${meant}"?`
  return invalid(`"${path}": unknown ${what} ${showJson(word)}${guess}`, `one of ${quotedList(known)}`)
}

function readMode(netconf: Netconf): WiringMode {
  const text = netconf.mode || 'bridge'
  const mode = wiringModes.find(known => known === text)
  if (mode !== undefined) return mode
  if (!macvlanModes.some(known => known === text)) throw unknownWord('mode', 'mode', wiringModes, text)
  throw invalid(
    `"mode": "${text}" is a mode of macvlan's own`,
    `write "mode": "macvlan", "macvlanMode": "${text}"; "mode" is one of ${quotedList(wiringModes)}`,
  )
}

function readMacvlanMode({ macvlanMode }: Netconf): MacvlanMode {
  const text = macvlanMode || 'bridge'
  const mode = macvlanModes.find(known => known === text)
  if (mode !== undefined) return mode
  throw unknownWord('macvlanMode', 'mode of macvlan', macvlanModes, text)
}

const entriesOf = Object.entries as <Key extends string, Value>(
  table: Readonly<Record<Key, Value>>,
) => [Key, Value][]

function refuseOfOtherModes(config: JsonObject, mode: WiringMode): void {
  for (const [key, hint] of entriesOf(modeHints)) {
    if (docOf(key).modes?.includes(mode) === true || !isAsked(field(config, key))) continue
    throw invalid(`"${key}" has no meaning in mode ${mode}`, hint)
  }
}

function refuseUnsupported(config: JsonObject, netconf: Netconf, bridge: string): void {
  for (const { key, asked, hint } of unsupportedKeys) {
    if (!asked(netconf)) continue
    const message = `"${key}": ${showJson(field(config, key))} is not supported by this version of ipkeeper`
    throw new Problem('IPK_UNSUPPORTED', message, { hint: hint(bridge) })
  }
}

/** The main role wires what our own IPAM gives, as both are one record. */
function checkIpam(netconf: Netconf): void {
  if (!netconf.ipam) return
  const { type } = ipamSection(netconf.ipam, 'ipam')
  if (type !== 'ipkeeper') {
    const what = type === undefined ? 'is missing' : `${showJson(type)} cannot serve "type": "ipkeeper"`
    throw invalid(`"ipam.type" ${what}`, 'write "ipam": { "type": "ipkeeper", ... }')
  }
  if (field(netconf.ipam, 'fallback') === undefined) return
  throw new Problem(
    'IPK_UNSUPPORTED',
    '"ipam.fallback" is not supported with "type": "ipkeeper": the daemon wires only addresses that it gave itself',
    {
      hint: 'take it out and give "ipam" ranges for the other pods too, or use "type": "bridge" with "ipam": { "type": "ipkeeper", ... }',
    },
  )
}

function readInterface(netconf: Netconf, key: 'bridge' | 'uplink' | 'master'): string | undefined {
  const name = netconf[key]
  return name === undefined || name === '' ? undefined : checkHostInterface(name, key)
}

function readUplink(netconf: Netconf, mode: WiringMode, bridge: string): string | undefined {
  const uplink = readInterface(netconf, 'uplink')
  const master = readInterface(netconf, 'master')
  if (uplink !== undefined && master !== undefined && uplink !== master) {
    throw invalid(
      `"uplink" is "${uplink}" and "master" is "${master}"`,
      'they mean the same: give one of them',
    )
  }
  const name = uplink ?? master
  if (mode === 'underlay') {
    if (name === undefined) {
      throw invalid(
        '"uplink" is missing, which mode underlay needs',
        'name a link of the host: "uplink": "eth1"',
      )
    }
    if (name === bridge) {
      throw invalid(
        `"bridge" and "uplink" are both "${name}"`,
        'the uplink becomes a port of the bridge: name two links',
      )
    }
  }
  return name
}

function readMasquerade(value: unknown): Masquerade {
  if (value === undefined || value === false) return 'none'
  if (value === true) return 'all'
  if (value === 'unnamed') return 'unnamed'
  const meant = typeof value === 'string' ? nearestWord(value, ['true', 'false', 'unnamed']) : undefined
  const guess = meant === undefined ? '' : `; did you mean ${meant === 'unnamed' ? '"unnamed"' : meant}?`
  throw invalid(`"ipMasq" must be true, false or "unnamed", not ${showJson(value)}${guess}`)
}

function readVlan({ vlan = 0 }: Netconf): number | undefined {
  if (vlan < 0 || vlan > 4094) {
    throw invalid(`"vlan": ${vlan} is no VLAN`, 'a number from 1 to 4094; 0 means none')
  }
  return vlan === 0 ? undefined : vlan
}

function readMtu({ mtu = 0 }: Netconf): number | undefined {
  if (mtu === 0) return undefined
  const { least, most } = mtuLimits
  if (mtu >= least && mtu <= most) return mtu
  throw invalid(
    `"mtu": ${mtu} is out of range`,
    `bytes, from ${least} (1280 with IPv6) to ${most}; without it the MTU is that of the way outside`,
  )
}

function readServiceCidrs({ serviceCidrs = [] }: Netconf): readonly string[] {
  const cidrs = serviceCidrs.map((text, index) => {
    const path = `"serviceCidrs[${index}]"`
    const cidr = parseCidr(text)
    if (!cidr) throw invalid(`${path}: invalid CIDR address: ${showJson(text)}`, 'write it like 10.96.0.0/12')
    const network = { ...cidr, address: firstOf(cidr) }
    if (!sameAddress(network.address, cidr.address)) {
      throw invalid(`${path}: ${text} has host bits; did you mean "${formatCidr(network)}"?`)
    }
    if (cidr.prefixLength === 0) throw invalid(`${path}: ${text} is everything`, 'write "defaultRoute": true')
    return formatCidr(network)
  })
  return [...new Set(cidrs)]
}

/** Words of a resolv.conf, of which runtimes make one: a space or newline in them would begin another. */
function checkDnsWord(word: string, path: string): string {
  if (/^[\x21-\x7e]{1,253}$/.test(word)) return word
  throw invalid(`"${path}": ${showJson(word)} is no word of a resolv.conf`)
}

function readDns(object: JsonObject | undefined): ResultDns {
  if (!object) return {}
  refuseMisspelt(object, DnsSchema, 'dns')
  const dns = dnsSection(object, 'dns')
  const words = (
    key: 'nameservers' | 'search' | 'options',
    check: (word: string, path: string) => string,
  ): readonly string[] => (dns[key] ?? []).map((word, index) => check(word, `dns.${key}[${index}]`))
  const nameservers = words('nameservers', (text, path) => {
    if (parseAddress(text)) return text
    throw invalid(
      `"${path}": ${showJson(text)} is no IP address`,
      'a resolver has no name yet: write its address',
    )
  })
  const { domain } = dns
  const search = words('search', checkDnsWord)
  const options = words('options', checkDnsWord)
  return {
    ...(nameservers.length > 0 && { nameservers }),
    ...(domain && { domain: checkDnsWord(domain, 'dns.domain') }),
    ...(search.length > 0 && { search }),
    ...(options.length > 0 && { options }),
  }
}

/**
 * Reads a netconf whose own `type` is ipkeeper, apart from what readIpamConfig reads of it, `ipam` being absent
 * included. The reference plugins' keys (plugins:plugins/main/{bridge,ptp,macvlan}) mean what they mean there, so that a
 * change of `type` is the migration; what we cannot do is refused, and so is a key of another mode, unless its value
 * asks for nothing.
 *
 * @throws Problem IPK_CONFIG_INVALID, which names the key; IPK_UNSUPPORTED
 */
export function readMainConfig(config: JsonObject, args: CniArgs = {}): MainConfig {
  refuseMisspelt(config, NetconfSchema, '')
  const netconf = netconfSection(config, '')
  const mode = readMode(netconf)
  checkIpam(netconf)
  refuseOfOtherModes(config, mode)
  const bridge =
    readInterface(netconf, 'bridge') ??
    (mode === 'underlay' ? standardBridges.underlay : standardBridges.bridge)
  refuseUnsupported(config, netconf, bridge)
  const onBridge = mode === 'bridge' || mode === 'underlay'
  const { isGateway, isDefaultGateway = false, defaultRoute } = netconf
  if (isDefaultGateway && defaultRoute === false) {
    throw invalid(
      '"isDefaultGateway" is true and "defaultRoute" is false',
      'the first includes the second: write "isGateway": true for a gateway without a default route',
    )
  }
  return {
    mode,
    bridge,
    uplink: readUplink(netconf, mode, bridge),
    isGateway: onBridge && (isDefaultGateway || (isGateway ?? mode === 'bridge')),
    defaultRoute: defaultRoute ?? isDefaultGateway,
    masquerade: readMasquerade(netconf.ipMasq),
    hairpin: netconf.hairpinMode ?? onBridge,
    vlan: readVlan(netconf),
    mtu: readMtu(netconf),
    mac: readMacRequest(config, args),
    sysctls: readSysctls(netconf),
    dns: readDns(netconf.dns),
    serviceCidrs: readServiceCidrs(netconf),
    duplicateProbe: netconf.duplicateProbe ?? standardProbe[mode],
    moveHostAddresses: netconf.moveHostAddresses ?? false,
    macvlanMode: readMacvlanMode(netconf),
  }
}
