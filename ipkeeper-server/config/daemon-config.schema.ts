import { Type, type Static, type TEnum } from 'typebox'
import { findingKindNames, findingKinds } from '../../shared/findings.ts'
import { defaultPaths, resultCacheFolders, runtimeSockets } from '../../shared/paths.ts'

/** What errors and the reference say of a key beside its description; stands in the schema under the keyword "doc". */
export interface KeyDoc {
  /** Ends the sentence "VALUE is not ..." of an error. */
  readonly expected: string
  /** What kind of text it is, where "text" does not say it. */
  readonly type?: string
  /** What holds without the key. */
  readonly default?: string
  readonly unit?: string
  /** YAML that may stand where the key may. */
  readonly example?: string
}

/** As much of JSON Schema as the schema below uses, for those who walk through it. */
export interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly doc?: KeyDoc
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly propertyNames?: SchemaNode
  readonly items?: SchemaNode
}

/** Defaults as they would be written in the file. */
export const defaults = {
  retention: 'release',
  cooldown: '60s',
  preferFor: '10m',
  logLevel: 'info',
  segment: 'default',
  strategy: 'lowest-free',
  nodeRoutes: 'auto',
  takeover: { byTime: 'off', offlineGrace: '5m' },
  kubernetesMode: 'auto',
  electionNamespace: 'kube-system',
  historyMaxAge: '90d',
  historyMaxEntries: 250_000,
  reconcile: { mode: 'repair', interval: '15s', minAge: '45s', minAgeUnproved: '5m', passes: 2 },
  resultCache: { mode: 'repair', others: 'report', interval: '1m' },
  etcdPrefix: '/ipkeeper/v1/',
} as const

/** Annotations of other projects, by the name that switches a set of them on. */
export const annotationDialects = ['crd-ipkeeper', 'calico', 'kube-ovn', 'hybridnet', 'antrea'] as const

const pathPattern = '^/[^\\u0000-\\u001f\\u007f]{0,4094}$'

const durationUnit = 's, m, h or d'
const durationExpected = 'a duration of at least 1s, such as 90s, 30m, 12h or 7d'

const duration = (description: string, doc: Omit<KeyDoc, 'expected'>) =>
  Type.String({
    pattern: '^[1-9][0-9]{0,8}[smhd]$',
    description,
    doc: { expected: durationExpected, type: 'duration', unit: durationUnit, ...doc },
  })

const retention = (description: string, doc: Omit<KeyDoc, 'expected'>) =>
  Type.String({
    description,
    doc: {
      expected: `release, while-owner-exists, forever, or ${durationExpected}`,
      type: 'word or duration',
      unit: durationUnit,
      ...doc,
    },
  })

const boolean = (description: string, doc: Omit<KeyDoc, 'expected'>) =>
  Type.Boolean({ description, doc: { expected: 'true or false', ...doc } })

const integer = (minimum: number, maximum: number, description: string, doc: Omit<KeyDoc, 'expected'>) =>
  Type.Integer({
    minimum,
    maximum,
    description,
    doc: { expected: `an integer from ${minimum} to ${maximum}`, ...doc },
  })

const oneOf = <T extends string[]>(
  words: readonly [...T],
  description: string,
  doc: Omit<KeyDoc, 'expected'>,
): TEnum<T> => Type.Enum(words, { description, doc: { expected: `one of ${words.join(', ')}`, ...doc } })

// Labels as k8s.io/apimachinery has them, pkg/util/validation.
const labelName = '[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?'
const dnsLabel = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const labelKey = `^(?:(?=[^/]{1,253}/)${dnsLabel}(?:\\.${dnsLabel})*/)?${labelName}$`
const labelKeyDoc = { expected: 'a label key, such as team or example.com/team' }

const LabelValue = Type.String({
  pattern: `^(?:${labelName})?$`,
  doc: {
    expected:
      'a label value: up to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends',
  },
})

