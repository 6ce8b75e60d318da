import { Type, type Static } from 'typebox'
import { defaultPaths, runtimeSockets } from '../../shared/paths.ts'
import {
  defaults,
  annotationDialects,
  pathPattern,
  durationUnit,
  durationExpected,
  duration,
  retention,
  boolean,
  integer,
  oneOf,
  dnsLabel,
  labels,
  path,
  paths,
} from './schema-words.ts'
import { PoolEntry } from './pool-entry.schema.ts'
import { Reconcile, ResultCache, Etcd, HistoryExport } from './config-sections.schema.ts'

/** Every key of the daemon's configuration file. Unknown keys are errors. docs/reference/configuration.generated.md is made from it. */
export const DaemonConfigFile = Type.Object(
  {
    node: Type.Optional(
      Type.String({
        maxLength: 253,
        pattern: '^[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$',
        description:
          'Name of this node in leases and errors. After a change, the records of the node follow (docs/operations/node-identity.md). Needs a restart.',
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
        'What happens to an address after DEL if the pod does not say: `release`, `while-owner-exists`, `forever`, or kept for a duration.',
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
          description: `Annotations of other projects that are understood in addition to those of ipkeeper: ${annotationDialects.map(name => `\`${name}\``).join(', ')}.`,
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
        'Whether an ADD is refused if the annotations of the pod are known neither from the runtime nor from the Kubernetes API.',
        {
          default:
            'true; without the Kubernetes API only for networks that declare the capability, and for pods that ask by no other way',
          example: 'requireAnnotations: true',
        },
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
            'Properties of the lease store, and how it is reached. `--store` selects which one is used. Needs a restart.',
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
                'Time without contact after which the addresses of a node may be taken over by their pods on another node, in modes `underlay` and `macvlan`. At least twice `offlineGrace`. A container that is still running there may keep using the address; see docs/operations/node-loss.md.',
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
              'With `byTime`: time without contact to the store after which this node serves no ADD. DELs are still served.',
              { default: defaults.takeover.offlineGrace, example: 'offlineGrace: 5m' },
            ),
          ),
        },
        {
          additionalProperties: false,
          description:
            'What happens to the addresses of a node without contact. Only with a store that nodes share.',
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
          sharedEntries: Type.Optional(
            integer(
              0,
              1_000_000,
              'So many of this node are kept in a store that nodes share, for questions over the whole cluster: about 170 bytes each. 0: none.',
              {
                unit: 'entries',
                default: String(defaults.historySharedEntries),
                example: 'sharedEntries: 50000',
              },
            ),
          ),
          export: Type.Optional(HistoryExport),
        },
        {
          additionalProperties: false,
          description: 'How much history of address assignments is kept, and where it is sent.',
          doc: {
            expected: 'a mapping with maxAge, maxEntries, sharedEntries or export',
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
              default: 'as containerd or CRI-O is configured',
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
                'Address and port on which `/metrics` is served in addition to the socket; nothing else is served there. A loopback address, or with `tokenFile` any.',
              doc: {
                expected:
                  'a loopback address and a port, such as 127.0.0.1:9478 or [::1]:9478, or with tokenFile any address',
                type: 'address and port',
                default: 'none',
                example: 'listen: 127.0.0.1:9478',
              },
            }),
          ),
          tokenFile: Type.Optional(
            path(
              'File that holds a token of at least 16 characters and nothing else; who asks has to show it as `Authorization: Bearer TOKEN`. Read for each request.',
              { default: 'none', example: 'tokenFile: /etc/ipkeeper/metrics-token' },
            ),
          ),
        },
        {
          additionalProperties: false,
          description: 'Metrics for Prometheus. Needs a restart.',
          doc: {
            expected: 'a mapping with listen or tokenFile',
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
                'Loopback address and port of a web page that shows the pools, the holders of addresses, and findings (docs/guides/page.md). It is read-only and asks for no password: every process of the node can read it.',
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
                'Address and port on which admission requests of API servers are served; `0.0.0.0` and `[::]` stand for every address of the node.',
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
          issueFor: Type.Optional(
            Type.String({
              pattern: '^[a-z0-9:](?:[a-z0-9.:-]{0,251}[a-z0-9:])?$',
              description:
                'The files are those of an authority: the daemon issues itself a certificate for this name or address, valid for 30 days, and renews it 10 days before its end.',
              doc: {
                expected: 'the name or address by which the API server reaches the daemons',
                default: 'none: the files are those of the server',
                example: 'issueFor: ipkeeper-webhook.ipkeeper-system.svc',
              },
            }),
          ),
        },
        {
          additionalProperties: false,
          description:
            'Validating webhook for Kubernetes: pods and workloads that could not get their addresses, and changes of pools, are refused at the API (docs/guides/webhook.md). Needs a restart.',
          doc: {
            expected: 'a mapping with listen, certFile and keyFile, and perhaps issueFor',
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
            'Leader election of the daemons that share a store (docs/operations/duties.md). Needs a restart.',
          doc: {
            expected: 'a mapping with namespace',
            default: 'see below',
            example: 'election: { namespace: ipkeeper-system }',
          },
        },
      ),
    ),
    nodeLabels: Type.Optional(
      labels('Labels of this node for `nodeSelector`, where they are not known from the Kubernetes API.', {
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
