/** What is said to pods and workloads: each with what is known beforehand, and the words. */
import t from 'tap'
import { reserve } from '../../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { canonicalPool } from '../../../../../ipkeeper-server/ipam/pools/pool.ts'
import type { Admission } from '../../../../../ipkeeper-server/http/webhook/plan/admission-review.ts'
import { judgePods } from '../../../../../ipkeeper-server/http/webhook/plan/judge-pods.ts'
import { knownPools } from '../../../../../ipkeeper-server/http/webhook/plan/known-pools.ts'
import type { Ground } from '../../../../../ipkeeper-server/http/webhook/plan/request-objections.ts'
import type { JsonObject } from '../../../../../shared/json/fold.ts'
import { parseCidr } from '../../../../../shared/net/cidr.ts'
import { poolFrom, TestService } from '../../../leases/test-service.ts'

type Annotations = Readonly<Record<string, string>>

const ip = (value: string): Annotations => ({ 'ipkeeper.io/ip': value })
const ips = (value: string): Annotations => ({ 'ipkeeper.io/ips': value })
const mac: Annotations = { 'ipkeeper.io/mac': '02:42:ac:11:00:02' }
const pool = (value: string): Annotations => ({ 'ipkeeper.io/pool': value })

function pod(name: string, annotations: Annotations, more: object = {}): Admission {
  return admission('v1', 'Pod', { metadata: { name, namespace: 'shop', annotations, ...more }, spec: {} })
}

function admission(apiVersion: string, kind: string, object: JsonObject): Admission {
  return {
    ...{ uid: 'u', operation: 'CREATE', apiVersion, kind, subresource: '' },
    ...{ namespace: 'shop', name: '', object, oldObject: undefined },
  }
}

/** A workload of namespace shop with annotations in its template. */
function workload(
  kind: string,
  name: string,
  annotations: Annotations,
  spec: object = {},
  metadata = {},
): Admission {
  const template = { metadata: { annotations } }
  const apiVersion = ['Job', 'CronJob'].includes(kind) ? 'batch/v1' : 'apps/v1'
  const own = kind === 'CronJob' ? { jobTemplate: { spec: { template, ...spec } } } : { template, ...spec }
  return admission(apiVersion, kind, { metadata: { name, namespace: 'shop', ...metadata }, spec: own })
}

const deployment = (name: string, annotations: Annotations, spec: object = {}) =>
  workload('Deployment', name, annotations, spec)
const statefulSet = (name: string, annotations: Annotations, spec: object = {}) =>
  workload('StatefulSet', name, annotations, spec)

const changed = (before: Admission, after: Admission): Admission => ({
  ...after,
  operation: 'UPDATE',
  oldObject: before.object,
})

/** 10.40.0.0/24, which drains, and 10.41.0.0/24; StatefulSet shop/lasts has 10.40.0.5, shop/kept had .6 last, .7 is reserved. */
const oldPool = canonicalPool('old', 'default', [
  [{ subnet: parseCidr('10.40.0.0/24')!, draining: true }, { subnet: parseCidr('10.41.0.0/24')! }],
])
/** 10.42.0.0/24, which drains, for a pod that needs an address of fd00:42::/64 as well. */
const gonePool = canonicalPool('gone', 'default', [
  [{ subnet: parseCidr('10.42.0.0/24')!, draining: true }],
  [{ subnet: parseCidr('fd00:42::/64')! }],
])

