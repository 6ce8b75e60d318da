import t from 'tap'
import {
  readPodRequest,
  readDialectKeys,
} from '../../../../ipkeeper-server/kubernetes/annotations/read-pod-request.ts'
import { type DialectName, dialectNames } from '../../../../ipkeeper-server/kubernetes/dialects/dialects.ts'
import { noRequest, type PodRequest } from '../../../../ipkeeper-server/ipam/request/request.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { showRequest, sourcesOf, type ShownRequest } from './shown-request.ts'
import { requestBy } from '../dialects/manifest.ts'

type Annotations = Readonly<Record<string, string>>

interface Words {
  readonly pod?: Annotations
  readonly namespace?: Annotations
  readonly ifname?: string
  readonly dialects?: readonly DialectName[]
}

function read({ pod = {}, namespace, ifname = 'eth0', dialects = [] }: Words): PodRequest {
  return readPodRequest({
    podAnnotations: pod,
    namespace: namespace && { name: 'shop', annotations: namespace },
    ifname,
    dialects: new Set(dialects),
  })
}

const ofShop = (key: string): string => `annotation ${key} of namespace shop`

t.test('a pod that asks for nothing gets a whole request, and so does one that asks', t => {
  t.strictSame(read({}), noRequest)
  t.strictSame(read({ pod: { 'ipkeeper.io/ips': '10.22.0.50' } }), {
    ...noRequest,
    candidates: [
      { family: 4, runs: [{ first: 0x0a160032n, last: 0x0a160032n }], source: 'annotation ipkeeper.io/ips' },
    ],
  })
  t.end()
})

