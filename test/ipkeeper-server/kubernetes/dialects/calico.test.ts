import t from 'tap'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { showRequest } from '../annotations/shown-request.ts'
import { requestBy, requestOf } from './manifest.ts'

const pod = (...annotations: readonly string[]): string => `
apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations:
${annotations.map(line => `    ${line}`).join('\n')}
spec:
  containers:
    - { name: web, image: example.com/web }
`

for (const [name, lines, expected] of [
  [
    'an address, as on the page about specific addresses',
    ['"cni.projectcalico.org/ipAddrs": "[\\"192.168.0.1\\"]"'],
    { ip: ['192.168.0.1'] },
  ],
  [
    'one of each family',
    [`cni.projectcalico.org/ipAddrs: '["10.0.0.1", "2001:db8::1"]'`],
    { ip: ['10.0.0.1', '2001:db8::1'] },
  ],
  [
    'a MAC address, as on the page about them',
    ['"cni.projectcalico.org/hwAddr": "1c:0c:0a:c0:ff:ee"'],
    { mac: '1c:0c:0a:c0:ff:ee' },
  ],
  [
    'what Calico writes back, and its pools, ask for nothing',
    [
      'cni.projectcalico.org/containerID: 41fcdc38',
      'cni.projectcalico.org/podIP: 192.168.0.1/32',
      'cni.projectcalico.org/podIPs: 192.168.0.1/32',
      `cni.projectcalico.org/ipv4pools: '["default-ipv4-ippool"]'`,
    ],
    {},
  ],
] as const) {
  t.test(`read: ${name}`, t => {
    t.strictSame(showRequest(requestOf(pod(...lines), 'calico')), expected)
    t.end()
  })
}

const noList = /ipAddrs: .* is no JSON list of addresses such as \["10\.22\.0\.50"\]$/

for (const [name, key, value, code, message] of [
  ['a text for a list', 'ipAddrs', '192.168.0.1', 'IPK_ANNOTATION_INVALID', noList],
  ['a JSON text', 'ipAddrs', '"192.168.0.1"', 'IPK_ANNOTATION_INVALID', noList],
  ['a quote too few', 'ipAddrs', '["192.168.0.1]', 'IPK_ANNOTATION_INVALID', noList],
  ['a number', 'ipAddrs', '[1]', 'IPK_ANNOTATION_INVALID', noList],
  ['null', 'ipAddrs', 'null', 'IPK_ANNOTATION_INVALID', noList],
  ['an empty list', 'ipAddrs', '[]', 'IPK_ANNOTATION_INVALID', noList],
  ['deeper than a stack', 'ipAddrs', '['.repeat(200_000), 'IPK_ANNOTATION_INVALID', noList],
  ['no address', 'ipAddrs', '["banana"]', 'IPK_ADDRESS_INVALID', /ipAddrs: "banana" is no IP address/],
  [
    'a prefix',
    'ipAddrs',
    '["192.168.0.1/16"]',
    'IPK_ADDRESS_INVALID',
    /"192\.168\.0\.1\/16" is no IP address/,
  ],
  [
    'two of a family',
    'ipAddrs',
    '["10.0.0.1","10.0.0.2"]',
    'IPK_ANNOTATION_INVALID',
    /more than one IPv4 address/,
  ],
  [
    'past IPAM',
    'ipAddrsNoIpam',
    '["10.0.0.1"]',
    'IPK_ANNOTATION_INVALID',
    /ipAddrsNoIpam: .* ask with cni\.projectcalico\.org\/ipAddrs or ipkeeper\.io\/ip$/,
  ],
  [
    'no MAC address',
    'hwAddr',
    '1c:0c:0a:c0:ff',
    'IPK_ANNOTATION_INVALID',
    /hwAddr: "1c:0c:0a:c0:ff" is no unicast MAC/,
  ],
] as const) {
  t.test(`refused: ${name}`, async t => {
    const annotations = { [`cni.projectcalico.org/${key}`]: value }
    t.match(await thrownProblem(() => requestBy(annotations, 'calico')), { code, message })
  })
}
