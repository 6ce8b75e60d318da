/** Every value of the chart, with its default. values.yaml, values.schema.json and the checks of the templates are made from it. */
import { Type, type TObject, type TSchema } from 'typebox'
import { DaemonConfigFile } from '../../ipkeeper-server/config/daemon-config.schema.ts'
import { base, conflistName, nodeFolder, subnet } from './manifests.ts'

/** A text of a certain form; a text that has another one is refused with the sentence `VALUE is not EXPECTED`. */
const text = (value: string, description: string, pattern?: string, expected?: string): TSchema =>
  Type.String({
    default: value,
    description,
    ...(pattern !== undefined && { pattern, doc: { expected: expected ?? '' } }),
  })

const word = (words: string[], description: string): TSchema =>
  Type.Enum(words, { default: words[0], description })

const flag = (value: boolean, description: string): TSchema => Type.Boolean({ default: value, description })

/** A mapping whose keys are not ours to say. */
const mapping = (value: object, description: string): TSchema =>
  Type.Unsafe({ type: 'object', default: value, description })

const group = (properties: Readonly<Record<string, TSchema>>, description: string): TObject =>
  Type.Object(
    Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, Type.Optional(value)])),
    { additionalProperties: false, description },
  )

const name = '^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$'
const labels = (description: string): TSchema =>
  Type.Unsafe({ type: 'object', additionalProperties: { type: 'string' }, default: {}, description })

const folder = (volume: string, description: string): TSchema =>
  text(
    nodeFolder(volume),
    description,
    '^(/[A-Za-z0-9._-]+)+$',
    'the absolute path of a folder, such as /opt/cni/bin',
  )

/** Keys of the daemon's configuration that the chart writes itself, and what is to be used instead. */
export const ownKeys: Readonly<Record<string, string>> = {
  node: 'each daemon has the name of its node from its pod',
  election: 'the Lease is in the namespace of the release',
  webhook: 'use the value "webhook"',
}

