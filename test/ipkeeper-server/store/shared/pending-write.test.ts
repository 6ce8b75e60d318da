import t from 'tap'
import { recordKinds } from '../../../../ipkeeper-server/ipam/records/records.ts'
import type { SharedKind } from '../../../../ipkeeper-server/store/shared/engine.ts'
import {
  following,
  mayChangeAlone,
  resolutionOf,
} from '../../../../ipkeeper-server/store/shared/pending-write.ts'

const text = (generation: number, more: object = {}): string => JSON.stringify({ generation, ...more })
const [before, other] = [text(1, { of: 'before' }), text(3)]
const wanted = text(2, { state: 'bound', node: 'n1' })
const kept = text(2, { state: 'held', node: 'n1' })
const pending = { kind: 'lease', key: 'k', expected: [before, null], want: wanted } as const
const again = { ...pending, expected: [before], again: true } as const
const released = { ...again, want: kept } as const
const takenBack = { ...again, want: null } as const

const named = text(1, { name: 'n3', addresses: [] })
const claimed = text(1, { name: 'n3', addresses: [], claim: { id: 'i' } })
const notClaimed = { kind: 'node', key: 'n3', expected: [null, claimed, named], want: null } as const

/** What the engine has, and how it stands with the node that has it in use. */
const cases = [
  ['it is there', pending, wanted, 'own', 'done'],
  ['it is as it may be', pending, before, 'nobody', 'write'],
  [
    'it is as it may be, with keys in another order',
    pending,
    '{"of":"before","generation":1}',
    'nobody',
    'write',
  ],
  ['it is not there, as may be', pending, null, 'nobody', 'write'],
  ["it is another node's change", pending, other, 'nobody', 'overruled'],
  ["it is another node's change, which is in use there", pending, other, 'awaited', 'overruled'],
  ['after a loss: it is there', again, wanted, 'own', 'done'],
  ['after a loss: it is not there', again, null, 'nobody', 'write'],
  ['after a loss: an earlier one of this node', again, other, 'own', 'write'],
  ['after a loss: one that is in use nowhere', again, other, 'nobody', 'write'],
  ['after a loss: in use on a node that has reported', again, other, 'reported', 'overruled'],
  ['after a loss: in use on a node that is awaited', again, other, 'awaited', 'wait'],
  ['after a loss: it has ended, and an earlier one of this node is there', released, other, 'own', 'write'],
  ['after a loss: it has ended, and it is not there', released, null, 'nobody', 'write'],
  ['after a loss: it has ended, and one that is kept is there', released, other, 'nobody', 'overruled'],
  ['after a loss: it never was, and an earlier one of this node is there', takenBack, other, 'own', 'write'],
  ['after a loss: it never was, and one that is kept is there', takenBack, other, 'nobody', 'overruled'],
  ['it is a claim of a name that others have heard of', notClaimed, claimed, 'nobody', 'overruled'],
  ['it is of a node that has said nothing of itself', notClaimed, named, 'nobody', 'write'],
] as const

for (const [what, write, present, user, expected] of cases)
  t.test(`a pending write, when ${what}`, t => {
    t.equal(resolutionOf(write, present, { isOwn: () => false, userIs: () => user }), expected)
    t.end()
  })

t.test("after a loss what is missing is written again, but a node's record, which has told since", t => {
  const kinds = recordKinds.filter((kind): kind is Exclude<SharedKind, 'ending'> => kind !== 'attachment')
  const outcomes = (present: string | null): object => ({
    ...Object.groupBy(kinds, kind =>
      resolutionOf({ ...again, kind }, present, { isOwn: () => false, userIs: () => 'own' }),
    ),
  })
  const others = kinds.filter(kind => kind !== 'node')
  t.strictSame(outcomes(other), { write: others, overruled: ['node'] })
  t.strictSame(outcomes(null), { write: others, overruled: ['node'] })
  t.strictSame(outcomes(before), { write: kinds }, 'what it may have is replaced by the order of changes')
  t.end()
})

const sandbox = (containerId: string): object => ({ network: 'net', containerId, ifname: 'eth0' })
const lease = (generation: number, containerId: string, node: string): string =>
  text(generation, { state: 'bound', node, holder: { kind: 'external' }, attachment: sandbox(containerId) })
const holder = (generation: number, containerId: string, node: string): string =>
  text(generation, { attachment: sandbox(containerId), sandbox: { node } })
