import t from 'tap'
import { delAttachment } from '../../../ipkeeper-server/leases/del.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { sampleConfig as main } from '../network/plan/sample-job.ts'
import { TestService } from './test-service.ts'

const key = (containerId: string) => ({ network: 'net', containerId, ifname: 'eth0' })
const remains = { netns: '/run/netns/c1' }
const pod = { pod: 'web-0', uid: 'u1', container: 'c1', main }

t.test('the wiring goes before the lease is anybody else’s', async t => {
  const story = await TestService.open()
  await story.add(pod)
  const unwire = story.network.unwire.bind(story.network)
  story.network.unwire = async (attachment, leases) => {
    t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'])
    t.match(leases, [{ address: '10.22.0.2' }])
    await unwire(attachment, leases)
  }
  await delAttachment(story.service, key('c1'), undefined, remains)
  t.strictSame(story.network.calls, ['wire', 'unwire'])
  t.strictSame(story.leases(), ['10.22.0.2 cooling shop/web-0 -'])
  await delAttachment(story.service, key('c1'), undefined, remains)
  t.strictSame(story.network.calls.at(-1), 'unwire unknown', 'a second one finds nobody')
})

t.test('a wiring that stays keeps its address', async t => {
  const story = await TestService.open()
  await story.add(pod)
  story.network.unwire = () => Promise.reject(new Problem('IPK_WIRING_FAILED', 'busy'))
  await t.rejects(delAttachment(story.service, key('c1'), undefined, remains), { code: 'IPK_WIRING_FAILED' })
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'], 'the runtime will send its DEL again')
})

t.test('of an attachment that nobody knows', async t => {
  const story = await TestService.open()
  const asked: unknown[] = []
  story.network.unwireUnknown = (...args) => {
    asked.push(args)
    return Promise.resolve()
  }
  await delAttachment(story.service, key('c9'), undefined)
  t.strictSame(asked, [], 'the IPAM role has no links')
  t.strictSame(await delAttachment(story.service, key('c9'), undefined, remains), { late: 'unknown' })
  t.strictSame(asked, [[key('c9'), remains.netns]], 'in the main role its names tell')
})

t.test('one that began before the ADD leaves it wired', async t => {
  const story = await TestService.open()
  await story.add({ ...pod, startedAt: 2000 })
  await delAttachment(story.service, key('c1'), { bootId: 'boot-1', startedAt: 1000 }, remains)
  t.strictSame(story.network.calls, ['wire'])
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'])
})

t.test('what the IPAM role gave has no wiring', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'web-0', uid: 'u1', container: 'c1' })
  await delAttachment(story.service, key('c1'), undefined, remains)
  t.strictSame(story.network.calls, [])
})
