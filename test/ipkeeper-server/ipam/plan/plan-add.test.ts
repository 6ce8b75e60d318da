import t from 'tap'
import { decideAdd } from '../../../../ipkeeper-server/ipam/plan/plan-add.ts'
import { addTerms } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import type { OwnAddresses } from '../../../../ipkeeper-server/ipam/pools/own-addresses.ts'
import type { PoolSettings } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { leaseKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { configured } from '../../leases/story.ts'
import { type PodWords, TestService, poolFrom, web } from '../../leases/test-service.ts'

/** One step of a story and what it must give: addresses or a problem code for ADD, nothing for the others. */
type Step =
  | readonly ['add', PodWords, string]
  | readonly ['del', string]
  | readonly ['dies', string]
  | readonly ['wait', number]
  | readonly ['leases', readonly string[]]

const plain = (pod: string, container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod,
  container,
  ...patch,
})

/** DESIGN.md, rules 2, 3 and 5, as stories: each with the answer, the reason in its name. */
const stories: Readonly<Record<string, readonly Step[]>> = {
  'a request by name gets that address': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['leases', ['10.22.0.50 bound shop/web-0 c1']],
  ],
  'another pod that asks for it is refused, and nothing is left of the try': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', { pod: 'db-0', container: 'c2', ip: '10.22.0.50' }, 'IPK_ADDRESS_HELD'],
    ['leases', ['10.22.0.50 bound shop/web-0 c1']],
  ],
  'the same pod name in another namespace is another holder': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', web('c2', 'u1', { namespace: 'other' }), 'IPK_ADDRESS_HELD'],
  ],
  'without a request the lowest free address, gateway passed over': [
    ['add', plain('a', 'c1'), '10.22.0.2'],
    ['add', plain('b', 'c2'), '10.22.0.3'],
    ['add', { container: 'c3' }, '10.22.0.4'],
  ],
  'a freed address rests before dynamic choice takes it, then is the lowest again': [
    ['add', plain('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['add', plain('b', 'c2'), '10.22.0.3'],
    ['wait', 61_000],
    ['add', plain('c', 'c3'), '10.22.0.2'],
  ],
  'a request by name does not wait for the rest': [
    ['add', plain('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['add', plain('b', 'c2', { ip: '10.22.0.2' }), '10.22.0.2'],
  ],
  'web-0 removed and run again: new sandbox, new UID, the same address': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 cooling shop/web-0 -']],
    ['add', web('c2', 'u2'), '10.22.0.50'],
    ['leases', ['10.22.0.50 bound shop/web-0 c2']],
  ],
  'an address asked for by name is left alone for preferFor': [
    ['add', plain('a', 'c1', { ip: '10.22.0.2' }), '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 599_000],
    ['add', plain('b', 'c2'), '10.22.0.3'],
    ['wait', 2_000],
    ['add', plain('c', 'c3'), '10.22.0.2'],
  ],
  'the same pod (equal UID) in a new sandbox takes its lease over; the late DEL of the old one touches nothing':
    [
      ['add', web('c1', 'u1'), '10.22.0.50'],
      ['add', web('c2', 'u1'), '10.22.0.50'],
      ['leases', ['10.22.0.50 bound shop/web-0 c2']],
      ['del', 'c1'],
      ['leases', ['10.22.0.50 bound shop/web-0 c2']],
      ['del', 'c2'],
      ['leases', ['10.22.0.50 cooling shop/web-0 -']],
    ],
  'the same for a dynamic pod': [
    ['add', plain('a', 'c1', { uid: 'u1' }), '10.22.0.2'],
    ['add', plain('a', 'c2', { uid: 'u1' }), '10.22.0.2'],
    ['del', 'c1'],
    ['leases', ['10.22.0.2 bound shop/a c2']],
  ],
  'another pod of the same name waits while the old sandbox may live': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', web('c2', 'u2'), 'IPK_HOLDER_LIVE'],
    ['leases', ['10.22.0.50 bound shop/web-0 c1']],
  ],
  'it waits also when its annotation is gone': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', plain('web-0', 'c2', { uid: 'u2' }), 'IPK_HOLDER_LIVE'],
  ],
  'a missing UID counts as another pod': [
    ['add', web('c1', 'u1', { uid: null }), '10.22.0.50'],
    ['add', web('c2', 'u1', { uid: null }), 'IPK_HOLDER_LIVE'],
  ],
  'another pod of the same name takes over from a dead sandbox': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['dies', 'c1'],
    ['add', web('c2', 'u2'), '10.22.0.50'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 bound shop/web-0 c2']],
  ],
  'a purely dynamic pod never waits: a fresh address, the old lease stays until its DEL': [
    ['add', plain('a', 'c1', { uid: 'u1' }), '10.22.0.2'],
    ['add', plain('a', 'c2', { uid: 'u2' }), '10.22.0.3'],
    ['leases', ['10.22.0.2 bound shop/a c1', '10.22.0.3 bound shop/a c2']],
    ['del', 'c1'],
    ['leases', ['10.22.0.2 cooling shop/a -', '10.22.0.3 bound shop/a c2']],
  ],
  'a pod that starts to ask while its dynamic sandbox may live waits': [
    ['add', plain('a', 'c1', { uid: 'u1' }), '10.22.0.2'],
    ['add', plain('a', 'c2', { uid: 'u2', ip: '10.22.0.50' }), 'IPK_HOLDER_LIVE'],
  ],
  'an annotation that changed moves the pod; a kept address is freed at once': [
    ['add', web('c1', 'u1', { retain: 'forever' }), '10.22.0.50'],
    ['del', 'c1'],
    ['add', web('c2', 'u1', { ip: '10.22.0.60' }), '10.22.0.60'],
    ['leases', ['10.22.0.50 cooling shop/web-0 -', '10.22.0.60 bound shop/web-0 c2']],
  ],
  'an annotation that changed moves the pod; the old sandbox keeps its address until its DEL': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', web('c2', 'u1', { ip: '10.22.0.60' }), '10.22.0.60'],
    ['add', plain('db-0', 'c3', { ip: '10.22.0.50' }), 'IPK_ADDRESS_HELD'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 cooling shop/web-0 -', '10.22.0.60 bound shop/web-0 c2']],
  ],
  'an annotation that changed moves the pod; the address of a dead sandbox is freed at once': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['dies', 'c1'],
    ['add', web('c2', 'u2', { ip: '10.22.0.60' }), '10.22.0.60'],
    ['leases', ['10.22.0.50 cooling shop/web-0 -', '10.22.0.60 bound shop/web-0 c2']],
  ],
  'a second ADD of a live attachment is an error': [
    ['add', plain('a', 'c1'), '10.22.0.2'],
    ['add', plain('a', 'c1'), 'IPK_ALREADY_ADDED'],
    ['leases', ['10.22.0.2 bound shop/a c1']],
  ],
  'a re-sent ADD gets the same answer': [
    ['add', plain('a', 'c1', { invocation: 'i1' }), '10.22.0.2'],
    ['add', plain('a', 'c1', { invocation: 'i1' }), '10.22.0.2'],
    ['add', plain('a', 'c1', { invocation: 'i2' }), 'IPK_ALREADY_ADDED'],
  ],
  'an ADD for a superseded sandbox is an error too': [
    ['add', web('c1', 'u1'), '10.22.0.50'],
    ['add', web('c2', 'u1'), '10.22.0.50'],
    ['add', web('c1', 'u1'), 'IPK_ALREADY_ADDED'],
  ],
  'two interfaces of one container are two holders': [
    ['add', plain('a', 'c1'), '10.22.0.2'],
    ['add', plain('a', 'c1', { ifname: 'net1' }), '10.22.0.3'],
    ['del', 'c1'],
    ['leases', ['10.22.0.2 cooling shop/a -', '10.22.0.3 bound shop/a c1']],
  ],
  'retain for a duration keeps the address for its holder, also from requests by name': [
    ['add', web('c1', 'u1', { retain: '30m' }), '10.22.0.50'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 held shop/web-0 -']],
    ['add', plain('db-0', 'c2', { ip: '10.22.0.50' }), 'IPK_ADDRESS_KEPT'],
    ['add', web('c3', 'u2', { retain: '30m' }), '10.22.0.50'],
    ['del', 'c3'],
    ['wait', 31 * 60_000],
    ['add', plain('db-0', 'c4', { ip: '10.22.0.50' }), '10.22.0.50'],
  ],
  'retain forever gives the pod its dynamic address back without a request': [
    ['add', plain('a', 'c1', { retain: 'forever' }), '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 10 ** 9],
    ['add', plain('b', 'c2'), '10.22.0.3'],
    ['add', plain('a', 'c3', { retain: 'forever' }), '10.22.0.2'],
  ],
  'DEL is idempotent, and of the unknown a success': [
    ['del', 'c9'],
    ['add', plain('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['del', 'c1'],
    ['del', 'c1'],
    ['leases', ['10.22.0.2 cooling shop/a -']],
  ],
  'a container without a pod': [
    ['add', { container: 'c1', uid: null, cniIp: '10.22.0.9' }, '10.22.0.9'],
    ['add', { container: 'c2', uid: null, cniIp: '10.22.0.9' }, 'IPK_ADDRESS_HELD'],
    ['del', 'c1'],
    ['add', { container: 'c2', uid: null, cniIp: '10.22.0.9' }, '10.22.0.9'],
  ],
  'an attachment of an earlier boot under the same container ID may be added again': [
    ['add', plain('a', 'c1', { uid: 'u1' }), '10.22.0.2'],
    ['dies', 'c1'],
    ['add', plain('a', 'c1', { uid: 'u1' }), '10.22.0.2'],
    ['leases', ['10.22.0.2 bound shop/a c1']],
  ],
  'with a fallback: a pod that asks for nothing is left to it, and a second ADD without DEL is an error': [
    ['add', plain('a', 'c1', { fallback: 'dhcp' }), 'left to dhcp'],
    ['leases', []],
    ['add', plain('a', 'c1', { fallback: 'dhcp' }), 'IPK_ALREADY_ADDED'],
    ['del', 'c1'],
    ['add', plain('a', 'c1', { fallback: 'dhcp' }), 'left to dhcp'],
  ],
  'with a fallback: the same ADD sent again gets the same answer': [
    ['add', plain('a', 'c1', { fallback: 'dhcp', invocation: 'i1' }), 'left to dhcp'],
    ['add', plain('a', 'c1', { fallback: 'dhcp', invocation: 'i1' }), 'left to dhcp'],
  ],
  'what a fallback gave stands unless a pool of the segment could give it, or somebody has it or was promised it':
    [
      ['add', plain('a', 'c1', { fallback: 'dhcp', invocation: 'i1' }), 'left to dhcp'],
      [
        'add',
        plain('a', 'c1', { fallback: 'dhcp', invocation: 'i1', given: ['192.0.2.7/24'] }),
        'left to dhcp',
      ],
      [
        'add',
        plain('a', 'c1', { fallback: 'dhcp', invocation: 'i1', given: ['10.22.0.9/24'] }),
        'IPK_FALLBACK_CLASH',
      ],
      [
        'add',
        plain('a', 'c1', { fallback: 'dhcp', invocation: 'i1', given: ['192.0.2.8/24', '10.22.0.9/24'] }),
        'IPK_FALLBACK_CLASH',
      ],
      ['add', plain('b', 'c2', { ip: '10.44.0.5', pool: poolFrom('other', ['10.44.0.0/24']) }), '10.44.0.5'],
      [
        'add',
        plain('a', 'c1', { fallback: 'dhcp', invocation: 'i1', given: ['10.44.0.7/24'] }),
        'IPK_FALLBACK_CLASH',
      ],
      [
        'add',
        plain('c', 'c3', { fallback: 'dhcp', pool: poolFrom('other', ['10.44.1.0/24']), invocation: 'i3' }),
        'left to dhcp',
      ],
      [
        'add',
        plain('c', 'c3', {
          fallback: 'dhcp',
          pool: poolFrom('other', ['10.44.1.0/24']),
          invocation: 'i3',
          given: ['10.44.0.5/24'],
        }),
        'IPK_FALLBACK_CLASH',
      ],
      [
        'add',
        plain('c', 'c3', {
          fallback: 'dhcp',
          pool: poolFrom('other', ['10.44.1.0/24']),
          invocation: 'i3',
          given: ['10.44.0.6/24'],
        }),
        'left to dhcp',
      ],
    ],
  'with a fallback: whoever asks for anything is served here': [
    ['add', web('c1', 'u1', { fallback: 'dhcp' }), '10.22.0.50'],
    ['add', plain('b', 'c2', { fallback: 'dhcp', retain: '1h' }), '10.22.0.2'],
    ['add', plain('c', 'c3', { fallback: 'dhcp', mac: '02:42:ac:11:00:02' }), '10.22.0.3'],
    ['add', { container: 'c4', cniIp: '10.22.0.9', fallback: 'dhcp' }, '10.22.0.9'],
  ],
  'with a fallback: what is kept for a pod it gets, also when it no longer asks': [
    ['add', plain('a', 'c1', { fallback: 'dhcp', retain: '1h' }), '10.22.0.2'],
    ['del', 'c1'],
    ['add', plain('a', 'c2', { fallback: 'dhcp' }), '10.22.0.2'],
    ['del', 'c2'],
    ['wait', 61_000],
    ['add', plain('a', 'c3', { fallback: 'dhcp' }), 'left to dhcp'],
  ],
  'with a fallback: an address that was not kept is let go': [
    ['add', web('c1', 'u1', { fallback: 'dhcp' }), '10.22.0.50'],
    ['del', 'c1'],
    ['add', plain('web-0', 'c2', { fallback: 'dhcp' }), 'left to dhcp'],
    ['leases', ['10.22.0.50 cooling shop/web-0 -']],
  ],
  'with a fallback: a new sandbox of the same pod takes its address along': [
    ['add', plain('a', 'c1', { uid: 'u1' }), '10.22.0.2'],
    ['add', plain('a', 'c2', { uid: 'u1', fallback: 'dhcp' }), '10.22.0.2'],
  ],
  'with a fallback: the same name waits while a sandbox with a requested address may live': [
    ['add', web('c1', 'u1', { fallback: 'dhcp' }), '10.22.0.50'],
    ['add', plain('web-0', 'c2', { uid: 'u2', fallback: 'dhcp' }), 'IPK_HOLDER_LIVE'],
  ],
  'a pod that now asks waits while its sandbox with an address of the fallback may live': [
    ['add', plain('web-0', 'c1', { uid: 'u1', fallback: 'dhcp' }), 'left to dhcp'],
    ['add', web('c2', 'u2', { fallback: 'dhcp' }), 'IPK_HOLDER_LIVE'],
    ['dies', 'c1'],
    ['add', web('c2', 'u2', { fallback: 'dhcp' }), '10.22.0.50'],
  ],
}

for (const [name, steps] of Object.entries(stories)) {
  t.test(name, async t => {
    const story = await TestService.open()
    for (const step of steps) {
      if (step[0] === 'add') t.equal(await story.add(step[1]), step[2], `ADD ${step[1].container}`)
      else if (step[0] === 'del') await story.del(step[1])
      else if (step[0] === 'dies') story.dead.add(step[1])
      else if (step[0] === 'leases') t.strictSame(story.leases(), step[1])
      else {
        story.now += step[1]
        story.service.ledger.expire(story.now)
      }
    }
  })
}

/** Requests that no state could grant, or that the present one does not; parts that message and hint must name. */
const refusals: readonly (readonly [string, PodWords, string, RegExp])[] = [
  [
    'outside',
    { container: 'c', ip: '10.99.0.1' },
    'IPK_ADDRESS_OUTSIDE',
    /ipkeeper\.io\/ip asks for 10\.99\.0\.1.*outside every range.*10\.22\.0\.1-10\.22\.0\.254/,
  ],
  [
    'network',
    { container: 'c', ip: '10.22.0.0' },
    'IPK_ADDRESS_UNUSABLE',
    /10\.22\.0\.0.*the network address/,
  ],
  [
    'broadcast',
    { container: 'c', ip: '10.22.0.255' },
    'IPK_ADDRESS_UNUSABLE',
    /10\.22\.0\.255.*the broadcast address/,
  ],
  ['gateway', { container: 'c', ip: '10.22.0.1' }, 'IPK_ADDRESS_UNUSABLE', /10\.22\.0\.1.*the gateway/],
  ['mask', { container: 'c', ip: '10.22.0.50/16' }, 'IPK_PREFIX_MISMATCH', /10\.22\.0\.50\/16.*\/24/],
  ['family', { container: 'c', ip: 'fd00::5' }, 'IPK_ADDRESS_OUTSIDE', /fd00::5/],
  [
    'cni outside',
    { container: 'c', cniIp: '10.9.9.9' },
    'IPK_ADDRESS_OUTSIDE',
    /^failed to allocate all requested IPs: 10\.9\.9\.9$/,
  ],
  [
    'cni gateway',
    { container: 'c', cniIp: '10.22.0.1' },
    'IPK_ADDRESS_UNUSABLE',
    /^failed to allocate for range 0: requested ip 10\.22\.0\.1 is subnet's gateway$/,
  ],
  ['two of one set', { container: 'c', cniIp: '10.22.0.5,10.22.0.6' }, 'IPK_ADDRESS_OUTSIDE', /10\.22\.0\.6/],
]
for (const [name, words, code, message] of refusals) {
  t.test(`refused: ${name}`, async t => {
    const story = await TestService.open()
    const problem = await story.problem(words)
    t.equal(problem.code, code)
    t.match(problem.message, message)
    t.strictSame(story.leases(), [], 'nothing was allocated')
    t.strictSame(story.service.ledger.counts(), {
      lease: 0,
      holder: 0,
      attachment: 0,
      reservation: 0,
      pool: 0,
      quota: 0,
      mac: 0,
      node: 0,
    })
  })
}

t.test('a conflict names address, pod, node and what to do', async t => {
  const story = await TestService.open()
  await story.add(web('c1', 'u1'))
  const problem = await story.problem({ pod: 'db-0', container: 'c2', ip: '10.22.0.50' })
  for (const part of ['10.22.0.50', 'shop/web-0', 'n1'])
    t.ok(problem.message.includes(part), `message names ${part}`)
  t.match(problem.hint, /choose another address|ipkeeperctl leases/)
  const inReferenceWords = await story.problem({ pod: 'db-0', container: 'c2', cniIp: '10.22.0.50' })
  t.equal(
    inReferenceWords.message,
    'failed to allocate for range 0: requested IP address 10.22.0.50 is not available in range set 10.22.0.1-10.22.0.254',
  )
  t.match(inReferenceWords.details, /shop\/web-0 on node n1/)
})

t.test(
  'a full pool says how many and who holds most; then the longest rested is given, never one asked for by name',
  async t => {
    const story = await TestService.open()
    story.pool = poolFrom('net', ['10.22.0.0/29'])
    for (const index of [2, 3, 4, 5, 6])
      t.equal(await story.add(plain(`p${index}`, `c${index}`)), `10.22.0.${index}`)
    const problem = await story.problem(plain('late', 'c9'))
    t.equal(
      problem.message,
      'failed to allocate for range 0: no IP addresses available in range set: 10.22.0.1-10.22.0.6',
    )
    t.match(problem.details, /5 addresses, 5 in use.*namespace shop holds most \(5\)/)
    await story.del('c4')
    story.now += 1000
    await story.del('c2')
    t.equal(await story.add(plain('late', 'c9')), '10.22.0.4', 'the one that rested longest')
    await story.del('c9')
    t.equal(await story.add(plain('named', 'c10', { ip: '10.22.0.2' })), '10.22.0.2')
    await story.del('c10')
    t.equal(await story.add(plain('x', 'c11')), '10.22.0.4')
    t.equal(await story.add(plain('y', 'c12')), 'IPK_POOL_FULL', '10.22.0.2 was asked for by name')
  },
)

t.test('dual stack: one address per range set, all or nothing', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  t.equal(await story.add(plain('a', 'c1')), '10.22.0.2,fd00:22::2')
  t.equal(await story.add(plain('b', 'c2', { ip: '10.22.0.50,fd00:22::50' })), '10.22.0.50,fd00:22::50')
  t.equal(await story.add(plain('c', 'c3', { ip: 'fd00:22::9' })), '10.22.0.3,fd00:22::9')
  t.equal(await story.add(plain('d', 'c4', { ip: '10.22.0.77,fd00:22::50' })), 'IPK_ADDRESS_HELD')
  t.equal(story.leases().length, 6, 'the refused one has neither')
  story.pool = poolFrom('net', ['10.22.0.0/24', '10.23.0.0/24'])
  t.equal(await story.add(plain('e', 'c5', { ip: '10.23.0.7' })), '10.23.0.7', 'the second range of a set')
})

t.test('a range that changed: the pod moves on its next ADD, others stay until DEL', async t => {
  const story = await TestService.open()
  await story.add(plain('a', 'c1', { uid: 'u1' }))
  await story.add(plain('b', 'c2', { uid: 'u2' }))
  story.pool = poolFrom('net', ['10.99.0.0/24'])
  t.equal(await story.add(plain('a', 'c3', { uid: 'u1' })), '10.99.0.2')
  await story.del('c1')
  t.strictSame(story.leases(), [
    '10.22.0.2 cooling shop/a -',
    '10.22.0.3 bound shop/b c2',
    '10.99.0.2 bound shop/a c3',
  ])
})

t.test('pools of one segment that overlap are refused while the other has leases', async t => {
  const story = await TestService.open()
  await story.add(plain('a', 'c1'))
  const other = poolFrom('other', ['10.22.0.128/25'])
  const problem = await story.problem(plain('b', 'c2', { pool: other }))
  t.match(problem, { code: 'IPK_POOL_OVERLAP', message: /network other.*overlap those of network net/ })
  t.equal(await story.add(plain('b', 'c2', { pool: { ...other, segment: 'lab' } })), '10.22.0.130')
  await story.del('c2', 'eth0', 'other')
  await story.del('c1')
  t.equal(await story.add(plain('b', 'c3', { pool: other })), '10.22.0.130')
  t.equal(await story.add(plain('a', 'c4')), 'IPK_POOL_OVERLAP')
})

t.test('a pool that has something of the pod or its workload comes before the first of the file', async t => {
  const story = await TestService.open()
  const { standard } = story.book
  const configured = (name: string, subnet: string): PoolSettings => ({
    pool: poolFrom(name, [subnet]),
    rules: {},
    policy: { ...standard, retention: 'forever' },
    network: {},
  })
  story.book = { standard, pools: [configured('first', '10.1.0.0/24'), configured('second', '10.2.0.0/24')] }
  const any = (pod: string, container: string): PodWords =>
    plain(pod, container, { configured: [], network: 'net' })
  t.equal(await story.add({ ...any('api-6d4cf56db6-x2xqz', 'c1'), configured: ['second'] }), '10.2.0.2')
  t.equal(await story.add(any('db', 'c2')), '10.1.0.2')
  await story.del('c1')
  t.equal(await story.add(any('api-6d4cf56db6-b7kpd', 'c3')), '10.2.0.2', 'kept for the Deployment')

  const key = { segment: 'default', address: '10.2.0.9' }
  const owner = { namespace: 'shop', name: 'web', kind: 'StatefulSet', note: '', since: 0 }
  await story.service.ledger.commit([
    { kind: 'reservation', key: leaseKey(key), expect: null, record: { ...key, generation: 1, ...owner } },
  ])
  t.equal(await story.add(any('web-0', 'c4')), '10.2.0.9', 'reserved for the StatefulSet')
  t.equal(await story.add(any('other', 'c5')), '10.1.0.3')
})

t.test('a reservation may say what becomes of its address', async t => {
  const story = await TestService.open()
  const key = { segment: 'default', address: '10.22.0.9' }
  const owner = { namespace: 'shop', name: 'web-0', note: '', since: 0, retain: 'forever' } as const
  await story.service.ledger.commit([
    { kind: 'reservation', key: leaseKey(key), expect: null, record: { ...key, generation: 1, ...owner } },
  ])
  const retained = (): unknown => story.service.ledger.lease(key)?.retain
  t.equal(await story.add(plain('web-0', 'c1')), '10.22.0.9')
  t.equal(retained(), 'forever')
  await story.del('c1')
  t.equal(await story.add(plain('web-0', 'c2', { retain: '1m' })), '10.22.0.9')
  t.strictSame(retained(), { milliseconds: 60_000 }, 'the pod comes first')
  await reserve(story.service, { ...key, owner: 'shop/web-0', note: 'why' })
  t.match(story.service.ledger.reservation(key), { note: 'why', retain: 'forever' })
  t.equal(await story.add(plain('other', 'c3')), '10.22.0.2')
  t.equal(story.service.ledger.lease({ ...key, address: '10.22.0.2' })?.retain, 'release')
})

t.test('a kept address whose time is over may be reserved for somebody else, and is theirs', async t => {
  const story = await TestService.open()
  await story.add(plain('a', 'c1', { retain: '1m' }))
  await story.del('c1')
  // The clock was set forward: the timer that frees it has not fired yet.
  story.now += 120_000
  await reserve(story.service, { segment: 'default', address: '10.22.0.2', owner: 'shop/db', note: '' })
  t.equal(await story.add(plain('a', 'c2')), '10.22.0.3')
  t.equal(await story.add(plain('db', 'c3')), '10.22.0.2')
})

t.test('an ADD that was sent again, after its address has moved on, is not answered with it', async t => {
  const story = await TestService.open()
  const words = web('c1', 'u1', { invocation: 'i1' })
  t.equal(await story.add(words), '10.22.0.50')
  t.equal(await story.add(web('c2', 'u1')), '10.22.0.50')
  const problem = await story.problem(words)
  t.equal(problem.code, 'IPK_ALREADY_ADDED')
  t.match(
    problem.message,
    /container c1 interface eth0 was added before; its address has moved to a newer sandbox of shop\/web-0/,
  )
})

t.test('an explanation says that an ADD is left to the fallback', async t => {
  const story = await TestService.open()
  const { ledger } = story.service
  const request = story.request(plain('a', 'c1', { fallback: 'dhcp' }))
  const { plan, trace } = decideAdd(ledger, request, addTerms(story.service))
  t.match(plan?.answer, { kind: 'delegate', type: 'dhcp' })
  t.match(trace.at(-1), { about: 'pool', subject: 'dhcp', verdict: 'chosen', text: /asks for nothing/ })
})

t.test('a configuration that lost its last pool while the ADD was read', async t => {
  const story = await TestService.open()
  const problem = await story.problem(plain('a', 'c1', { configured: [], network: 'net' }))
  t.match(problem, {
    code: 'IPK_POOL_UNKNOWN',
    message: /the network names no pool, and the daemon has none/,
  })
})

t.test('what is no problem of the ADD is thrown on', async t => {
  const story = await TestService.open()
  const own = {
    find: () => undefined,
    leftOf: () => {
      throw new RangeError('broken')
    },
  } as unknown as OwnAddresses
  const broken = { ...addTerms(story.service), own }
  const request = story.request(plain('a', 'c1'))
  t.throws(() => decideAdd(story.service.ledger, request, broken), { message: 'broken' })
})

t.test('what a pod has no more is told, in its events, the log and explain', async t => {
  const kept = web('c1', 'u1', { retain: 'forever' })
  const later: PodWords = { pod: 'web-0', container: 'c2', uid: 'u2' }
  const rows: readonly (readonly [
    name: string,
    before: 'del' | 'dies',
    next: PodWords,
    subnet: string,
    RegExp,
  ])[] = [
    [
      'another range',
      'del',
      later,
      '10.99.0.0/24',
      /^kept for it until now, released: no range of net has it$/,
    ],
    [
      'a dead sandbox',
      'dies',
      later,
      '10.99.0.0/24',
      /^of its former sandbox, released: no range of net has it$/,
    ],
    [
      'another request',
      'del',
      { ...later, ip: '10.22.0.60' },
      '10.22.0.0/24',
      /^kept .*: it has another one$/,
    ],
    ['what it had', 'del', later, '10.22.0.0/24', /^$/],
  ]
  for (const [name, end, next, subnet, expected] of rows) {
    const story = await TestService.open()
    await story.add(kept)
    if (end === 'del') await story.del('c1')
    else story.dead.add('c1')
    story.pool = poolFrom('net', [subnet])
    const { plan, trace } = decideAdd(story.service.ledger, story.request(next), addTerms(story.service))
    const told = trace.find(({ subject, verdict }) => subject === '10.22.0.50' && verdict === 'dropped')
    t.match(told?.text ?? '', expected, name)
    const reasons = plan?.reasons.filter(
      reason => reason.startsWith('10.22.0.50: ') && reason.includes('released'),
    )
    t.strictSame(reasons, told ? [`10.22.0.50: ${told.text}`] : [], `${name}: the same reason`)
  }
})

t.test('the routes of a network, and those that its pools add', async t => {
  const own = { dst: '10.96.0.0/12', gw: '10.22.0.7' }
  const added = { dst: '10.50.0.0/16', gw: '10.22.0.8' }
  const mine = { dst: '10.51.0.0/16', mtu: 1300 }
  const dns = { nameservers: ['10.96.0.10'] }
  const rows = [
    ['nothing is added', {}, [own], {}],
    ['the same one is not added twice', { routes: [own, added] }, [own, added], {}],
    [
      'an MTU is that of each route that has none',
      { routes: [added, mine], mtu: 1400 },
      [own, { ...added, mtu: 1400 }, mine],
      {},
    ],
    ['a resolver, where the network names none', { dns }, [own], dns],
  ] as const
  for (const [name, network, routes, resolver] of rows) {
    const story = await TestService.open()
    const settings = { ...configured('prod', [['10.22.0.0/24']]), network }
    story.book = { ...story.book, pools: [settings] }
    const request = { ...story.request(plain('a', 'c1', { configured: ['prod'] })), routes: [own] }
    const { plan } = decideAdd(story.service.ledger, request, addTerms(story.service))
    if (plan?.answer.kind !== 'result') throw new Error(name)
    t.strictSame(plan.answer.result.routes, routes, name)
    t.strictSame(plan.answer.result.dns, resolver, name)
  }
})
