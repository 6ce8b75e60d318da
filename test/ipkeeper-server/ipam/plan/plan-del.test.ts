import t, { type Test } from 'tap'
import type { Owner } from '../../../../ipkeeper-server/ipam/records/pod-facts.ts'
import { addAttachment } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { undoAdd } from '../../../../ipkeeper-server/leases/verbs/undo-add.ts'
import type { AddressBook } from '../../../../ipkeeper-server/ipam/pools/address-book.ts'
import { newHolder, ofSandbox } from '../../../../ipkeeper-server/ipam/records/new-records.ts'
import {
  holderKey,
  leaseKey,
  type LeaseRecord,
  type Write,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { planDel, planUndo } from '../../../../ipkeeper-server/ipam/plan/plan-del.ts'
import { writeAttachment } from '../../../../ipkeeper-server/ipam/plan/record-writes.ts'
import { planExpiry } from '../../../../ipkeeper-server/ipam/plan/plan-release.ts'
import { assertSound } from '../../leases/ledger/sound-ledger.ts'
import { spell, poolFrom, TestService, type PodWords } from '../../leases/test-service.ts'

/**
 * Undo stories. An ADD whose client is slow to learn of it is "open": it was committed, and may yet be undone, while others
 * go on. What DEL does is told in plan-add.test.ts.
 */
class Story {
  readonly world: TestService
  readonly #open = new Map<string, { words: PodWords; generation: number }>()

  private constructor(world: TestService) {
    this.world = world
  }

  static async begin(): Promise<Story> {
    return new Story(await TestService.open())
  }

  /** An ADD that is committed and not yet answered for good: its addresses. */
  async add(words: PodWords): Promise<string> {
    const plan = await addAttachment(this.world.service, this.world.request(words), { gone: () => false })
    this.#open.set(words.container, { words, generation: plan.generation })
    return spell(plan.answer)
  }

  /** Its client turns out to have gone: whether something was undone. */
  async undo(container: string): Promise<boolean> {
    const { words, generation } = this.#open.get(container)!
    return await undoAdd(this.world.service, this.world.request(words), generation)
  }

  /** Leases as the story sees them, and no record that belongs to none of them. */
  check(t: Test, leases: readonly string[], name = 'leases'): void {
    t.strictSame(this.world.leases(), leases, name)
    const { ledger } = this.world.service
    for (const lease of ledger.leases()) {
      if (lease.attachment) t.ok(ledger.attachment(lease.attachment), `${lease.address} has its attachment`)
      t.equal(lease.attachment === null, lease.state !== 'bound', `${lease.address} is ${lease.state}`)
    }
  }
}

const web = (container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'web-0',
  uid: 'u1',
  container,
  ip: '10.22.0.50',
  ...patch,
})
const plain = (container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'a',
  uid: 'u1',
  container,
  ...patch,
})

t.test('a fresh ADD leaves nothing', async t => {
  const story = await Story.begin()
  await story.add(plain('c1'))
  t.equal(await story.undo('c1'), true)
  story.check(t, [])
  const { lease, holder, attachment } = story.world.service.ledger.counts()
  t.strictSame({ lease, holder, attachment }, { lease: 0, holder: 0, attachment: 0 })
  t.equal(await story.undo('c1'), false, 'once')
  t.equal(await story.add(plain('c2')), '10.22.0.2', 'the address did not even rest')
})

t.test('one that was left to the fallback leaves nothing, and gives the holder back', async t => {
  const story = await Story.begin()
  await story.add(plain('c1', { uid: 'u0' }))
  t.equal(await story.add(plain('c2', { fallback: 'dhcp' })), 'left to dhcp')
  t.equal(await story.undo('c2'), true)
  story.check(t, ['10.22.0.2 bound shop/a c1'])
  const { holder, attachment } = story.world.service.ledger.counts()
  t.strictSame({ holder, attachment }, { holder: 1, attachment: 1 })
})

