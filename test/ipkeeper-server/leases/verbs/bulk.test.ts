import t from 'tap'
import {
  inBulk,
  moving,
  releasing,
  reserving,
  unreserving,
} from '../../../../ipkeeper-server/leases/verbs/bulk.ts'
import { selectReservations } from '../../../../ipkeeper-server/leases/queries/select-listed.ts'
import type { BulkItem } from '../../../../shared/api/bulk.schema.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { owned } from '../story.ts'
import { TestService, type PodWords } from '../test-service.ts'

const said = (items: readonly BulkItem[]): string[] =>
  items.map(({ address, verdict, reason }) => `${verdict} ${address} ${reason}`)

const reserved = (story: TestService): string[] =>
  selectReservations(story.service, {}).reservations.map(({ address, owner }) => `${address} ${owner}`)

t.test('the plan says what would become of each address, and changes nothing', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1' })
  const items = [{ addresses: '10.22.0.1-10.22.0.3', owner: 'shop/sts/web' }]
  const plan = await inBulk(story.service, { apply: false, items }, reserving)
  t.match(said(plan), [
    /^refused 10\.22\.0\.1 .*the gateway of 10\.22\.0\.0\/24$/,
    /^refused 10\.22\.0\.2 .*held by shop\/a on node n1$/,
    /^change 10\.22\.0\.3 for shop\/statefulset\/web$/,
  ])
  t.match(
    plan.map(({ code }) => code),
    ['IPK_ADDRESS_UNUSABLE', 'IPK_ADDRESS_HELD', null],
  )
  t.strictSame(reserved(story), [])
  const done = await inBulk(story.service, { apply: true, items }, reserving)
  t.strictSame(done, plan, 'each is judged by itself')
  t.strictSame(reserved(story), ['10.22.0.3 shop/statefulset/web'])
  const again = await inBulk(story.service, { apply: true, items }, reserving)
  t.match(said(again)[2], /^unchanged 10\.22\.0\.3 already reserved for shop\/statefulset\/web$/)
})

t.test('reservations are taken back, and what has none is no error', async t => {
  const story = await TestService.open()
  const items = [{ addresses: '10.22.0.9', owner: 'shop/a', note: 'x' }]
  await inBulk(story.service, { apply: true, items }, reserving)
  const gone = await inBulk(
    story.service,
    { apply: true, items: [{ addresses: '10.22.0.8-9' }] },
    unreserving,
  )
  t.strictSame(said(gone), ['unchanged 10.22.0.8 not reserved', 'change 10.22.0.9 reserved for shop/a (x)'])
  t.strictSame(reserved(story), [])
})

t.test('what is kept or cools down is released, what a sandbox has stays', async t => {
  const story = await TestService.open()
  for (const [container, retain] of [
    ['c1', '30m'],
    ['c2', undefined],
    ['c3', undefined],
  ] as const) {
    await story.add({ pod: container, container, ...(retain && { retain }) })
    if (container !== 'c3') await story.del(container)
  }
  const items = [{ addresses: '10.22.0.2-10.22.0.5' }]
  const { service } = story
  t.match(said(await inBulk(service, { apply: false, items }, releasing)), [
    'change 10.22.0.2 kept for shop/c1 until 2026-01-01T00:30:00Z',
    'change 10.22.0.3 cooling down; shop/c2 had released it',
    'stays 10.22.0.4 bound to shop/c3 on node n1: it comes free when that pod is deleted',
    'unchanged 10.22.0.5 neither kept nor cooling down',
  ])
  await inBulk(service, { apply: true, items }, releasing)
  t.strictSame(
    story.leases().map(lease => lease.split(' ')[0]),
    ['10.22.0.4'],
  )
})

t.test('what has changed since it was seen is left alone', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', retain: 'forever' })
  const since = new Date(story.now).toISOString()
  story.now += 1000
  await story.del('c1')
  const items = [{ addresses: '10.22.0.2', since }]
  const [item] = await inBulk(story.service, { apply: true, items }, releasing)
  t.match(item, {
    verdict: 'refused',
    code: 'IPK_ADDRESS_HELD',
    reason: /has changed in the meantime: .* kept for shop\/a$/,
  })
  t.equal(story.leases().length, 1)
})

const nine = '10.22.0.9'
const undo = `undo: ipkeeperctl unreserve ${nine}`
const next = `start shop/b again; ${undo}`

