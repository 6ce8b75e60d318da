/**
 * Takeover and conflict (DESIGN.md, rules 4 and 5): what a pod gets that comes with a name that had an address before,
 * and why. Sandboxes are judged by real paths of network namespaces.
 */
import t from 'tap'
import { minute, tellStories, type Step } from '../story.ts'
import { poolFrom, type PodWords } from '../test-service.ts'

/** web-0 of a StatefulSet, which asks for 10.22.0.50. */
const web = (container: string, uid: string | null, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'web-0',
  container,
  uid,
  ip: '10.22.0.50',
  ...patch,
})
/** A pod that asks for nothing. */
const plain = (container: string, uid: string | null, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'job-runner',
  container,
  uid,
  ...patch,
})

const stillHeld =
  /^10\.22\.0\.50 is still held by shop\/web-0 \(UID u1\) on node n1 in container c1; .*\/c1 is not proved gone; .*crictl stopp.*strategy Recreate or maxSurge 0/
const otherNode =
  /still held by shop\/web-0 \(UID u1\) on node n2 .*waits until node n2 attests .*delete its Node object or taint it node\.kubernetes\.io\/out-of-service/

const dual = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])

const samePod: Readonly<Record<string, readonly Step[]>> = {
  'the same pod in a new sandbox takes its address over, alive or not; the late DEL of the old one touches nothing':
    [
      ['add', web('c1', 'u1'), '10.22.0.50', /^10\.22\.0\.50: annotation ipkeeper\.io\/ip$/],
      ['add', web('c2', 'u1'), '10.22.0.50', /takes over from container c1: a new sandbox of the same pod/],
      ['leases', ['10.22.0.50 bound shop/web-0 c2']],
      ['del', 'c1'],
      ['del', 'c1'],
      ['leases', ['10.22.0.50 bound shop/web-0 c2']],
      ['del', 'c2'],
      ['leases', ['10.22.0.50 cooling shop/web-0 -']],
    ],
  'a dynamic pod in a new sandbox keeps its address too': [
    ['add', plain('c1', 'u1'), '10.22.0.2', /lowest free address/],
    ['add', plain('c2', 'u1'), '10.22.0.2', /kept for shop\/job-runner/],
    ['del', 'c1'],
    ['leases', ['10.22.0.2 bound shop/job-runner c2']],
  ],
  'three sandboxes one after the other, DELs in any order: the newest keeps it': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', web('c2', 'u1'), '10.22.0.50'],
    ['add', web('c3', 'u1'), '10.22.0.50'],
    ['del', 'c2'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 bound shop/web-0 c3']],
  ],
  'a DEL before the ADD of the new sandbox, as kubelet does it: the pod gets its address back': [
    ['add', plain('c1', 'u1', { retain: '30m' }), '10.22.0.2'],
    ['del', 'c1'],
    ['add', plain('c2', 'u1', { retain: '30m' }), '10.22.0.2', /kept for shop\/job-runner/],
  ],
  'after a restart of the daemon the story goes on': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['restart'],
    ['add', web('c2', 'u1'), '10.22.0.50', /a new sandbox of the same pod/],
    ['restart'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 bound shop/web-0 c2']],
  ],
}