t.test('what was taken over is given back', async t => {
  const story = await Story.begin()
  await story.add(web('c1'))
  await story.add(web('c2'))
  await story.undo('c2')
  story.check(t, ['10.22.0.50 bound shop/web-0 c1'])
  t.equal(await story.world.add(web('c3', { uid: 'u2' })), 'IPK_HOLDER_LIVE', 'c1 is in the way again')
  await story.world.del('c1')
  story.check(t, ['10.22.0.50 cooling shop/web-0 -'])
})

t.test('what was taken over from a dead sandbox is given back; the next ADD takes it again', async t => {
  const story = await Story.begin()
  await story.add(web('c1'))
  story.world.dead.add('c1')
  await story.add(web('c2', { uid: 'u2' }))
  await story.undo('c2')
  story.check(t, ['10.22.0.50 bound shop/web-0 c1'])
  t.equal(await story.add(web('c3', { uid: 'u3' })), '10.22.0.50')
})

t.test('the old sandbox was deleted meanwhile: released as by its DEL', async t => {
  const story = await Story.begin()
  await story.add(web('c1'))
  await story.add(web('c2'))
  await story.world.del('c1')
  story.check(t, ['10.22.0.50 bound shop/web-0 c2'])
  await story.undo('c2')
  story.check(t, ['10.22.0.50 cooling shop/web-0 -'])
})

t.test('the same with retention: held for the holder, who gets it back', async t => {
  const story = await Story.begin()
  await story.add(plain('c1', { retain: 'forever' }))
  await story.add(plain('c2', { retain: 'release' }))
  await story.world.del('c1')
  await story.undo('c2')
  story.check(
    t,
    ['10.22.0.2 held shop/a -'],
    'by the rule of the sandbox that is gone, not of the ADD that never was',
  )
  t.equal(await story.world.add(plain('c3', { pod: 'b' })), '10.22.0.3')
  t.equal(await story.world.add(plain('c4', { uid: 'u2' })), '10.22.0.2')
})

t.test('a held address goes back to held, until the same moment', async t => {
  const story = await Story.begin()
  await story.add(plain('c1', { retain: '30m' }))
  await story.world.del('c1')
  const [before] = [...story.world.service.ledger.leases()]
  story.world.now += 60_000
  await story.add(plain('c2', { uid: 'u2', retain: '30m' }))
  await story.undo('c2')
  story.check(t, ['10.22.0.2 held shop/a -'])
  const [after] = [...story.world.service.ledger.leases()]
  t.equal(after?.until, before?.until)
  t.equal(await story.world.add(plain('c3', { uid: 'u3' })), '10.22.0.2', 'its holder still has it')
})

t.test('a held address that was given up for another is held again', async t => {
  const story = await Story.begin()
  await story.add(web('c1', { retain: 'forever' }))
  await story.world.del('c1')
  await story.add(web('c2', { ip: '10.22.0.60' }))
  story.check(t, ['10.22.0.50 cooling shop/web-0 -', '10.22.0.60 bound shop/web-0 c2'])
  await story.undo('c2')
  story.check(t, ['10.22.0.50 held shop/web-0 -'])
  t.equal(await story.world.add(web('c3', { pod: 'db-0' })), 'IPK_ADDRESS_HELD')
})

t.test('a resting address goes on resting', async t => {
  const story = await Story.begin()
  await story.add(web('c1', { pod: 'db-0' }))
  await story.world.del('c1')
  await story.add(web('c2'))
  await story.undo('c2')
  story.check(t, ['10.22.0.50 cooling shop/db-0 -'])
})

for (const order of [
  ['c2', 'c3'],
  ['c3', 'c2'],
] as const) {
  t.test(`a chain of takeovers, undone ${order.join(' then ')}: the first has it again`, async t => {
    const story = await Story.begin()
    for (const container of ['c1', 'c2', 'c3']) await story.add(web(container))
    for (const container of order) await story.undo(container)
    story.check(t, ['10.22.0.50 bound shop/web-0 c1'])
    t.equal(await story.world.add(web('c4', { uid: 'u2' })), 'IPK_HOLDER_LIVE')
    await story.world.del('c1')
    story.check(t, ['10.22.0.50 cooling shop/web-0 -'])
  })
}

