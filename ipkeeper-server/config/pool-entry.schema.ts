import { Type, type Static } from 'typebox'
import { defaults, duration, retention, boolean, integer, oneOf, selector, globs } from './schema-words.ts'

const subnet = Type.String({
  description: 'The network; its prefix length is that of the addresses. At least a /30, or a /126.',
  doc: {
    expected: 'a network, such as 10.22.0.0/16',
    type: 'CIDR',
    default: 'required',
    example: 'subnet: 10.22.0.0/16',
  },
})

/** Of a range; the single range of a pool has them in the pool itself. The keys are host-local's, and "exclude". */
const rangeKeys = {
  rangeStart: Type.Optional(
    Type.String({
      description: 'First address that may be assigned.',
      doc: {
        expected: 'an IP address',
        type: 'address',
        default: 'the first host address of the subnet',
        example: 'rangeStart: 10.22.0.10',
      },
    }),
  ),
  rangeEnd: Type.Optional(
    Type.String({
      description: 'Last address that may be assigned.',
      doc: {
        expected: 'an IP address',
        type: 'address',
        default: 'the last host address of the subnet',
        example: 'rangeEnd: 10.22.3.254',
      },
    }),
  ),
  gateway: Type.Optional(
    Type.String({
      description: 'The gateway that pods get; never assigned to a pod. It has to lie in the subnet.',
      doc: {
        expected: 'an IP address',
        type: 'address',
        default: 'the first host address of the subnet',
        example: 'gateway: 10.22.0.1',
      },
    }),
  ),
  exclude: Type.Optional(
    Type.Array(
      Type.String({
        doc: {
          expected: 'an address, a range such as 10.22.0.100-10.22.0.120, or a CIDR such as 10.22.3.0/24',
          type: 'address, range or CIDR',
        },
      }),
      {
        maxItems: 1024,
        description: 'Addresses that are never assigned: single ones, `FIRST-LAST`, or CIDRs.',
        doc: {
          expected: 'a list of addresses',
          default: 'none',
          example: 'exclude: [10.22.0.100-10.22.0.120, 10.22.0.200, 10.22.3.0/24]',
        },
      },
    ),
  ),
}

const draining = (what: string) =>
  Type.Optional(
    boolean(
      `Whether no new address is given from ${what}. What pods have, or is kept or reserved for them, stays theirs.`,
      {
        default: 'false',
        example: 'draining: true',
      },
    ),
  )

const Range = Type.Object(
  { subnet, ...rangeKeys, draining: draining('the range') },
  { additionalProperties: false, doc: { expected: 'a range: a mapping such as { subnet: 10.22.0.0/16 }' } },
)

/** The largest unsigned number of rtnetlink. */
const u32 = 4_294_967_295

const Route = Type.Object(
  {
    dst: Type.String({
      description: 'Where the route leads.',
      doc: {
        expected: 'a network, such as 0.0.0.0/0',
        type: 'CIDR',
        default: 'required',
        example: 'dst: 0.0.0.0/0',
      },
    }),
    gw: Type.Optional(
      Type.String({
        description: 'Next hop, of the same family as `dst`.',
        doc: {
          expected: 'an IP address',
          type: 'address',
          default: 'the gateway of the range',
          example: 'gw: 10.22.0.254',
        },
      }),
    ),
    mtu: Type.Optional(
      integer(0, u32, 'Path MTU.', { unit: 'bytes', default: "the interface's", example: 'mtu: 1400' }),
    ),
    advmss: Type.Optional(
      integer(0, u32, 'Maximum segment size to advertise to TCP peers.', {
        unit: 'bytes',
        default: "the kernel's choice",
        example: 'advmss: 1360',
      }),
    ),
    priority: Type.Optional(
      integer(0, u32, 'Metric; lower is better.', {
        default: "the kernel's choice",
        example: 'priority: 100',
      }),
    ),
    table: Type.Optional(
      integer(0, u32, 'Number of the routing table.', { default: 'main (254)', example: 'table: 100' }),
    ),
    scope: Type.Optional(
      integer(0, 255, 'Scope of rtnetlink: 0 is global, 253 link.', {
        default: "the kernel's choice",
        example: 'scope: 253',
      }),
    ),
  },
  { additionalProperties: false, doc: { expected: 'a route: a mapping such as { dst: 0.0.0.0/0 }' } },
)

const domainName = (expected: string) =>
  Type.String({ pattern: '^(?:\\.|[A-Za-z0-9_][A-Za-z0-9_.-]{0,252})$', doc: { expected } })

const Dns = Type.Object(
  {
    nameservers: Type.Optional(
      Type.Array(Type.String({ doc: { expected: 'an IP address', type: 'address' } }), {
        maxItems: 32,
        description: 'Name servers, best first.',
        doc: { expected: 'a list of IP addresses', default: 'none', example: 'nameservers: [10.22.0.2]' },
      }),
    ),
    domain: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$',
        description: 'Local domain.',
        doc: { expected: 'a domain name', default: 'none', example: 'domain: example.com' },
      }),
    ),
    search: Type.Optional(
      Type.Array(domainName('a domain name'), {
        maxItems: 32,
        description: 'Domains in which short names are looked up.',
        doc: {
          expected: 'a list of domain names',
          default: 'none',
          example: 'search: [shop.example.com, example.com]',
        },
      }),
    ),
    options: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[A-Za-z0-9][A-Za-z0-9:._-]{0,62}$',
          doc: { expected: 'an option of resolv.conf, such as ndots:2' },
        }),
        {
          maxItems: 32,
          description: 'Options of resolv.conf(5).',
          doc: { expected: 'a list of options', default: 'none', example: 'options: ["ndots:2"]' },
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description: 'DNS settings that pods get, in place of those of the conflist.',
    doc: {
      expected: 'a mapping with nameservers, domain, search or options',
      default: 'those of the conflist',
      example: 'dns: { nameservers: [10.22.0.2], search: [example.com] }',
    },
  },
)

