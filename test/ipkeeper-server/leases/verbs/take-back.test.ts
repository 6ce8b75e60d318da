import t from 'tap'
import { addAttachment, undoAdd } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import type { AttachmentKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { takeBack } from '../../../../ipkeeper-server/leases/verbs/take-back.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { sampleConfig as main } from '../../network/plan/sample-job.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { TestService, type PodWords } from '../test-service.ts'

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