const ended = { kind: 'lease', key: 'k', expected: [lease(1, 'c1', 'n1')], want: kept } as const
const moved = { ...ended, want: lease(2, 'c2', 'n1') } as const
const neverAdded = { ...ended, expected: [null, lease(1, 'c1', 'n1')], want: null } as const
const left = { ...ended, kind: 'holder', expected: [holder(1, 'c1', 'n1')], want: null } as const
const fromAfar = { ...ended, expected: [lease(1, 'c9', 'n9'), lease(2, 'c1', 'n1')] } as const

/** Another node has changed the record, of which this one, n1, has a pending write. */
const givenBack = [
  ['ended, and it was given back to it', ended, lease(3, 'c1', 'n1'), 'follow'],
  ['gave it to a newer one, and it was given back to it', moved, lease(3, 'c1', 'n1'), 'follow'],
  ['was refused, and it was given back to it', neverAdded, lease(3, 'c1', 'n1'), 'follow'],
  ['has left its holder, and that was given back to it', left, holder(3, 'c1', 'n1'), 'follow'],
  ['ended, and another one of this node has it', ended, lease(3, 'c3', 'n1'), 'overruled'],
  ['ended, and one of another node has it', ended, lease(3, 'c9', 'n9'), 'overruled'],
  ['ended, and one of its ID on another node has it', ended, lease(3, 'c1', 'n9'), 'overruled'],
  ['had it from another node, which has it back', fromAfar, lease(3, 'c9', 'n9'), 'overruled'],
  ['ended, and it is kept', ended, text(3, { state: 'held', node: 'n1', attachment: null }), 'overruled'],
] as const

for (const [what, write, present, expected] of givenBack)
  t.test(`a pending write, when its sandbox ${what}`, t => {
    const terms = { isOwn: (name: string) => name === 'n1', userIs: () => 'nobody' as const }
    t.equal(resolutionOf(write, present, terms), expected)
    t.end()
  })

/** Of this machine c1 is, and of another one that had the name n1 before, c9. */
const alone = [
  ['gives up what a sandbox has here', 'lease', lease(1, 'c1', 'n1'), null, true],
  ['gives up what a sandbox of the former machine has', 'lease', lease(1, 'c9', 'n1'), null, false],
  ['gives up what a sandbox has on another node', 'lease', lease(1, 'c1', 'n9'), null, false],
  ['gives up a holder of a sandbox here', 'holder', holder(1, 'c1', 'n1'), null, true],
  ['gives up a holder of a sandbox of the former machine', 'holder', holder(1, 'c9', 'n1'), null, false],
  ['gives to a newer sandbox what one has here', 'lease', lease(1, 'c1', 'n1'), lease(2, 'c2', 'n1'), true],
  ['gives it what one of the former machine has', 'lease', lease(1, 'c9', 'n1'), lease(2, 'c2', 'n1'), false],
  ['takes away a reservation', 'reservation', '{}', null, false],
] as const

for (const [what, kind, before, after, may] of alone)
  t.test(`a change that ${what} is made ${may ? 'also' : 'never'} while the engine is away`, t => {
    const terms = {
      isOwn: (name: string) => name === 'n1',
      isHere: (name: string, its: { containerId: string } | null) =>
        name === 'n1' && its?.containerId !== 'c9',
      isOlder: () => false,
    }
    const record = after === null ? null : (JSON.parse(after) as object)
    t.equal(mayChangeAlone(kind, [before], record, terms), may)
    t.end()
  })

t.test(
  'by a journal that may be older than the node a sandbox may give up what it has, and none is given it',
  t => {
    const terms = { isOwn: () => true, isHere: () => true, isOlder: () => true }
    const mayBecome = (after: string | null): boolean => {
      const record = after === null ? null : (JSON.parse(after) as object)
      return mayChangeAlone('lease', [lease(1, 'c1', 'n1')], record, terms)
    }
    t.ok(mayBecome(null))
    t.ok(mayBecome(kept))
    t.ok(mayBecome(lease(2, 'c1', 'n1')))
    t.notOk(mayBecome(lease(2, 'c2', 'n1')))
    t.end()
  },
)

t.test('what follows a later version is a later one yet', t => {
  t.equal(following(text(2), text(3)), text(4))
  t.equal(following(text(5), text(3)), text(5))
  t.equal(following(null, text(3)), null)
  t.equal(following(text(2), null), text(2))
  t.end()
})
