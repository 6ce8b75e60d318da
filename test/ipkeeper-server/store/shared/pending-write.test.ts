import t from 'tap'
import { recordKinds } from '../../../../ipkeeper-server/ipam/records/records.ts'
import type { SharedKind } from '../../../../ipkeeper-server/store/shared/engine.ts'
import { resolutionOf } from '../../../../ipkeeper-server/store/shared/pending-write.ts'

const [before, wanted, other] = ['{"generation":1,"of":"before"}', '{"generation":2}', '{"generation":3}']
const pending = { kind: 'lease', key: 'k', expected: [before, null], want: wanted } as const
const again = { ...pending, expected: [before], again: true } as const

/** What the engine has, and how it stands with the node that has it in use. */
const cases = [
  ['it is there', pending, '{"generation":2}', 'none', 'done'],
  ['it is as it may be', pending, before, 'none', 'write'],
  [
    'it is as it may be, with keys in another order',
    pending,
    '{"of":"before","generation":1}',
    'none',
    'write',
  ],
  ['it is not there, as may be', pending, null, 'none', 'write'],
  ["it is another node's change", pending, other, 'none', 'overruled'],
  ["it is another node's change, which is in use there", pending, other, 'awaited', 'overruled'],
  ['after a loss: it is there', again, wanted, 'none', 'done'],
  ['after a loss: it is not there', again, null, 'none', 'write'],
  ['after a loss: an earlier one that is in use nowhere', again, other, 'none', 'write'],
  ['after a loss: in use on a node that has reported', again, other, 'reported', 'overruled'],
  ['after a loss: in use on a node that is awaited', again, other, 'awaited', 'wait'],
] as const

for (const [what, write, present, user, expected] of cases)
  t.test(`a pending write, when ${what}`, t => {
    t.equal(
      resolutionOf(write, present, () => user),
      expected,
    )
    t.end()
  })

t.test(
  "after a loss each kind of record is written whatever stands there, but a node's, which has told since",
  t => {
    const kinds = recordKinds.filter((kind): kind is Exclude<SharedKind, 'ending'> => kind !== 'attachment')
    const outcomes = (present: string | null): object => ({
      ...Object.groupBy(kinds, kind => resolutionOf({ ...again, kind }, present, () => 'none')),
    })
    const others = kinds.filter(kind => kind !== 'node')
    t.strictSame(outcomes(other), { write: others, overruled: ['node'] })
    t.strictSame(outcomes(null), { write: others, overruled: ['node'] })
    t.strictSame(outcomes(before), { write: kinds }, 'what it may have is replaced by the order of changes')
    t.end()
  },
)