t.test('a chain: the one in the middle is undone, the last stays', async t => {
  const story = await Story.begin()
  for (const container of ['c1', 'c2', 'c3']) await story.add(web(container))
  await story.undo('c2')
  story.check(t, ['10.22.0.50 bound shop/web-0 c3'])
  await story.world.del('c2')
  await story.world.del('c1')
  story.check(t, ['10.22.0.50 bound shop/web-0 c3'])
  await story.undo('c3')
  story.check(t, ['10.22.0.50 cooling shop/web-0 -'], 'nobody is left to have it')
})

t.test('a chain whose first was itself abandoned: nobody had it before', async t => {
  const story = await Story.begin()
  await story.add(plain('c1'))
  await story.add(plain('c2'))
  await story.undo('c1')
  story.check(t, ['10.22.0.2 bound shop/a c2'])
  await story.undo('c2')
  story.check(t, [])
})

t.test('a re-sent ADD was answered: the undo of its first sending touches nothing', async t => {
  const story = await Story.begin()
  const words = plain('c1', { invocation: 'i1' })
  const { service } = story.world
  const first = await addAttachment(service, story.world.request(words), { gone: () => false })
  t.equal(await story.world.add(words), '10.22.0.2')
  t.equal(await undoAdd(service, story.world.request(words), first.generation), false)
  story.check(t, ['10.22.0.2 bound shop/a c1'])
})

t.test('a DEL came first: nothing to undo', async t => {
  const story = await Story.begin()
  await story.add(plain('c1'))
  await story.world.del('c1')
  t.equal(await story.undo('c1'), false)
  story.check(t, ['10.22.0.2 cooling shop/a -'])
})

t.test(
  'the same container again after its sandbox died (a reboot), undone: released as by its DEL',
  async t => {
    const story = await Story.begin()
    await story.add(plain('c1'))
    story.world.dead.add('c1')
    await story.add(plain('c1', { uid: 'u2' }))
    t.equal(await story.undo('c1'), true)
    story.check(t, ['10.22.0.2 cooling shop/a -'])
    t.equal(story.world.service.ledger.counts().attachment, 0)
  },
)

t.test("a fresh address beside a sandbox that may live, undone: that one is the holder's again", async t => {
  const story = await Story.begin()
  await story.add(plain('c1'))
  t.equal(await story.add(plain('c2', { uid: 'u2' })), '10.22.0.3')
  await story.undo('c2')
  story.check(t, ['10.22.0.2 bound shop/a c1'])
  t.equal(await story.world.add(plain('c3')), '10.22.0.2', 'the same pod takes its lease over')
})

t.test('an annotation that changed, undone: the old sandbox is in the way as before', async t => {
  const story = await Story.begin()
  await story.add(web('c1'))
  await story.add(web('c2', { ip: '10.22.0.60' }))
  await story.undo('c2')
  story.check(t, ['10.22.0.50 bound shop/web-0 c1'])
  t.equal(await story.world.add(plain('c3', { pod: 'web-0', uid: 'u2' })), 'IPK_HOLDER_LIVE')
})

t.test('dual stack: both families go back', async t => {
  const story = await Story.begin()
  story.world.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add(web('c1', { ip: '10.22.0.50' }))
  await story.add(web('c2', { ip: '10.22.0.50,fd00:22::50' }))
  await story.undo('c2')
  story.check(t, ['10.22.0.50 bound shop/web-0 c1', 'fd00:22::2 bound shop/web-0 c1'])
})

t.test('dual stack inherited from a pod of the Deployment: both families are kept for it again', async t => {
  const story = await Story.begin()
  story.world.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  const former = { pod: 'api-6d4cf56db6-x2xqz', uid: 'u1', retain: 'forever' }
  await story.add({ ...former, container: 'c1' })
  await story.world.del('c1')
  const heir = { pod: 'api-6d4cf56db6-b7kpd', uid: 'u2', container: 'c2' }
  t.equal(await story.add(heir), '10.22.0.2,fd00:22::2')
  await story.undo('c2')
  story.check(t, [
    '10.22.0.2 held shop/api-6d4cf56db6-x2xqz -',
    'fd00:22::2 held shop/api-6d4cf56db6-x2xqz -',
  ])
  assertSound(story.world.service.ledger, 'after the undo')
  t.equal(await story.add({ ...former, container: 'c3' }), '10.22.0.2,fd00:22::2')
})

