import t from 'tap'
import { LateOwn } from '../../../../ipkeeper-server/leases/ledger/recently-released.ts'

const all = { first: 0n, last: 1_000n }

t.test('what a node goes back to', t => {
  for (const { name, notes, taken = [], interval = all, found } of [
    { name: 'nothing', notes: [], found: undefined },
    { name: 'what it gave up', notes: [[5n, true]], found: 5n },
    {
      name: 'the longest free first',
      notes: [
        [5n, true],
        [3n, true],
      ],
      found: 5n,
    },
    {
      name: 'given up again, it is the last',
      notes: [
        [5n, true],
        [3n, true],
        [5n, false],
        [5n, true],
      ],
      found: 3n,
    },
    {
      name: 'not what has got a record again',
      notes: [
        [5n, true],
        [5n, false],
      ],
      found: undefined,
    },
    {
      name: 'not what is taken in another way',
      notes: [
        [5n, true],
        [3n, true],
      ],
      taken: [5n],
      found: 3n,
    },
    { name: 'not what is outside', notes: [[5n, true]], interval: { first: 6n, last: 9n }, found: undefined },
  ] as readonly {
    readonly name: string
    readonly notes: readonly (readonly [address: bigint, gone: boolean])[]
    readonly taken?: readonly bigint[]
    readonly interval?: typeof all
    readonly found: bigint | undefined
  }[]) {
    const late = new LateOwn()
    for (const [address, gone] of notes) late.note(address, gone)
    t.equal(
      late.find(interval, address => !taken.includes(address)),
      found,
      name,
    )
  }
  t.end()
})

t.test('not more than some are remembered, the latest', t => {
  const late = new LateOwn()
  for (let address = 0n; address < 300n; address++) late.note(address, true)
  t.equal(
    late.find(all, () => true),
    44n,
  )
  t.end()
})
