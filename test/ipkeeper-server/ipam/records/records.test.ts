import t from 'tap'
import { isTakenAway, type LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { lease } from '../../../contract/lease-store-contract.ts'

const of = (containerId: string) => ({ network: 'net', containerId, ifname: 'eth0' })
const had = lease('10.22.0.5', 3, { state: 'bound', attachment: of('c1'), node: 'n1' })
const later = (patch: Partial<LeaseRecord>, generation = 4): LeaseRecord => ({ ...had, generation, ...patch })

t.test('what a sandbox has lost by the hand of others', t => {
  const table: readonly (readonly [what: string, has: LeaseRecord | undefined, taken: boolean])[] = [
    ['as it was', had, false],
    ['written anew for the same sandbox', later({ mac: '02:00:00:00:00:01' }), false],
    ['of a sandbox of another node', later({ node: 'n2', attachment: of('c2') }), true],
    ['kept, as by its DEL', later({ state: 'held', attachment: null }), true],
    ['resting, as by its DEL', later({ state: 'cooling', attachment: null }), true],
    ['of an owner of old: a backup', later({ node: 'n2', attachment: of('c0') }, 2), false],
    ['as old as it was, and another: a backup too', later({ node: 'n2', attachment: of('c0') }, 3), false],
    ['lost: that says nothing', undefined, false],
  ]
  for (const [what, has, taken] of table) t.equal(isTakenAway(had, has), taken, what)
  t.notOk(isTakenAway(later({ attachment: null }, 3), later({ node: 'n2' })), 'what nobody had')
  t.end()
})
