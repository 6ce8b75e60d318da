import t from 'tap'
import { addAttachment } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { undoAdd, takeBack, setAside } from '../../../../ipkeeper-server/leases/verbs/undo-add.ts'
import {
  holderKey,
  leaseKey,
  type AttachmentKey,
  type HolderRecord,
  type LeaseRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { sampleConfig as main } from '../../network/plan/sample-job.ts'
import { until } from '../../../rigs/poll.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { Site } from '../several-nodes.ts'
import { TestService, type PodWords, poolFrom } from '../test-service.ts'
import { AddressTaken } from '../../../../ipkeeper-server/network/pod-network.ts'

const key: AttachmentKey = { network: 'net', containerId: 'c1', ifname: 'eth0' }
const plain: PodWords = { pod: 'web-0', uid: 'u1', container: 'c1', invocation: 'i1' }
const words: PodWords = { ...plain, main }

/** One wired pod, and the generation of its answer. */
async function wiredStory(store = new FragileStore()): Promise<{ story: TestService; generation: number }> {
  const story = await TestService.open(store)
  const { generation } = await addAttachment(story.service, story.request(words), { gone: () => false })
  return { story, generation }
}

t.test('kernel and record go, once', async t => {
  const { story, generation } = await wiredStory()
  t.ok(await takeBack(story.service, key, generation))
  t.strictSame([story.network.calls, story.leases()], [['wire', 'unwire'], []])
  t.equal(story.service.ledger.attachment(key), undefined)
  t.notOk(await takeBack(story.service, key, generation))
  t.strictSame(story.network.calls, ['wire', 'unwire'])
})

t.test('what another ADD was answered from meanwhile stays, in the kernel too', async t => {
  const { story, generation } = await wiredStory()
  await story.add(words)
  t.notOk(await undoAdd(story.service, story.request(words), generation))
  t.strictSame(story.network.calls, ['wire'])
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'])
})

t.test('what was added anew under the key stays, though its generation is that of the answer', async t => {
  const { story, generation } = await wiredStory()
  await story.del('c1')
  story.now += 1
  await story.add({ ...words, invocation: 'i2' })
  t.equal(story.service.ledger.attachment(key)?.answered, generation)
  t.notOk(await undoAdd(story.service, story.request(words), generation))
  t.equal(story.leases().filter(line => line.includes('bound shop/web-0 c1')).length, 1)
})

t.test('the kernel comes before the record', async t => {
  const { story, generation } = await wiredStory()
  story.network.unwire = attachment => {
    t.ok(story.service.ledger.attachment(attachment), 'which tells what is to be unwired')
    return Promise.reject(new Problem('IPK_WIRING_FAILED', 'busy'))
  }
  await t.rejects(takeBack(story.service, key, generation), { code: 'IPK_WIRING_FAILED' })
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'], 'nobody else gets the address')
})

t.test('a store that refuses leaves a record that can be taken back again', async t => {
  const store = new FragileStore()
  const { story, generation } = await wiredStory(store)
  store.fails = () => true
  await t.rejects(takeBack(story.service, key, generation), { code: 'IPK_STORE_FAILED' })
  store.fails = () => false
  t.ok(await takeBack(story.service, key, generation))
  t.strictSame(story.leases(), [])
})

t.test('without a wiring there is no kernel to touch', async t => {
  const story = await TestService.open()
  const { generation } = await addAttachment(story.service, story.request(plain), { gone: () => false })
  t.ok(await takeBack(story.service, key, generation))
  t.strictSame([story.network.calls, story.leases()], [[], []])
})

const pod = (container: string, more: Partial<PodWords> = {}): PodWords => ({
  ...{ pod: `pod-of-${container}`, container, main },
  ...more,
})
const leaseOf = (story: TestService, address: string): LeaseRecord | undefined =>
  story.service.ledger.lease({ segment: 'default', address })

/** From now on somebody on the network answers for these addresses. */
function occupy(story: TestService, ...addresses: readonly string[]): void {
  story.network.wire = ({ leases, survey }) => {
    const taken = leases.filter(({ address }) => addresses.includes(address))
    const duplicates = taken.map(({ address }) => ({ address, mac: '02:00:00:00:00:99' }))
    return taken.length > 0 ? Promise.reject(new AddressTaken(duplicates)) : Promise.resolve(survey)
  }
}

t.test('an address that somebody has is passed over for `preferFor`', async t => {
  const story = await TestService.open()
  occupy(story, '10.22.0.2')
  const problem = await story.problem(pod('c1'))
  t.match(problem, {
    code: 'IPK_ADDRESS_DUPLICATE',
    message: '02:00:00:00:00:99 on the network has 10.22.0.2',
  })
  t.match(leaseOf(story, '10.22.0.2'), {
    ...{ state: 'cooling', attachment: null, named: true, since: story.now, until: story.now + 600_000 },
    source: 'put aside: 02:00:00:00:00:99 on the network has 10.22.0.2',
  })
  t.equal(story.service.ledger.attachment({ network: 'net', containerId: 'c1', ifname: 'eth0' }), undefined)
  t.strictSame(story.network.calls, ['unwire'])

  t.equal(await story.add(pod('c1')), '10.22.0.3', 'the same pod, tried again')
  t.equal(await story.add(pod('c2')), '10.22.0.4', 'and the next one')

  story.now += 600_001
  story.service.ledger.expire(story.now)
  t.equal(await story.add(pod('c3')), 'IPK_ADDRESS_DUPLICATE', 'later it is tried again')
  occupy(story)
  t.equal(await story.add(pod('c4')), '10.22.0.5')
  story.now += 600_001
  story.service.ledger.expire(story.now)
  t.equal(await story.add(pod('c5')), '10.22.0.2', 'until nobody has it any more')
})

t.test('who asks for it by name has it probed again', async t => {
  const story = await TestService.open()
  occupy(story, '10.22.0.50')
  const asking = pod('c1', { ip: '10.22.0.50' })
  t.equal(await story.add(asking), 'IPK_ADDRESS_DUPLICATE')
  story.now += 1000
  t.equal(await story.add(asking), 'IPK_ADDRESS_DUPLICATE', 'still there')
  t.equal(leaseOf(story, '10.22.0.50')?.until, story.now + 600_000, 'from this moment on')
  occupy(story)
  t.equal(await story.add(asking), '10.22.0.50')
  t.equal(leaseOf(story, '10.22.0.50')?.state, 'bound')
})

t.test('of several addresses those that are taken', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  occupy(story, 'fd00:22::2')
  t.equal(await story.add(pod('c1')), 'IPK_ADDRESS_DUPLICATE')
  t.equal(leaseOf(story, '10.22.0.2'), undefined, 'the other is free again')
  t.equal(leaseOf(story, 'fd00:22::2')?.state, 'cooling')
  t.equal(await story.add(pod('c2')), '10.22.0.2,fd00:22::3')
})