t.test('an address that came free meanwhile and was given to somebody else is theirs', async t => {
  const story = await Story.begin()
  const { ledger } = story.world.service
  await story.add(plain('c1'))
  await story.add(plain('c2'))
  await story.world.del('c2')
  story.world.now += 61_000
  for (const lease of ledger.expire(story.world.now))
    await ledger.commit(planExpiry(ledger, lease, story.world.service.pools()))
  t.equal(await story.add(plain('c3', { pod: 'b', uid: 'u2' })), '10.22.0.2')
  t.equal(await story.undo('c1'), true)
  story.check(t, ['10.22.0.2 bound shop/b c3'])
})

t.test(
  'inherited from a pod that has come back meanwhile: kept for nobody, since that pod has another',
  async t => {
    const story = await Story.begin()
    const former = { pod: 'api-6d4cf56db6-x2xqz', uid: 'u1', retain: 'forever' }
    await story.add({ ...former, container: 'c1' })
    await story.world.del('c1')
    t.equal(await story.add({ pod: 'api-6d4cf56db6-b7kpd', uid: 'u2', container: 'c2' }), '10.22.0.2')
    t.equal(await story.add({ ...former, container: 'c3' }), '10.22.0.3')
    await story.undo('c2')
    story.check(t, [
      '10.22.0.2 cooling shop/api-6d4cf56db6-x2xqz -',
      '10.22.0.3 bound shop/api-6d4cf56db6-x2xqz c3',
    ])
    assertSound(story.world.service.ledger, 'after the undo')
  },
)

t.test(
  'a retained address that its holder has left is freed by the DEL of the sandbox that still had it',
  async t => {
    const story = await Story.begin()
    await story.add(web('c1', { retain: 'forever' }))
    await story.add(web('c2', { ip: '10.22.0.60', retain: 'forever' }))
    story.check(t, ['10.22.0.50 bound shop/web-0 c1', '10.22.0.60 bound shop/web-0 c2'])
    await story.world.del('c1')
    story.check(t, ['10.22.0.50 cooling shop/web-0 -', '10.22.0.60 bound shop/web-0 c2'])
    await story.world.del('c2')
    story.check(t, ['10.22.0.50 cooling shop/web-0 -', '10.22.0.60 held shop/web-0 -'])
  },
)

t.test('the same when the newer sandbox was deleted first', async t => {
  const story = await Story.begin()
  await story.add(web('c1', { retain: 'forever' }))
  await story.add(web('c2', { ip: '10.22.0.60' }))
  await story.world.del('c2')
  await story.world.del('c1')
  story.check(t, ['10.22.0.50 cooling shop/web-0 -', '10.22.0.60 cooling shop/web-0 -'])
})

/** A pod of Deployment api: none will come back under its name. */
const copy = (suffix: string, container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: `api-6d4cf56db6-${suffix}`,
  container,
  uid: `uid-of-${suffix}`,
  retain: 'forever',
  ...patch,
})

t.test('what was inherited is kept again for whom it was, both families', async t => {
  const story = await Story.begin()
  story.world.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add(copy('x2x5z', 'c1'))
  await story.world.del('c1')
  t.equal(await story.add(copy('b4d5f', 'c2')), '10.22.0.2,fd00:22::2')
  await story.undo('c2')
  story.check(t, [
    '10.22.0.2 held shop/api-6d4cf56db6-x2x5z -',
    'fd00:22::2 held shop/api-6d4cf56db6-x2x5z -',
  ])
  assertSound(story.world.service.ledger, 'after the undo')
  const [lease] = [...story.world.service.ledger.leases()]
  t.equal(story.world.service.ledger.holder(lease!.holder)?.leases.length, 2)
  t.equal(await story.add(copy('g6h7j', 'c3')), '10.22.0.2,fd00:22::2', 'the next one inherits it')
})

