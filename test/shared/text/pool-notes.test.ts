import t from 'tap'
import type { PoolItem } from '../../../shared/api/listing.schema.ts'
import { poolNotes } from '../../../shared/text/pool-notes.ts'

const pool = { name: 'a b' } as PoolItem
const pending = {
  ...{ generation: 3, refused: true },
  says: 'generation 3 is not in force',
  next: ['ipkeeperctl', 'pools', 'a b'],
}

const rows: readonly (readonly [
  what: string,
  pool: Partial<PoolItem>,
  notes: readonly (readonly [says: string, command: string])[],
])[] = [
  ['a pool that serves', {}, []],
  [
    'one that is draining',
    { draining: { whole: true, left: 3 } },
    [['a b is draining: 3 left, and no new pod gets an address from it', 'leases --pool']],
  ],
  [
    'one of which some addresses are only reserved',
    { draining: { whole: true, left: 3, reserved: 2 } },
    [
      [
        'a b is draining: 3 left, 2 of them only reserved, and no new pod gets an address from it',
        'leases --pool',
      ],
    ],
  ],
  [
    'one that nobody has an address of any more',
    { draining: { whole: true, left: '2', reserved: 2 } },
    [
      [
        'a b is draining: 2 left, only reserved, and no new pod gets an address from it',
        'reservations --pool',
      ],
    ],
  ],
  [
    'a range that is drained',
    { draining: { whole: false, left: '0' } },
    [['a range of a b is drained: no address is left in it', 'leases --pool']],
  ],
  ['a newer spec that is not in force', { pending }, [['generation 3 is not in force', 'pools']]],
  [
    'both',
    { draining: { whole: true, left: 0 }, pending },
    [
      ['a b is drained: no address is left in it', 'leases --pool'],
      ['generation 3 is not in force', 'pools'],
    ],
  ],
]
for (const [what, more, notes] of rows)
  t.test(what, t => {
    t.strictSame(
      poolNotes([pool, { ...pool, ...more }]).map(({ says, next }) => [says, next.join(' ')]),
      notes.map(([says, command]) => [says, `ipkeeperctl ${command} a b`]),
    )
    t.end()
  })