/** 10.22.0.0/24 and fd00:22::/64; bank/db has .50, StatefulSet shop/web has .60 to .62, .70 is reserved, .80 is kept. */
async function open(): Promise<Ground> {
  const story = await TestService.open()
  story.pool = poolFrom('prod', ['10.22.0.0/24'], ['fd00:22::/64'])
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set' }
  await story.add({ pod: 'db', namespace: 'bank', container: 'c1', ip: '10.22.0.50' })
  for (const index of [0, 1, 2])
    await story.add({ pod: `web-${index}`, container: `w${index}`, ip: `10.22.0.6${index}`, owner })
  await reserve(story.service, { segment: 'default', address: '10.22.0.70', owner: 'bank/printer', note: '' })
  await story.add({ pod: 'old', namespace: 'bank', container: 'c2', ip: '10.22.0.80', retain: '30m' })
  await story.del('c2')
  story.pool = poolFrom('old', ['10.40.0.0/24', '10.41.0.0/24'])
  const lasts = { ...owner, name: 'lasts', uid: 'lasts' }
  await story.add({ pod: 'lasts-0', container: 'l0', ip: '10.40.0.5', owner: lasts, network: 'old' })
  await story.add({ pod: 'kept', container: 'k0', ip: '10.40.0.6', network: 'old' })
  await story.del('k0', 'eth0', 'old')
  await reserve(story.service, { segment: 'default', address: '10.40.0.7', owner: 'shop/a', note: '' })
  const small = poolFrom('small', ['10.30.0.0/29'])
  story.book = {
    ...story.book,
    pools: [
      { pool: small, rules: { namespaces: ['bank'] }, policy: story.book.standard, network: {} },
      {
        pool: poolFrom('tiny', ['10.31.0.0/29']),
        rules: { allowMac: false },
        policy: story.book.standard,
        network: {},
      },
      ...[oldPool, gonePool].map(of => ({ pool: of, rules: {}, policy: story.book.standard, network: {} })),
    ],
  }
  return {
    book: story.service.ledger,
    pools: knownPools(story.service.ledger, story.book, []),
    complete: true,
    dialects: new Set(['calico']),
    namespaceLabels: undefined,
    free: new Map([
      ['tiny', [3n]],
      ['gone', [0n, 9n]],
    ]),
    now: story.now,
  }
}

type Row = readonly [what: string, asked: Admission, refused: RegExp | null, warned?: RegExp]

const three = '10.22.0.100-10.22.0.102'