/** A pool, as the file has it; the spec of an IPPool is the same without the name. */
export const PoolEntry = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$',
      description: 'Name by which annotations, conflists and listings refer to the pool; unique.',
      doc: {
        expected:
          'a name of up to 63 small letters, digits, "-" and ".", with a letter or digit at both ends',
        default: 'required',
        example: 'name: prod',
      },
    }),
    segment: Type.Optional(
      Type.String({
        description:
          'The L2/L3 domain in which addresses are unique. Pools of one segment must not overlap; those of different ones may.',
        doc: {
          expected: 'a name of up to 63 small letters, digits and "-", with a letter or digit at both ends',
          default: defaults.segment,
          example: 'segment: lab',
        },
      }),
    ),
    ranges: Type.Optional(
      Type.Array(
        Type.Array(Range, {
          minItems: 1,
          maxItems: 256,
          doc: {
            expected:
              'a list of ranges: range sets are lists of their own, as in [[{ subnet: 10.22.0.0/16 }]]',
          },
        }),
        {
          minItems: 1,
          maxItems: 64,
          description:
            'Range sets, as `host-local` has them: each gives a pod one address, from the first of its ranges that has one. `ranges` or `subnet`, or both, have to be there.',
          doc: {
            expected: 'a list of range sets, as in [[{ subnet: 10.22.0.0/16 }]]',
            default: 'none',
            example: 'ranges: [[{ subnet: 10.22.0.0/16 }], [{ subnet: "fd00:22::/64" }]]',
          },
        },
      ),
    ),
    subnet: Type.Optional(
      Type.String({
        description:
          'Short form of a range set of one range, which comes before those of `ranges`; so are the next four.',
        doc: {
          expected: 'a network, such as 10.22.0.0/16',
          type: 'CIDR',
          default: 'none',
          example: 'subnet: 10.22.0.0/16',
        },
      }),
    ),
    ...rangeKeys,
    routes: Type.Optional(
      Type.Array(Route, {
        maxItems: 256,
        description: 'Routes that pods get, in place of those of the conflist.',
        doc: {
          expected: 'a list of routes',
          default: 'those of the conflist',
          example: 'routes: [{ dst: 0.0.0.0/0 }, { dst: "::/0" }]',
        },
      }),
    ),
    dns: Type.Optional(Dns),
    mtu: Type.Optional(
      integer(68, 65_535, "MTU of the pods' interfaces; at least 1280 where the pool has IPv6.", {
        unit: 'bytes',
        default: 'that of the conflist',
        example: 'mtu: 1450',
      }),
    ),
    namespaces: Type.Optional(
      globs(
        '^[a-z0-9*](?:[a-z0-9*-]{0,61}[a-z0-9*])?$',
        'the name of a namespace, in which "*" stands for any characters',
        'Namespaces whose pods may use the pool; `*` stands for any characters.',
        'namespaces: [shop, "team-*"]',
      ),
    ),
    namespaceSelector: Type.Optional(
      selector(
        'Labels that a namespace must have. Needs the Kubernetes API.',
        'namespaceSelector: { matchLabels: { tier: prod } }',
      ),
    ),
    nodes: Type.Optional(
      globs(
        '^[A-Za-z0-9*](?:[A-Za-z0-9_.*-]*[A-Za-z0-9*])?$',
        'the name of a node, in which "*" stands for any characters',
        'Nodes on which the pool may be used; `*` stands for any characters.',
        'nodes: [worker-1, "rack7-*"]',
      ),
    ),
    nodeSelector: Type.Optional(
      selector(
        'Labels that the node must have: its own in the Kubernetes API, else `nodeLabels`.',
        'nodeSelector: { matchLabels: { rack: r7 } }',
      ),
    ),
    quotaPerNamespace: Type.Optional(
      integer(
        1,
        u32,
        'How many addresses of one family the pods of one namespace may have, kept ones included.',
        {
          unit: 'addresses',
          default: 'no limit',
          example: 'quotaPerNamespace: 20',
        },
      ),
    ),
    draining: draining('any range of the pool'),
    allowMac: Type.Optional(
      boolean(
        'Whether a pod may ask for a MAC address, by annotation or by a channel of CNI. Where it may not, such a pod is refused.',
        { default: 'true', example: 'allowMac: false' },
      ),
    ),
    retention: Type.Optional(
      retention('As at the top, for addresses of this pool.', {
        default: "the file's `retention`",
        example: 'retention: 30m',
      }),
    ),
    cooldown: Type.Optional(
      duration('As at the top, for addresses of this pool.', {
        default: "the file's `cooldown`",
        example: 'cooldown: 5m',
      }),
    ),
    preferFor: Type.Optional(
      duration('As at the top, for addresses of this pool.', {
        default: "the file's `preferFor`",
        example: 'preferFor: 1h',
      }),
    ),
    strategy: Type.Optional(
      oneOf(
        ['lowest-free', 'least-recently-used'],
        'What dynamic choice takes: the lowest free address; or one that was never used, else the one that is unused for longest.',
        { default: defaults.strategy, example: 'strategy: least-recently-used' },
      ),
    ),
  },
  { additionalProperties: false, doc: { expected: 'a pool: a mapping with a name and ranges' } },
)

export type PoolEntry = Static<typeof PoolEntry>
export type RangeEntry = Static<typeof Range>
export type LabelSelectorEntry = NonNullable<PoolEntry['nodeSelector']>
