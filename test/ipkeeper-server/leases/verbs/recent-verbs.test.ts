import t from 'tap'
import { Tombstones } from '../../../../ipkeeper-server/leases/verbs/recent-verbs.ts'
import { TestService } from '../test-service.ts'

const boot = 'boot-1'

t.test('a DEL stops an ADD that began before it and comes after it; not one that began later', async t => {
  const story = await TestService.open()
  await story.del('c1', 'eth0', 'net', { bootId: boot, startedAt: 200 })
  t.equal(await story.add({ container: 'c1', startedAt: 100 }), 'IPK_DEL_OVERTOOK')
  t.strictSame(story.leases(), [])
  t.equal(
    await story.add({ container: 'c1', startedAt: 300 }),
    '10.22.0.2',
    'nerdctl: DEL, then ADD, of one ID',
  )
  t.equal(await story.add({ container: 'c2', startedAt: 100 }), '10.22.0.3', 'another container')
  t.equal(
    await story.add({ container: 'c1', ifname: 'net1', startedAt: 100 }),
    '10.22.0.4',
    'another interface',
  )
})

t.test('a DEL ends only what began before it', async t => {
  const story = await TestService.open()
  await story.add({ container: 'c1', startedAt: 300 })
  await story.del('c1', 'eth0', 'net', { bootId: boot, startedAt: 200 })
  t.strictSame(story.leases(), ['10.22.0.2 bound - c1'], 'an older DEL that came late')
  await story.del('c1', 'eth0', 'net', { bootId: 'boot-0', startedAt: 900 })
  t.strictSame(story.leases(), ['10.22.0.2 bound - c1'], 'a DEL that lay in the queue over a reboot')
  await story.del('c1', 'eth0', 'net', { bootId: boot, startedAt: 400 })
  t.strictSame(story.leases(), ['10.22.0.2 cooling - -'])
})

t.test('a DEL of this boot ends what an earlier boot left', async t => {
  const story = await TestService.open()
  await story.add({ container: 'c1', startedAt: 300, bootId: 'boot-0' })
  await story.del('c1', 'eth0', 'net', { bootId: boot, startedAt: 5 })
  t.strictSame(story.leases(), ['10.22.0.2 cooling - -'])
})

t.test(
  'tombstones of an earlier boot stop nothing, the later of two counts, and they are forgotten in time',
  t => {
    const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
    const stones = new Tombstones()
    stones.bury(key, { bootId: boot, startedAt: 200 }, 0)
    stones.bury(key, { bootId: boot, startedAt: 100 }, 1)
    t.ok(stones.stops(key, { bootId: boot, startedAt: 150 }))
    t.notOk(stones.stops(key, { bootId: boot, startedAt: 200 }))
    t.notOk(stones.stops(key, { bootId: 'boot-2', startedAt: 1 }))
    stones.bury({ ...key, containerId: 'c2' }, { bootId: boot, startedAt: 1 }, 11 * 60_000)
    t.notOk(stones.stops(key, { bootId: boot, startedAt: 150 }))
    t.end()
  },
)