const rows: readonly Row[] = [
  // Texts.
  ['nothing asked for', pod('a', {}), null],
  ["other projects' keys", pod('a', { 'example.org/ip': 'x' }), null],
  [
    'a key that is none',
    pod('a', { 'ipkeeper.io/ipp': '10.22.0.9' }),
    /^unknown annotation ipkeeper.io\/ipp; did you mean ipkeeper.io\/ip\?: value "10.22.0.9"; known keys: .* \[IPK_ANNOTATION_INVALID\]; /,
  ],
  [
    'a value that is none',
    pod('a', ip('10.22.0.050')),
    /^annotation ipkeeper.io\/ip: "10.22.0.050" is no IP address .*\[IPK_ADDRESS_INVALID\]/,
  ],
  [
    'the same of another interface',
    pod('a', { 'ipkeeper.io/ip.net1': 'x' }),
    /^annotation ipkeeper.io\/ip.net1: "x" is no IP address/,
  ],
  [
    // A network of Multus is not known before its first pod (cluster fault: the first pod of a definition was refused).
    'an address of another interface, outside of what is known',
    pod('a', { 'ipkeeper.io/ip.net1': '10.99.0.9' }),
    null,
    /^annotation ipkeeper.io\/ip.net1 asks for 10.99.0.9, which is outside .*, as far as is known \[IPK_ADDRESS_OUTSIDE\]; compare it .*lint NETWORKS.yaml POD.yaml/,
  ],
  [
    'a list of another interface, outside of what is known',
    statefulSet('a', { 'ipkeeper.io/ips.net1': '10.99.0.9-10.99.0.12' }, { replicas: 2 }),
    null,
    /ips.net1 asks for 10.99.0.9, which is outside .*, as far as is known/,
  ],
  [
    'a pool of another interface that is not known',
    pod('a', { 'ipkeeper.io/pool.net1': 'lan' }),
    null,
    /asks for pool "lan", which does not exist: .*, as far as is known|asks for pool "lan", which does not exist, as far as is known/,
  ],
  [
    'another interface, outside of the pool that it names',
    pod('a', { 'ipkeeper.io/ip.net1': '10.99.0.9', 'ipkeeper.io/pool.net1': 'prod' }),
    /ip.net1 asks for 10.99.0.9, which is outside every range of pool prod/,
  ],
  [
    'another interface, of a pod that has the address of somebody',
    pod('a', { 'ipkeeper.io/ip.net1': '10.22.0.50' }),
    /10.22.0.50 is held by|10.22.0.50/,
  ],
  [
    'the first interface, on a network that the pod chooses',
    pod('a', { ...ip('10.99.0.9'), 'v1.multus-cni.io/default-network': 'lan' }),
    null,
    /10.99.0.9, which is outside .*, as far as is known/,
  ],
  [
    'two that disagree',
    pod('a', { ...ip('10.22.0.9'), ...ips(three) }),
    /disagree \[IPK_REQUESTS_DISAGREE\]/,
  ],
  [
    'in a template',
    deployment('a', { 'ipkeeper.io/retain': 'always' }),
    /"always" is no retention: release, while-owner-exists/,
  ],
  ['in that of a CronJob', workload('CronJob', 'a', ip('x')), /"x" is no IP address/],
  ['in that of a Job', workload('Job', 'a', ip('x')), /"x" is no IP address/],
  ['in that of a DaemonSet', workload('DaemonSet', 'a', ip('x')), /"x" is no IP address/],
  ['in that of a ReplicaSet', workload('ReplicaSet', 'a', ip('x')), /"x" is no IP address/],
  [
    'a dialect that is switched on',
    pod('a', { 'cni.projectcalico.org/ipAddrs': 'x' }),
    /cni.projectcalico.org\/ipAddrs.*"x"/,
  ],
  ['one that is not', pod('a', { 'ovn.kubernetes.io/ip_address': 'x' }), null],
  [
    'where no pod sees it',
    workload('Deployment', 'a', {}, {}, { annotations: ip('10.22.0.9') }),
    null,
    /^ipkeeper.io\/ip is in metadata.annotations of the Deployment, where no pod sees it: move it to spec.template/,
  ],

  // Places.
  ['a free address', pod('a', ip('10.22.0.9,fd00:22::9')), null],
  [
    'outside of every pool',
    pod('a', ip('10.99.0.9')),
    /^annotation ipkeeper.io\/ip asks for 10.99.0.9, which is outside every range of pool prod \(.*\), pool small .* \[IPK_ADDRESS_OUTSIDE\]/,
  ],
  [
    'outside of the pool that is named',
    pod('a', { ...ip('10.22.0.9'), ...pool('tiny') }),
    /asks for 10.22.0.9, which is outside every range of pool tiny \(10.31.0.1-10.31.0.6\)/,
  ],
  [
    'the gateway',
    pod('a', ip('10.22.0.1')),
    /which is the gateway of 10.22.0.0\/24 \[IPK_ADDRESS_UNUSABLE\]/,
  ],
  ['another prefix', pod('a', ip('10.22.0.9/16')), /prefix length of its subnet is \/24/],
  [
    'a pool that is none',
    pod('a', pool('tyny')),
    /asks for pool "tyny", which does not exist; did you mean "tiny"\?: pools: prod, old, small, tiny, gone/,
  ],
  [
    'a pool of other namespaces',
    pod('a', pool('small')),
    /^pool small: namespace shop may not use it; its namespaces are bank \[IPK_NAMESPACE_REFUSED\]/,
  ],
  [
    'a MAC, of a pool whose pods may not choose one',
    pod('a', { ...pool('tiny'), ...mac }),
    /^pool tiny: annotation ipkeeper.io\/mac asks for a MAC, which its pods may not choose \[IPK_MAC_REFUSED\]; remove the request/,
  ],
  ['a MAC, of any pool', pod('a', mac), null],
  [
    'a list that leaves the pool',
    deployment('a', ips('10.22.0.250-10.22.1.5')),
    /10.22.0.255, which is outside/,
  ],

  // Holders.
  [
    "another pod's",
    pod('a', ip('10.22.0.50')),
    /^annotation ipkeeper.io\/ip asks for 10.22.0.50, which is held by bank\/db on node n1 .*\[IPK_ADDRESS_HELD\]; choose another/,
  ],
  ['its own', { ...pod('db', ip('10.22.0.50')), object: podOf('bank', 'db', '10.22.0.50') }, null],
  ['reserved', pod('a', ip('10.22.0.70')), /which is reserved for bank\/printer \[IPK_ADDRESS_RESERVED\]/],
  [
    'kept until a moment',
    pod('a', ip('10.22.0.80')),
    null,
    /which is held by bank\/old .*it comes free at 2026-.*\[IPK_ADDRESS_KEPT\]/,
  ],
  [
    "another's, of a Deployment",
    deployment('a', ip('10.22.0.50'), { replicas: 1, strategy: { type: 'Recreate' } }),
    /held by bank\/db/,
  ],
  ['its own, of a StatefulSet', statefulSet('web', ips('10.22.0.60-10.22.0.62'), { replicas: 3 }), null],
  [
    'of a StatefulSet of another name',
    statefulSet('wap', ips('10.22.0.60-10.22.0.62'), { replicas: 1 }),
    /10.22.0.60, which is held by shop\/web-0/,
  ],
  [
    'one of three that another has',
    statefulSet('b', ips('10.22.0.49-10.22.0.51'), { replicas: 3 }),
    /asks for 10.22.0.50, which is held by bank\/db/,
  ],
  [
    'all of a list',
    deployment('a', ips('10.22.0.50'), { replicas: 1, strategy: { type: 'Recreate' } }),
    /lists 10.22.0.50, and its one address is taken: 10.22.0.50 by bank\/db .*\[IPK_CANDIDATES_TAKEN\]/,
  ],
  ['one of a list is free', deployment('a', ips('10.22.0.49-10.22.0.50'), { replicas: 1 }), null],
  [
    "a controller's pod: its ADD finds out",
    pod('a', ip('10.22.0.50'), {
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }],
    }),
    null,
  ],

  // What drains: it is said, and no reason to refuse whoever may have been there before.
  ['a pool of which a range drains', deployment('a', pool('old'), { replicas: 1 }), null],
  [
    'a pool that drains',
    pod('a', pool('gone')),
    null,
    /^annotation ipkeeper.io\/pool names pool gone, in which 10.42.0.1-10.42.0.254 is draining: no new pod gets an address of it \[IPK_POOL_DRAINING\]; use another pool/,
  ],
  [
    'one that drains, for more pods than it has left',
    deployment('a', pool('gone'), { replicas: 3 }),
    null,
    /^annotation ipkeeper.io\/pool names pool gone, in which/,
  ],
  [
    'scaled up there',
    changed(deployment('a', pool('gone'), { replicas: 3 }), deployment('a', pool('gone'), { replicas: 4 })),
    null,
    /names pool gone, in which/,
  ],
  [
    'scaled down there',
    changed(deployment('a', pool('gone'), { replicas: 4 }), deployment('a', pool('gone'), { replicas: 3 })),
    null,
  ],
  [
    'an address of a range that drains',
    pod('a', ip('10.40.0.9')),
    null,
    /^annotation ipkeeper.io\/ip asks for 10.40.0.9, which is in a range of pool old that is draining: no new pod .* \[IPK_POOL_DRAINING\]; use another pool/,
  ],
  ['one of the range that does not', pod('a', ip('10.41.0.9')), null],
  ['the one that it had last', pod('kept', ip('10.40.0.6')), null],
  ['one that is reserved for it', pod('a', ip('10.40.0.7')), null],
  ['its own', statefulSet('lasts', ips('10.40.0.5'), { replicas: 1 }), null],
  [
    'a list with one of the other range',
    deployment('a', ips('10.40.0.9,10.41.0.9'), { replicas: 1, strategy: { type: 'Recreate' } }),
    null,
  ],
  [
    'a list that drains',
    deployment('a', ips('10.40.0.9-10.40.0.10'), { replicas: 1 }),
    null,
    /^annotation ipkeeper.io\/ips asks for 10.40.0.9, which is in a range of pool old that is draining/,
  ],
  [
    'the second one of a StatefulSet',
    statefulSet('lasts', ips('10.40.0.5-10.40.0.6'), { replicas: 2 }),
    null,
    /^annotation ipkeeper.io\/ips asks for 10.40.0.6, which is in a range of pool old that is draining/,
  ],
  [
    'a list of which one drains and another has the rest',
    deployment('a', ips('10.40.0.5,10.40.0.9'), { replicas: 1, strategy: { type: 'Recreate' } }),
    /all 2 addresses are taken: 10.40.0.5 by shop\/lasts-0.*, 10.40.0.9 by no pod, but its range is draining/,
  ],
  [
    "a controller's pod: its workload was told",
    pod('a', pool('gone'), {
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }],
    }),
    null,
  ],

  // Numbers.
  ['a list for all pods', statefulSet('c', ips(three), { replicas: 3 }), null],
  [
    'a list that is too short for a StatefulSet',
    statefulSet('c', ips(three), { replicas: 4 }),
    /^pod shop\/c-3 has ordinal 3, but annotation ipkeeper.io\/ips lists 3 addresses .*\[IPK_ORDINAL_BEYOND_LIST\]/,
  ],
  [
    'one that does not begin at 0',
    statefulSet('c', ips(three), { replicas: 3, ordinals: { start: 7 } }),
    null,
  ],
  [
    'one address for several pods',
    statefulSet('c', ip('10.22.0.9'), { replicas: 2 }),
    /names 1 usable address for up to 2 pods at once; the others get none: list 2 with ipkeeper.io\/ips \[IPK_TOO_FEW_ADDRESSES\]/,
  ],
  [
    'no room for a rollout',
    deployment('c', ip('10.22.0.9')),
    /names 1 usable address for up to 2 pods \(replicas 1, maxSurge 1\) at once; a rollout can stall: list more, or set maxSurge 0 or strategy Recreate/,
  ],
  ['Recreate', deployment('c', ip('10.22.0.9'), { strategy: { type: 'Recreate' } }), null],
  [
    'maxSurge 0',
    deployment('c', ips(three), {
      replicas: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } },
    }),
    null,
  ],
  [
    'a part of the replicas, rounded up',
    deployment('c', ips(three), { replicas: 3, strategy: { rollingUpdate: { maxSurge: '10%' } } }),
    /for up to 4 pods \(replicas 3, maxSurge 1\)/,
  ],
  ['a Job with fewer', workload('Job', 'c', ips(three), { parallelism: 4 }), /for up to 4 pods at once/],
  [
    'a ReplicaSet of nobody',
    workload('ReplicaSet', 'c', ips(three), { replicas: 4 }),
    /for up to 4 pods at once/,
  ],
  [
    'a ReplicaSet of a Deployment that was looked at itself',
    workload(
      'ReplicaSet',
      'c',
      ips(three),
      { replicas: 4 },
      {
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'Deployment', name: 'c', uid: 'u', controller: true },
        ],
      },
    ),
    null,
  ],
  ['a pool with enough', deployment('c', pool('tiny'), { replicas: 2 }), null],
  [
    'a pool without',
    deployment('c', pool('tiny'), { replicas: 3 }),
    /^annotation ipkeeper.io\/pool names pool tiny, which has 3 free addresses for up to 4 pods at once \(replicas 3, maxSurge 1\) \[IPK_TOO_FEW_ADDRESSES\]; enlarge/,
  ],

  // Changes.
  [
    'what was there before',
    changed(pod('a', { 'ipkeeper.io/ipp': 'x' }), pod('a', { 'ipkeeper.io/ipp': 'x', other: 'y' })),
    null,
  ],
  ['something else that is wrong', changed(pod('a', ip('x')), pod('a', ip('y'))), /"y" is no IP address/],
  [
    'a fault that was hidden by one that goes',
    changed(pod('a', { ...ip('10.22.0.50'), 'ipkeeper.io/ipp': 'x' }), pod('a', ip('10.22.0.50'))),
    null,
  ],
  ['a fault that comes', changed(pod('a', {}), pod('a', ip('10.22.0.50'))), /held by bank\/db/],
  [
    'no worse',
    changed(statefulSet('c', ips(three), { replicas: 9 }), statefulSet('c', ips(three), { replicas: 8 })),
    null,
  ],
  [
    'worse',
    changed(statefulSet('c', ips(three), { replicas: 8 }), statefulSet('c', ips(three), { replicas: 9 })),
    /has ordinal 8/,
  ],
  [
    'more pods of a pool than it has left',
    changed(
      deployment('c', pool('tiny'), { replicas: 3, strategy: { type: 'Recreate' } }),
      deployment('c', pool('tiny'), { replicas: 7, strategy: { type: 'Recreate' } }),
    ),
    /which has 3 free addresses for up to 4 more pods at once/,
  ],
  [
    'fewer',
    changed(deployment('c', pool('tiny'), { replicas: 9 }), deployment('c', pool('tiny'), { replicas: 8 })),
    null,
  ],
  [
    'an object that is about to go',
    changed(pod('a', {}), pod('a', ip('x'), { uid: 'u', resourceVersion: '1', deletionTimestamp: 'now' })),
    null,
  ],
  [
    'a DELETE',
    { ...pod('a', {}), operation: 'DELETE', object: undefined, oldObject: pod('a', ip('x')).object },
    null,
  ],
  ['a subresource', { ...pod('a', ip('x')), subresource: 'status' }, null],
  [
    'an object of others',
    admission('v1', 'Service', { metadata: { name: 'a', annotations: ip('x') } }),
    null,
  ],
  ['what is no object', admission('v1', 'Pod', { metadata: 'x' }), null],
]