t.test('inherited from two pods, undone: each has its own again', async t => {
  const story = await Story.begin()
  story.world.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add(copy('x2x5z', 'c1', { ip: '10.22.0.50' }))
  await story.add(copy('b4d5f', 'c2', { ip: '10.22.0.51' }))
  await story.world.del('c1')
  await story.world.del('c2')
  t.equal(await story.add(copy('g6h7j', 'c3', { ip: '10.22.0.51' })), '10.22.0.51,fd00:22::2')
  const after = [
    '10.22.0.50 held shop/api-6d4cf56db6-x2x5z -',
    '10.22.0.51 bound shop/api-6d4cf56db6-g6h7j c3',
    'fd00:22::2 bound shop/api-6d4cf56db6-g6h7j c3',
    'fd00:22::3 held shop/api-6d4cf56db6-b4d5f -',
  ]
  story.check(t, after)
  assertSound(story.world.service.ledger, 'after the ADD')
  await story.undo('c3')
  story.check(t, [
    '10.22.0.50 held shop/api-6d4cf56db6-x2x5z -',
    '10.22.0.51 held shop/api-6d4cf56db6-b4d5f -',
    'fd00:22::2 held shop/api-6d4cf56db6-x2x5z -',
    'fd00:22::3 held shop/api-6d4cf56db6-b4d5f -',
  ])
  assertSound(story.world.service.ledger, 'after the undo')
})

t.test('inherited, taken over by a new sandbox of the heir, and both undone', async t => {
  for (const order of [
    ['c2', 'c3'],
    ['c3', 'c2'],
  ] as const) {
    const story = await Story.begin()
    await story.add(copy('x2x5z', 'c1'))
    await story.world.del('c1')
    await story.add(copy('b4d5f', 'c2'))
    await story.add(copy('b4d5f', 'c3'))
    for (const container of order) await story.undo(container)
    story.check(t, ['10.22.0.2 held shop/api-6d4cf56db6-x2x5z -'], order.join())
    assertSound(story.world.service.ledger, order.join())
    t.equal(await story.add(copy('g6h7j', 'c4')), '10.22.0.2')
  }
})

t.test('inherited, and the heir has moved on to another sandbox: kept again for whom it was', async t => {
  const story = await Story.begin()
  await story.add(copy('x2x5z', 'c1'))
  await story.world.del('c1')
  await story.add(copy('b4d5f', 'c2', { retain: 'release' }))
  t.equal(await story.add(copy('b4d5f', 'c3', { uid: 'another', retain: 'release' })), '10.22.0.3')
  await story.undo('c2')
  story.check(t, [
    '10.22.0.2 held shop/api-6d4cf56db6-x2x5z -',
    '10.22.0.3 bound shop/api-6d4cf56db6-b4d5f c3',
  ])
  assertSound(story.world.service.ledger, 'after the undo')
  t.equal(await story.add(copy('g6h7j', 'c4')), '10.22.0.2')
})

t.test('taken from a lost pod that has a newer sandbox by now: that sandbox does not get it', async t => {
  const story = await Story.begin()
  await story.add(copy('x2x5z', 'c1', { retain: 'release' }))
  story.world.dead.add('c1')
  t.equal(await story.add(copy('b4d5f', 'c2', { ip: '10.22.0.2' })), '10.22.0.2')
  t.equal(await story.add(copy('x2x5z', 'c3', { retain: 'release' })), '10.22.0.3')
  await story.undo('c2')
  assertSound(story.world.service.ledger, 'after the undo')
  story.check(t, [
    '10.22.0.2 bound shop/api-6d4cf56db6-x2x5z c1',
    '10.22.0.3 bound shop/api-6d4cf56db6-x2x5z c3',
  ])
  await story.world.del('c1')
  story.check(t, [
    '10.22.0.2 cooling shop/api-6d4cf56db6-x2x5z -',
    '10.22.0.3 bound shop/api-6d4cf56db6-x2x5z c3',
  ])
})

