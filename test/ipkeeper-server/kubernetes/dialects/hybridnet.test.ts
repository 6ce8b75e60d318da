import t from 'tap'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { showRequest } from '../annotations/shown-request.ts'
import { requestBy, requestOf } from './manifest.ts'

const statefulSet = (pool: string): string => `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: web }
spec:
  serviceName: web
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata:
      labels: { app: web }
      annotations:
        networking.alibaba.com/specified-network: underlay-network
        networking.alibaba.com/ip-pool: ${pool}
        networking.alibaba.com/ip-retain: "true"
    spec:
      containers:
        - { name: web, image: example.com/web }
`

for (const [name, pool, ips] of [
  [
    'an address for each ordinal',
    '192.168.56.101,192.168.56.103,192.168.56.102',
    ['192.168.56.101, 192.168.56.103, 192.168.56.102'],
  ],
  [
    'both families for each ordinal',
    '192.168.56.101/fd00::101,192.168.56.102/fd00::102',
    ['192.168.56.101, 192.168.56.102', 'fd00::101, fd00::102'],
  ],
  [
    'the families of an entry in any order',
    'fd00::101/192.168.56.101,192.168.56.102/fd00::102',
    ['fd00::101, fd00::102', '192.168.56.101, 192.168.56.102'],
  ],
] as const) {
  t.test(`read: ${name}`, t => {
    t.strictSame(showRequest(requestOf(statefulSet(pool), 'hybridnet')), { ips })
    t.end()
  })
}

for (const [name, value, code, message] of [
  ['an empty entry', '192.168.56.101,,192.168.56.102', 'IPK_ADDRESS_INVALID', /ip-pool: "" is no IP address/],
  [
    'a prefix',
    '192.168.56.101/24',
    'IPK_ADDRESS_INVALID',
    /"24" is no IP address \(value "192\.168\.56\.101\/24"\)/,
  ],
  ['families that change', '192.168.56.101,fd00::102', 'IPK_ANNOTATION_INVALID', /other families in entry 2/],
  ['two of a family', '192.168.56.101/192.168.56.102', 'IPK_ANNOTATION_INVALID', /more than one IPv4/],
  ['twice', '192.168.56.101/fd00::1,192.168.56.102/fd00::1', 'IPK_ANNOTATION_INVALID', /both name fd00::1/],
] as const) {
  t.test(`refused: ${name}`, async t => {
    const annotations = { 'networking.alibaba.com/ip-pool': value }
    t.match(await thrownProblem(() => requestBy(annotations, 'hybridnet')), { code, message })
  })
}
