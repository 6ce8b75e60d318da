import t from 'tap'
import { setOf, skippedAddresses } from '../../../../ipkeeper-server/ipam/choose/skipped-addresses.ts'
import { OwnAddresses } from '../../../../ipkeeper-server/ipam/pools/own-addresses.ts'
import { canonicalPool, type Pool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { parseAddress } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { poolFrom, TestService } from '../../leases/test-service.ts'

function skipped(
  story: TestService,
  pool: Pool,
  chosen: string,
  most = 10,
  own?: OwnAddresses,
): readonly string[] {
  const address = parseAddress(chosen)
  const set = setOf(pool, chosen)
  if (!address || !set) throw new Error(chosen)
  const { shown, more } = skippedAddresses(story.service.ledger, pool, set, {
    chosen: address,
    now: story.now,
    most,
    ...(own && { own }),
  })
  return [...shown.map(item => `${item.address}: ${item.text}`), ...(more === 0n ? [] : [`${more} more`])]
}

t.test('who has what lies below the chosen address', async t => {
  const story = await TestService.open()
  t.strictSame(skipped(story, story.pool, '10.22.0.2'), [])
  await story.add({ pod: 'web-0', container: 'c1' })
  await story.add({ container: 'alone' })
  await story.add({ pod: 'db-0', container: 'c3', retain: '30m' })
  await story.del('c3')
  await story.add({ pod: 'db-1', container: 'c4', retain: 'forever' })
  await story.del('c4')
  await story.add({ pod: 'a', container: 'c5' })
  await story.del('c5')
  await story.add({ pod: 'b', container: 'c6', ip: '10.22.0.7' })
  await story.del('c6')
  await reserve(story.service, { address: '10.22.0.8', owner: 'shop/c', note: 'x', segment: 'default' })
  t.strictSame(skipped(story, story.pool, '10.22.0.9'), [
    '10.22.0.2: held by shop/web-0 on node n1',
    '10.22.0.3: held by container alone on node n1',
    '10.22.0.4: kept for shop/db-0 until 2026-01-01T00:30:00Z',
    '10.22.0.5: kept for shop/db-1 without an end',
    '10.22.0.6: cooling down until 2026-01-01T00:01:00Z; it was released by shop/a',
    '10.22.0.7: cooling down until 2026-01-01T00:10:00Z; it was released by shop/b, which had asked for it by name',
    '10.22.0.8: reserved for shop/c',
  ])
  t.strictSame(skipped(story, story.pool, '10.22.0.9', 2), [
    '10.22.0.2: held by shop/web-0 on node n1',
    '10.22.0.3: held by container alone on node n1',
    '5 more',
  ])
  await reserve(story.service, { address: '10.22.0.2', owner: 'shop/web-0', note: '', segment: 'default' })
  t.strictSame(
    skipped(story, story.pool, '10.22.0.3', 1),
    ['10.22.0.2: held by shop/web-0 on node n1; reserved for shop/web-0', '251 more'],
    'an address that somebody had before is chosen when no other is left: all others were passed over',
  )
})

t.test('several ranges, and a family where counting is all that can be done', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/30', '10.23.0.0/30'])
  await story.add({ pod: 'a', container: 'c1' })
  t.strictSame(skipped(story, story.pool, '10.23.0.2'), ['10.22.0.2: held by shop/a on node n1'])
  await story.add({ pod: 'b', container: 'c2' })
  await story.del('c1')
  story.now += 61_000
  t.strictSame(skipped(story, story.pool, '10.22.0.2'), ['10.23.0.2: held by shop/b on node n1'])
  t.strictSame(skipped(story, story.pool, '10.23.0.2'), ['10.22.0.2: used before, last by shop/a'])

  const subnet = parseCidr('fd00::/48')
  if (!subnet) throw new Error('fd00::/48')
  const large = canonicalPool('large', 'default', [[{ subnet }]])
  t.match(skipped(story, large, 'fd00:0:0:ffff::', 1).at(-1), `${0xffff_0000_0000_0000_0000n - 3n} more`)
})

t.test('what the node has itself', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.3' })
  const own = new OwnAddresses([
    { cidr: '10.22.0.2/24', link: 'eth0' },
    { cidr: '10.22.0.3/24', link: 'eth1' },
  ])
  t.strictSame(skipped(story, story.pool, '10.22.0.4', 10, own), [
    '10.22.0.2: the node has it itself, on link eth0',
    '10.22.0.3: the node has it itself, on link eth1; held by shop/a on node n1',
  ])
})