t.test('taken from a lost pod that was deleted and has another one by now: kept for nobody', async t => {
  const story = await Story.begin()
  await story.add(copy('x2x5z', 'c1'))
  story.world.dead.add('c1')
  t.equal(await story.add(copy('b4d5f', 'c2', { ip: '10.22.0.2' })), '10.22.0.2')
  await story.world.del('c1')
  t.equal(await story.add(copy('x2x5z', 'c3', { uid: 'another' })), '10.22.0.3')
  await story.undo('c2')
  assertSound(story.world.service.ledger, 'after the undo')
  story.check(t, [
    '10.22.0.2 cooling shop/api-6d4cf56db6-x2x5z -',
    '10.22.0.3 bound shop/api-6d4cf56db6-x2x5z c3',
  ])
})

t.test('undone, what an older sandbox had is not of a pod that keeps another address', async t => {
  const story = await Story.begin()
  await story.add(copy('x2x5z', 'c1', { ip: '10.22.0.9' }))
  await story.add(copy('x2x5z', 'c2', { ip: '10.22.0.2' }))
  await story.world.del('c2')
  story.world.dead.add('c1')
  t.equal(await story.add(copy('b4d5f', 'c3', { ip: '10.22.0.9' })), '10.22.0.9')
  await story.undo('c3')
  assertSound(story.world.service.ledger, 'after the undo')
  story.check(t, [
    '10.22.0.2 held shop/api-6d4cf56db6-x2x5z -',
    '10.22.0.9 bound shop/api-6d4cf56db6-x2x5z c1',
  ])
  await story.world.del('c1')
  story.check(t, [
    '10.22.0.2 held shop/api-6d4cf56db6-x2x5z -',
    '10.22.0.9 cooling shop/api-6d4cf56db6-x2x5z -',
  ])
})

t.test('the DEL of an heir keeps what it inherited for it', async t => {
  const story = await Story.begin()
  await story.add(copy('x2x5z', 'c1'))
  await story.world.del('c1')
  await story.add(copy('b4d5f', 'c2'))
  await story.world.del('c2')
  story.check(t, ['10.22.0.2 held shop/api-6d4cf56db6-b4d5f -'])
  t.equal(story.world.service.ledger.counts().holder, 1)
})

t.test('a DEL writes what is known of the workload by then', async t => {
  const story = await Story.begin()
  const owner: Owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api', uid: 'd1' }
  for (const [container, told, uid] of [
    ['c1', undefined, null],
    ['c2', null, 'uid-of-x2x5z'],
    ['c3', owner, 'd1'],
  ] as const) {
    await story.add(copy('x2x5z', container))
    Object.assign(story.world, { service: { ...story.world.service, ownerOf: () => told } })
    await story.world.del(container)
    const [lease] = [...story.world.service.ledger.leases()]
    t.equal(lease?.workload?.uid, uid)
  }
})

t.test('a DEL that an engine without transactions carried out by half', async t => {
  const story = await Story.begin()
  await story.add(plain('c1', { retain: 'forever' }))
  const { ledger } = story.world.service
  const [lease] = [...ledger.leases()]
  const holder = lease && ledger.holder(lease.holder)
  if (!holder) throw new Error('no holder')
  const { sandbox, ...rest } = holder
  t.ok(sandbox)
  const record = { ...rest, generation: holder.generation + 1, attachment: null }
  await ledger.commit([{ kind: 'holder', key: holderKey(holder.holder), expect: holder.generation, record }])
  await story.world.del('c1')
  t.match([...ledger.leases()], [{ state: 'held', attachment: null }], 'kept, as it was to be')
  t.match(ledger.holder(holder.holder)?.leases, [{ address: lease.address }])
})

