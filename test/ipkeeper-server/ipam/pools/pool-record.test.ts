import t from 'tap'
import { locateAddress, poolOf, toPoolRecord } from '../../../../ipkeeper-server/ipam/pools/pool-record.ts'
import { planNetworkPool } from '../../../../ipkeeper-server/ipam/plan/plan-network-pool.ts'
import { canonicalPool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import type { PoolRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { parseAddress, type Address } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { TestService } from '../../leases/test-service.ts'

function address(text: string): Address {
  const parsed = parseAddress(text)
  if (!parsed) throw new Error(text)
  return parsed
}

const story = await TestService.open()
const record = (name: string, segment: string, subnet: string, from: string, to: string): PoolRecord => {
  const cidr = parseCidr(subnet)
  if (!cidr) throw new Error(subnet)
  const exclude = [{ first: address(from), last: address(from) }]
  const range = { subnet: cidr, rangeStart: address(from), rangeEnd: address(to), exclude }
  const [write] = planNetworkPool(story.service.ledger, canonicalPool(name, segment, [[range]]))
  if (write?.kind !== 'pool' || !write.record) throw new Error(name)
  return write.record
}
const pools = [
  record('a', 'default', '10.22.0.0/24', '10.22.0.10', '10.22.0.20'),
  record('b', 'default', '10.22.0.0/23', '10.22.0.100', '10.22.1.20'),
  record('c', 'lab', '10.9.0.0/24', '10.9.0.1', '10.9.0.9'),
  record('d', 'default', 'fd00::/64', 'fd00::5', 'fd00::9'),
]

for (const [segment, text, expected] of [
  ['default', '10.22.0.11', { kind: 'usable', pool: 'a' }],
  ['default', '10.22.0.255', { kind: 'usable', pool: 'b' }],
  ['default', '10.22.0.10', { kind: 'unusable', pool: 'a', why: 'excluded' }],
  ['default', '10.22.0.1', { kind: 'unusable', pool: 'a', why: 'the gateway of 10.22.0.0/24' }],
  ['default', '10.22.1.255', { kind: 'unusable', pool: 'b', why: 'the broadcast address of 10.22.0.0/23' }],
  ['default', '10.22.0.50', { kind: 'outside' }],
  ['default', '10.9.0.5', { kind: 'outside' }],
  ['lab', '10.9.0.5', { kind: 'usable', pool: 'c' }],
  ['lab', '10.22.0.1', { kind: 'outside' }],
  ['default', 'fd00::6', { kind: 'usable', pool: 'd' }],
  ['default', 'fd00::', { kind: 'unusable', pool: 'd', why: 'the network address of fd00::/64' }],
  ['default', 'fd01::1', { kind: 'outside' }],
] as const)
  t.test(`${text} in ${segment}`, t => {
    t.strictSame(locateAddress({ pools: () => pools }, segment, address(text)), expected)
    t.end()
  })

t.test('a record gives back the pool that it was made from, with what is excluded at either end', t => {
  const subnet = parseCidr('10.22.0.0/28')!
  const runs: readonly (readonly [name: string, first: string, last: string])[] = [
    ['at the beginning', '10.22.0.1', '10.22.0.4'],
    ['in the middle', '10.22.0.6', '10.22.0.8'],
    ['at the end', '10.22.0.12', '10.22.0.14'],
  ]
  for (const [name, first, last] of runs) {
    const exclude = [{ first: address(first), last: address(last) }]
    const pool = canonicalPool('net', 'default', [[{ subnet, exclude }]])
    const again = poolOf(toPoolRecord(pool, 1))
    t.strictSame(again.rangeSets[0]?.[0]?.usable, pool.rangeSets[0]?.[0]?.usable, name)
  }
  t.end()
})
