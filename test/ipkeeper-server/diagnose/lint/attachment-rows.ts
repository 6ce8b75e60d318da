import type { LintInput } from '../../../../ipkeeper-server/diagnose/lint/site.ts'
import type { Files } from './lint-text.ts'

/** A case of a rule about definitions of Multus. */
export interface AttachmentRow {
  readonly what: string
  readonly files: Files
  readonly more?: Omit<LintInput, 'files'>
  readonly finds?: readonly string[]
  readonly says?: RegExp
}

/** A definition; without a config, if there is none. */
export function attachment(name: string, config?: string): string {
  const [namespace = '', bare = ''] = name.includes('/') ? name.split('/') : ['', name]
  const metadata = namespace === '' ? `{ name: ${bare} }` : `{ name: ${bare}, namespace: ${namespace} }`
  const spec = config === undefined ? '' : `spec:\n  config: '${config}'\n`
  return `kind: NetworkAttachmentDefinition\nmetadata: ${metadata}\n${spec}---\n`
}

/** A macvlan whose addresses are ipkeeper's. */
export const lan = (ipam: string, head = ''): string =>
  `{ "cniVersion": "1.0.0", ${head}"type": "macvlan", "ipam": { "type": "ipkeeper", ${ipam} } }`

const subnet = '"subnet": "10.9.0.0/24"'
const good = attachment('shop/lan', lan(subnet))