export const ChartValues = group(
  {
    image: group(
      {
        repository: text(
          base.image,
          'Where the image of deploy/Dockerfile is. A name without a registry is looked for on the node first.',
          '^[a-z0-9][a-z0-9._/:-]*[a-z0-9]$',
          'the name of an image without its tag, such as example.org/ipkeeper',
        ),
        tag: text(
          '',
          'Empty: the version of the chart.',
          '^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$',
          'the tag of an image, such as 0.1.0',
        ),
        digest: text(
          '',
          'The image by its digest, in the place of the tag: a tag can be moved, a digest cannot.',
          '^(sha256:[0-9a-f]{64})?$',
          'a digest: "sha256:" and 64 digits of 0-9 and a-f',
        ),
        pullPolicy: word(['', 'IfNotPresent', 'Always', 'Never'], 'Empty: as the API server chooses it.'),
        pullSecrets: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: 'Names of Secrets of the namespace, by which kubelet pulls the image.',
        }),
      },
      'The image of the daemon. It holds the plugin, too.',
    ),
    store: group(
      {
        kind: word(
          ['kubernetes', 'etcd', 'sqlite'],
          'Where the ledger is. kubernetes: one for all nodes, in custom resources. etcd: one for all nodes, in an etcd of yours. sqlite: a file on the node, for a cluster of one node.',
        ),
        endpoints: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: 'With kind etcd: every member, such as https://10.0.0.1:2379.',
        }),
        secret: text(
          '',
          'With kind etcd: a Secret of the namespace with certificates, keys or a password, whose files are in /etc/ipkeeper-etcd. Which is which is said by config.store.etcd, such as caFile: /etc/ipkeeper-etcd/ca.crt.',
          name,
          'the name of a Secret',
        ),
      },
      'The ledger. To change it later is to move it: docs/operations/backup.md.',
    ),
    crds: group(
      {
        install: flag(
          true,
          'With store.kind kubernetes: install the definitions, and upgrade them with the chart. They and all leases stay when the release is uninstalled.',
        ),
      },
      'Custom resources.',
    ),
    network: group(
      {
        install: flag(
          true,
          'Put it on the nodes. false: the plugin and the daemon alone, until the addresses of pods that run are adopted (docs/guides/moving-in.md).',
        ),
        subnet: text(
          subnet,
          'The network of the pods, in the conflist that comes with ipkeeper.',
          '^[0-9]{1,3}([.][0-9]{1,3}){3}/([0-9]|[12][0-9]|30)$',
          'an IPv4 network, such as 10.22.0.0/16',
        ),
        conflist: text(
          '',
          'A conflist of your own in its place: --set-file network.conflist=FILE. Ask before: ipkeeperctl lint FILE',
        ),
        fileName: text(
          conflistName,
          'What the file is called on the node. Runtimes take the first file of the folder, by name.',
          '^[A-Za-z0-9][A-Za-z0-9._-]*[.]conflist$',
          'a file name that ends in .conflist',
        ),
      },
      'What pods get. A change of it is a rollout.',
    ),
    config: Type.Unsafe({
      ...DaemonConfigFile,
      default: {},
      description:
        "The daemon's configuration: docs/reference/configuration.generated.md. What of it needs a restart is a rollout; the rest daemons take up by themselves.",
    }),
    node: group(
      {
        binDir: folder('cni-bin', 'Where the runtime has its plugins.'),
        confDir: folder('cni-conf', 'Where the runtime has its network configurations.'),
        containerdDir: folder('containerd', "The folder of containerd's socket."),
        crioDir: folder('crio', "The folder of CRI-O's socket."),
      },
      "Folders of the node. They are the runtime's: what it is configured with counts.",
    ),
    plugin: word(
      ['auto', 'node', 'static'],
      'Which plugin nodes get. auto: the static one where the host lacks a library of the one with Node.',
    ),
    resources: group(
      {
        install: mapping(base.installResources, 'Of the step that installs plugin and network.'),
        daemon: mapping(
          base.daemonResources,
          'Of the daemon. Without a limit of processor time: pods wait for what it does.',
        ),
      },
      'Requests and limits.',
    ),
    maxUnavailable: Type.Unsafe({
      type: ['string', 'integer'],
      default: base.maxUnavailable,
      description: 'On how many nodes the daemon may be away at once during a rollout.',
      pattern: '^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$',
      doc: { expected: 'a number of nodes of at least 1, or a share such as 10%' },
    }),
    nodeSelector: labels('Further labels of the nodes that it is for.'),
    tolerations: Type.Array(Type.Unsafe({ type: 'object' }), {
      default: [...base.tolerations],
      description: 'Every node by default, also one that is not ready: without a network it would never be.',
    }),
    webhook: group(
      {
        enabled: flag(
          false,
          'Have the API server ask before it keeps pods, workloads and IPPools: docs/guides/webhook.md.',
        ),
        port: Type.Integer({
          minimum: 1,
          maximum: 65_535,
          default: 9443,
          description: 'On every node. The API server has to reach it.',
        }),
        secret: text(
          '',
          'A Secret of the namespace with tls.crt and tls.key for ipkeeper-webhook.NAMESPACE.svc. Empty: the chart makes an authority, keeps it over upgrades, and renews it in those after a year; daemons issue themselves certificates of it.',
          name,
          'the name of a Secret',
        ),
        caBundle: text(
          '',
          'With secret: the authority of that certificate, PEM in base64.',
          '^[A-Za-z0-9+/=]*$',
          'base64',
        ),
        annotations: labels(
          'Of the ValidatingWebhookConfiguration; cert-manager puts the authority in by cert-manager.io/inject-ca-from.',
        ),
      },
      'The validating webhook.',
    ),
    nodePolicy: group(
      {
        enabled: flag(
          false,
          "A daemon's token changes leases of its own node alone: docs/operations/node-policy.md. Kubernetes 1.30.",
        ),
      },
      'Policies for the tokens of daemons, with store.kind kubernetes.',
    ),
    metrics: group(
      {
        enabled: flag(
          false,
          'Make a PodMonitor, by which a Prometheus scrapes every node. Needs the Prometheus operator. Daemons listen on all addresses of their nodes then, and answer who shows the token.',
        ),
        port: Type.Integer({
          minimum: 1,
          maximum: 65_535,
          default: 9478,
          description: 'On every node.',
        }),
        secret: text(
          '',
          'A Secret of the namespace whose key "token" has at least 16 characters. Empty: the chart makes one, and keeps it over upgrades.',
          name,
          'the name of a Secret',
        ),
        interval: text('30s', 'Between two scrapes.', '^[1-9][0-9]*[sm]$', 'a duration, such as 30s'),
        labels: labels('Of the PodMonitor; a Prometheus may choose by them.'),
      },
      'Metrics, for a Prometheus that is not on the node: docs/operations/monitoring.md.',
    ),
    alerts: group(
      {
        enabled: flag(false, 'Make a PrometheusRule of the alerts. Needs the Prometheus operator.'),
        labels: labels('Of the PrometheusRule; a Prometheus may choose by them.'),
      },
      'Alerts: docs/operations/monitoring.md.',
    ),
  },
  'Values of the chart ipkeeper.',
)
