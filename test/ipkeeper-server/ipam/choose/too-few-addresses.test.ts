import t from 'tap'
import type { Owner } from '../../../../ipkeeper-server/ipam/records/pod-facts.ts'
import {
  tooFewAddresses,
  type PodsAtOnce,
} from '../../../../ipkeeper-server/ipam/choose/too-few-addresses.ts'
import { readPodRequest } from '../../../../ipkeeper-server/kubernetes/annotations/read-pod-request.ts'
import { noPools } from '../../http/app-parts.ts'
import { TestService } from '../../leases/test-service.ts'

const owner = (kind: string): Owner => ({ apiVersion: 'apps/v1', kind, name: 'web', uid: '' })
const ip = { 'ipkeeper.io/ip': '10.22.0.50' }
const ips = (value: string) => ({ 'ipkeeper.io/ips': value })

const rows: readonly (readonly [
  name: string,
  kind: string,
  annotations: Readonly<Record<string, string>>,
  pods: PodsAtOnce,
  says: readonly string[],
])[] = [
  ['no request', 'Deployment', {}, { replicas: 9, surge: 3 }, []],
  ['one address for one pod', 'Deployment', ip, { replicas: 1, surge: 0 }, []],
  [
    'one address, and a pod more during a rollout',
    'Deployment',
    ip,
    { replicas: 1, surge: 1 },
    [
      'annotation ipkeeper.io/ip names 1 usable address for up to 2 pods (replicas 1, maxSurge 1) at once; a rollout can stall: list more, or set maxSurge 0 or strategy Recreate',
    ],
  ],
  [
    'one address for many',
    'StatefulSet',
    ip,
    { replicas: 3, surge: 0 },
    [
      'annotation ipkeeper.io/ip names 1 usable address for up to 3 pods at once; the others get none: list 3 with ipkeeper.io/ips',
    ],
  ],
  ['a list that suffices', 'Deployment', ips('10.22.0.50-10.22.0.52'), { replicas: 2, surge: 1 }, []],
  [
    'a list of which the pool cannot give all: the gateway is in it',
    'Deployment',
    ips('10.22.0.1-10.22.0.3'),
    { replicas: 2, surge: 1 },
    [
      'annotation ipkeeper.io/ips names 2 usable addresses for up to 3 pods (replicas 2, maxSurge 1) at once; a rollout can stall: list more, or set maxSurge 0 or strategy Recreate',
    ],
  ],
  ['ordinals find out for themselves', 'StatefulSet', ips('10.22.0.50'), { replicas: 3, surge: 0 }, []],
  ['what no pool has is another error', 'Deployment', ips('192.0.2.1'), { replicas: 3, surge: 0 }, []],
]

for (const [name, kind, podAnnotations, pods, says] of rows) {
  t.test(name, async t => {
    const story = await TestService.open()
    const pod = kind === 'StatefulSet' ? 'web-0' : 'web-6d4cf56db6-x2x5z'
    const request = story.request({ pod, container: 'c1', owner: owner(kind) })
    const texts = { podAnnotations, namespace: undefined, ifname: 'eth0', dialects: new Set<never>() }
    const few = tooFewAddresses({ ...request, pod: readPodRequest(texts) }, noPools, pods)
    t.strictSame(
      few.map(({ text }) => text),
      says,
    )
  })
}

t.test('a network without ranges of its own: the pools of the configuration count', async t => {
  const story = await TestService.open()
  const request = story.request({
    pod: 'web-6d4cf56db6-x2x5z',
    container: 'c1',
    owner: owner('Deployment'),
    configured: [],
    network: 'net',
    ips: '10.22.0.1-10.22.0.3',
  })
  const few = tooFewAddresses(request, { pools: [{ pool: story.pool }] }, { replicas: 3, surge: 0 })
  t.match(few, [{ short: 1n, text: /names 2 usable addresses for up to 3 pods/ }])
})
