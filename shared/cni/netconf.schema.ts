import { Type, type TSchema } from 'typebox'

/** What the reference says of a key beside its description; stands in the schema under the keyword "doc". Markdown. */
export interface NetconfKeyDoc {
  readonly unit?: string
  /** What holds without the key. */
  readonly default?: string
  /** Modes of the main role in which the key has a meaning; all of them unless it is said. */
  readonly modes?: readonly ('bridge' | 'ptp' | 'macvlan' | 'underlay')[]
  /** The key is known so that what it asks for can be refused: why, and what to do instead. */
  readonly refused?: string
}

const key = <T extends TSchema>(schema: T, description: string, doc: NetconfKeyDoc = {}): T => ({
  ...schema,
  description,
  doc,
})

/** A key of the reference plugins that asks for what ipkeeper does not do. */
const refused = <T extends TSchema>(schema: T, why: string, doc: NetconfKeyDoc = {}): T =>
  key(schema, '', { ...doc, refused: why })

/** A range, of `ipam` itself or of one of its range sets. The keys are host-local's, and "exclude". */
export const RangeSchema = Type.Object({
  subnet: key(Type.String(), 'the network, such as `10.22.0.0/16`', { default: 'has to be given' }),
  rangeStart: key(Type.String(), 'first address that is given', { default: 'the first host address' }),
  rangeEnd: key(Type.String(), 'last address that is given', { default: 'the last host address' }),
  gateway: key(Type.String(), 'the gateway of the pods; never given to one', {
    default: 'the first host address',
  }),
  exclude: key(
    Type.Array(Type.Unknown()),
    'addresses never given: `["10.22.0.100-10.22.0.120", "10.22.0.200", "10.22.3.0/24"]`',
    { default: 'none' },
  ),
})

/** One of `routes`. */
export const RouteSchema = Type.Object({
  dst: key(Type.String(), 'where it leads, in CIDR notation', { default: 'has to be given' }),
  gw: key(Type.String(), 'its gateway', { default: 'that of the range' }),
  mtu: key(Type.Integer(), 'MTU along the route', { unit: 'bytes' }),
  advmss: key(Type.Integer(), 'the segment size that is advertised', { unit: 'bytes' }),
  priority: key(Type.Integer(), 'priority of the route'),
  table: key(Type.Integer(), 'routing table'),
  scope: key(Type.Integer(), 'scope, as a number'),
})

export const DnsSchema = Type.Object({
  nameservers: key(Type.Array(Type.String()), 'addresses of resolvers', { default: 'none' }),
  domain: key(Type.String(), 'the local domain', { default: 'none' }),
  search: key(Type.Array(Type.String()), 'domains in which short names are looked up', { default: 'none' }),
  options: key(Type.Array(Type.String()), 'options of the resolver', { default: 'none' }),
})

/** Keys of the plugin itself: beside `type`, or in `ipam`, which goes before. */
const clientKeys = {
  socket: key(Type.String(), 'where the daemon listens', {
    default: '`$IPKEEPER_SOCKET`, else `/run/ipkeeper/ipkeeper.sock`',
  }),
  stateDir: key(
    Type.String(),
    "must be the daemon's: deferred DELs, answer marks and the record of runs go there. The plugin has to be able to write to it",
    { default: '`$IPKEEPER_STATE_DIR`, else `/var/lib/ipkeeper`' },
  ),
  timeout: key(
    Type.Number(),
    "bounds ADD, and shortens CHECK and DEL (10 s each; for a fallback's DEL 20 s more) when it is less",
    { unit: 'seconds', default: '60' },
  ),
}

/** `ipam` with `"type": "ipkeeper"`. */
export const IpamSchema = Type.Object({
  ...RangeSchema.properties,
  type: key(Type.String(), '`ipkeeper`', { default: 'has to be given' }),
  ranges: key(
    Type.Array(Type.Array(RangeSchema)),
    'range sets: each gives a pod one address, from the first of its ranges that has one',
    { default: 'the range in `ipam` itself' },
  ),
  routes: key(Type.Array(RouteSchema), 'routes of the pods', { default: 'none' }),
  resolvConf: key(Type.String(), 'a file in the format of `resolv.conf`, whose DNS settings pods get', {
    default: 'none',
  }),
  dataDir: key(Type.String(), "host-local's; accepted and ignored"),
  pool: key(
    Type.String(),
    "a pool of the daemon's file or of an IPPool object in place of `ranges`; one for each family: `prod4,prod6`",
    { default: 'none' },
  ),
  segment: key(
    Type.String(),
    'the domain in which addresses are unique. Two networks of one segment must not overlap',
    { default: '`default`' },
  ),
  fallback: key(
    Type.Object({}),
    '`{ "type": ... }`: the IPAM plugin [for pods that ask for nothing](../guides/fallback.md)',
    { default: 'none' },
  ),
  ...clientKeys,
  statusReportsExhaustion: key(
    Type.Boolean(),
    'whether [STATUS](../guides/status.md) fails when the ranges are full',
    { default: '`false`' },
  ),
})

const onBridge = ['bridge', 'underlay'] as const
const onUplink = ['ptp', 'macvlan', 'underlay'] as const