const anotherPod: Readonly<Record<string, readonly Step[]>> = {
  'a new pod of the holder waits while the old sandbox lives, and gets the address once it is deleted': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', web('c2', 'u2'), 'IPK_HOLDER_LIVE', stillHeld],
    ['leases', ['10.22.0.50 bound shop/web-0 c1']],
    ['del', 'c1'],
    ['add', web('c2', 'u2'), '10.22.0.50'],
  ],
  'the same with a retained address that nobody asked for': [
    ['add', plain('c1', 'u1', { retain: 'forever' }), '10.22.0.2'],
    ['add', plain('c2', 'u2', { retain: 'forever' }), 'IPK_HOLDER_LIVE', /^10\.22\.0\.2 is still held by/],
    ['del', 'c1'],
    ['add', plain('c2', 'u2', { retain: 'forever' }), '10.22.0.2', /kept for shop\/job-runner/],
  ],
  'the same with a reserved one': [
    ['reserve', '10.22.0.9', 'shop/job-runner'],
    ['add', plain('c1', 'u1'), '10.22.0.9', /reserved for this pod/],
    ['add', plain('c2', 'u2'), 'IPK_HOLDER_LIVE', /^10\.22\.0\.9 is still held by/],
    ['netns', 'c1', 'gone'],
    ['add', plain('c2', 'u2'), '10.22.0.9'],
  ],
  'the old sandbox is dead: its network namespace is gone': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['netns', 'c1', 'gone'],
    ['add', web('c2', 'u2'), '10.22.0.50', /takes over from container c1: the old sandbox is dead/],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 bound shop/web-0 c2']],
  ],
  'the old sandbox is dead: another namespace stands at its path': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['netns', 'c1', 'replaced'],
    ['add', web('c2', 'u2'), '10.22.0.50', /the old sandbox is dead/],
  ],
  'the old sandbox is dead: the node was booted since, though its path is there': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['reboot'],
    ['add', web('c2', 'u2'), '10.22.0.50', /the old sandbox is dead/],
  ],
  'half dead: a namespace that never was at its path proves nothing, until DEL or a boot': [
    ['add', web('c1', 'u1', { netns: '/nowhere/c1' }), '10.22.0.50'],
    [
      'add',
      web('c2', 'u2'),
      'IPK_HOLDER_LIVE',
      /network namespace \/nowhere\/c1 was none when it was added, which proves nothing/,
    ],
    ['reboot'],
    ['add', web('c2', 'u2'), '10.22.0.50', /the old sandbox is dead/],
  ],
  'a force-deleted pod of a StatefulSet: the new one waits for the sandbox that kubelet has not stopped yet':
    [
      ['add', web('c1', 'u1', { retain: 'while-owner-exists' }), '10.22.0.50'],
      ['add', web('c2', 'u2', { retain: 'while-owner-exists' }), 'IPK_HOLDER_LIVE', stillHeld],
      ['netns', 'c1', 'gone'],
      ['add', web('c2', 'u2', { retain: 'while-owner-exists' }), '10.22.0.50'],
      ['del', 'c1'],
      ['leases', ['10.22.0.50 bound shop/web-0 c2']],
      ['del', 'c2'],
      ['leases', ['10.22.0.50 held shop/web-0 -']],
    ],
  'a missing UID counts as another pod, old or new': [
    ['add', web('c1', null), '10.22.0.50'],
    ['add', web('c2', null), 'IPK_HOLDER_LIVE', /still held by shop\/web-0 \(without UID\)/],
    ['add', web('c2', 'u1'), 'IPK_HOLDER_LIVE'],
    ['netns', 'c1', 'gone'],
    ['add', web('c2', 'u1'), '10.22.0.50'],
    ['add', web('c3', null), 'IPK_HOLDER_LIVE', /\(UID u1\)/],
  ],
  'a purely dynamic pod never waits; the old address stays with its sandbox until its DEL': [
    ['add', plain('c1', 'u1'), '10.22.0.2'],
    [
      'add',
      plain('c2', 'u2'),
      '10.22.0.3',
      /older sandbox c1 of the same name may still be running: a new address; .*lowest free/,
    ],
    ['leases', ['10.22.0.2 bound shop/job-runner c1', '10.22.0.3 bound shop/job-runner c2']],
    ['del', 'c1'],
    ['leases', ['10.22.0.2 cooling shop/job-runner -', '10.22.0.3 bound shop/job-runner c2']],
  ],
  'also after several such pods each DEL ends its own': [
    ['add', plain('c1', 'u1'), '10.22.0.2'],
    ['add', plain('c2', 'u2'), '10.22.0.3'],
    ['add', plain('c3', 'u3'), '10.22.0.4'],
    ['del', 'c2'],
    [
      'leases',
      [
        '10.22.0.2 bound shop/job-runner c1',
        '10.22.0.3 cooling shop/job-runner -',
        '10.22.0.4 bound shop/job-runner c3',
      ],
    ],
  ],
  'a pod that has begun to ask waits for its older dynamic sandbox': [
    ['add', plain('c1', 'u1'), '10.22.0.2'],
    ['add', plain('c2', 'u2', { ip: '10.22.0.50' }), 'IPK_HOLDER_LIVE', /^10\.22\.0\.2 is still held by/],
  ],
  'and one with an address of the fallback: the message says who runs, not an address': [
    ['add', plain('c1', 'u1', { fallback: 'dhcp' }), 'left to dhcp'],
    [
      'add',
      plain('c2', 'u2', { ip: '10.22.0.50', fallback: 'dhcp' }),
      'IPK_HOLDER_LIVE',
      /^an older pod shop\/job-runner \(UID u1\) still runs on node n1 in container c1;/,
    ],
  ],
  'its list of candidates makes it wait as well': [
    ['add', plain('c1', 'u1', { pod: 'web-0', ips: '10.22.0.50-10.22.0.52' }), '10.22.0.50'],
    ['add', plain('c2', 'u2', { pod: 'web-0', ips: '10.22.0.50-10.22.0.52' }), 'IPK_HOLDER_LIVE', stillHeld],
  ],
}

