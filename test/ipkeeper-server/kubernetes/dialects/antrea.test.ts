import t from 'tap'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { showRequest } from '../annotations/shown-request.ts'
import { requestBy, requestOf } from './manifest.ts'

const statefulSet = (ips: string): string => `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: statefulset1 }
spec:
  replicas: 1
  selector: { matchLabels: { app: web } }
  template:
    metadata:
      labels: { app: web }
      annotations:
        ipam.antrea.io/ippools: 'sts-ip-pool1'
        ipam.antrea.io/pod-ips: '${ips}'
    spec:
      containers:
        - { name: web, image: example.com/web }
`

for (const [name, ips, ip] of [
  ['an address', '10.2.0.15', ['10.2.0.15']],
  ['one of each family', '10.2.0.15,fd00:10:2::15', ['10.2.0.15', 'fd00:10:2::15']],
  ['with blanks', ' 10.2.0.15, fd00:10:2::15 ', ['10.2.0.15', 'fd00:10:2::15']],
] as const) {
  t.test(`read: ${name}`, t => {
    t.strictSame(showRequest(requestOf(statefulSet(ips), 'antrea')), { ip })
    t.end()
  })
}

for (const [name, value, code, message] of [
  ['no address', '10.2.2.109, a.b.c.d', 'IPK_ADDRESS_INVALID', /pod-ips: "a\.b\.c\.d" is no IP address/],
  ['a prefix', '10.2.0.15/24', 'IPK_ADDRESS_INVALID', /"10\.2\.0\.15\/24" is no IP address/],
  ['two of a family', '10.2.0.15,10.2.0.16', 'IPK_ANNOTATION_INVALID', /more than one IPv4/],
  ['empty', '', 'IPK_ANNOTATION_INVALID', /pod-ips: "" is empty/],
] as const) {
  t.test(`refused: ${name}`, async t => {
    const annotations = { 'ipam.antrea.io/pod-ips': value }
    t.match(await thrownProblem(() => requestBy(annotations, 'antrea')), { code, message })
  })
}
