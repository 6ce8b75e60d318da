import t from 'tap'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { showRequest } from '../annotations/shown-request.ts'
import { requestBy, requestOf } from './manifest.ts'

const pod = (...annotations: readonly string[]): string => `
apiVersion: v1
kind: Pod
metadata:
  name: static-ip
  annotations:
${annotations.map(line => `    ${line}`).join('\n')}
spec:
  containers:
    - { name: static-ip, image: example.com/web }
`

const deployment = (pool: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: { namespace: ls1, name: starter-backend }
spec:
  replicas: 2
  selector: { matchLabels: { app: starter-backend } }
  template:
    metadata:
      labels: { app: starter-backend }
      annotations:
        ovn.kubernetes.io/ip_pool: ${pool}
    spec:
      containers:
        - { name: backend, image: example.com/web }
`

for (const [name, manifest, expected] of [
  [
    'address and MAC address',
    pod('ovn.kubernetes.io/ip_address: 10.16.0.15', 'ovn.kubernetes.io/mac_address: 00:00:00:53:6B:B6'),
    { ip: ['10.16.0.15'], mac: '00:00:00:53:6b:b6' },
  ],
  [
    'both families',
    pod('ovn.kubernetes.io/ip_address: 10.16.0.15,fd00:10:16::000E'),
    { ip: ['10.16.0.15', 'fd00:10:16::e'] },
  ],
  [
    'pool of a Deployment',
    deployment('10.16.0.15,10.16.0.16,10.16.0.17'),
    { ips: ['10.16.0.15, 10.16.0.16, 10.16.0.17'] },
  ],
  [
    'pool of both families',
    deployment('10.16.0.15,fd00:10:16::000E;10.16.0.16,fd00:10:16::000F;10.16.0.17,fd00:10:16::0010'),
    { ips: ['10.16.0.15, 10.16.0.16, 10.16.0.17', 'fd00:10:16::e, fd00:10:16::f, fd00:10:16::10'] },
  ],
  ['one pair', deployment('10.16.0.15,fd00:10:16::e'), { ips: ['10.16.0.15', 'fd00:10:16::e'] }],
  ['a pool of one', deployment('10.16.0.15'), { ips: ['10.16.0.15'] }],
  ['two of a family', deployment('10.16.0.15, 10.16.0.16'), { ips: ['10.16.0.15, 10.16.0.16'] }],
  ['semicolons alone', deployment('10.16.0.15;10.16.0.16'), { ips: ['10.16.0.15, 10.16.0.16'] }],
  ['the name of an IPPool', deployment('pool-1'), { pool: ['pool-1'] }],
  [
    'an address that Kube-OVN has given',
    pod(
      'ovn.kubernetes.io/allocated: "true"',
      'ovn.kubernetes.io/cidr: 10.16.0.0/16',
      'ovn.kubernetes.io/gateway: 10.16.0.1',
      'ovn.kubernetes.io/ip_address: 10.16.0.9',
      'ovn.kubernetes.io/logical_switch: ovn-default',
      'ovn.kubernetes.io/mac_address: 00:00:00:14:88:09',
      'ovn.kubernetes.io/routed: "true"',
    ),
    { ip: ['10.16.0.9'], mac: '00:00:00:14:88:09' },
  ],
  [
    'an address that Kube-OVN has given out of the pool',
    pod(
      'ovn.kubernetes.io/allocated: "true"',
      'ovn.kubernetes.io/ip_address: 10.16.0.16',
      'ovn.kubernetes.io/ip_pool: 10.16.0.15,10.16.0.16',
    ),
    { ip: ['10.16.0.16'] },
  ],
  [
    'interfaces of other networks are not ours to map',
    pod(
      'attachnet.default.kubernetes.io/ip_address.net1: 172.17.0.100',
      'attachnet.default.kubernetes.io/mac_address.net1: 00:00:00:53:6B:B1',
    ),
    {},
  ],
] as const) {
  t.test(`read: ${name}`, t => {
    t.strictSame(showRequest(requestOf(manifest, 'kube-ovn')), expected)
    t.end()
  })
}

for (const [name, annotations, code, message] of [
  ['no address', { ip_address: 'any' }, 'IPK_ADDRESS_INVALID', /ip_address: "any" is no IP address/],
  [
    'a prefix',
    { ip_address: '10.16.0.15/16' },
    'IPK_ADDRESS_INVALID',
    /"10\.16\.0\.15\/16" is no IP address/,
  ],
  ['two of a family', { ip_address: '10.16.0.1,10.16.0.2' }, 'IPK_ANNOTATION_INVALID', /more than one IPv4/],
  [
    'a block',
    { ip_pool: '10.16.0.0/24' },
    'IPK_ADDRESS_INVALID',
    /ip_pool: "10\.16\.0\.0\/24" is no IP address/,
  ],
  ['a zero in front', { ip_pool: '10.16.0.015' }, 'IPK_ADDRESS_INVALID', /"10\.16\.0\.015" is no IP address/],
  [
    'no name',
    { ip_pool: 'Pool_1' },
    'IPK_ANNOTATION_INVALID',
    /"Pool_1" is neither a list of addresses nor a pool/,
  ],
  ['two names', { ip_pool: 'pool-1,pool-2' }, 'IPK_ADDRESS_INVALID', /"pool-1" is no IP address/],
  ['a semicolon at the end', { ip_pool: '10.16.0.1;' }, 'IPK_ADDRESS_INVALID', /"" is no IP address/],
  [
    'families mixed without semicolons',
    { ip_pool: '10.16.0.1,fd00::1,10.16.0.2' },
    'IPK_ANNOTATION_INVALID',
    /names other families in entry 2 than in entry 1/,
  ],
  [
    'an entry without its other half',
    { ip_pool: '10.16.0.1,fd00::1;10.16.0.2' },
    'IPK_ANNOTATION_INVALID',
    /names other families in entry 2 than in entry 1/,
  ],
  [
    'an entry of two in one family',
    { ip_pool: '10.16.0.1,fd00::1;10.16.0.2,10.16.0.3' },
    'IPK_ANNOTATION_INVALID',
    /names more than one IPv4 address/,
  ],
  ['twice', { ip_pool: '10.16.0.1,10.16.0.2,10.16.0.1' }, 'IPK_ANNOTATION_INVALID', /both name 10\.16\.0\.1/],
  [
    'more than is read',
    { ip_pool: Array.from({ length: 1025 }, () => '10.16.0.1').join(';') },
    'IPK_ANNOTATION_INVALID',
    /has 1025 items/,
  ],
  [
    'no MAC address',
    { mac_address: '53:6B' },
    'IPK_ANNOTATION_INVALID',
    /mac_address: "53:6B" is no unicast MAC/,
  ],
  [
    'an address that is not in the pool',
    { ip_address: '10.16.0.9', ip_pool: '10.16.0.1,10.16.0.2' },
    'IPK_REQUESTS_DISAGREE',
    /ip_pool \("10\.16\.0\.1,10\.16\.0\.2"\) and annotation ovn\.kubernetes\.io\/ip_address \("10\.16\.0\.9"\) disagree/,
  ],
] as const) {
  t.test(`refused: ${name}`, async t => {
    const keys = Object.entries(annotations).map(
      ([key, value]) => [`ovn.kubernetes.io/${key}`, value] as const,
    )
    t.match(await thrownProblem(() => requestBy(Object.fromEntries(keys), 'kube-ovn')), { code, message })
  })
}
