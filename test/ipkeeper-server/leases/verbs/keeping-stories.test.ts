/** Who an address is promised to, how long it is kept, how many a namespace may have, and which is given next. */
import t from 'tap'
import { configured, minute, owned, tellStories, type Step } from '../story.ts'
import { poolFrom, type PodWords } from '../test-service.ts'

/** A pod that is served by the pools of the configuration, whichever allow it. */
const pod = (name: string, container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: name,
  container,
  configured: [],
  network: 'net',
  ...patch,
})
const bound = (address: string, name: string, container: string): string =>
  `${address} bound shop/${name} ${container}`

const reservations: Readonly<Record<string, readonly Step[]>> = {
  'reserved addresses are never given dynamically, not even the last one': [
    ['configure', configured('tiny', [['10.22.0.0/29']])],
    ['reserve', '10.22.0.2', 'shop/web-0'],
    ['reserve', '10.22.0.3', 'external:printer-3'],
    ['reserve', '10.22.0.4', 'shop/deployment/api'],
    ['add', pod('a', 'c1'), '10.22.0.5'],
    ['add', pod('b', 'c2'), '10.22.0.6'],
    ['add', pod('c', 'c3'), 'IPK_POOL_FULL', /5 addresses, 2 in use, 3 kept or reserved/],
    ['add', pod('web-0', 'c4'), '10.22.0.2', /reserved for this pod/],
  ],
  'after a lease of its owner it is reserved still, also beyond a restart': [
    ['reserve', '10.22.0.2', 'shop/web-0'],
    ['add', { pod: 'web-0', container: 'c1' }, '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 60 * minute],
    ['restart'],
    ['add', { pod: 'a', container: 'c2' }, '10.22.0.3'],
    ['add', { pod: 'web-0', container: 'c3' }, '10.22.0.2'],
    ['del', 'c3'],
    ['unreserve', '10.22.0.2'],
    ['wait', 2 * minute],
    ['add', { pod: 'b', container: 'c4' }, '10.22.0.2', /lowest free/],
  ],
  "a workload's go to its pods first, any of them, and then to others of it dynamic ones": [
    ['reserve', '10.22.0.9', 'shop/deploy/api'],
    ['reserve', '10.22.0.10', 'shop/Deployment/api'],
    ['add', { pod: 'web-6d4cf56db6-x2x5z', container: 'c0' }, '10.22.0.2', /lowest free/],
    ['add', { pod: 'api-6d4cf56db6-x2x5z', container: 'c1' }, '10.22.0.9', /reserved for this workload/],
    [
      'add',
      { pod: 'api-6d4cf56db6-b4d5f', container: 'c2', owner: owned('Deployment', 'api') },
      '10.22.0.10',
    ],
    ['add', { pod: 'api-6d4cf56db6-g6h7j', container: 'c3' }, '10.22.0.3', /lowest free/],
    ['add', { pod: 'api-6d4cf56db6-x2x5z', namespace: 'other', container: 'c4' }, '10.22.0.4'],
    ['del', 'c1'],
    ['add', { pod: 'api-7c8b9d5f44-k8l9m', container: 'c5' }, '10.22.0.9'],
  ],
  "a pod's own come before its workload's": [
    ['reserve', '10.22.0.9', 'shop/sts/web'],
    ['reserve', '10.22.0.10', 'shop/web-0'],
    ['add', { pod: 'web-0', container: 'c1' }, '10.22.0.10', /reserved for this pod/],
    ['add', { pod: 'web-1', container: 'c2' }, '10.22.0.9', /reserved for this workload/],
  ],
  'a kind is that kind: what is for a StatefulSet is not for a DaemonSet of that name, known or not': [
    ['reserve', '10.22.0.9', 'shop/statefulset/web'],
    ['add', { pod: 'web-x2x5z', container: 'c1' }, '10.22.0.2'],
    ['add', { pod: 'web-b4d5f', container: 'c2', owner: owned('DaemonSet', 'web') }, '10.22.0.3'],
    ['add', { pod: 'web', container: 'c3' }, '10.22.0.4'],
    ['add', { pod: 'web-7', container: 'c4' }, '10.22.0.9'],
  ],
  'what is for a DaemonSet is for pods that may be its': [
    ['reserve', '10.22.0.9', 'shop/ds/agent'],
    ['add', { pod: 'agent-x2x5z', container: 'c1' }, '10.22.0.9', /reserved for this workload/],
  ],
  'asked for by name: the owner has it, others are told whose it is': [
    ['reserve', '10.22.0.9', 'shop/statefulset/web'],
    ['reserve', '10.22.0.10', 'external:printer-3'],
    [
      'add',
      { pod: 'a', container: 'c1', ip: '10.22.0.9' },
      'IPK_ADDRESS_RESERVED',
      /asks for 10\.22\.0\.9, which is reserved for StatefulSet shop\/web; ; choose another address, or: ipkeeperctl unreserve 10\.22\.0\.9$/,
    ],
    [
      'add',
      { pod: 'printer-3', container: 'c2', ip: '10.22.0.10' },
      'IPK_ADDRESS_RESERVED',
      /reserved for external:printer-3/,
    ],
    ['add', { pod: 'web-0', container: 'c3', ip: '10.22.0.9' }, '10.22.0.9'],
  ],
  'in a list of candidates the reserved one comes first for its owner, and is passed over by others': [
    ['reserve', '10.22.0.51', 'shop/deployment/api'],
    ['add', { pod: 'web-6d4cf56db6-x2x5z', container: 'c1', ips: '10.22.0.51,10.22.0.52' }, '10.22.0.52'],
    [
      'add',
      { pod: 'api-6d4cf56db6-x2x5z', container: 'c2', ips: '10.22.0.50-10.22.0.52' },
      '10.22.0.51',
      /the one reserved for this workload/,
    ],
    ['add', { pod: 'api-6d4cf56db6-b4d5f', container: 'c3', ips: '10.22.0.50-10.22.0.52' }, '10.22.0.50'],
  ],
  'a list of which all is reserved for others says for whom': [
    ['reserve', '10.22.0.50', 'external:printer-3'],
    ['reserve', '10.22.0.51', 'shop/web-0'],
    [
      'add',
      { pod: 'a', container: 'c1', ips: '10.22.0.50-10.22.0.51' },
      'IPK_CANDIDATES_TAKEN',
      /all 2 addresses are taken: 10\.22\.0\.50 reserved for external:printer-3, 10\.22\.0\.51 reserved for shop\/web-0;/,
    ],
  ],
  'with a fallback: who has a reservation is served here, until it is in use': [
    ['reserve', '10.22.0.9', 'shop/deployment/api'],
    ['add', { pod: 'api-6d4cf56db6-x2x5z', container: 'c1', fallback: 'dhcp' }, '10.22.0.9'],
    ['add', { pod: 'api-6d4cf56db6-b4d5f', container: 'c2', fallback: 'dhcp' }, 'left to dhcp'],
  ],
}

/** What becomes of an address after its DEL, for each kind of pod. */
const kinds: Readonly<Record<string, readonly [name: string, again: string]>> = {
  'a bare pod': ['printer', 'printer'],
  'a pod of a StatefulSet': ['web-0', 'web-0'],
  'a pod of a Deployment': ['api-6d4cf56db6-x2x5z', 'api-7c8b9d5f44-b4d5f'],
  'a pod of a DaemonSet': ['agent-x2x5z', 'agent-b4d5f'],
}
const retention = Object.fromEntries(
  Object.entries(kinds).flatMap(([kind, [name, again]]) => {
    const story = (retain: string, steps: readonly Step[]): [string, readonly Step[]] => [
      `${kind}, ${retain}`,
      [['add', { pod: name, container: 'c1', retain }, '10.22.0.2'], ['del', 'c1'], ...steps],
    ]
    const kept: Step = ['leases', [`10.22.0.2 held shop/${name} -`]]
    const refused: Step = [
      'add',
      { pod: 'x', container: 'x1', ip: '10.22.0.2' },
      'IPK_ADDRESS_HELD',
      /kept by retention/,
    ]
    const comesBack: Step = ['add', { pod: again, container: 'c2' }, '10.22.0.2', /kept for/]
    return [
      story('release', [
        ['leases', [`10.22.0.2 cooling shop/${name} -`]],
        ['add', { pod: 'x', container: 'x1' }, '10.22.0.3', /lowest free/],
        ['wait', minute],
        ['leases', ['10.22.0.3 bound shop/x x1']],
        ['add', { pod: 'y', container: 'y1' }, '10.22.0.2', /lowest free/],
      ]),
      story('30m', [
        kept,
        ['wait', 29 * minute],
        [
          'add',
          { pod: 'x', container: 'x1', ip: '10.22.0.2' },
          'IPK_ADDRESS_KEPT',
          /comes free at 2026-01-01T00:30:00Z/,
        ],
        ['wait', minute],
        ['leases', []],
        ['add', { pod: 'y', container: 'y1' }, '10.22.0.2', /lowest free/],
      ]),
      story('30m', [kept, ['wait', 29 * minute], comesBack]),
      ...(['while-owner-exists', 'forever'] as const).map(retain =>
        story(retain, [['wait', 1000 * 24 * 60 * minute], kept, refused, ['restart'], comesBack]),
      ),
    ].map(([title, steps], index) => [`${title} (${index + 1})`, steps] as const)
  }),
)

const policies: Readonly<Record<string, readonly Step[]>> = {
  "the pool's retention is for pods that say nothing; a pod that says release is released": [
    ['configure', configured('kept', [['10.22.0.0/24']], { policy: { retention: 'forever' } })],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['add', pod('b', 'c2', { retain: 'release' }), '10.22.0.3'],
    ['del', 'c1'],
    ['del', 'c2'],
    ['leases', ['10.22.0.2 held shop/a -', '10.22.0.3 cooling shop/b -']],
  ],
  'each pool has its own cool-down, and its own rest after a request by name': [
    [
      'configure',
      configured('slow', [['10.22.0.0/24']], { policy: { cooldown: 10 * minute, preferFor: 20 * minute } }),
      configured('quick', [['10.23.0.0/24']], { policy: { cooldown: 1000, preferFor: 2000 } }),
    ],
    ['add', pod('a', 'c1', { pools: ['slow'] }), '10.22.0.2'],
    ['add', pod('b', 'c2', { pools: ['slow'], ip: '10.22.0.3' }), '10.22.0.3'],
    ['add', pod('c', 'c3', { pools: ['quick'] }), '10.23.0.2'],
    ['del', 'c1'],
    ['del', 'c2'],
    ['del', 'c3'],
    ['wait', 5 * minute],
    ['add', pod('d', 'd1', { pools: ['slow'] }), '10.22.0.4'],
    ['add', pod('e', 'e1', { pools: ['quick'] }), '10.23.0.2'],
    ['wait', 10 * minute],
    ['add', pod('f', 'f1', { pools: ['slow'] }), '10.22.0.2'],
    ['add', pod('g', 'g1', { pools: ['slow'] }), '10.22.0.5'],
    ['wait', 5 * minute],
    ['add', pod('h', 'h1', { pools: ['slow'] }), '10.22.0.3'],
  ],
}

const two = { rules: { quotaPerNamespace: 2 } }
const quotaText =
  /^namespace shop may have 2 IPv4 addresses of pool prod, and has 2;.*raise "quotaPerNamespace"/

const quota: Readonly<Record<string, readonly Step[]>> = {
  'a namespace has at most so many, other namespaces have their own': [
    ['configure', configured('prod', [['10.22.0.0/24']], two)],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['add', pod('b', 'c2'), '10.22.0.3'],
    ['add', pod('c', 'c3'), 'IPK_QUOTA', quotaText],
    ['leases', [bound('10.22.0.2', 'a', 'c1'), bound('10.22.0.3', 'b', 'c2')]],
    ['add', pod('c', 'c3', { namespace: 'other' }), '10.22.0.4'],
    ['del', 'c1'],
    ['add', pod('c', 'c4'), '10.22.0.5'],
  ],
  'also by exact request and from a list': [
    ['configure', configured('prod', [['10.22.0.0/24']], two)],
    ['add', pod('a', 'c1', { ip: '10.22.0.50' }), '10.22.0.50'],
    ['add', pod('b', 'c2', { ips: '10.22.0.60-10.22.0.69' }), '10.22.0.60'],
    ['add', pod('c', 'c3', { ip: '10.22.0.51' }), 'IPK_QUOTA', quotaText],
    ['add', pod('c', 'c3', { ips: '10.22.0.60-10.22.0.69' }), 'IPK_QUOTA', quotaText],
  ],
  'of each family so many: a dual stack pod counts as one in each': [
    ['configure', configured('prod', [['10.22.0.0/24'], ['fd00:22::/64']], two)],
    ['add', pod('a', 'c1'), '10.22.0.2,fd00:22::2'],
    ['add', pod('b', 'c2'), '10.22.0.3,fd00:22::3'],
    ['add', pod('c', 'c3'), 'IPK_QUOTA', quotaText],
  ],
  'two range sets of one family count twice': [
    ['configure', configured('prod', [['10.22.0.0/24'], ['10.23.0.0/24']], two)],
    ['add', pod('a', 'c1'), '10.22.0.2,10.23.0.2'],
    ['add', pod('b', 'c2'), 'IPK_QUOTA', quotaText],
  ],
  'kept ones count until their time is over; resting ones do not': [
    ['configure', configured('prod', [['10.22.0.0/24']], two)],
    ['add', pod('a', 'c1', { retain: '30m' }), '10.22.0.2'],
    ['add', pod('b', 'c2'), '10.22.0.3'],
    ['del', 'c1'],
    ['add', pod('c', 'c3'), 'IPK_QUOTA', quotaText],
    ['wait', 30 * minute],
    ['add', pod('c', 'c3'), '10.22.0.2'],
    ['del', 'c2'],
    ['add', pod('d', 'c4'), '10.22.0.4'],
  ],
  'nor kept ones whose time is over by a clock that was set': [
    ['configure', configured('prod', [['10.22.0.0/24']], two)],
    ['add', pod('a', 'c1', { retain: '30m' }), '10.22.0.2'],
    ['add', pod('b', 'c2'), '10.22.0.3'],
    ['del', 'c1'],
    ['clock', 30 * minute - 1],
    ['add', pod('c', 'c3', { ips: '10.22.0.4-10.22.0.5' }), 'IPK_QUOTA', quotaText],
    ['clock', 1],
    ['add', pod('c', 'c3', { ips: '10.22.0.4-10.22.0.5' }), '10.22.0.4'],
    ['add', pod('a', 'c4', { retain: '30m' }), 'IPK_QUOTA', quotaText],
    ['del', 'c2'],
    ['add', pod('a', 'c4', { retain: '30m' }), '10.22.0.2'],
  ],
  'a takeover does not count twice, nor a kept address that its pod comes back for': [
    ['configure', configured('prod', [['10.22.0.0/24']], two)],
    ['add', pod('a', 'c1', { uid: 'u1', retain: 'forever' }), '10.22.0.2'],
    ['add', pod('b', 'c2', { uid: 'u2' }), '10.22.0.3'],
    ['add', pod('a', 'c3', { uid: 'u1', retain: 'forever' }), '10.22.0.2'],
    ['del', 'c1'],
    ['del', 'c3'],
    ['add', pod('a', 'c4', { uid: 'u3', retain: 'forever' }), '10.22.0.2'],
    ['add', pod('c', 'c5'), 'IPK_QUOTA', quotaText],
  ],
  'a pod that moves to another address gives one back': [
    ['configure', configured('prod', [['10.22.0.0/24']], two)],
    ['add', pod('a', 'c1', { ip: '10.22.0.50', retain: 'forever' }), '10.22.0.50'],
    ['add', pod('b', 'c2'), '10.22.0.2'],
    ['del', 'c1'],
    ['add', pod('a', 'c3', { ip: '10.22.0.51' }), '10.22.0.51'],
    [
      'leases',
      [bound('10.22.0.2', 'b', 'c2'), '10.22.0.50 cooling shop/a -', bound('10.22.0.51', 'a', 'c3')],
    ],
  ],
  'but not while its old sandbox has it': [
    ['configure', configured('prod', [['10.22.0.0/24']], two)],
    ['add', pod('a', 'c1', { uid: 'u1', ip: '10.22.0.50' }), '10.22.0.50'],
    ['add', pod('b', 'c2'), '10.22.0.2'],
    ['add', pod('a', 'c3', { uid: 'u1', ip: '10.22.0.51' }), 'IPK_QUOTA', quotaText],
  ],
  'what is inherited counts once': [
    ['configure', configured('prod', [['10.22.0.0/24']], two)],
    ['add', pod('api-6d4cf56db6-x2x5z', 'c1', { retain: 'forever' }), '10.22.0.2'],
    ['add', pod('api-6d4cf56db6-b4d5f', 'c2', { retain: 'forever' }), '10.22.0.3'],
    ['del', 'c1'],
    ['add', pod('api-7c8b9d5f44-g6h7j', 'c3', { retain: 'forever' }), '10.22.0.2', /kept for Deployment/],
    ['add', pod('api-7c8b9d5f44-k8l9m', 'c4', { retain: 'forever' }), 'IPK_QUOTA', quotaText],
    ['del', 'c2'],
    ['add', pod('api-7c8b9d5f44-k8l9m', 'c4', { retain: 'forever' }), '10.22.0.3'],
  ],
  'lowered below what is in use: running pods go on and restart, new ones wait': [
    ['configure', configured('prod', [['10.22.0.0/24']])],
    ['add', pod('a', 'c1', { uid: 'u1' }), '10.22.0.2'],
    ['add', pod('b', 'c2', { uid: 'u2' }), '10.22.0.3'],
    ['add', pod('c', 'c3', { uid: 'u3' }), '10.22.0.4'],
    ['configure', configured('prod', [['10.22.0.0/24']], { rules: { quotaPerNamespace: 1 } })],
    ['add', pod('a', 'c4', { uid: 'u1' }), '10.22.0.2'],
    ['add', pod('d', 'c5'), 'IPK_QUOTA', /may have 1 IPv4 address of pool prod, and has 3/],
    ['del', 'c2'],
    ['del', 'c3'],
    ['add', pod('d', 'c5'), 'IPK_QUOTA', /and has 1/],
    ['del', 'c4'],
    ['add', pod('d', 'c5'), '10.22.0.5'],
  ],
  'the next pool when one is used up': [
    ['configure', configured('prod', [['10.22.0.0/24']], two), configured('spare', [['10.23.0.0/24']])],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['add', pod('b', 'c2'), '10.22.0.3'],
    ['add', pod('c', 'c3'), '10.23.0.2'],
    ['add', pod('d', 'c4', { pools: ['prod'] }), 'IPK_QUOTA', quotaText],
  ],
  'containers without a pod are no namespace': [
    ['configure', configured('prod', [['10.22.0.0/24']], { rules: { quotaPerNamespace: 1 } })],
    ['add', { container: 'c1', configured: [], network: 'net' }, '10.22.0.2'],
    ['add', { container: 'c2', configured: [], network: 'net' }, '10.22.0.3'],
  ],
}

/** Gives .2 to .6. */
const five = '10.22.0.0/29'
const lru = configured('ring', [[five]], { policy: { strategy: 'least-recently-used' } })
const lowest = configured('ring', [[five]])

const strategies: Readonly<Record<string, readonly Step[]>> = {
  'lowest free: the same address comes again after its rest': [
    ['configure', lowest],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 2 * minute],
    ['add', pod('b', 'c2'), '10.22.0.2', /lowest free address/],
  ],
  'least recently used: each once before any again, then the one that was used longest ago': [
    ['configure', lru],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['add', pod('b', 'c2'), '10.22.0.3'],
    ['del', 'c2'],
    ['wait', 2 * minute],
    ['del', 'c1'],
    ['wait', 2 * minute],
    ['add', pod('c', 'c3'), '10.22.0.4', /lowest free address/],
    ['add', pod('d', 'c4'), '10.22.0.5'],
    ['add', pod('e', 'c5'), '10.22.0.6'],
    ['add', pod('f', 'c6'), '10.22.0.3', /every address was used before: the least recently used/],
    ['del', 'c4'],
    ['wait', 2 * minute],
    ['add', pod('g', 'c7'), '10.22.0.2', /the least recently used/],
    ['add', pod('h', 'c8'), '10.22.0.5', /the least recently used/],
    ['add', pod('i', 'c9'), 'IPK_POOL_FULL'],
  ],
  'it is known across a restart': [
    ['configure', lru],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['add', pod('b', 'c2'), '10.22.0.3'],
    ['add', pod('c', 'c3'), '10.22.0.4'],
    ['del', 'c3'],
    ['wait', 1000],
    ['del', 'c1'],
    ['wait', 1000],
    ['del', 'c2'],
    ['wait', 5 * minute],
    ['restart'],
    ['leases', []],
    ['add', pod('d', 'd1'), '10.22.0.5'],
    ['add', pod('e', 'e1'), '10.22.0.6'],
    ['add', pod('f', 'f1'), '10.22.0.4'],
    ['restart'],
    ['add', pod('g', 'g1'), '10.22.0.2'],
    ['add', pod('h', 'h1'), '10.22.0.3'],
  ],
  'what was kept for a while counts as used until its DEL, not as never used': [
    ['configure', lru],
    ['add', pod('a', 'c1', { retain: '30m' }), '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 31 * minute],
    ['leases', []],
    ['add', pod('b', 'c2'), '10.22.0.3', /lowest free/],
  ],
  'a request by name takes a remembered address, and its own pod has it again': [
    ['configure', lru],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 2 * minute],
    ['add', pod('b', 'c2', { ip: '10.22.0.2' }), '10.22.0.2'],
    ['del', 'c2'],
    ['add', pod('c', 'c3', { ips: '10.22.0.2-10.22.0.3' }), '10.22.0.3', /first free/],
    ['add', pod('d', 'c4', { ips: '10.22.0.2-10.22.0.3' }), '10.22.0.2', /only cooling down/],
  ],
  'all rest: the longest rested is given, never one that a pod had asked for by name': [
    ['configure', lru],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['add', pod('b', 'c2', { ip: '10.22.0.3' }), '10.22.0.3'],
    ['add', pod('c', 'c3'), '10.22.0.4'],
    ['add', pod('d', 'c4'), '10.22.0.5'],
    ['add', pod('e', 'c5'), '10.22.0.6'],
    ['del', 'c2'],
    ['wait', 1000],
    ['del', 'c3'],
    ['wait', 1000],
    ['del', 'c1'],
    ['add', pod('f', 'f1'), '10.22.0.4', /the one that has cooled down longest/],
    ['add', pod('g', 'g1'), '10.22.0.2'],
    ['add', pod('h', 'h1'), 'IPK_POOL_FULL'],
    ['wait', 10 * minute],
    ['add', pod('h', 'h1'), '10.22.0.3', /the least recently used/],
  ],
  'back to lowest free: what is remembered is given last until it is forgotten': [
    ['configure', lru],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 2 * minute],
    ['configure', lowest],
    ['add', pod('b', 'c2'), '10.22.0.3'],
    ['forget'],
    ['add', pod('c', 'c3'), '10.22.0.2', /lowest free address/],
  ],
  'forgotten while it rests: it goes on resting': [
    ['configure', lru],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['configure', lowest],
    ['forget'],
    ['leases', ['10.22.0.2 cooling shop/a -']],
    ['add', pod('b', 'c2'), '10.22.0.3'],
    ['wait', 2 * minute],
    ['add', pod('c', 'c3'), '10.22.0.2', /lowest free address/],
  ],
  'a pool that was renamed leaves nothing remembered behind': [
    ['configure', lru],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 2 * minute],
    ['configure', configured('circle', [[five]], { policy: { strategy: 'least-recently-used' } })],
    ['forget'],
    ['add', pod('b', 'c2'), '10.22.0.2', /lowest free address/],
  ],
}