t.test('a pool has its own time', async t => {
  const story = await TestService.open()
  story.book = { ...story.book, standard: { ...story.book.standard, preferFor: 5_000 } }
  occupy(story, '10.22.0.2')
  await story.add(pod('c1'))
  t.equal(leaseOf(story, '10.22.0.2')?.until, story.now + 5_000)
})

t.test('what is somebody’s is left alone', async t => {
  const bound = await TestService.open()
  await bound.add(pod('c1'))
  const lease = leaseOf(bound, '10.22.0.2')
  if (!lease) throw new Error('no lease')
  await setAside(bound.service, [lease], 'why')
  t.strictSame(leaseOf(bound, '10.22.0.2'), lease, 'that of a pod')

  const kept = await TestService.open()
  await kept.add(pod('c1', { retain: 'forever' }))
  await kept.del('c1')
  const held = leaseOf(kept, '10.22.0.2')
  t.equal(held?.state, 'held')
  await setAside(kept.service, [lease], 'why')
  t.strictSame(leaseOf(kept, '10.22.0.2'), held, 'that of one who may come back')
  await setAside(kept.service, [], 'why')
})

t.test('a new sandbox whose address is taken gives it back to the old one', async t => {
  const story = await TestService.open()
  await story.add({ ...pod('c1'), pod: 'web-0', uid: 'u1' })
  occupy(story, '10.22.0.2')
  t.equal(await story.add({ ...pod('c2'), pod: 'web-0', uid: 'u1' }), 'IPK_ADDRESS_DUPLICATE')
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'])
})

t.test(
  'a holder goes back to its former sandbox without what that has let go on its node meanwhile',
  async t => {
    const site = new Site()
    const terms = { byTime: undefined, offlineGrace: 0 }
    const [one, two] = [await site.join(t, 'n1', terms), await site.join(t, 'n2', terms)]
    one.world.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
    const former: PodWords = {
      pod: 'web-0',
      uid: 'u1',
      container: 'c1',
      node: 'n1',
      ip: '10.22.0.2,fd00:22::2',
    }
    const request = two.world.request({ ...former, container: 'c2', node: 'n2', ip: '10.22.0.2' })
    t.equal(await one.world.add(former), '10.22.0.2,fd00:22::2')
    const v6 = { segment: 'default', address: 'fd00:22::2' }
    await until('the other node knows', () => two.ledger.lease(v6)?.state === 'bound')
    const { generation } = await addAttachment(two.world.service, request, { gone: () => false })
    await until('its node knows', () => one.ledger.holder(request.holder)?.attachment?.containerId === 'c2')

    await site.turn(two, 'deaf')
    await one.world.del('c1')
    t.match(two.ledger.lease(v6), { state: 'bound' }, 'this one has not heard of it')
    t.ok(await takeBack(two.world.service, request.key, generation))
    const { attachment, leases } = JSON.parse(
      site.engine.get('holder', holderKey(request.holder))?.text ?? '{}',
    ) as HolderRecord
    t.match(attachment, { containerId: 'c1' }, 'whether it still lives its node knows')
    t.strictSame(leases, [{ segment: 'default', address: '10.22.0.2' }])
    t.match(JSON.parse(site.engine.get('lease', leaseKey(v6))?.text ?? ''), { state: 'cooling' })
  },
)
