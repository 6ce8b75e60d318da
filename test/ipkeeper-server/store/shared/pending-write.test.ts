import t from 'tap'
import { recordKinds } from '../../../../ipkeeper-server/ipam/records/records.ts'
import type { SharedKind } from '../../../../ipkeeper-server/store/shared/engine.ts'
import { resolutionOf } from '../../../../ipkeeper-server/store/shared/pending-write.ts'

const text = (generation: number, more: object = {}): string => JSON.stringify({ generation, ...more })
const [before, other] = [text(1, { of: 'before' }), text(3)]
const wanted = text(2, { state: 'bound', node: 'n1' })
const kept = text(2, { state: 'held', node: 'n1' })
const pending = { kind: 'lease', key: 'k', expected: [before, null], want: wanted } as const
const again = { ...pending, expected: [before], again: true } as const
const released = { ...again, want: kept } as const
const takenBack = { ...again, want: null } as const

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
] as const

for (const [what, write, present, user, expected] of cases)
  t.test(`a pending write, when ${what}`, t => {
    t.equal(
      resolutionOf(write, present, () => user),
      expected,
    )
    t.end()
  })

t.test("after a loss what is missing is written again, but a node's record, which has told since", t => {
  const kinds = recordKinds.filter((kind): kind is Exclude<SharedKind, 'ending'> => kind !== 'attachment')
  const outcomes = (present: string | null): object => ({
    ...Object.groupBy(kinds, kind => resolutionOf({ ...again, kind }, present, () => 'own')),
  })
  const others = kinds.filter(kind => kind !== 'node')
  t.strictSame(outcomes(other), { write: others, overruled: ['node'] })
  t.strictSame(outcomes(null), { write: others, overruled: ['node'] })
  t.strictSame(outcomes(before), { write: kinds }, 'what it may have is replaced by the order of changes')
  t.end()
})