const fates: readonly {
  readonly what: string
  /** Who asks for the address before it is moved, and whether he is gone. */
  readonly has?: Partial<PodWords>
  readonly ends?: 'deleted' | 'dead'
  /** For whom it is reserved before. */
  readonly owner?: string
  readonly to?: string
  readonly verdict?: 'change' | 'unchanged'
  readonly reason: string
  readonly hint: string
}[] = [
  { what: 'nobody has it', reason: 'to shop/b: not assigned', hint: next },
  {
    what: 'it cools down',
    has: {},
    ends: 'deleted',
    reason: 'to shop/b: not assigned',
    hint: next,
  },
  {
    what: 'whoever has it has it reserved as well',
    has: {},
    owner: 'shop/a',
    reason:
      'to shop/b; it is no longer reserved for shop/a: in use by shop/a on node n1 until that pod is gone; its next pod will not get it',
    hint: `delete shop/a; then ${next}`,
  },
  {
    what: 'it is reserved for him already',
    owner: 'shop/b',
    verdict: 'unchanged',
    reason: 'moved to shop/b already: not assigned',
    hint: next,
  },
  {
    what: 'he has it',
    has: { pod: 'b' },
    reason: 'to shop/b: assigned to shop/b',
    hint: undo,
  },
  {
    what: 'a pod of the workload that is to have it has it',
    has: { owner: owned('StatefulSet', 'web'), pod: 'web-0' },
    to: 'shop/sts/web',
    reason: 'to shop/statefulset/web: assigned to shop/web-0',
    hint: undo,
  },
  {
    what: 'it is kept for somebody else',
    has: { retain: 'forever' },
    ends: 'deleted',
    reason: 'to shop/b: kept for shop/a, which will not get it back',
    hint: next,
  },
  {
    what: 'the sandbox that has it is gone',
    has: {},
    ends: 'dead',
    reason: 'to shop/b: the sandbox of shop/a on node n1 is gone',
    hint: next,
  },
  {
    what: 'a sandbox that may live has it',
    has: {},
    reason: 'to shop/b: in use by shop/a on node n1 until that pod is gone; its next pod will not get it',
    hint: `delete shop/a; then ${next}`,
  },
]
for (const { what, has, ends, owner, to = 'shop/b', verdict = 'change', reason, hint } of fates)
  t.test(`an address is moved: ${what}`, async t => {
    const story = await TestService.open()
    // With the first ADD its pool becomes known.
    await story.add({ pod: 'z', container: 'c0' })
    if (has) await story.add({ pod: 'a', container: 'c1', ip: nine, ...has })
    if (ends === 'deleted') await story.del('c1')
    if (ends === 'dead') story.dead.add('c1')
    if (owner !== undefined)
      await inBulk(story.service, { apply: true, items: [{ addresses: nine, owner }] }, reserving)
    const items = [{ addresses: nine, owner: to }]
    const plan = await inBulk(story.service, { apply: false, items }, moving)
    t.strictSame(plan, [{ segment: 'default', address: nine, verdict, reason, hint, code: null }])
    t.strictSame(reserved(story), owner === undefined ? [] : [`${nine} ${owner}`], 'a plan changes nothing')
    t.strictSame(await inBulk(story.service, { apply: true, items }, moving), plan)
    t.strictSame(reserved(story), [`${nine} ${to.replace('/sts/', '/statefulset/')}`])
  })

t.test('an address that no pool has is not moved, nor one that is kept free for somebody else', async t => {
  const story = await TestService.open()
  const move = async (): Promise<readonly BulkItem[]> =>
    await inBulk(story.service, { apply: true, items: [{ addresses: nine, owner: 'shop/b' }] }, moving)
  t.match(await move(), [
    {
      ...{ verdict: 'refused', code: 'IPK_ADDRESS_OUTSIDE' },
      reason: `no known pool of segment default has ${nine}`,
      hint: /ipkeeperctl pools$/,
    },
  ])
  t.strictSame(reserved(story), [])
  await inBulk(story.service, { apply: true, items: [{ addresses: nine, owner: 'shop/c' }] }, reserving)
  t.match(await move(), [
    {
      ...{ verdict: 'refused', code: 'IPK_ADDRESS_RESERVED', reason: `${nine} is reserved for shop/c` },
      hint: `choose another address, or: ipkeeperctl unreserve ${nine}`,
    },
  ])
  t.strictSame(reserved(story), [`${nine} shop/c`])
})

t.test('lists that make no sense change nothing', async t => {
  const { service } = await TestService.open()
  for (const [items, message] of [
    [['10.22.0.2-10.22.0.4', '10.22.0.3'], '10.22.0.3 is named twice: by 10.22.0.2-10.22.0.4 and 10.22.0.3'],
    [['fd00::-fd00::1000'], 'fd00::-fd00::1000: more than 4096 addresses at once'],
    [['10.22.0.0-10.22.15.255', '10.23.0.1'], '2 items: more than 4096 addresses at once'],
    [['web'], '"web" is no IP address, range (FIRST-LAST) or CIDR'],
    [['10.22.0.4-10.22.0.2'], '"10.22.0.4-10.22.0.2" runs backwards: 10.22.0.4 is above 10.22.0.2'],
  ] as const) {
    const request = { apply: true, items: items.map(addresses => ({ addresses })) }
    t.equal((await thrownProblem(() => inBulk(service, request, unreserving))).message, message)
  }
})
