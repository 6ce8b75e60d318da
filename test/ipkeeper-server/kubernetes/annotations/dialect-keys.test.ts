import t from 'tap'
import { readDialectKeys } from '../../../../ipkeeper-server/kubernetes/annotations/dialect-keys.ts'
import { dialectNames, type DialectName } from '../../../../ipkeeper-server/kubernetes/dialects/dialects.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { requestBy } from '../dialects/manifest.ts'
import { showRequest } from './shown-request.ts'

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