t.test('undone, an ADD gives another node its address back, unless its sandbox was added again', async t => {
  const taken = '10.22.0.2'
  const other = '10.22.0.3'
  const elsewhere = { network: 'net', containerId: 'there', ifname: 'eth0' }
  const rows = [
    ['it was not added again', [taken], 'bound there'],
    ['it has another one of the family', [other], 'cooling -'],
    ['it has one of the other family', ['fd00:22::3'], 'bound there'],
  ] as const
  for (const [what, has, expected] of rows) {
    const { world } = await Story.begin()
    await world.add(plain('here', { pod: 'heir', ip: taken }))
    const { ledger, pools, now } = { ...world.service, pools: world.service.pools(), now: world.now }
    const [lease] = [...ledger.leases()]
    const attachment = lease?.attachment && ledger.attachment(lease.attachment)
    if (!attachment) throw new Error('no attachment')
    const holder = { ...attachment.holder, name: 'former' } as typeof attachment.holder
    const node = 'n2'
    const before = { ...lease, generation: 1, holder, attachment: elsewhere, node }
    const entry = { segment: lease.segment, address: taken, wrote: lease.generation, before }
    const sandbox = ofSandbox({ ...elsewhere, node, podUid: null, since: now })
    const own = has.filter(address => address !== taken).map(address => ({ ...before, address }))
    const leases = has.map(address => ({ segment: lease.segment, address }))
    const undo = { attachment: null, leases: [entry] }
    const there: Write = {
      kind: 'holder',
      key: holderKey(holder),
      expect: null,
      record: newHolder(undefined, holder, sandbox, leases),
    }
    await ledger.commit([
      ...own.map((record): Write => ({ kind: 'lease', key: leaseKey(record), expect: null, record })),
      ...(own.length > 0 ? [there] : []),
      writeAttachment(attachment, attachment, {
        ...attachment,
        generation: attachment.generation + 1,
        undo,
      }),
    ])
    // A ledger that nodes share, of which this node knows what it was told.
    const book = new Proxy<AddressBook>(ledger, {
      get: (of, name) => {
        if (name === 'isShared') return true
        const value: unknown = Reflect.get(of, name, of)
        return typeof value === 'function' ? (value.bind(of) as unknown) : value
      },
    })
    const change = planUndo(book, attachment, attachment.answered, { pools, now })
    const written = change.find(({ kind, key }) => kind === 'lease' && key === leaseKey(lease))
    const record = written?.record as LeaseRecord
    t.equal(`${record.state} ${record.attachment?.containerId ?? '-'}`, expected, what)
  }
})

t.test('a DEL that was meant for an earlier sandbox of the same ID', async t => {
  const rows = [
    ['the DEL began after the ADD', { bootId: 'boot-1', startedAt: 20 }, 10, 'boot-1', true],
    ['the DEL began before the ADD', { bootId: 'boot-1', startedAt: 20 }, 30, 'boot-1', false],
    ['nobody says when the ADD began', { bootId: 'boot-1', startedAt: 20 }, undefined, 'boot-1', true],
    [
      'a DEL of an earlier boot, an ADD of this one',
      { bootId: 'boot-0', startedAt: 20 },
      10,
      'boot-1',
      false,
    ],
    ['an ADD of an earlier boot, a DEL of this one', { bootId: 'boot-1', startedAt: 20 }, 30, 'boot-0', true],
  ] as const
  for (const [what, began, startedAt, bootId, ends] of rows) {
    const { world } = await Story.begin()
    await world.add(plain('c1', { bootId, ...(startedAt !== undefined && { startedAt }) }))
    await world.del('c1', 'eth0', 'net', began)
    t.equal(world.leases()[0], ends ? '10.22.0.2 cooling shop/a -' : '10.22.0.2 bound shop/a c1', what)
  }
})

t.test('a DEL of a sandbox whose holder has been ended without it leaves the holder as it is', async t => {
  const { world } = await Story.begin()
  await world.add(plain('c1', { retain: 'forever' }))
  const { ledger, pools } = world.service
  const [lease] = [...ledger.leases()]
  const holder = lease && ledger.holder(lease.holder)
  if (!holder) throw new Error('no holder')
  const { sandbox, ...rest } = holder
  t.ok(sandbox)
  const leases = [{ segment: 'default', address: '10.22.0.99' }]
  const record = { ...rest, generation: holder.generation + 1, attachment: null, leases }
  await ledger.commit([{ kind: 'holder', key: holderKey(holder.holder), expect: holder.generation, record }])
  const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
  const terms = { began: undefined, bootId: 'boot-1', workload: null, pools: pools(), now: world.now }
  const change = planDel(ledger, key, terms)
  t.strictSame(
    change.map(({ kind }) => kind),
    ['lease', 'attachment'],
  )
  t.match(change[0]?.record, { state: 'cooling' }, 'what the holder does not keep is kept for nobody')
})
