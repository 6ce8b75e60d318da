import t from 'tap'
import {
  incarnationOf,
  isSameLease,
  isSetAside,
  isTakenAway,
  mustStay,
  isCondition,
  setAsideSource,
  type AttachmentRecord,
  type LeaseRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { lease } from '../../../rigs/records.ts'

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
  const anew = later({ node: 'n2', attachment: of('c0') }, 1)
  t.ok(isTakenAway(had, anew, true), 'given anew after its record was deleted, as the engine knows')
  t.notOk(isTakenAway(had, later({ mac: '02:00:00:00:00:01' }, 1), true), 'made anew for the same sandbox')
  t.notOk(isTakenAway(later({ attachment: null }, 3), later({ node: 'n2' })), 'what nobody had')
  t.end()
})

t.test('whether a lease is the one that was looked at', t => {
  const table: readonly (readonly [what: string, now: LeaseRecord | undefined, same: boolean])[] = [
    ['the same', { ...had }, true],
    ['changed since', later({}), false],
    ['given anew to its holder, of the same generation', { ...had, since: had.since + 1 }, false],
    ['given to another holder in that moment', { ...had, holder: { ...of('c9'), kind: 'container' } }, false],
    ['gone', undefined, false],
  ]
  for (const [what, now, same] of table) t.equal(isSameLease(now, had), same, what)
  t.end()
})

t.test('an attachment that was added again under its key is another one', t => {
  const record = { ...of('c1'), generation: 1, answered: 1, since: 5, invocationId: 'i1' } as AttachmentRecord
  const first = incarnationOf(record)
  t.equal(incarnationOf({ ...record, generation: 2 }), first, 'a note in its record does not make it another')
  for (const patch of [{ answered: 2 }, { since: 6 }, { invocationId: 'i2' }, { containerId: 'c2' }])
    t.not(incarnationOf({ ...record, ...patch }), first, JSON.stringify(patch))
  t.end()
})

t.test('what is put aside, since another host has it, is not chosen', t => {
  const source = setAsideSource('02:00:00:00:00:01 answered')
  t.ok(isSetAside({ state: 'cooling', source }))
  t.notOk(isSetAside({ state: 'bound', source }), 'a pod that asks for it by name may have it all the same')
  t.notOk(isSetAside({ state: 'cooling', source: 'dynamic' }))
  t.end()
})

t.test('a condition writes nothing', t => {
  const present = mustStay('lease', 'k', had)
  t.match(present, { kind: 'lease', key: 'k', expect: 3, record: had })
  t.match(mustStay('reservation', 'k', undefined), { expect: null, record: null })
  t.ok(isCondition(present))
  t.notOk(isCondition({ ...present, record: later({}) } as typeof present))
  t.end()
})
