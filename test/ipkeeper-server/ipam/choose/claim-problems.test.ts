/** What is said about an address that somebody has or keeps: when it comes free, and what can be done about it. */
import t from 'tap'
import {
  moveLine,
  releaseLine,
  unreserveLine,
} from '../../../../ipkeeper-server/ipam/choose/claim-problems.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { configured, owned, tellStories, type Step } from '../../leases/story.ts'
import { type PodWords, TestService, poolFrom, web } from '../../leases/test-service.ts'

const leases = '; see: ipkeeperctl leases'
const giveUp = 'choose another address, or end it now: ipkeeperctl release 10.22.0.2'

const cases: readonly (readonly [
  name: string,
  holder: PodWords,
  ends: boolean,
  code: string,
  free: string,
  hint: string,
])[] = [
  [
    'a pod has it',
    { pod: 'kf', container: 'c1' },
    false,
    'IPK_ADDRESS_HELD',
    'it comes free when that pod is deleted',
    'choose another address for this pod, or delete shop/kf',
  ],
  [
    'a container without a pod has it',
    { container: 'c1' },
    false,
    'IPK_ADDRESS_HELD',
    'it comes free when that container is deleted',
    'choose another address for this pod, or delete container c1',
  ],
  [
    'kept for a while',
    { pod: 'kf', container: 'c1', retain: '30m' },
    true,
    'IPK_ADDRESS_KEPT',
    'it comes free at 2026-01-01T00:30:00Z',
    `shop/kf is gone: wait, or ${giveUp}`,
  ],
  [
    'kept for ever',
    { pod: 'kf', container: 'c1', retain: 'forever' },
    true,
    'IPK_ADDRESS_HELD',
    'it is not released automatically',
    `shop/kf is gone: ${giveUp}`,
  ],
  [
    'kept for a container, which does not come again',
    { container: 'c1', retain: '30m' },
    true,
    'IPK_ADDRESS_KEPT',
    'it comes free at 2026-01-01T00:30:00Z',
    `container c1 is gone: wait, or ${giveUp}`,
  ],
]
for (const [name, holder, ends, code, free, hint] of cases) {
  t.test(name, async t => {
    const story = await TestService.open()
    await story.add(holder)
    if (ends) await story.del('c1')
    for (const asked of [{ ip: '10.22.0.2' }, { cniIp: '10.22.0.2' }]) {
      const problem = await story.problem({ pod: 'other', container: 'c2', ...asked })
      t.match(problem, { code, hint: hint + leases })
      t.ok(`${problem.message} ${problem.details}`.trim().endsWith(free), problem.message)
    }
  })
}

t.test('a kept address is given up in the way that the hint names', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'kf', container: 'c1', retain: 'forever' })
  await story.del('c1')
  t.equal(await story.add({ pod: 'kf', container: 'c2', retain: 'release' }), '10.22.0.2')
  await story.del('c2')
  t.equal(await story.add({ pod: 'other', container: 'c3', ip: '10.22.0.2' }), '10.22.0.2')
})

t.test('what hints say to type, with the segment where it is not the default one', t => {
  const owner = 'shop/db-0'
  for (const [segment, release, unreserve, move] of [
    [
      'default',
      'ipkeeperctl release 10.22.0.9',
      'ipkeeperctl unreserve 10.22.0.9',
      'ipkeeperctl move 10.22.0.9 shop/db-0',
    ],
    [
      'lab',
      'ipkeeperctl release 10.22.0.9 --segment lab',
      'ipkeeperctl unreserve 10.22.0.9 --segment lab',
      'ipkeeperctl move 10.22.0.9 shop/db-0 --segment lab',
    ],
  ] as const) {
    const key = { segment, address: '10.22.0.9' }
    t.strictSame([releaseLine(key), unreserveLine(key), moveLine(key, owner)], [release, unreserve, move])
  }
  t.end()
})

