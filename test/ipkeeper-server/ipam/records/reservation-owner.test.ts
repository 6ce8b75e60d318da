import t from 'tap'
import {
  formatReservationOwner,
  parseReservationOwner,
  sameOwner,
} from '../../../../ipkeeper-server/ipam/records/reservation-owner.ts'
import {
  describeReservation,
  isReservedFor,
  type Holder,
  type Workload,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

/** What is written, what it means, how it is written back, and how it is told. */
const owners: readonly (readonly [
  text: string,
  owner: { readonly namespace: string; readonly name: string; readonly kind?: string },
  back: string,
  told: string,
])[] = [
  ['shop/web-0', { namespace: 'shop', name: 'web-0' }, 'shop/web-0', 'shop/web-0'],
  ['shop/pod/web-0', { namespace: 'shop', name: 'web-0' }, 'shop/web-0', 'shop/web-0'],
  ['shop/po/web.0', { namespace: 'shop', name: 'web.0' }, 'shop/web.0', 'shop/web.0'],
  [
    'external:printer-3',
    { namespace: '', name: 'printer-3', kind: 'external' },
    'external:printer-3',
    'external:printer-3',
  ],
  ...(
    [
      ['StatefulSet', ['statefulset', 'statefulsets', 'sts', 'StatefulSet', 'STS']],
      ['Deployment', ['deployment', 'deployments', 'deploy', 'Deployment']],
      ['DaemonSet', ['daemonset', 'daemonsets', 'ds', 'DaemonSet']],
      ['Job', ['job', 'jobs', 'Job']],
      ['CronJob', ['cronjob', 'cronjobs', 'cj', 'CronJob']],
      ['ReplicaSet', ['replicaset', 'replicasets', 'rs', 'ReplicaSet']],
    ] as const
  ).flatMap(([kind, words]) =>
    words.map(
      word =>
        [
          `shop/${word}/web`,
          { namespace: 'shop', name: 'web', kind },
          `shop/${kind.toLowerCase()}/web`,
          `${kind} shop/web`,
        ] as const,
    ),
  ),
]
t.test('forms', t => {
  for (const [text, owner, back, told] of owners) {
    const parsed = parseReservationOwner(text)
    t.strictSame(parsed, owner, text)
    t.equal(formatReservationOwner(parsed), back)
    t.ok(sameOwner(parseReservationOwner(back), parsed), `${back} is the same`)
    t.equal(describeReservation(parsed), told)
  }
  const different = ['shop/web', 'shop/sts/web', 'shop/deploy/web', 'external:web', 'lab/web', 'shop/web-0']
  for (const [index, one] of different.entries()) {
    for (const [place, other] of different.entries())
      t.equal(
        sameOwner(parseReservationOwner(one), parseReservationOwner(other)),
        index === place,
        `${one} and ${other}`,
      )
  }
  t.end()
})

t.test('what is none', async t => {
  for (const [text, message] of [
    ['', 'owner "" is neither NAMESPACE/POD, NAMESPACE/KIND/NAME nor external:NAME'],
    ['web-0', 'owner "web-0" is neither NAMESPACE/POD, NAMESPACE/KIND/NAME nor external:NAME'],
    ['external:', 'owner "external:" has no valid name: ""'],
    ['shop/', 'owner "shop/" has no valid name: ""'],
    ['/web-0', 'owner "/web-0" has no valid namespace: ""'],
    ['Shop/web-0', 'owner "Shop/web-0" has no valid namespace: "Shop"'],
    ['shop/Web', 'owner "shop/Web" has no valid name: "Web"'],
    ['two words', 'owner "two words" is neither NAMESPACE/POD, NAMESPACE/KIND/NAME nor external:NAME'],
    ['shop/../web', 'owner "shop/../web" names kind "..", which has no pods'],
    ['shop/service/web', 'owner "shop/service/web" names kind "service", which has no pods'],
    [
      'shop/statefulst/web',
      'owner "shop/statefulst/web" names kind "statefulst", which has no pods; did you mean "statefulset"?',
    ],
    ['shop/constructor/web', 'owner "shop/constructor/web" names kind "constructor", which has no pods'],
    ['a/b/c/d', 'owner "a/b/c/d" is neither NAMESPACE/POD, NAMESPACE/KIND/NAME nor external:NAME'],
  ] as const) {
    t.match(await thrownProblem(() => parseReservationOwner(text)), {
      code: 'IPK_REQUEST_INVALID',
      message,
      hint: /^write for example shop\/web-0 .* shop\/statefulset\/web .* external:printer-3/,
    })
  }
})

t.test('whom a reservation is for', t => {
  const pod = (name: string, namespace = 'shop'): Holder => ({
    kind: 'pod',
    network: 'net',
    namespace,
    name,
    ifname: 'eth0',
  })
  const of = (kind: string | null, name = 'web', namespace = 'shop'): Workload => ({
    namespace,
    kind,
    name,
    apiVersion: null,
    uid: null,
  })
  for (const [owner, holder, workload, may] of [
    ['shop/web-0', pod('web-0'), of('StatefulSet'), true],
    ['shop/web-0', pod('web-0', 'lab'), of('StatefulSet'), false],
    ['shop/web-0', pod('web-1'), of('StatefulSet'), false],
    ['shop/web', pod('web-0'), of('StatefulSet'), false],
    ['shop/sts/web', pod('web-0'), of('StatefulSet'), true],
    ['shop/sts/web', pod('web-0', 'lab'), of('StatefulSet', 'web', 'lab'), false],
    ['shop/sts/web', pod('web-x2x5z'), of(null), false],
    ['shop/sts/web', pod('web'), of('Pod'), false],
    ['shop/sts/web', pod('web-0'), null, false],
    ['shop/ds/web', pod('web-x2x5z'), of(null), true],
    ['shop/ds/web', pod('web-x2x5z'), of('DaemonSet'), true],
    ['shop/ds/web', pod('web-x2x5z'), of('Job'), false],
    ['shop/deploy/web', pod('web-6d4cf56db6-x2x5z'), of('Deployment'), true],
    ['external:web', pod('web'), of('Pod'), false],
    ['shop/web', { kind: 'container', network: 'net', containerId: 'web', ifname: 'eth0' }, null, false],
  ] as const) {
    const name = holder.kind === 'pod' ? `${holder.namespace}/${holder.name}` : 'a container'
    t.equal(
      isReservedFor(parseReservationOwner(owner), holder, workload),
      may,
      `${owner} for ${name} of ${workload?.kind ?? 'nothing'}`,
    )
  }
  t.end()
})