const elsewhere: Readonly<Record<string, readonly Step[]>> = {
  'the old sandbox is on another node that lives, or of which nobody can tell': [
    ['add', web('c1', 'u1', { node: 'n2' }), '10.22.0.50'],
    ['netns', 'c1', 'gone'],
    ['add', web('c2', 'u2'), 'IPK_HOLDER_LIVE', otherNode],
    ['node', 'n2', 'present'],
    ['add', web('c2', 'u2'), 'IPK_HOLDER_LIVE', otherNode],
  ],
  'a dynamic pod does not wait for another node': [
    ['add', plain('c1', 'u1', { node: 'n2' }), '10.22.0.2'],
    ['add', plain('c2', 'u2'), '10.22.0.3', /may still be running: a new address/],
  ],
  'the Node is gone from the API': [
    ['add', web('c1', 'u1', { node: 'n2' }), '10.22.0.50'],
    ['node', 'n2', 'gone'],
    ['add', web('c2', 'u2'), '10.22.0.50', /the old sandbox is dead/],
    ['leases', ['10.22.0.50 bound shop/web-0 c2']],
  ],
  'the Node is tainted out-of-service; when it is back, its late DEL touches nothing': [
    ['add', web('c1', 'u1', { node: 'n2' }), '10.22.0.50'],
    ['node', 'n2', 'out-of-service'],
    ['add', web('c2', 'u2'), '10.22.0.50', /the old sandbox is dead/],
    ['node', 'n2', 'present'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 bound shop/web-0 c2']],
  ],
  'what was booted is known of this node only': [
    ['add', web('c1', 'u1', { node: 'n2' }), '10.22.0.50'],
    ['reboot'],
    ['add', web('c2', 'u2'), 'IPK_HOLDER_LIVE', otherNode],
  ],
}

const moved: Readonly<Record<string, readonly Step[]>> = {
  'an annotation that changed on restart moves the pod and frees the address it had': [
    ['add', web('c1', 'u1', { retain: 'forever' }), '10.22.0.50'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 held shop/web-0 -']],
    ['add', web('c2', 'u2', { ip: '10.22.0.60', retain: 'forever' }), '10.22.0.60'],
    ['leases', ['10.22.0.50 cooling shop/web-0 -', '10.22.0.60 bound shop/web-0 c2']],
    ['add', plain('c3', 'u3', { ip: '10.22.0.50' }), '10.22.0.50'],
  ],
  'with the old sandbox alive the same pod moves at once, and what the sandbox had is freed with it': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', web('c2', 'u1', { ip: '10.22.0.60' }), '10.22.0.60'],
    ['add', plain('c3', 'u3', { ip: '10.22.0.50' }), 'IPK_ADDRESS_HELD', /held by shop\/web-0 on node n1/],
    ['del', 'c1'],
    ['add', plain('c3', 'u3', { ip: '10.22.0.50' }), '10.22.0.50'],
  ],
  'an annotation that was removed while its address is kept: the pod gets it back, and lets it go': [
    ['add', web('c1', 'u1', { retain: 'forever' }), '10.22.0.50'],
    ['del', 'c1'],
    ['add', plain('c2', 'u2', { pod: 'web-0' }), '10.22.0.50', /kept for shop\/web-0/],
    ['del', 'c2'],
    ['leases', ['10.22.0.50 cooling shop/web-0 -']],
  ],
  'and while the old sandbox lives: it waits all the same': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', plain('c2', 'u2', { pod: 'web-0' }), 'IPK_HOLDER_LIVE', stillHeld],
  ],
  'one family moves, the other stays': [
    [
      'add',
      web('c1', 'u1', { pool: dual, ip: '10.22.0.50,fd00:22::50', retain: '30m' }),
      '10.22.0.50,fd00:22::50',
    ],
    ['del', 'c1'],
    ['add', web('c2', 'u2', { pool: dual, ip: '10.22.0.60', retain: '30m' }), '10.22.0.60,fd00:22::50'],
    [
      'leases',
      [
        '10.22.0.50 cooling shop/web-0 -',
        '10.22.0.60 bound shop/web-0 c2',
        'fd00:22::50 bound shop/web-0 c2',
      ],
    ],
  ],
}

