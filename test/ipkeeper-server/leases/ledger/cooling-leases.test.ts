import t from 'tap'
import { CoolingLeases } from '../../../../ipkeeper-server/leases/ledger/cooling-leases.ts'

const node = 'worker-1'

const keysOf = (resting: CoolingLeases): readonly string[] => Array.from(resting.inOrder(), ({ key }) => key)

/** "a5": a is added, released at 5; "-a": a is taken away. */
for (const [steps, expected] of [
  ['', ''],
  ['a1 b2 c3', 'a b c'],
  ['c3 a1 b2', 'a b c'],
  ['a1 b2 -a', 'b'],
  ['a1 b2 -a a3', 'b a'],
  ['a1 b2 a3', 'b a'],
  ['a5 b6 c1', 'c a b'],
  ['a5 -a b3 c4', 'b c'],
  ['a1 b1 c1', 'a b c'],
  ['b1 a1 c0', 'c b a'],
] as const) {
  t.test(steps === '' ? 'none' : steps, t => {
    const resting = new CoolingLeases()
    for (const step of steps.split(' ').filter(Boolean)) {
      if (step.startsWith('-')) resting.delete(step.slice(1))
      else resting.add(step.slice(0, 1), { node, since: Number(step.slice(1)) })
      t.equal(keysOf(resting).length, resting.size)
    }
    t.equal(keysOf(resting).join(' '), expected)
    const unlooked = new CoolingLeases()
    for (const step of steps.split(' ').filter(Boolean)) {
      if (step.startsWith('-')) unlooked.delete(step.slice(1))
      else unlooked.add(step.slice(0, 1), { node, since: Number(step.slice(1)) })
    }
    t.equal(keysOf(unlooked).join(' '), expected, 'the same when nobody looked meanwhile')
    t.end()
  })
}
