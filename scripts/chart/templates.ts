/**
 * Templates of the chart that are manifests of deploy with some places filled in by values. What is written here are those places
 * alone; each is a text of the manifest, so that one that has changed is missed and not passed over.
 */
import { allResources } from '../../ipkeeper-server/store/kubernetes/resources.ts'
import { sectionsAtStart } from '../../ipkeeper-server/config/read-at-start.ts'
import { base, conflist, conflistName, nodeFolder, readManifest, subnet } from './manifests.ts'

interface Place {
  /** What the manifest says. */
  readonly is: string
  /** What the template says instead. */
  readonly becomes: string
  /** How often it is there; once when absent. */
  readonly times?: number
}

function fill(path: string, text: string, places: readonly Place[]): string {
  return places.reduce((filled, { is, becomes, times = 1 }) => {
    const parts = filled.split(is)
    if (parts.length !== times + 1)
      throw new Error(`deploy/${path} has ${parts.length - 1} times, not ${times}: ${is}`)
    return parts.join(becomes)
  }, text)
}

const madeFrom = (path: string): string =>
  `{{- /* Made by scripts/generate-chart.ts from deploy/${path}; change that, then: make generate */}}\n`

/** Comments before the first object speak to those who apply the manifest itself. */
const withoutHead = (text: string): string => text.replace(/^(?:#.*\n)+/, '')

/** The labels of every object of a release, below those that it has. */
const labelled = (text: string): string =>
  text.replaceAll(
    /^(metadata:\n {2}name: .*\n(?: {2}namespace: .*\n)?)( {2}labels:\n(?: {4}.*\n)+)?/gm,
    (_, head: string, own: string | undefined) =>
      `${head}${own ?? '  labels:\n'}    {{- include "ipkeeper.labels" . | nindent 4 }}\n`,
  )

/** A template made of a manifest, rendered when the condition holds. */
function template(path: string, places: readonly Place[], condition?: string): string {
  const filled = fill(path, labelled(withoutHead(readManifest(path))), places)
  return condition === undefined
    ? `${madeFrom(path)}${filled}`
    : `${madeFrom(path)}{{- if ${condition} }}\n${filled}{{- end }}\n`
}

const namespace = '{{ .Release.Namespace }}'
const isKubernetes = 'eq .Values.store.kind "kubernetes"'

const hostFolder = (volume: string, value: string): Place => ({
  is: `hostPath: { path: ${nodeFolder(volume)}, `,
  becomes: `hostPath: { path: {{ .Values.node.${value} }}, `,
})

const resourcesOf = (which: 'install' | 'daemon'): Place => {
  const { requests, limits } = base[`${which}Resources`] as {
    requests: { cpu: string; memory: string }
    limits: { memory: string }
  }
  const lines = [
    '          resources:',
    `            requests: { cpu: ${requests.cpu}, memory: ${requests.memory} }`,
    `            limits: { memory: ${limits.memory} }\n`,
  ]
  return {
    is: lines.join('\n'),
    becomes: `          resources:\n            {{- toYaml .Values.resources.${which} | nindent 12 }}\n`,
  }
}

const lastMount = '            - { name: cni-conf, mountPath: /etc/cni/net.d }\n      volumes:\n'
const lastVolume = '          hostPath: { path: /etc/machine-id, type: FileOrCreate }\n'

const daemonSetPlaces: readonly Place[] = [
  {
    is: '  name: ipkeeper\n  labels:\n    app',
    becomes: `  name: ipkeeper\n  namespace: ${namespace}\n  labels:\n    app`,
  },
  {
    is: `maxUnavailable: ${base.maxUnavailable}`,
    becomes: 'maxUnavailable: {{ .Values.maxUnavailable }}',
  },
  {
    is: '        kubectl.kubernetes.io/default-container: ipkeeper\n',
    becomes: `        kubectl.kubernetes.io/default-container: ipkeeper
        {{- with pick .Values.config ${sectionsAtStart.map(key => `"${key}"`).join(' ')} }}
        # What the daemon reads at its start alone: another text is a rollout.
        ipkeeper.io/read-at-start: {{ toJson . | sha256sum }}
        {{- end }}
`,
  },
  {
    is: '      serviceAccountName: ipkeeper\n',
    becomes: `      serviceAccountName: ipkeeper
      {{- with .Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
`,
  },
  {
    is: '      tolerations:\n        - operator: Exists\n',
    becomes: '      tolerations:\n        {{- toYaml .Values.tolerations | nindent 8 }}\n',
  },
  {
    is: '        kubernetes.io/os: linux\n',
    becomes: `        kubernetes.io/os: linux
        {{- with .Values.nodeSelector }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
`,
  },
  {
    is: `          image: ${base.image}:${imageTag()}\n`,
    times: 2,
    becomes: `          image: {{ include "ipkeeper.image" . }}
          {{- with .Values.image.pullPolicy }}
          imagePullPolicy: {{ . }}
          {{- end }}
`,
  },
  {
    is: `args: [install, --host-root, /host, --conflist, /etc/ipkeeper-network/${conflistName}]`,
    becomes:
      'args: [install, --host-root, /host{{ with .Values.network }}{{ if .install }}, --conflist, /etc/ipkeeper-network/{{ .fileName }}{{ end }}{{ end }}{{ if ne .Values.plugin "auto" }}, --plugin, {{ .Values.plugin }}{{ end }}]',
  },
  { is: 'args: [serve]', becomes: 'args: {{ include "ipkeeper.args" . }}' },
  resourcesOf('install'),
  resourcesOf('daemon'),
  {
    is: '          # No limit of processor time',
    becomes: `          {{- if or .Values.webhook.enabled .Values.metrics.enabled }}
          ports:
            {{- if .Values.webhook.enabled }}
            - { name: webhook, containerPort: {{ .Values.webhook.port }}, protocol: TCP }
            {{- end }}
            {{- if .Values.metrics.enabled }}
            - { name: metrics, containerPort: {{ .Values.metrics.port }}, protocol: TCP }
            {{- end }}
          {{- end }}
          # No limit of processor time`,
  },
  {
    is: lastMount,
    becomes: `            - { name: cni-conf, mountPath: /etc/cni/net.d }
            {{- if .Values.webhook.enabled }}
            - { name: webhook, mountPath: /etc/ipkeeper-webhook, readOnly: true }
            {{- end }}
            {{- if .Values.metrics.enabled }}
            - { name: metrics, mountPath: /etc/ipkeeper-metrics, readOnly: true }
            {{- end }}
            {{- if .Values.store.secret }}
            - { name: etcd, mountPath: /etc/ipkeeper-etcd, readOnly: true }
            {{- end }}
      volumes:
`,
  },
  {
    is: 'configMap: { name: ipkeeper-network }',
    becomes: 'configMap: { name: {{ include "ipkeeper.networkName" . }} }',
  },
  ...[
    ['cni-bin', 'binDir'],
    ['cni-conf', 'confDir'],
    ['containerd', 'containerdDir'],
    ['crio', 'crioDir'],
  ].map(([volume = '', value = '']) => hostFolder(volume, value)),
  {
    is: lastVolume,
    becomes: `${lastVolume}        {{- if .Values.webhook.enabled }}
        - name: webhook
          secret: { secretName: {{ include "ipkeeper.webhookSecret" . }}, optional: true }
        {{- end }}
        {{- if .Values.metrics.enabled }}
        - name: metrics
          secret: { secretName: {{ include "ipkeeper.metricsSecret" . }} }
        {{- end }}
        {{- with .Values.store.secret }}
        - name: etcd
          secret: { secretName: {{ . }} }
        {{- end }}
`,
  },
]

function imageTag(): string {
  return (JSON.parse(readManifest('../package.json')) as { version: string }).version
}

const rightsPlaces: readonly Place[] = [
  { is: 'namespace: kube-system', becomes: `namespace: ${namespace}`, times: 5 },
  {
    is: '  - apiGroups: [ipkeeper.io]\n    resources: [ipleases',
    becomes: `  {{- if ${isKubernetes} }}\n  - apiGroups: [ipkeeper.io]\n    resources: [ipleases`,
  },
  {
    is: '    resources: [ippools/status]\n    verbs: [patch]\n',
    becomes: '    resources: [ippools/status]\n    verbs: [patch]\n  {{- end }}\n',
  },
  {
    is: '---\n# Where nodes share a store',
    becomes: '{{- if ne .Values.store.kind "sqlite" }}\n---\n# Where nodes share a store',
  },
]

const webhookPlaces: readonly Place[] = [
  { is: 'namespace: kube-system', becomes: `namespace: ${namespace}`, times: 3 },
  { is: 'targetPort: 9443', becomes: 'targetPort: {{ .Values.webhook.port }}' },
  {
    // Without one it is somebody else's to say, such as cert-manager's.
    is: "      caBundle: ''\n",
    becomes: '      {{- with $certificate.caBundle }}\n      caBundle: {{ . }}\n      {{- end }}\n',
    times: 2,
  },
  {
    is: '---\napiVersion: admissionregistration',
    becomes: `---
{{- $certificate := include "ipkeeper.certificate" . | fromYaml }}
{{- with $certificate.secret }}
{{- toYaml . | nindent 0 }}
---
{{- end }}
apiVersion: admissionregistration`,
  },
  {
    is: 'nindent 4 }}\nwebhooks:\n',
    becomes: `nindent 4 }}
  {{- with .Values.webhook.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
webhooks:
`,
  },
]

/** A definition stays when the release goes: with it the API server would delete every lease. */
const definitionOf = (path: string): string =>
  template(
    path,
    [
      {
        is: 'metadata:\n  name: ',
        becomes: 'metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n  name: ',
      },
    ],
    `and .Values.crds.install (${isKubernetes})`,
  )

/** Templates by their path in the chart. */
export const templatesOfManifests: Readonly<Record<string, () => string>> = {
  'templates/daemonset.yaml': () => template('kubernetes/base/daemonset.yaml', daemonSetPlaces),
  'templates/rbac.yaml': () => `${template('rbac/rbac.yaml', rightsPlaces)}{{- end }}\n`,
  'templates/webhook.yaml': () => template('webhook/webhook.yaml', webhookPlaces, '.Values.webhook.enabled'),
  'templates/node-policy.yaml': () =>
    template('kubernetes/components/node-policy/policy.yaml', [], '.Values.nodePolicy.enabled').replaceAll(
      'ipkeeper-system',
      namespace,
    ),
  ...Object.fromEntries(
    Object.values(allResources).map(({ plural: name }) => [
      `templates/crds/${name}.yaml`,
      () => definitionOf(`crds/${name}.yaml`),
    ]),
  ),
  'templates/_conflist.tpl': () =>
    `${madeFrom(`cni/${conflistName}`)}{{- define "ipkeeper.ownConflist" -}}\n${fill(
      `cni/${conflistName}`,
      conflist,
      [{ is: subnet, becomes: '{{ .Values.network.subnet }}' }],
    )}{{- end }}\n{{- define "ipkeeper.ownSubnet" }}${subnet}{{ end }}\n`,
}
