import t from 'tap'
import { planRelease } from '../../../../ipkeeper-server/ipam/plan/plan-release.ts'
import { assertSound } from '../../leases/ledger/sound-ledger.ts'
import { configured } from '../../leases/story.ts'
import { poolFrom, TestService, type PodWords } from '../../leases/test-service.ts'

/** Releases the kept address of a service. */
async function release(story: TestService, address: string): Promise<void> {
  const { ledger } = story.service
  const lease = ledger.lease({ segment: 'default', address })
  if (!lease) throw new Error(address)
  await ledger.commit(planRelease(ledger, lease, story.book, story.now))
  assertSound(ledger, 'after the release')
}

async function kept(words: PodWords): Promise<TestService> {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add(words)
  await story.del(words.container)
  return story
}

t.test('a kept address rests, and its holder keeps the other one', async t => {
  const story = await kept({ pod: 'a', container: 'c1', retain: 'forever' })
  await release(story, '10.22.0.2')
  t.strictSame(story.leases(), ['10.22.0.2 cooling shop/a -', 'fd00:22::2 held shop/a -'])
  t.equal(await story.add({ pod: 'b', container: 'c2' }), '10.22.0.3,fd00:22::3')
  await release(story, 'fd00:22::2')
  t.equal(
    await story.add({ pod: 'a', container: 'c3' }),
    '10.22.0.4,fd00:22::4',
    'nothing is kept for it any more',
  )
})

t.test('one that was asked for by name rests as after any DEL', async t => {
  const story = await kept({ pod: 'a', container: 'c1', ip: '10.22.0.50', retain: 'forever' })
  await release(story, '10.22.0.50')
  const lease = story.service.ledger.lease({ segment: 'default', address: '10.22.0.50' })
  t.equal(lease?.until, story.now + 600_000)
  t.equal(await story.add({ pod: 'b', container: 'c2', ip: '10.22.0.50' }), '10.22.0.50,fd00:22::3')
})

t.test('a pool that gives the least recently used remembers it', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('ring', ['10.22.0.0/29'])
  story.book = {
    ...story.book,
    pools: [configured('ring', [['10.22.0.0/29']], { policy: { strategy: 'least-recently-used' } })],
  }
  await story.add({ pod: 'a', container: 'c1', retain: 'forever' })
  await story.del('c1')
  await release(story, '10.22.0.2')
  t.equal(story.service.ledger.lease({ segment: 'default', address: '10.22.0.2' })?.remembered, true)
})