function podOf(namespace: string, name: string, address: string): JsonObject {
  return { metadata: { name, namespace, annotations: ip(address) } }
}

t.test('what is said', async t => {
  const ground = await open()
  for (const [what, asked, refused, warned] of rows) {
    const { refusals, warnings } = judgePods(asked, ground)
    const said = refusals.map(
      ({ message, details, hint, code }) =>
        `${[message, details].filter(part => part !== '').join(': ')} [${code}]; ${hint}`,
    )
    if (refused) t.match(said, [refused], what)
    else t.strictSame(said, [], what)
    if (warned) t.match(warnings, [warned], `${what}: warned`)
    else t.strictSame(warnings, [], `${what}: no warnings`)
  }
})

t.test('where ranges may come with an ADD, nothing is outside for certain', async t => {
  const ground = { ...(await open()), complete: false }
  for (const asked of [pod('a', ip('10.99.0.9')), pod('a', ips('10.99.0.9')), pod('a', pool('other'))])
    t.strictSame(judgePods(asked, ground).refusals, [])
  t.equal(judgePods(pod('a', ip('10.22.0.50')), ground).refusals.length, 1, 'but held it is')
})

t.test('without any pool nothing is said of places', async t => {
  const ground = { ...(await open()), pools: [] }
  t.strictSame(judgePods(pod('a', ip('10.99.0.9')), ground).refusals, [])
})

t.test('a MAC, where no pool of all that may serve the pod lets it choose one', async t => {
  const ground = await open()
  const asked = deployment('a', { 'ipkeeper.io/mac': '02:42:ac:11:00:02' }, { replicas: 1 })
  // Of the others one is for another namespace.
  const pools = ground.pools.filter(({ pool: { name } }) => ['small', 'tiny'].includes(name))
  t.match(
    judgePods(asked, { ...ground, pools }).refusals.map(({ code, message }) => `${code} ${message}`),
    [/^IPK_MAC_REFUSED pool tiny: annotation ipkeeper\.io\/mac/],
  )
  t.strictSame(judgePods(asked, { ...ground, pools, complete: false }).refusals, [])
  t.strictSame(judgePods(deployment('a', {}, { replicas: 1 }), { ...ground, pools }).refusals, [])
})
