import t from 'tap'
import { collectGarbage } from '../../../ipkeeper-server/leases/gc.ts'
import { FragileStore } from '../store/fragile-store.ts'
import { TestService } from './test-service.ts'

const valid = (...ids: readonly string[]) => ids.map(containerId => ({ containerId, ifname: 'eth0' }))

t.test('ends what is not in the list: of this network, this interface, before it was asked', async t => {
  const story = await TestService.open()
  await story.add({ container: 'keep' })
  await story.add({ container: 'stale' })
  await story.add({ container: 'keep', ifname: 'net1' })
  story.now += 1
  await story.add({ container: 'younger' })
  const { ended, problems } = await collectGarbage(story.service, 'net', valid('keep'))
  t.strictSame(ended.map(({ containerId, ifname }) => `${containerId} ${ifname}`).sort(), [
    'keep net1',
    'stale eth0',
  ])
  t.strictSame(problems, [])
  t.strictSame(story.leases(), [
    '10.22.0.2 bound - keep',
    '10.22.0.3 cooling - -',
    '10.22.0.4 cooling - -',
    '10.22.0.5 bound - younger',
  ])
  t.strictSame((await collectGarbage(story.service, 'other', [])).ended, [])
})

t.test('what is added again under its key while GC is at work is left alone', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  await story.add({ container: 'c1', startedAt: 100 })
  await story.add({ container: 'c2', startedAt: 100 })
  story.now += 1000
  // The first commit of GC waits, and meanwhile the runtime makes c2 anew.
  let release: () => void = () => undefined
  store.delay = () => new Promise(resolve => (release = resolve))
  const collecting = collectGarbage(story.service, 'net', [])
  while (story.leases().filter(line => line.includes('bound')).length > 1)
    await new Promise(resolve => setImmediate(resolve))
  store.delay = async () => Promise.resolve()
  const deleted = story.del('c2', 'eth0', 'net', { bootId: 'boot-1', startedAt: 200 })
  const again = story.add({ container: 'c2', startedAt: 300 })
  release()
  await deleted
  t.equal(await again, '10.22.0.4')
  const { ended, problems } = await collecting
  t.strictSame(
    ended.map(attachment => attachment.containerId),
    ['c1'],
  )
  t.strictSame(problems, [])
  t.strictSame(story.leases(), ['10.22.0.2 cooling - -', '10.22.0.3 cooling - -', '10.22.0.4 bound - c2'])
})

t.test('goes on after an error, and says how many', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  for (const container of ['c1', 'c2', 'c3']) await story.add({ container })
  story.now += 1
  let turn = 0
  store.fails = () => ++turn === 2
  const { ended, problems } = await collectGarbage(story.service, 'net', [])
  t.equal(ended.length, 2)
  t.strictSame(
    problems.map(problem => problem.code),
    ['IPK_STORE_FAILED'],
  )
  t.equal(story.leases().filter(line => line.includes('bound')).length, 1)
})