const conflicts: Readonly<Record<string, readonly Step[]>> = {
  'somebody else has it': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    [
      'add',
      plain('c2', 'u2', { ip: '10.22.0.50' }),
      'IPK_ADDRESS_HELD',
      /^annotation ipkeeper\.io\/ip asks for 10\.22\.0\.50, which is held by shop\/web-0 on node n1 \(container c1, since 2026-01-01T00:00:00Z\); it comes free when that pod is deleted; ; choose another address for this pod, or delete shop\/web-0; see: ipkeeperctl leases$/,
    ],
  ],
  'it is kept for somebody until a moment': [
    ['add', web('c1', 'u1', { retain: '30m' }), '10.22.0.50'],
    ['del', 'c1'],
    [
      'add',
      plain('c2', 'u2', { ip: '10.22.0.50' }),
      'IPK_ADDRESS_KEPT',
      /held by shop\/web-0 on node n1 \(kept by retention since .*it comes free at 2026-01-01T00:30:00Z/,
    ],
    ['wait', 31 * minute],
    ['add', plain('c2', 'u2', { ip: '10.22.0.50' }), '10.22.0.50'],
  ],
  'it is kept while an owner exists that is known, or not': [
    [
      'add',
      web('c1', 'u1', {
        retain: 'while-owner-exists',
        owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 's1' },
      }),
      '10.22.0.50',
    ],
    ['add', web('c2', 'u1', { pod: 'db-0', ip: '10.22.0.51', retain: 'while-owner-exists' }), '10.22.0.51'],
    ['del', 'c1'],
    ['del', 'c2'],
    [
      'add',
      plain('c3', 'u3', { ip: '10.22.0.50' }),
      'IPK_ADDRESS_HELD',
      /it comes free when StatefulSet shop\/web is deleted/,
    ],
    [
      'add',
      plain('c3', 'u3', { ip: '10.22.0.51' }),
      'IPK_ADDRESS_HELD',
      /is not released automatically, because its owner is not known/,
    ],
  ],
  'replicas of a StatefulSet that all ask for one address: told what they need': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    [
      'add',
      web('c2', 'u2', { pod: 'web-1' }),
      'IPK_ADDRESS_HELD',
      /held by shop\/web-0 .*give StatefulSet shop\/web a list with one address per replica: ipkeeper\.io\/ips/,
    ],
  ],
  'somebody else whose sandbox is dead keeps it all the same: only its own name may take it': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['netns', 'c1', 'gone'],
    ['add', plain('c2', 'u2', { ip: '10.22.0.50' }), 'IPK_ADDRESS_HELD', /held by shop\/web-0/],
  ],
}

tellStories(t, { ...samePod, ...anotherPod, ...elsewhere, ...moved, ...conflicts })
