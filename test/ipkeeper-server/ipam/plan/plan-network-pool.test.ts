import t from 'tap'
import { planNetworkPool } from '../../../../ipkeeper-server/ipam/plan/plan-network-pool.ts'
import { poolOf, toPoolRecord } from '../../../../ipkeeper-server/ipam/pools/pool-record.ts'
import { planConfiguredPools } from '../../../../ipkeeper-server/ipam/plan/plan-configured-pools.ts'
import type { Pool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { poolFrom, TestService } from '../../leases/test-service.ts'

/** A service whose configuration has pool prod. */
async function configured(pool: Pool): Promise<TestService> {
  const story = await TestService.open()
  const { ledger } = story.service
  await ledger.commit(planConfiguredPools(ledger, [{ pool }], () => true).change)
  return story
}

const prod = poolFrom('prod', ['10.22.0.0/24'], ['fd00:22::/64'])

t.test('a network of the name and ranges of a configured pool is that pool', async t => {
  const { service } = await configured(prod)
  t.strictSame(planNetworkPool(service.ledger, prod), [])
})

t.test('a network of its name and other ranges is refused, and told what to write', async t => {
  const { service } = await configured(prod)
  for (const other of [
    poolFrom('prod', ['10.22.0.0/24']),
    poolFrom('prod', ['10.9.0.0/24']),
    { ...prod, segment: 'lab' },
  ]) {
    const problem = await thrownProblem(() => planNetworkPool(service.ledger, other))
    t.equal(problem.code, 'IPK_CONFIG_INVALID')
    t.match(problem.message, /^network prod has ranges of its own \(.*the daemon's configuration has a pool/)
    t.match(problem.hint, '"ipam": {"type": "ipkeeper", "pool": "prod"}')
  }
})

t.test('a configured pool makes no room for a network, used or not', async t => {
  const { service } = await configured(prod)
  const problem = await thrownProblem(() =>
    planNetworkPool(service.ledger, poolFrom('net', ['10.22.0.128/25'])),
  )
  t.match(problem, {
    code: 'IPK_POOL_OVERLAP',
    message:
      "the ranges of network net (10.22.0.129-10.22.0.254) overlap those of pool prod of the daemon's configuration (10.22.0.1-10.22.0.254 and fd00:22::1-fd00:22::ffff:ffff:ffff:ffff)",
    hint: /^to share the addresses, name that pool in the network/,
  })
})

t.test('ranges of a network make room for those of another one until they are in use', async t => {
  const story = await TestService.open()
  const { ledger } = story.service
  await ledger.commit(planNetworkPool(ledger, poolFrom('net', ['10.22.0.0/24'])))
  const other = poolFrom('other', ['10.22.0.128/25'])
  t.strictSame(
    planNetworkPool(ledger, other).map(({ key, record }) => [key, record !== null]),
    [
      ['net', false],
      ['other', true],
    ],
  )
  t.equal(await story.add({ pod: 'web-0', container: 'c1' }), '10.22.0.2')
  const problem = await thrownProblem(() => planNetworkPool(ledger, other))
  t.match(problem, { code: 'IPK_POOL_OVERLAP', message: /network net \(.*\), which has leases$/ })
  t.match(problem.hint, /^to share the addresses, call both networks net, or name one pool in both/)
})

t.test('a network stays in its segment until nobody uses its addresses', async t => {
  const story = await TestService.open()
  const { ledger } = story.service
  const net = poolFrom('net', ['10.22.0.0/24'])
  const moved = { ...net, segment: 'lab' }
  await ledger.commit(planNetworkPool(ledger, net))
  t.equal(planNetworkPool(ledger, moved).length, 1)
  t.equal(await story.add({ pod: 'web-0', container: 'c1' }), '10.22.0.2')
  t.match(await thrownProblem(() => planNetworkPool(ledger, moved)), {
    code: 'IPK_POOLS_ORPHAN',
    message: /^network net moves from segment default to lab, /,
    hint: /ipkeeperctl release --pool net/,
  })
})

t.test('a record gives back the pool that it was made from', t => {
  const record = toPoolRecord(prod, 7, 'config')
  t.match(record, { generation: 7, origin: 'config', name: 'prod', segment: 'default' })
  t.strictSame(poolOf(record), prod)
  t.notOk('origin' in toPoolRecord(prod, 7))
  t.end()
})