/** A pod of a namespace with annotations, in the order of their lines from 6 on. */
export function pod(annotations: Readonly<Record<string, string>>, namespace = 'shop'): string {
  const lines = Object.entries(annotations).map(([key, value]) => `    ${key}: '${value}'\n`)
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  ${namespace === '' ? 'name: web' : `namespace: ${namespace}\n  name: web`}\n  annotations:\n${lines.join('')}---\n`
}

const chooses = (value: string, more: Readonly<Record<string, string>> = {}): string =>
  pod({ 'k8s.v1.cni.cncf.io/networks': value, ...more })

const onNode = (...networks: string[]): Omit<LintInput, 'files'> => ({
  multusFiles: { folders: ['/etc/cni/multus/net.d'], networks: new Set(networks) },
})

/** By rule: what it finds of definitions and of pods that choose them. */
export const attachmentRows: Readonly<Record<string, readonly AttachmentRow[]>> = {
  'attachment-without-config': [
    {
      what: 'no file of the node has it',
      files: { 'x.yaml': attachment('shop/lan') },
      more: onNode('other'),
      finds: ['x.yaml:2 error lan'],
      says: /no file of \/etc\/cni\/multus\/net\.d has the network "lan"/,
    },
    {
      what: 'on a machine that is no node',
      files: { 'x.yaml': attachment('lan', '') },
      finds: ['x.yaml:2 note lan'],
      says: /"name": "lan"/,
    },
    { what: 'a file of the node has it', files: { 'x.yaml': attachment('lan') }, more: onNode('lan') },
    { what: 'with a config', files: { 'x.yaml': good }, more: onNode() },
  ],
  'attachment-network-name': [
    {
      what: 'one name in two namespaces, with other addresses',
      files: { 'x.yaml': good, 'y.yaml': attachment('store/lan', lan('"subnet": "10.8.0.0/24"')) },
      finds: ['y.yaml:2 error lan'],
      says: /the network "lan" is also that of shop\/lan, with other addresses/,
    },
    {
      what: 'one "name" in two configurations',
      files: {
        'x.yaml':
          attachment('a', lan(subnet, '"name": "n", ')) +
          attachment('b', lan('"pool": "p"', '"name": "n", ')),
      },
      finds: ['x.yaml:9 error "n"'],
    },
    {
      what: 'with the same addresses',
      files: { 'x.yaml': good + attachment('store/lan', lan(subnet)) },
    },
    {
      what: 'another name in the configuration',
      files: { 'x.yaml': good + attachment('store/lan', lan('"subnet": "10.8.0.0/24"', '"name": "n", ')) },
    },
  ],
  'attachment-selection': [
    {
      what: 'ips as a text',
      files: { 'x.yaml': good + chooses('[{ "name": "lan", "ips": "10.9.0.5" }]') },
      finds: ['x.yaml:12 error "10.9.0.5"'],
      says: /write a list of addresses/,
    },
    {
      what: 'a comma before a bracket',
      files: { 'x.yaml': chooses('[{ "name": "lan" },]') },
      finds: ['x.yaml:7 error ,'],
    },
    {
      what: 'a key that is ignored',
      files: { 'x.yaml': chooses('[{ "name": "lan", "mca": "02:00:00:00:00:01" }]') },
      finds: ['x.yaml:7 warning "mca"'],
      says: /write "mac"/,
    },
    { what: 'sound', files: { 'x.yaml': good + chooses('lan, lan@san') } },
  ],
  'attachment-unknown': [
    {
      what: 'misspelt',
      files: { 'x.yaml': good, 'y.yaml': chooses('lam@net1') },
      finds: ['y.yaml:7 error lam@net1'],
      says: /Pod web chooses shop\/lam, .*write "lan"/,
    },
    {
      what: 'of another namespace',
      files: { 'x.yaml': attachment('store/lan', lan(subnet)) + chooses('lan') },
      finds: ['x.yaml:12 error lan'],
      says: /write "store\/lan"/,
    },
    {
      what: 'in the template of a workload',
      files: {
        'x.yaml': `${good}apiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: db, namespace: shop }\nspec: { template: { metadata: { annotations: { k8s.v1.cni.cncf.io/networks: san } } } }\n`,
      },
      finds: ['x.yaml:9 error san'],
      says: /StatefulSet db chooses shop\/san/,
    },
    {
      what: 'none in the API',
      files: { 'x.yaml': chooses('lan') },
      more: { allAttachments: true },
      finds: ['x.yaml:7 error lan'],
    },
    { what: 'no definition was given', files: { 'x.yaml': chooses('lan') } },
    { what: 'known', files: { 'x.yaml': good + chooses('lan,shop/lan@b') } },
    {
      what: 'of a namespace that is not said',
      files: { 'x.yaml': attachment('lan', lan(subnet)) + chooses('lan') },
    },
  ],
  'attachment-of-other-namespace': [
    {
      what: 'another one',
      files: { 'x.yaml': attachment('store/lan', lan(subnet)) + chooses('store/lan') },
      finds: ['x.yaml:12 note store/lan'],
      says: /namespaceIsolation/,
    },
    {
      what: 'the own one, and the one that Multus excepts',
      files: { 'x.yaml': chooses('shop/lan,default/lan,lan') },
    },
    {
      what: 'of a pod that says none',
      files: { 'x.yaml': pod({ 'k8s.v1.cni.cncf.io/networks': 'store/lan' }, '') },
    },
  ],
  'attachment-interface': [
    {
      what: 'one more than there are',
      files: {
        'x.yaml': chooses('lan,lan', { 'ipkeeper.io/ip.net2': '10.9.0.5', 'ipkeeper.io/pool.net3': 'p' }),
      },
      finds: ['x.yaml:9 warning ipkeeper.io/pool.net3'],
      says: /its networks make net1, net2/,
    },
    {
      what: 'one that has another name',
      files: { 'x.yaml': chooses('lan@san', { 'ipkeeper.io/ip.net1': '10.9.0.5' }) },
      finds: ['x.yaml:8 warning ipkeeper.io/ip.net1'],
    },
    {
      what: 'no network chosen',
      files: { 'x.yaml': pod({ 'ipkeeper.io/mac.net1': '02:00:00:00:00:01' }) },
      finds: ['x.yaml:7 warning ipkeeper.io/mac.net1'],
      says: /no annotation k8s\.v1\.cni\.cncf\.io\/networks/,
    },
    {
      what: 'eth0, a name of its own, and what is not ours',
      files: {
        'x.yaml': chooses('lan@san', {
          'ipkeeper.io/ip.eth0': '10.9.0.5',
          'ipkeeper.io/ips.san': '10.9.0.6',
          'x.y/a.net1': 'b',
        }),
      },
    },
    {
      what: 'nothing that can be read',
      files: { 'x.yaml': chooses('[', { 'ipkeeper.io/ip.net1': '10.9.0.5' }) },
    },
  ],
  'overlapping-ranges': [
    {
      what: 'two definitions of one segment',
      files: { 'x.yaml': good, 'y.yaml': attachment('shop/san', lan('"subnet": "10.9.0.0/25"')) },
      finds: ['y.yaml:4 error "10.9.0.0/25"'],
      says: /that of shop\/lan \(x\.yaml, line 4\) = to share addresses, .* one "pool"/,
    },
    {
      what: 'two definitions of two segments, and two of one network',
      files: {
        'x.yaml':
          good +
          attachment('shop/san', lan(`${subnet}, "segment": "b"`)) +
          attachment('store/lan', lan(subnet)),
      },
    },
    {
      what: 'a definition and a ConfigMap',
      files: { 'x.yaml': `${good}kind: ConfigMap\ndata:\n  x.conflist: '${lan(subnet, '"name": "n", ')}'\n` },
    },
    {
      what: 'files that are named one by one',
      files: { 'a.conf': lan(subnet, '"name": "a", '), 'b.conf': lan(subnet, '"name": "b", ') },
    },
  ],
  'missing-capability': [
    {
      what: 'of a definition',
      files: { 'x.yaml': good },
      finds: ['x.yaml:4 warning "type"', 'x.yaml:4 note "type"'],
      says: /CNI_ARGS at best[^]*without the Kubernetes API/,
    },
    {
      what: 'none of a definition',
      files: {
        'x.yaml': attachment(
          'lan',
          lan(
            subnet,
            '"capabilities": { "ips": true, "mac": true, "io.kubernetes.cri.pod-annotations": true }, ',
          ),
        ),
      },
    },
  ],
  'missing-key': [
    { what: 'the name of a definition', files: { 'x.yaml': good } },
    {
      what: 'its type',
      files: { 'x.yaml': attachment('lan', '{ "cniVersion": "1.0.0" }') },
      finds: ['x.yaml:4 error {'],
    },
  ],
}