t.test('a reservation is taken back where it is', async t => {
  const story = await TestService.open()
  await reserve(story.service, { segment: 'default', address: '10.22.0.9', owner: 'shop/db-0', note: '' })
  t.match(await story.problem({ pod: 'other', container: 'c1', ip: '10.22.0.9' }), {
    hint: 'choose another address, or: ipkeeperctl unreserve 10.22.0.9',
  })
  story.pool = { ...story.pool, name: 'lab', segment: 'lab' }
  await reserve(story.service, { segment: 'lab', address: '10.22.0.9', owner: 'shop/db-0', note: '' })
  t.match(await story.problem({ pod: 'other', container: 'c1', ip: '10.22.0.9' }), {
    hint: 'choose another address, or: ipkeeperctl unreserve 10.22.0.9 --segment lab',
  })
})

const other = (patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'kf',
  container: 'k1',
  ip: '10.22.0.50',
  ...patch,
})
const kept = { retain: 'while-owner-exists' }
const lists = { ips: '10.22.0.50-10.22.0.51' }
const open = { configured: [], network: 'net' }

const stories: Readonly<Record<string, readonly Step[]>> = {
  'kept as long as its owner is there': [
    ['add', web('c1', 'u1', { ...kept, owner: owned('StatefulSet', 'web') }), '10.22.0.50'],
    ['del', 'c1'],
    ['add', other(), 'IPK_ADDRESS_HELD', /it comes free when StatefulSet shop\/web is deleted/],
  ],
  'kept as long as an owner is there whom nobody knows': [
    ['add', web('c1', 'u1', kept), '10.22.0.50'],
    ['del', 'c1'],
    ['add', other(), 'IPK_ADDRESS_HELD', /it is not released automatically, because its owner is not known/],
  ],
  'two replicas that ask for one address need a list': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    [
      'add',
      web('c2', 'u2', { pod: 'web-1' }),
      'IPK_ADDRESS_HELD',
      /give StatefulSet shop\/web a list with one address per replica: ipkeeper\.io\/ips/,
    ],
  ],
  'by a channel of CNI nothing is said of lists': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    [
      'add',
      { pod: 'web-1', container: 'c2', cniIp: '10.22.0.50' },
      'IPK_ADDRESS_HELD',
      /^failed to allocate for range 0: requested IP address 10\.22\.0\.50 is not available.*choose another address for this pod, or delete shop\/web-0/,
    ],
  ],
  'a rollout that goes on only once older pods are gone': [
    [
      'add',
      { pod: 'agent-x2x5z', container: 'c1', owner: owned('DaemonSet', 'agent'), ip: '10.22.0.50' },
      '10.22.0.50',
    ],
    [
      'add',
      { pod: 'agent-b4d5f', container: 'c2', owner: owned('DaemonSet', 'agent'), ip: '10.22.0.50' },
      'IPK_CANDIDATES_BUSY',
      /wait until older pods of DaemonSet shop\/agent are gone: set maxSurge 0/,
    ],
  ],
  'a Job has no rollout, and needs an address per pod': [
    [
      'add',
      { pod: 'import-x2x5z', container: 'c1', owner: owned('Job', 'import'), ip: '10.22.0.50' },
      '10.22.0.50',
    ],
    [
      'add',
      { pod: 'import-b4d5f', container: 'c2', owner: owned('Job', 'import'), ip: '10.22.0.50' },
      'IPK_CANDIDATES_BUSY',
      /wait until older pods of Job shop\/import are gone, or list one address per pod with ipkeeper\.io\/ips/,
    ],
  ],
  'an older sandbox of this node': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    [
      'add',
      web('c2', 'u2'),
      'IPK_HOLDER_LIVE',
      /its network namespace .*\/c1 is not proved gone; wait until .*crictl stopp/,
    ],
  ],
  'one whose namespace was none': [
    ['add', web('c1', 'u1', { netns: '/nowhere' }), '10.22.0.50'],
    [
      'add',
      web('c2', 'u2'),
      'IPK_HOLDER_LIVE',
      /its network namespace \/nowhere was none when it was added, which proves nothing/,
    ],
  ],
  'one that was given no namespace': [
    ['add', web('c1', 'u1', { netns: '' }), '10.22.0.50'],
    [
      'add',
      web('c2', 'u2'),
      'IPK_HOLDER_LIVE',
      /its network namespace \(none given\) was none when it was added/,
    ],
  ],
  'one of another node': [
    ['add', web('c1', 'u1', { node: 'n2' }), '10.22.0.50'],
    [
      'add',
      web('c2', 'u2'),
      'IPK_HOLDER_LIVE',
      /waits until node n2 attests that the sandbox is gone.*if node n2 is lost/,
    ],
  ],
  'an older pod without a UID': [
    ['add', web('c1', 'u1', { uid: null }), '10.22.0.50'],
    ['add', web('c2', 'u2'), 'IPK_HOLDER_LIVE', /still held by shop\/web-0 \(without UID\)/],
  ],
  'reserved, by a channel of CNI': [
    ['reserve', '10.22.0.50', 'shop/db-0'],
    [
      'add',
      { pod: 'kf', container: 'k1', cniIp: '10.22.0.50' },
      'IPK_ADDRESS_RESERVED',
      /^failed to allocate for range 0: .*; 10\.22\.0\.50 is reserved for shop\/db-0; choose another address/,
    ],
  ],
  'an ordinal beyond the list': [
    [
      'add',
      { pod: 'web-2', container: 'c1', ...lists },
      'IPK_ORDINAL_BEYOND_LIST',
      /pod shop\/web-2 has ordinal 2, but annotation ipkeeper\.io\/ips lists 2 addresses \(10\.22\.0\.50-10\.22\.0\.51\); a name that ends in "-N"/,
    ],
    [
      'add',
      { pod: 'web-9', container: 'c1', ips: '10.22.0.50', owner: owned('StatefulSet', 'web', 'w1', 3) },
      'IPK_ORDINAL_BEYOND_LIST',
      /has ordinal 9 \(spec\.ordinals\.start 3\), but annotation ipkeeper\.io\/ips lists 1 address \(10\.22\.0\.50\); ; /,
    ],
  ],
  'addresses of two pools, where no pool is named': [
    ['configure', configured('four', [['10.22.0.0/24']]), configured('six', [['fd00:22::/64']])],
    [
      'add',
      web('c1', 'u1', { ...open, ip: '10.22.0.50,fd00:22::50' }),
      'IPK_ADDRESS_OUTSIDE',
      /^annotation ipkeeper\.io\/ip asks for 10\.22\.0\.50 and fd00:22::50, which no pool has together: pool four has .*; pool six has .*name the pools, one per family/,
    ],
  ],
  'a full pool names who has most of it': [
    ['add', { container: 'c1', pool: poolFrom('net', ['10.22.0.0/29']) }, '10.22.0.2'],
    ['add', { pod: 'a', container: 'c2', pool: poolFrom('net', ['10.22.0.0/29']) }, '10.22.0.3'],
    ['add', { pod: 'b', container: 'c3', pool: poolFrom('net', ['10.22.0.0/29']) }, '10.22.0.4'],
    ['add', { container: 'c4', pool: poolFrom('net', ['10.22.0.0/29']) }, '10.22.0.5'],
    ['add', { container: 'c5', pool: poolFrom('net', ['10.22.0.0/29']) }, '10.22.0.6'],
    [
      'add',
      { pod: 'c', container: 'c6', pool: poolFrom('net', ['10.22.0.0/29']) },
      'IPK_POOL_FULL',
      /pool net is full: 5 addresses, 5 in use, 0 kept or reserved; containers without a pod name hold most \(3\)/,
    ],
  ],
  'nobody has most of a pool that is reserved': [
    ['reserve', '10.22.0.2', 'shop/db-0'],
    [
      'add',
      { pod: 'c', container: 'c6', pool: poolFrom('net', ['10.22.0.0/30']) },
      'IPK_POOL_FULL',
      /pool net is full: 1 addresses, 0 in use, 1 kept or reserved; /,
    ],
  ],
}
tellStories(t, stories)

t.test('a reservation says what it was made for', async t => {
  const story = await TestService.open()
  await reserve(story.service, {
    segment: 'default',
    address: '10.22.0.9',
    owner: 'external:printer-3',
    note: 'second floor',
  })
  const problem = await story.problem({ pod: 'kf', container: 'c1', ip: '10.22.0.9' })
  t.match(problem.message, /reserved for external:printer-3 \(second floor\)$/)
})