const labels = (description: string, doc: Omit<KeyDoc, 'expected'>) =>
  Type.Record(Type.String(), LabelValue, {
    maxProperties: 256,
    propertyNames: { pattern: labelKey, doc: labelKeyDoc },
    description,
    doc: { expected: 'a mapping of label keys to values', ...doc },
  })

const selectorDoc = { expected: 'a label selector: a mapping with matchLabels, matchExpressions or both' }

const LabelRequirement = Type.Object(
  {
    key: Type.String({
      pattern: labelKey,
      description: 'The label.',
      doc: { ...labelKeyDoc, default: 'required', example: 'key: team' },
    }),
    operator: oneOf(
      ['In', 'NotIn', 'Exists', 'DoesNotExist'],
      'What has to hold. `NotIn` and `DoesNotExist` also match where there is no such label.',
      { default: 'required', example: 'operator: In' },
    ),
    values: Type.Optional(
      Type.Array(LabelValue, {
        maxItems: 256,
        description: 'At least one for `In` and `NotIn`, none for the others.',
        doc: { expected: 'a list of label values', default: 'none', example: 'values: [shop, bank]' },
      }),
    ),
  },
  { additionalProperties: false, doc: { expected: 'a mapping with key, operator and values' } },
)

const selector = (description: string, example: string) =>
  Type.Object(
    {
      matchLabels: Type.Optional(
        labels('Labels that have to be there with these very values.', {
          default: 'none',
          example: 'matchLabels: { team: shop }',
        }),
      ),
      matchExpressions: Type.Optional(
        Type.Array(LabelRequirement, {
          maxItems: 64,
          description: 'Further requirements; all of them have to hold.',
          doc: {
            expected: 'a list of requirements',
            default: 'none',
            example: 'matchExpressions: [{ key: team, operator: In, values: [shop, bank] }]',
          },
        }),
      ),
    },
    { additionalProperties: false, description, doc: { ...selectorDoc, default: 'none', example } },
  )

const globs = (pattern: string, expected: string, description: string, example: string) =>
  Type.Array(Type.String({ maxLength: 253, pattern, doc: { expected } }), {
    minItems: 1,
    maxItems: 1024,
    uniqueItems: true,
    description,
    doc: { expected: 'a list of names', default: 'all', example },
  })

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
      description: 'First address that may be given.',
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
      description: 'Last address that may be given.',
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
      description: 'The gateway that pods get; never given to a pod. It has to lie in the subnet.',
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
        description: 'Addresses that are never given: single ones, `FIRST-LAST`, or CIDRs.',
        doc: {
          expected: 'a list of addresses',
          default: 'none',
          example: 'exclude: [10.22.0.100-10.22.0.120, 10.22.0.200, 10.22.3.0/24]',
        },
      },
    ),
  ),
}

