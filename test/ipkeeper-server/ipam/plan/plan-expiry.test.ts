import t from 'tap'
import { planExpiry } from '../../../../ipkeeper-server/ipam/plan/plan-expiry.ts'
import type { LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { commitPlan } from '../../../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { configured } from '../../leases/story.ts'
import { poolFrom, TestService } from '../../leases/test-service.ts'

/** Tidies up whatever is over at this moment, as the loop does. */
async function expire(story: TestService): Promise<readonly LeaseRecord[]> {
  const { ledger } = story.service
  const over = ledger.expire(story.now)
  for (const lease of over)
    await commitPlan(ledger, () => ({ change: planExpiry(ledger, lease, story.book) }))
  return over
}

const counts = (story: TestService): string => {
  const { lease, holder, attachment } = story.service.ledger.counts()
  return `${lease} leases, ${holder} holders, ${attachment} attachments`
}

t.test('a resting address goes without a trace', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1' })
  await story.del('c1')
  t.equal(counts(story), '1 leases, 0 holders, 0 attachments')
  story.now += 59_999
  t.strictSame(await expire(story), [])
  story.now += 1
  t.equal((await expire(story)).length, 1)
  t.equal(counts(story), '0 leases, 0 holders, 0 attachments')
})

t.test('a kept address goes with its holder', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', retain: '30m' })
  await story.del('c1')
  t.equal(counts(story), '1 leases, 1 holders, 0 attachments')
  story.now += 30 * 60_000
  await expire(story)
  t.equal(counts(story), '0 leases, 0 holders, 0 attachments')
})

t.test('of two kept addresses one goes: the holder stays for the other', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add({ pod: 'a', container: 'c1', retain: '30m' })
  await story.del('c1')
  const [four] = [...story.service.ledger.leases()]
  await story.service.ledger.commit(planExpiry(story.service.ledger, four!, story.book))
  t.strictSame(story.leases(), ['fd00:22::2 held shop/a -'])
  t.strictSame(
    story.service.ledger.holder(four!.holder)?.leases,
    [{ segment: 'default', address: 'fd00:22::2' }],
    'which keeps that one',
  )
  story.now += 30 * 60_000
  await expire(story)
  t.equal(counts(story), '0 leases, 0 holders, 0 attachments')
})

t.test('a resting address of a holder who has another one leaves the holder alone', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50' })
  await story.del('c1')
  await story.add({ pod: 'a', container: 'c2', ip: '10.22.0.60' })
  story.now += 600_000
  await expire(story)
  t.strictSame(story.leases(), ['10.22.0.60 bound shop/a c2'])
  t.equal(counts(story), '1 leases, 1 holders, 1 attachments')
})

t.test('a pool that gives the least recently used remembers when a kept address was used', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('ring', ['10.22.0.0/29'])
  const ring = configured('ring', [['10.22.0.0/29']], { policy: { strategy: 'least-recently-used' } })
  story.book = { ...story.book, pools: [ring] }
  await story.add({ pod: 'a', container: 'c1', retain: '30m' })
  await story.del('c1')
  const released = story.now
  story.now += 30 * 60_000
  await expire(story)
  t.equal(counts(story), '1 leases, 0 holders, 0 attachments')
  t.match([...story.service.ledger.leases()], [{ state: 'cooling', remembered: true, since: released }])
  t.strictSame(story.leases(), [], 'nobody has it')
  t.strictSame(await expire(story), [], 'once')
  t.equal(await story.add({ pod: 'b', container: 'c2' }), '10.22.0.3')
})