/** All that a netconf may have whose own type is ipkeeper. */
export const NetconfSchema = Type.Object({
  ...{ cniVersion: Type.String(), name: Type.String(), type: Type.String(), ipam: IpamSchema },
  ...{ capabilities: Type.Object({}), runtimeConfig: Type.Object({}) },
  ...{ args: Type.Unknown(), prevResult: Type.Unknown() },
  ...{ disableCheck: Type.Unknown(), disableGC: Type.Unknown(), loadOnlyInlinedPlugins: Type.Unknown() },
  ...clientKeys,
  mode: key(Type.String(), '`bridge`, `ptp`, `macvlan` or `underlay`, in this spelling', {
    default: '`bridge`',
  }),
  bridge: key(
    Type.String(),
    'name of the bridge: 1 to 15 bytes, letters, digits, `.`, `_` and `-`, a letter or digit first. It is made when it is not there',
    { default: '`ipk0`; in underlay `ipkul0`', modes: onBridge },
  ),
  isGateway: key(
    Type.Boolean(),
    "whether the bridge has the gateway's addresses and the node forwards, in the families in use. Without effect in `ptp` and `macvlan`",
    { default: '`true`; in underlay `false`' },
  ),
  isDefaultGateway: key(Type.Boolean(), '`isGateway` and `defaultRoute` in one', { default: '`false`' }),
  defaultRoute: key(
    Type.Boolean(),
    'whether the pod gets a default route, through the gateway of its range, of each family that `routes` has none of',
    { default: '`false`' },
  ),
  ipMasq: key(
    Type.Union([Type.Boolean(), Type.Literal('unnamed')]),
    '`true`, `false` or `"unnamed"`: [masquerade](../guides/main-plugin.md#masquerade)',
    { default: '`false`', modes: ['bridge', 'ptp', 'underlay'] },
  ),
  hairpinMode: key(Type.Boolean(), "whether the pod's port sends back what came from it", {
    ...{ default: '`true`', modes: onBridge },
  }),
  vlan: key(Type.Integer(), "VLAN of the pod's port; 0 means none", {
    ...{ unit: '1-4094', default: 'none', modes: onBridge },
  }),
  mtu: key(Type.Integer(), "MTU of the pod's interface. With IPv6 at least 1280; 0 means the default", {
    unit: 'bytes, 68-65535',
    default: "that of the uplink, else of the link of the node's default route",
  }),
  uplink: key(Type.String(), 'link of the node that leads outside; a name as of `bridge`', {
    default: "underlay: has to be given; macvlan: the link of the node's default route; ptp: none",
    modes: onUplink,
  }),
  master: key(Type.String(), 'the same as `uplink`, as the reference macvlan plugin calls it', {
    modes: onUplink,
  }),
  macvlanMode: key(
    Type.String(),
    '`bridge`, `private`, `vepa` or `passthru`: what the reference macvlan plugin calls `mode`',
    { default: '`bridge`', modes: ['macvlan'] },
  ),
  serviceCidrs: key(
    Type.Array(Type.String()),
    'networks that the pod reaches through its node, such as that of the Services',
    { unit: 'CIDRs without host bits', default: 'none', modes: ['bridge', 'ptp', 'underlay'] },
  ),
  duplicateProbe: key(
    Type.Boolean(),
    'whether it is [asked first](../guides/main-plugin.md#asking-first-whether-an-address-is-free) that nobody has the address',
    {
      default:
        'underlay, macvlan: `true`; bridge: where the bridge has [other machines](../guides/main-plugin.md#asking-first-whether-an-address-is-free); else `false`',
      modes: ['bridge', 'macvlan', 'underlay'],
    },
  ),
  moveHostAddresses: key(
    Type.Boolean(),
    'whether the bridge takes over [the addresses and routes of the uplink](../guides/main-plugin.md#moving-the-addresses-of-the-host)',
    { default: '`false`', modes: ['underlay'] },
  ),
  sysctl: key(
    Type.Object({}),
    '[kernel settings](../guides/main-plugin.md#kernel-settings-of-the-pod) in the pod: `{ "net.core.somaxconn": 1024 }`',
    { default: 'none' },
  ),
  dns: key(DnsSchema, 'what the runtime is told. It replaces what `ipam` says as a whole', {
    default: 'that of `ipam`',
  }),
  promiscMode: refused(
    Type.Boolean(),
    'it was made for what `hairpinMode` does, and shows every pod the traffic of all',
    { modes: onBridge },
  ),
  forceAddress: refused(
    Type.Boolean(),
    'it takes addresses away from a bridge without asking who needs them. Do it yourself: `ip address del ADDRESS dev BRIDGE`',
    { modes: onBridge },
  ),
  macspoofchk: refused(
    Type.Boolean(),
    'not built. Under the reference `bridge` with `"ipam": { "type": "ipkeeper" }` it works',
  ),
  disableContainerInterface: refused(Type.Boolean(), 'an interface that is down needs no address'),
  portIsolation: refused(
    Type.Boolean(),
    "not built. `ptp` gives each pod a link of its own, and the node's firewall sees all that passes",
  ),
  vlanTrunk: refused(Type.Array(Type.Unknown()), 'a pod is in one VLAN: `vlan`'),
  preserveDefaultVlan: refused(Type.Boolean(), '`true` together with `vlan`: the port is in that VLAN alone'),
  enabledad: refused(Type.Boolean(), '`duplicateProbe` asks for both families'),
  ipMasqBackend: refused(Type.String(), 'anything but `nftables`: there is no iptables in it'),
  linkInContainer: refused(Type.Boolean(), 'uplinks are links of the node'),
  bcqueuelen: refused(Type.Integer(), "the kernel's own length, 1000, is used"),
  mac: refused(Type.String(), 'one MAC for every pod of a network would be a fault. Annotate the pod'),
})