const Range = Type.Object(
  { subnet, ...rangeKeys },
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
      description: 'What annotations, conflists and listings call it. Every pool has another one.',
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

const path = (description: string, doc: Omit<KeyDoc, 'expected'>) =>
  Type.String({
    pattern: pathPattern,
    description,
    doc: { expected: 'an absolute path', type: 'path', ...doc },
  })

const paths = (description: string, doc: Omit<KeyDoc, 'expected'>) =>
  Type.Array(Type.String({ pattern: pathPattern, doc: { expected: 'an absolute path' } }), {
    maxItems: 64,
    uniqueItems: true,
    description,
    doc: { expected: 'a list of absolute paths', type: 'list of paths', ...doc },
  })

const reconcileTerms = {
  minAge: Type.Optional(
    duration('How old an attachment has to be before it is taken for dead on proof.', {
      default: defaults.reconcile.minAge,
      example: 'minAge: 2m',
    }),
  ),
  minAgeUnproved: Type.Optional(
    duration(
      'The same where only the runtime that made it omits it, while its namespace lives or was never seen.',
      { default: defaults.reconcile.minAgeUnproved, example: 'minAgeUnproved: 15m' },
    ),
  ),
  passes: Type.Optional(
    integer(1, 100, 'In how many passes, one after another, it has to be found where nothing proves it.', {
      default: String(defaults.reconcile.passes),
      example: 'passes: 3',
    }),
  ),
}

const Reconcile = Type.Object(
  {
    mode: Type.Optional(
      oneOf(
        ['repair', 'report', 'off'],
        'Whether what is found is repaired, only reported, or not looked for.',
        { default: defaults.reconcile.mode, example: 'mode: report' },
      ),
    ),
    interval: Type.Optional(
      duration('Time between two passes.', {
        default: defaults.reconcile.interval,
        example: 'interval: 30s',
      }),
    ),
    ...reconcileTerms,
    links: Type.Optional(
      globs(
        '^[A-Za-z0-9*](?:[A-Za-z0-9_.*-]{0,14})$',
        'the name of a link, in which "*" stands for any characters',
        'Names of links of other programs that may be removed when nobody has them; `*` stands for any characters. All others are reported only.',
        'links: ["cali*"]',
      ),
    ),
    kinds: Type.Optional(
      Type.Object(
        Object.fromEntries(
          findingKindNames.map(kind => [
            kind,
            Type.Optional(
              Type.Object(
                {
                  mode: Type.Optional(
                    oneOf(['repair', 'report', 'off'], 'As above.', {
                      default: 'that of all kinds',
                      example: 'mode: report',
                    }),
                  ),
                  ...reconcileTerms,
                },
                {
                  additionalProperties: false,
                  description: `Other terms for one kind: ${findingKinds[kind].means}.`,
                  doc: {
                    expected: 'a mapping with mode, minAge, minAgeUnproved or passes',
                    default: 'as for all kinds',
                    example: `${kind}: { mode: report }`,
                  },
                },
              ),
            ),
          ]),
        ),
        {
          additionalProperties: false,
          description: 'Terms that differ for one kind of finding.',
          doc: {
            expected: 'a mapping of kinds of findings',
            default: 'none',
            example: 'kinds: { link-without-lease: { mode: report } }',
          },
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description: 'How leases are compared with the sandboxes, namespaces and links of the node.',
    doc: {
      expected: 'a mapping with mode, interval, minAge, minAgeUnproved, passes, links or kinds',
      default: 'see below',
      example: 'reconcile: { mode: report }',
    },
  },
)

/** The folders of each kind of cache are `resultCacheFolders` of shared/paths.ts. */
const ResultCache = Type.Object(
  {
    mode: Type.Optional(
      oneOf(
        ['repair', 'report', 'off'],
        "Whether bad files of ipkeeper's own networks are written anew, only reported, or not looked for.",
        { default: defaults.resultCache.mode, example: 'mode: report' },
      ),
    ),
    others: Type.Optional(
      oneOf(
        ['report', 'quarantine'],
        "What becomes of bad files of other plugins' networks: they are reported, or moved to `quarantine` in the state folder, from where `ipkeeperctl cache restore` brings them back.",
        { default: defaults.resultCache.others, example: 'others: quarantine' },
      ),
    ),
    interval: Type.Optional(
      duration('Time between two scans; a change is seen at once where the system tells of it.', {
        default: defaults.resultCache.interval,
        example: 'interval: 5m',
      }),
    ),
    folders: Type.Optional(
      Type.Object(
        {
          results: Type.Optional(
            paths('Results that libcni keeps.', {
              default: resultCacheFolders.results.join(', '),
              example: 'results: [/var/lib/cni/results]',
            }),
          ),
          flannel: Type.Optional(
            paths("flannel's.", {
              default: resultCacheFolders.flannel.join(', '),
              example: 'flannel: [/var/lib/cni/flannel]',
            }),
          ),
          multus: Type.Optional(
            paths("multus'.", {
              default: resultCacheFolders.multus.join(', '),
              example: 'multus: [/var/lib/cni/multus]',
            }),
          ),
          hostLocal: Type.Optional(
            paths("host-local's: a folder of each network in it.", {
              default: resultCacheFolders.hostLocal.join(', '),
              example: 'hostLocal: [/var/lib/cni/networks]',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'Where they are.',
          doc: {
            expected: 'a mapping with results, flannel, multus or hostLocal',
            default: 'see below',
            example: 'folders: { results: [/var/lib/cni/results] }',
          },
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'What runtimes and plugins keep of results on disk; a bad file there keeps a pod Terminating for ever. Needs a restart.',
    doc: {
      expected: 'a mapping with mode, others, interval or folders',
      default: 'see below',
      example: 'resultCache: { others: quarantine }',
    },
  },
)

const Etcd = Type.Object(
  {
    prefix: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: '^/(?:[A-Za-z0-9._-]+/)+$',
        description:
          'What all keys begin with. Nodes with the same prefix share their leases; clusters that share an etcd each have another one.',
        doc: {
          expected: 'a text such as /ipkeeper/v1/, with "/" at both ends',
          default: defaults.etcdPrefix,
          example: 'prefix: /site-2/ipkeeper/',
        },
      }),
    ),
    caFile: Type.Optional(
      path('Certificates of the authorities that may have signed that of etcd, in PEM.', {
        default: 'those that come with Node.js',
        example: 'caFile: /etc/ipkeeper/etcd/ca.crt',
      }),
    ),
    certFile: Type.Optional(
      path('Certificate by which etcd knows this node, in PEM; together with `keyFile`.', {
        default: 'none',
        example: 'certFile: /etc/ipkeeper/etcd/client.crt',
      }),
    ),
    keyFile: Type.Optional(
      path('Its key, in PEM.', { default: 'none', example: 'keyFile: /etc/ipkeeper/etcd/client.key' }),
    ),
    user: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'User of etcd, together with `passwordFile`.',
        doc: { expected: 'a name', default: 'none', example: 'user: ipkeeper' },
      }),
    ),
    passwordFile: Type.Optional(
      path(
        'File that holds the password of `user` and nothing else; a line break at its end does not count.',
        {
          default: 'none',
          example: 'passwordFile: /etc/ipkeeper/etcd/password',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'How etcd is reached with `--store etcd:ENDPOINTS`. Files that change are read anew within a minute.',
    doc: {
      expected: 'a mapping with prefix, caFile, certFile, keyFile, user or passwordFile',
      default: 'see below',
      example: 'etcd: { caFile: /etc/ipkeeper/etcd/ca.crt }',
    },
  },
)

/** Every key of the daemon's configuration file. Unknown keys are errors. docs/reference/configuration.generated.md is made from it. */
export const DaemonConfigFile = Type.Object(
  {
    node: Type.Optional(
      Type.String({
        maxLength: 253,
        pattern: '^[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$',
        description:
          'Name of this node in leases and errors. After a change of it what the node has follows (docs/operations/node-identity.md). Needs a restart.',
        doc: {
          expected: 'a name of letters, digits, "_", "." and "-"',
          default: 'the hostname',
          example: 'node: worker-1',
        },
      }),
    ),
    pools: Type.Optional(
      Type.Array(PoolEntry, {
        maxItems: 4096,
        description:
          'Pools that conflists and pods can name. Their ranges must not overlap within a segment.',
        doc: {
          expected: 'a list of pools',
          default: 'none',
          example: 'pools: [{ name: prod, subnet: 10.22.0.0/16 }]',
        },
      }),
    ),
    retention: Type.Optional(
      retention(
        'What becomes of an address after DEL where the pod says nothing: `release`, `while-owner-exists`, `forever`, or kept for a duration.',
        { default: defaults.retention, example: 'retention: 30m' },
      ),
    ),
    cooldown: Type.Optional(
      duration('How long a freed address rests before dynamic choice takes it.', {
        default: defaults.cooldown,
        example: 'cooldown: 2m',
      }),
    ),
    preferFor: Type.Optional(
      duration('The same for an address that a pod had asked for by name.', {
        default: defaults.preferFor,
        example: 'preferFor: 1h',
      }),
    ),
    annotations: Type.Optional(
      Type.Array(
        Type.Enum(annotationDialects, { doc: { expected: `one of ${annotationDialects.join(', ')}` } }),
        {
          uniqueItems: true,
          description: `Annotations of other projects that are understood beside our own: ${annotationDialects.map(name => `\`${name}\``).join(', ')}.`,
          doc: {
            expected: 'a list of dialects',
            default: 'none',
            example: 'annotations: [calico, kube-ovn]',
          },
        },
      ),
    ),
    namespaceDefaults: Type.Optional(
      boolean("Whether the namespace's annotations are defaults for its pods. Needs the Kubernetes API.", {
        default: 'false',
        example: 'namespaceDefaults: true',
      }),
    ),
    requireAnnotations: Type.Optional(
      boolean(
        'Whether an ADD for a pod whose annotations neither the runtime nor the Kubernetes API can tell is refused.',
        { default: 'true with the Kubernetes API, else false', example: 'requireAnnotations: true' },
      ),
    ),
    kubernetes: Type.Optional(
      Type.Object(
        {
          mode: Type.Optional(
            oneOf(
              ['auto', 'in-cluster', 'kubeconfig', 'off'],
              'How the API is reached. `auto`: by `kubeconfig` where it is given, else by the service account where there is one, else not at all.',
              { default: defaults.kubernetesMode, example: 'mode: in-cluster' },
            ),
          ),
          kubeconfig: Type.Optional(
            Type.String({
              pattern: pathPattern,
              description: 'File with the address of the API and credentials.',
              doc: {
                expected: 'an absolute path',
                default: 'none',
                example: 'kubeconfig: /etc/ipkeeper/kubeconfig',
              },
            }),
          ),
          context: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 253,
              description: 'Context of that file.',
              doc: {
                expected: 'the name of a context',
                default: 'its current-context',
                example: 'context: prod',
              },
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'Access to the Kubernetes API. Needs a restart.',
          doc: {
            expected: 'a mapping with mode, kubeconfig or context',
            default: 'mode: auto',
            example: 'kubernetes: { mode: in-cluster }',
          },
        },
      ),
    ),
    store: Type.Optional(
      Type.Object(
        {
          singleNode: Type.Optional(
            boolean(
              'Says that pods of this cluster get addresses on this node only, or that other nodes have ranges of their own; then a store that other nodes cannot see is accepted.',
              { default: 'false', example: 'singleNode: true' },
            ),
          ),
          etcd: Type.Optional(Etcd),
        },
        {
          additionalProperties: false,
          description:
            'What the store of leases may be relied on for, and how it is reached. Which one it is, `--store` says. Needs a restart.',
          doc: {
            expected: 'a mapping with singleNode or etcd',
            default: 'none',
            example: 'store: { singleNode: true }',
          },
        },
      ),
    ),
    nodeRoutes: Type.Optional(
      oneOf(
        ['auto', 'off'],
        'Whether this node has routes to the pods of other nodes in modes `bridge` and `ptp`, where it shares a link with their node. Only with a store that nodes share; see docs/guides/node-routes.md.',
        { default: defaults.nodeRoutes, example: 'nodeRoutes: off' },
      ),
    ),
    takeover: Type.Optional(
      Type.Object(
        {
          byTime: Type.Optional(
            Type.String({
              pattern: '^(?:off|[1-9][0-9]{0,8}[smhd])$',
              description:
                'After which silence of a node its addresses may be taken over by their pods on another one, in modes `underlay` and `macvlan`. At least twice `offlineGrace`. A container that still runs there may go on using the address; see docs/operations/node-loss.md.',
              doc: {
                expected: `off, or ${durationExpected}`,
                type: 'word or duration',
                unit: durationUnit,
                default: defaults.takeover.byTime,
                example: 'byTime: 15m',
              },
            }),
          ),
          offlineGrace: Type.Optional(
            duration(
              'With `byTime`: this node serves no ADD once it has not reached the store for so long. DELs go on.',
              { default: defaults.takeover.offlineGrace, example: 'offlineGrace: 5m' },
            ),
          ),
        },
        {
          additionalProperties: false,
          description:
            'What becomes of the addresses of a node that says nothing any more. Only with a store that nodes share.',
          doc: {
            expected: 'a mapping with byTime or offlineGrace',
            default: 'see below',
            example: 'takeover: { byTime: 15m }',
          },
        },
      ),
    ),
    history: Type.Optional(
      Type.Object(
        {
          maxAge: Type.Optional(
            duration('Older entries are removed.', {
              default: defaults.historyMaxAge,
              example: 'maxAge: 30d',
            }),
          ),
          maxEntries: Type.Optional(
            integer(1, 1_000_000_000, 'Beyond so many, the oldest are removed.', {
              unit: 'entries',
              default: String(defaults.historyMaxEntries),
              example: 'maxEntries: 100000',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'How much is kept of who had which address when.',
          doc: {
            expected: 'a mapping with maxAge or maxEntries',
            default: 'see below',
            example: 'history: { maxAge: 30d }',
          },
        },
      ),
    ),
    runtime: Type.Optional(
      Type.Object(
        {
          sockets: Type.Optional(
            paths(
              "Sockets of container runtimes (CRI), whose lists of sandboxes are compared with ipkeeper's leases. An empty list: none is asked.",
              {
                default: `those that are there of ${runtimeSockets.join(', ')}`,
                example: 'sockets: [/run/k3s/containerd/containerd.sock]',
              },
            ),
          ),
        },
        {
          additionalProperties: false,
          description: 'The container runtime of this node. Needs a restart.',
          doc: {
            expected: 'a mapping with sockets',
            default: 'see below',
            example: 'runtime: { sockets: [/run/crio/crio.sock] }',
          },
        },
      ),
    ),
    reconcile: Type.Optional(Reconcile),
    resultCache: Type.Optional(ResultCache),
    conflist: Type.Optional(
      Type.Object(
        {
          directory: Type.Optional(
            path(
              'Where the runtime has its network configurations from; they are checked when they change.',
              {
                default: defaultPaths.confDir,
                example: 'directory: /var/lib/rancher/k3s/agent/etc/cni/net.d',
              },
            ),
          ),
          binDirs: Type.Optional(
            paths('Where the runtime has its plugins from.', {
              default: defaultPaths.binDir,
              example: 'binDirs: [/opt/cni/bin, /usr/lib/cni]',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'The network configurations of this node. Needs a restart.',
          doc: {
            expected: 'a mapping with directory or binDirs',
            default: 'see below',
            example: 'conflist: { directory: /etc/cni/net.d }',
          },
        },
      ),
    ),
    metrics: Type.Optional(
      Type.Object(
        {
          listen: Type.Optional(
            Type.String({
              description:
                'Loopback address and port on which `/metrics` is served as well as on the socket; nothing else is served there.',
              doc: {
                expected: 'a loopback address and a port, such as 127.0.0.1:9478 or [::1]:9478',
                type: 'address and port',
                default: 'none',
                example: 'listen: 127.0.0.1:9478',
              },
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'Metrics for Prometheus. Needs a restart.',
          doc: {
            expected: 'a mapping with listen',
            default: 'none',
            example: 'metrics: { listen: 127.0.0.1:9478 }',
          },
        },
      ),
    ),
    page: Type.Optional(
      Type.Object(
        {
          listen: Type.Optional(
            Type.String({
              description:
                'Loopback address and port of a web page that shows the pools, who has which address, and what is wrong (docs/guides/page.md). It changes nothing, and asks for no password: every process of the node can read it.',
              doc: {
                expected: 'a loopback address and a port, such as 127.0.0.1:7480 or [::1]:7480',
                type: 'address and port',
                default: 'none',
                example: 'listen: 127.0.0.1:7480',
              },
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'The web page. Needs a restart.',
          doc: {
            expected: 'a mapping with listen',
            default: 'none',
            example: 'page: { listen: 127.0.0.1:7480 }',
          },
        },
      ),
    ),
    webhook: Type.Optional(
      Type.Object(
        {
          listen: Type.Optional(
            Type.String({
              description:
                'Address and port on which API servers have objects checked before they are kept; `0.0.0.0` and `[::]` stand for every address of the node.',
              doc: {
                expected: 'an address and a port, such as 0.0.0.0:9443 or [::]:9443',
                type: 'address and port',
                default: 'required',
                example: 'listen: 0.0.0.0:9443',
              },
            }),
          ),
          certFile: Type.Optional(
            path(
              'Certificate in PEM, with those of authorities between; looked at for every new connection.',
              {
                default: 'required',
                example: 'certFile: /etc/ipkeeper/webhook/tls.crt',
              },
            ),
          ),
          keyFile: Type.Optional(
            path('Key of the certificate, in PEM.', {
              default: 'required',
              example: 'keyFile: /etc/ipkeeper/webhook/tls.key',
            }),
          ),
        },
        {
          additionalProperties: false,
          description:
            'Validating webhook for Kubernetes: pods and workloads that could not get their addresses, and changes of pools, are refused at the API (docs/guides/webhook.md). Needs a restart.',
          doc: {
            expected: 'a mapping with listen, certFile and keyFile',
            default: 'none',
            example:
              'webhook: { listen: 0.0.0.0:9443, certFile: /etc/ipkeeper/webhook/tls.crt, keyFile: /etc/ipkeeper/webhook/tls.key }',
          },
        },
      ),
    ),
    election: Type.Optional(
      Type.Object(
        {
          namespace: Type.Optional(
            Type.String({
              pattern: `^${dnsLabel}$`,
              description:
                'Namespace of the Lease `ipkeeper`, the same for all daemons; deploy/rbac/rbac.yaml grants it in kube-system.',
              doc: {
                expected: 'the name of a namespace',
                default: defaults.electionNamespace,
                example: 'namespace: ipkeeper-system',
              },
            }),
          ),
        },
        {
          additionalProperties: false,
          description:
            'How the daemons of nodes that share a store elect the one that does what one has to do for all (docs/operations/duties.md). Needs a restart.',
          doc: {
            expected: 'a mapping with namespace',
            default: 'see below',
            example: 'election: { namespace: ipkeeper-system }',
          },
        },
      ),
    ),
    nodeLabels: Type.Optional(
      labels('Labels of this node for `nodeSelector`, where the Kubernetes API does not tell them.', {
        default: 'none',
        example: 'nodeLabels: { rack: r7 }',
      }),
    ),
    logLevel: Type.Optional(
      oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'Least severe log line that is written.', {
        default: defaults.logLevel,
        example: 'logLevel: debug',
      }),
    ),
  },
  { $id: 'DaemonConfigFile', additionalProperties: false, doc: { expected: 'a mapping of keys to values' } },
)
export type DaemonConfigFile = Static<typeof DaemonConfigFile>
export type PoolEntry = Static<typeof PoolEntry>
export type RangeEntry = Static<typeof Range>
export type LabelSelectorEntry = NonNullable<PoolEntry['nodeSelector']>
export type AnnotationDialect = (typeof annotationDialects)[number]
