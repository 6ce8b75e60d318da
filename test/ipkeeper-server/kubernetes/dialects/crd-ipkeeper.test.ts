import t from 'tap'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { showRequest } from '../annotations/shown-request.ts'
import { requestBy, requestOf } from './manifest.ts'

t.test('a bare pod, as in the readme', t => {
  const manifest = `
apiVersion: v1
kind: Pod
metadata:
  name: devops
  annotations:
    ipkeeper.generals.space/ip_address: 172.16.91.181/24
    ipkeeper.generals.space/gateway: 172.16.91.2
spec:
  containers:
    - { name: devops, image: example.com/devops }
`
  const request = requestOf(manifest, 'crd-ipkeeper')
  t.strictSame(showRequest(request), { ip: ['172.16.91.181/24'], gateway: ['172.16.91.2'] })
  t.match(request.gateways, [{ source: 'annotation ipkeeper.generals.space/gateway' }])
  t.end()
})

t.test('the pool of a Deployment, on its template', t => {
  const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: devops-deploy }
spec:
  replicas: 2
  selector: { matchLabels: { app: devops } }
  template:
    metadata:
      labels: { app: devops }
      annotations:
        ipkeeper.generals.space/ip_pool: 172.16.91.142/24,172.16.91.143/24
        ipkeeper.generals.space/gateway: 172.16.91.2
    spec:
      containers:
        - { name: devops, image: example.com/devops }
`
  t.strictSame(showRequest(requestOf(manifest, 'crd-ipkeeper')), {
    ips: ['172.16.91.142/24, 172.16.91.143/24'],
    gateway: ['172.16.91.2'],
  })
  t.end()
})

t.test('what stands before a prefix is an address, never a block', t => {
  for (const key of ['ip_address', 'ip_pool'] as const) {
    const { ip, ips } = showRequest(
      requestBy({ [`ipkeeper.generals.space/${key}`]: '172.16.91.0/24' }, 'crd-ipkeeper'),
    )
    t.strictSame(ip ?? ips, ['172.16.91.0/24'])
  }
  t.end()
})

for (const [name, key, value, code, message] of [
  ['no address', 'ip_address', 'devops', 'IPK_ADDRESS_INVALID', /ip_address: "devops" is no IP address/],
  ['two addresses', 'ip_address', '172.16.91.1/24,172.16.91.2/24', 'IPK_ADDRESS_INVALID', /is no IP address/],
  ['a range', 'ip_pool', '172.16.91.1-172.16.91.9', 'IPK_ADDRESS_INVALID', /"172\.16\.91\.1-172\.16\.91\.9"/],
  ['twice', 'ip_pool', '172.16.91.1/24,172.16.91.1', 'IPK_ANNOTATION_INVALID', /both name 172\.16\.91\.1/],
  [
    'gateway with prefix',
    'gateway',
    '172.16.91.2/24',
    'IPK_ADDRESS_INVALID',
    /gateway: "172\.16\.91\.2\/24"/,
  ],
  ['no gateway', 'gateway', ' ', 'IPK_ANNOTATION_INVALID', /gateway: "" is empty/],
] as const) {
  t.test(`refused: ${name}`, async t => {
    const annotations = { [`ipkeeper.generals.space/${key}`]: value }
    t.match(await thrownProblem(() => requestBy(annotations, 'crd-ipkeeper')), { code, message })
  })
}
