/** What JSON value a key wants, in the words of a message. */
export type ValueKind = 'a string' | 'true or false' | 'an integer' | 'an array' | 'an object' | 'anything'

export type KeyTable = Readonly<Record<string, ValueKind>>

const kindOfType: Readonly<Record<string, ValueKind>> = {
  ...{
    string: 'a string',
    boolean: 'true or false',
    integer: 'an integer',
    array: 'an array',
    object: 'an object',
  },
}

/** Keys of a section of a netconf, by its schema. */
export const kindsOf = ({
  properties,
}: {
  readonly properties: Readonly<Record<string, object>>
}): KeyTable =>
  Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [
      key,
      ('type' in schema && typeof schema.type === 'string' && kindOfType[schema.type]) || 'anything',
    ]),
  )

const text = 'a string'
const truth = 'true or false'
const whole = 'an integer'
const list = 'an array'
const map = 'an object'

/**
 * Keys of a list itself. libcni looks these up letter for letter. Truths may be written as texts there. nerdctl knows its
 * own networks by two more (nerdctl pkg/netutil), and would lose them without.
 */
export const listKeys: KeyTable = {
  ...{ cniVersion: text, cniVersions: list, name: text, plugins: list },
  ...{ disableCheck: 'anything', disableGC: 'anything', loadOnlyInlinedPlugins: 'anything' },
  ...{ nerdctlID: text, nerdctlLabels: map },
}

/** Keys that every plugin may have (cni:pkg/types, PluginConf; CONVENTIONS.md). */
export const commonKeys: KeyTable = {
  ...{ cniVersion: text, name: text, type: text, capabilities: map, ipam: map, dns: map },
  ...{ args: map, runtimeConfig: map, prevResult: 'anything' },
}

/** Of the same section, the keys of ipkeeper's own plugin executable apart from those of its IPAM section. */
export const ipkeeperClientKeys: KeyTable = { socket: text, stateDir: text, timeout: 'anything' }

export interface ReferencePlugin {
  /** `main` makes an interface; `chained` changes what another one made; `ipam` gives addresses to a main plugin. */
  readonly role: 'main' | 'chained' | 'ipam'
  readonly keys: KeyTable
}

const masquerade: KeyTable = { ipMasq: truth, ipMasqBackend: text }

/** The reference plugins (containernetworking/plugins 1.9.1) with the keys that their Go types read. */
export const referencePlugins: Readonly<Record<string, ReferencePlugin>> = {
  bridge: {
    role: 'main',
    keys: {
      ...{ bridge: text, isGateway: truth, isDefaultGateway: truth, forceAddress: truth, ...masquerade },
      ...{ mtu: whole, hairpinMode: truth, promiscMode: truth, vlan: whole, vlanTrunk: list },
      ...{
        preserveDefaultVlan: truth,
        macspoofchk: truth,
        enabledad: truth,
        disableContainerInterface: truth,
      },
      ...{ portIsolation: truth },
    },
  },
  ptp: { role: 'main', keys: { ...masquerade, mtu: whole } },
  macvlan: {
    role: 'main',
    keys: { master: text, mode: text, mtu: whole, mac: text, linkInContainer: truth, bcqueuelen: whole },
  },
  ipvlan: { role: 'main', keys: { master: text, mode: text, mtu: whole, linkInContainer: truth } },
  vlan: { role: 'main', keys: { master: text, vlanId: whole, mtu: whole, linkInContainer: truth } },
  'host-device': {
    role: 'main',
    keys: { device: text, hwaddr: text, kernelpath: text, pciBusID: text, auxDevice: text },
  },
  loopback: { role: 'main', keys: {} },
  dummy: { role: 'main', keys: {} },
  tap: {
    role: 'main',
    keys: {
      ...{ mac: text, mtu: whole, selinuxContext: text, multiQueue: truth, owner: whole, group: whole },
      bridge: text,
    },
  },
  portmap: {
    role: 'chained',
    keys: {
      ...{ snat: truth, masqAll: truth, markMasqBit: whole, externalSetMarkChain: text, backend: text },
      ...{ conditionsV4: list, conditionsV6: list },
    },
  },
  bandwidth: {
    role: 'chained',
    keys: {
      ...{ ingressRate: whole, ingressBurst: whole, egressRate: whole, egressBurst: whole },
      ...{ shapedSubnets: list, unshapedSubnets: list },
    },
  },
  tuning: {
    role: 'chained',
    keys: {
      ...{
        sysctl: map,
        mac: text,
        promisc: truth,
        mtu: whole,
        allmulti: truth,
        txQLen: whole,
        dataDir: text,
      },
    },
  },
  firewall: {
    role: 'chained',
    keys: { backend: text, iptablesAdminChainName: text, firewalldZone: text, ingressPolicy: text },
  },
  sbr: { role: 'chained', keys: { table: whole, addSourceHints: truth } },
  vrf: { role: 'chained', keys: { vrfname: text, table: whole } },
  'host-local': {
    role: 'ipam',
    keys: {
      ...{ type: text, name: text, ranges: list, subnet: text, rangeStart: text, rangeEnd: text },
      ...{ gateway: text, routes: list, resolvConf: text, dataDir: text },
    },
  },
  static: { role: 'ipam', keys: { type: text, name: text, addresses: list, routes: list, dns: map } },
  dhcp: {
    role: 'ipam',
    keys: { type: text, daemonSocketPath: text, request: list, provide: list, priority: whole },
  },
}

/** A range of host-local. */
export const hostLocalRangeKeys: KeyTable = { subnet: text, rangeStart: text, rangeEnd: text, gateway: text }

/** Names under which runtimes pass something on (cni:CONVENTIONS.md; containerd and CRI-O for the longer ones). */
export const knownCapabilities: readonly string[] = [
  ...['portMappings', 'ipRanges', 'bandwidth', 'dns', 'ips', 'mac', 'infinibandGUID', 'deviceID', 'aliases'],
  ...['cgroupPath', 'io.kubernetes.cri.pod-annotations'],
]

/** undefined for a third-party plugin, whose keys are not known here. */
export function referencePlugin(type: string | undefined): ReferencePlugin | undefined {
  return type !== undefined && Object.hasOwn(referencePlugins, type) ? referencePlugins[type] : undefined
}