const defaults: readonly (readonly [name: string, Words, ShownRequest, ...sources: string[]])[] = [
  [
    'the pod says nothing',
    { namespace: { 'ipkeeper.io/pool': 'prod', 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/retain': '7d' } },
    { ip: ['10.22.0.50'], pool: ['prod'], retain: '7d' },
    ofShop('ipkeeper.io/ip'),
    ofShop('ipkeeper.io/pool'),
  ],
  [
    'the pod speaks in another group',
    { pod: { 'ipkeeper.io/ip': '10.22.0.50' }, namespace: { 'ipkeeper.io/pool': 'prod' } },
    { ip: ['10.22.0.50'], pool: ['prod'] },
    'annotation ipkeeper.io/ip',
    ofShop('ipkeeper.io/pool'),
  ],
  [
    'every group of the pod',
    {
      pod: { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/pool': 'test', 'ipkeeper.io/retain': 'release' },
      namespace: { 'ipkeeper.io/ip': '10.22.0.51', 'ipkeeper.io/pool': 'prod', 'ipkeeper.io/retain': '7d' },
    },
    { ip: ['10.22.0.50'], pool: ['test'], retain: 'release' },
    'annotation ipkeeper.io/ip',
    'annotation ipkeeper.io/pool',
  ],
  [
    'ip of the pod stands for ips of the namespace, in both families',
    {
      pod: { 'ipkeeper.io/ip': '10.22.0.50' },
      namespace: { 'ipkeeper.io/ips': '10.22.0.60-69,fd00::60-fd00::69' },
    },
    { ip: ['10.22.0.50'] },
    'annotation ipkeeper.io/ip',
  ],
  [
    'ips of the pod stands for ip of the namespace',
    { pod: { 'ipkeeper.io/ips': '10.22.0.50-52' }, namespace: { 'ipkeeper.io/ip': '10.22.0.60' } },
    { ips: ['10.22.0.50-10.22.0.52'] },
    'annotation ipkeeper.io/ips',
  ],
  [
    'a dialect on the pod stands for ips of the namespace',
    {
      pod: { 'ipam.antrea.io/pod-ips': '10.22.0.50' },
      namespace: { 'ipkeeper.io/ips': '10.22.0.60-69' },
      dialects: ['antrea'],
    },
    { ip: ['10.22.0.50'] },
    'annotation ipam.antrea.io/pod-ips',
  ],
  [
    'one that is switched off does not',
    { pod: { 'ipam.antrea.io/pod-ips': '10.22.0.50' }, namespace: { 'ipkeeper.io/ips': '10.22.0.60-69' } },
    { ips: ['10.22.0.60-10.22.0.69'] },
    ofShop('ipkeeper.io/ips'),
  ],
  [
    'a pool by a dialect on the pod stands for the pool of the namespace',
    {
      pod: { 'ovn.kubernetes.io/ip_pool': 'pool-1' },
      namespace: { 'ipkeeper.io/pool': 'prod' },
      dialects: ['kube-ovn'],
    },
    { pool: ['pool-1'] },
    'annotation ovn.kubernetes.io/ip_pool',
  ],
  [
    'a gateway alone leaves the addresses to the namespace',
    {
      pod: { 'ipkeeper.generals.space/gateway': '10.22.0.1' },
      namespace: { 'ipkeeper.io/ips': '10.22.0.60-69' },
      dialects: ['crd-ipkeeper'],
    },
    { ips: ['10.22.0.60-10.22.0.69'], gateway: ['10.22.0.1'] },
    ofShop('ipkeeper.io/ips'),
    'annotation ipkeeper.generals.space/gateway',
  ],
  [
    'interface by interface',
    {
      pod: { 'ipkeeper.io/ip': '10.22.0.50' },
      namespace: { 'ipkeeper.io/ips.net1': '10.23.0.60-69', 'ipkeeper.io/ip': '10.22.0.51' },
      ifname: 'net1',
    },
    { ips: ['10.23.0.60-10.23.0.69'] },
    ofShop('ipkeeper.io/ips.net1'),
  ],
  [
    'a value that is not needed is not looked at',
    { pod: { 'ipkeeper.io/ip': '10.22.0.50' }, namespace: { 'ipkeeper.io/ips': 'banana' } },
    { ip: ['10.22.0.50'] },
    'annotation ipkeeper.io/ip',
  ],
  [
    'dialects are not read on a namespace',
    {
      namespace: { 'ovn.kubernetes.io/ip_pool': 'pool-1', 'ipam.antrea.io/pod-ips': '10.22.0.50' },
      dialects: ['kube-ovn', 'antrea'],
    },
    {},
  ],
]
for (const [name, words, expected, ...sources] of defaults) {
  t.test(`defaults of a namespace: ${name}`, t => {
    const request = read(words)
    t.strictSame(showRequest(request), expected)
    t.strictSame(sourcesOf(request), sources)
    t.end()
  })
}

t.test('a namespace that is wrong is an error even where the pod has its own', async t => {
  for (const [namespace, message] of [
    [{ 'ipkeeper.io/ipp': '10.22.0.60' }, /ipkeeper\.io\/ipp of namespace shop/],
    [{ 'ipkeeper.io/mac': '02:42:ac:11:00:02' }, /ipkeeper\.io\/mac of namespace shop/],
  ] as const) {
    const pod = { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/mac': '02:42:ac:11:00:02' }
    t.match(await thrownProblem(() => read({ pod, namespace })), { code: 'IPK_ANNOTATION_INVALID', message })
  }
})

const every: readonly DialectName[] = ['crd-ipkeeper', 'calico', 'kube-ovn', 'hybridnet', 'antrea']

const agreeing: readonly (readonly [name: string, Annotations, ShownRequest, ...sources: string[]])[] = [
  [
    'the same address in three tongues',
    {
      'ipkeeper.io/ip': '10.22.0.50',
      'cni.projectcalico.org/ipAddrs': '["10.22.0.50"]',
      'ovn.kubernetes.io/ip_address': '10.22.0.50',
    },
    { ip: ['10.22.0.50'] },
    'annotation ipkeeper.io/ip',
  ],
  [
    'the prefix that one of them names counts',
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.generals.space/ip_address': '10.22.0.50/16' },
    { ip: ['10.22.0.50/16'] },
    'annotation ipkeeper.io/ip',
  ],
  [
    'a family each',
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipam.antrea.io/pod-ips': 'fd00:22::50' },
    { ip: ['10.22.0.50', 'fd00:22::50'] },
    'annotation ipkeeper.io/ip',
    'annotation ipam.antrea.io/pod-ips',
  ],
  [
    'the same list, spelt otherwise',
    {
      'ipkeeper.io/ips': '10.22.0.50-52',
      'networking.alibaba.com/ip-pool': '10.22.0.50,10.22.0.51,10.22.0.52',
    },
    { ips: ['10.22.0.50-10.22.0.52'] },
    'annotation ipkeeper.io/ips',
  ],
  [
    'an address out of a list settles its family',
    {
      'ipkeeper.io/ips': '10.22.0.50-52,fd00:22::50-fd00:22::52',
      'cni.projectcalico.org/ipAddrs': '["10.22.0.51"]',
    },
    { ip: ['10.22.0.51'], ips: ['fd00:22::50-fd00:22::52'] },
    'annotation cni.projectcalico.org/ipAddrs',
    'annotation ipkeeper.io/ips',
  ],
  [
    'one pool, one MAC',
    {
      'ipkeeper.io/pool': 'prod',
      'ovn.kubernetes.io/ip_pool': 'prod',
      'ipkeeper.io/mac': '00:00:00:53:6B:B6',
      'ovn.kubernetes.io/mac_address': '00:00:00:53:6b:b6',
    },
    { pool: ['prod'], mac: '00:00:00:53:6b:b6' },
    'annotation ipkeeper.io/pool',
  ],
]
for (const [name, pod, expected, ...sources] of agreeing) {
  t.test(`agree: ${name}`, t => {
    const request = read({ pod, dialects: every })
    t.strictSame(showRequest(request), expected)
    t.strictSame(sourcesOf(request), sources)
    t.end()
  })
}

for (const [name, pod, message] of [
  [
    'own and dialect',
    { 'ipkeeper.io/ip': '10.22.0.50', 'ovn.kubernetes.io/ip_address': '10.22.0.51' },
    'annotation ipkeeper.io/ip ("10.22.0.50") and annotation ovn.kubernetes.io/ip_address ("10.22.0.51") disagree',
  ],
  [
    'two dialects',
    { 'ipam.antrea.io/pod-ips': '10.22.0.51', 'cni.projectcalico.org/ipAddrs': '["10.22.0.50"]' },
    'annotation cni.projectcalico.org/ipAddrs ("[\\"10.22.0.50\\"]") and annotation ipam.antrea.io/pod-ips ("10.22.0.51") disagree',
  ],
  [
    'one family of two',
    { 'ipkeeper.io/ip': '10.22.0.50,fd00::5', 'ovn.kubernetes.io/ip_address': '10.22.0.50,fd00::6' },
    /disagree$/,
  ],
  [
    'two prefixes',
    { 'ipkeeper.io/ip': '10.22.0.50/16', 'ipkeeper.generals.space/ip_address': '10.22.0.50/24' },
    /disagree$/,
  ],
  [
    'an address that is not of the list',
    { 'ipkeeper.io/ips': '10.22.0.50-52', 'cni.projectcalico.org/ipAddrs': '["10.22.0.53"]' },
    /^annotation ipkeeper\.io\/ips .* and annotation cni\.projectcalico\.org\/ipAddrs .* disagree$/,
  ],
  [
    'another order',
    { 'ipkeeper.io/ips': '10.22.0.50,10.22.0.51', 'networking.alibaba.com/ip-pool': '10.22.0.51,10.22.0.50' },
    /disagree$/,
  ],
  ['pools', { 'ipkeeper.io/pool': 'prod', 'ovn.kubernetes.io/ip_pool': 'test' }, /"prod".*"test"/],
  [
    'MAC addresses',
    { 'ipkeeper.io/mac': '02:42:ac:11:00:02', 'cni.projectcalico.org/hwAddr': '02:42:ac:11:00:03' },
    /mac .* and annotation cni\.projectcalico\.org\/hwAddr/,
  ],
] as const) {
  t.test(`disagree: ${name}`, async t => {
    t.match(await thrownProblem(() => read({ pod, dialects: every })), {
      code: 'IPK_REQUESTS_DISAGREE',
      message,
    })
  })
}

const oneOfEach: readonly (readonly [DialectName, key: string, value: string])[] = [
  ['crd-ipkeeper', 'ipkeeper.generals.space/ip_address', '172.16.91.181/24'],
  ['calico', 'cni.projectcalico.org/ipAddrs', '["192.168.0.1"]'],
  ['kube-ovn', 'ovn.kubernetes.io/ip_address', '10.16.0.15'],
  ['hybridnet', 'networking.alibaba.com/ip-pool', '192.168.56.101'],
  ['antrea', 'ipam.antrea.io/pod-ips', '10.2.0.15'],
]

t.test('each is switched by its name', t => {
  t.strictSame(
    oneOfEach.map(([name]) => name),
    dialectNames,
  )
  for (const [name, key, value] of oneOfEach) {
    for (const switched of dialectNames) {
      const wishes = readDialectKeys({ [key]: value }, new Set([switched]))
      t.strictSame(
        wishes.map(({ source }) => source),
        switched === name ? [`annotation ${key}`] : [],
        `${key} with ${switched}`,
      )
    }
    t.strictSame(readDialectKeys({ [key]: 'banana' }, new Set()), [], 'a value is not looked at either')
  }
  t.end()
})

t.test('they speak of the first interface', t => {
  for (const [name, key, value] of oneOfEach) {
    t.notSame(showRequest(requestBy({ [key]: value }, name, 'eth0')), {}, key)
    t.strictSame(showRequest(requestBy({ [key]: value }, name, 'net1')), {}, key)
  }
  t.end()
})

for (const [name, key, message] of [
  [
    'crd-ipkeeper',
    'ipkeeper.generals.space/ip_addres',
    'unknown annotation ipkeeper.generals.space/ip_addres; did you mean ipkeeper.generals.space/ip_address?',
  ],
  [
    'calico',
    'cni.projectcalico.org/ipaddrs',
    'unknown annotation cni.projectcalico.org/ipaddrs; did you mean cni.projectcalico.org/ipAddrs?',
  ],
  ['calico', 'cni.projectcalico.org/ipAddr', /did you mean cni\.projectcalico\.org\/ipAddrs\?/],
  ['kube-ovn', 'ovn.kubernetes.io/ip-pool', /did you mean ovn\.kubernetes\.io\/ip_pool\?/],
  ['hybridnet', 'networking.alibaba.com/ip_pool', /did you mean networking\.alibaba\.com\/ip-pool\?/],
  ['antrea', 'ipam.antrea.io/pod-ip', /did you mean ipam\.antrea\.io\/pod-ips\?/],
] as const) {
  t.test(`misspelt: ${key}`, async t => {
    t.match(await thrownProblem(() => requestBy({ [key]: '10.0.0.5' }, name)), {
      code: 'IPK_ANNOTATION_INVALID',
      message,
      details: 'value "10.0.0.5"',
      hint: new RegExp(`take "${name}" out of "annotations"`),
    })
  })
}

t.test('other keys of those projects are left alone', t => {
  for (const [name, key] of [
    ['calico', 'cni.projectcalico.org/podIPs'],
    ['calico', 'cni.projectcalico.org/ipv4pools'],
    ['calico', 'cni.projectcalico.org/ipFamilies'],
    ['kube-ovn', 'ovn.kubernetes.io/logical_switch'],
    ['kube-ovn', 'ovn.kubernetes.io/ip_family'],
    ['kube-ovn', 'ovn.kubernetes.io/vip'],
    ['kube-ovn', 'ovn.kubernetes.io/eip'],
    ['hybridnet', 'networking.alibaba.com/mac-pool'],
    ['hybridnet', 'networking.alibaba.com/ip-retain'],
    ['hybridnet', 'networking.alibaba.com/ip-family'],
    ['antrea', 'ipam.antrea.io/ippools'],
    ['crd-ipkeeper', 'constructor'],
  ] as const) {
    t.strictSame(showRequest(requestBy({ [key]: 'x' }, name)), {}, key)
  }
  t.end()
})

t.test('a value that makes no sense says how to be rid of the dialect', async t => {
  for (const [name, key] of oneOfEach) {
    for (const value of ['', 'banana!']) {
      t.match(await thrownProblem(() => requestBy({ [key]: value }, name)), {
        message: new RegExp(`^annotation ${key}: "${value}"`),
        hint: new RegExp(`take "${name}" out of "annotations" in the daemon's configuration`),
      })
    }
  }
})