const offers: Readonly<Record<string, readonly Step[]>> = {
  'the next pool when one is full, the first of the file that has room': [
    ['configure', configured('small', [['10.22.0.0/30']]), configured('large', [['10.23.0.0/24']])],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['add', pod('b', 'c2'), '10.23.0.2'],
    ['del', 'c1'],
    ['wait', 2 * minute],
    ['add', pod('c', 'c3'), '10.22.0.2'],
  ],
  'a pool with something of its own comes before one that is earlier in the file': [
    ['configure', configured('second', [['10.23.0.0/24']])],
    ['add', pod('a', 'c1', { retain: 'forever' }), '10.23.0.2'],
    ['del', 'c1'],
    ['configure', configured('first', [['10.22.0.0/24']]), configured('second', [['10.23.0.0/24']])],
    ['add', pod('a', 'c2'), '10.23.0.2', /kept for shop\/a/],
    ['add', pod('b', 'c3'), '10.22.0.2'],
  ],
  'one with something reserved for it or its workload, too': [
    ['configure', configured('first', [['10.22.0.0/24']]), configured('second', [['10.23.0.0/24']])],
    ['reserve', '10.23.0.9', 'shop/a'],
    ['reserve', '10.23.0.10', 'shop/deploy/api'],
    ['add', pod('a', 'c1'), '10.23.0.9', /reserved for this pod/],
    ['add', pod('api-6d4cf56db6-x2x5z', 'c2'), '10.23.0.10', /reserved for this workload/],
    ['add', pod('api-6d4cf56db6-b4d5f', 'c3'), '10.22.0.2', /lowest free/],
  ],
  'one with something kept for its workload, too': [
    ['configure', configured('second', [['10.23.0.0/24']])],
    ['add', pod('api-6d4cf56db6-x2x5z', 'c1', { retain: 'forever' }), '10.23.0.2'],
    ['del', 'c1'],
    ['configure', configured('first', [['10.22.0.0/24']]), configured('second', [['10.23.0.0/24']])],
    ['add', pod('api-7c8b9d5f44-b4d5f', 'c2'), '10.23.0.2', /kept for Deployment/],
  ],
  'the pool that an annotation names replaces the one it had; its old address is freed': [
    ['configure', configured('first', [['10.22.0.0/24']]), configured('second', [['10.23.0.0/24']])],
    ['add', pod('a', 'c1', { pools: ['first'], retain: 'forever' }), '10.22.0.2'],
    ['del', 'c1'],
    ['add', pod('a', 'c2', { pools: ['second'] }), '10.23.0.2'],
    ['leases', ['10.22.0.2 cooling shop/a -', bound('10.23.0.2', 'a', 'c2')]],
  ],
  'two pools serve a dual stack pod, all or nothing': [
    ['configure', configured('four', [['10.22.0.0/24']]), configured('six', [['fd00:22::/126']])],
    ['add', pod('a', 'c1', { pools: ['four', 'six'] }), '10.22.0.2,fd00:22::2'],
    ['add', pod('b', 'c2', { pools: ['six', 'four'] }), 'fd00:22::3,10.22.0.3'],
    ['add', pod('c', 'c3', { pools: ['four', 'six'] }), 'IPK_POOL_FULL', /pool six is full/],
    [
      'leases',
      [
        bound('10.22.0.2', 'a', 'c1'),
        bound('10.22.0.3', 'b', 'c2'),
        bound('fd00:22::2', 'a', 'c1'),
        bound('fd00:22::3', 'b', 'c2'),
      ],
    ],
  ],
  "a dialect's gateway has to be the pool's own": [
    ['add', { pod: 'a', container: 'c1', ip: '10.22.0.50', gateway: '10.22.0.1' }, '10.22.0.50'],
    [
      'add',
      { pod: 'b', container: 'c2', ip: '10.22.0.51', gateway: '10.22.0.254' },
      'IPK_GATEWAY_MISMATCH',
      /^annotation ipkeeper\.generals\.space\/gateway names gateway 10\.22\.0\.254, but the gateway of pool net is 10\.22\.0\.1/,
    ],
    [
      'add',
      { pod: 'b', container: 'c2', gateway: 'fd00::1', pool: poolFrom('net', ['10.22.0.0/24']) },
      'IPK_GATEWAY_MISMATCH',
      /but the pod gets no IPv6 address/,
    ],
    ['leases', [bound('10.22.0.50', 'a', 'c1')]],
  ],
}

tellStories(t, { ...reservations, ...retention, ...policies, ...quota, ...strategies, ...offers })
