import t from 'tap'
import { judgePoolObjects } from '../../../../ipkeeper-server/ipam/pools/judge-pool-objects.ts'
import type { ObjectPool, SpecPool } from '../../../../ipkeeper-server/ipam/pools/pool-objects-in-force.ts'
import { capacityOf } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { configured } from '../../leases/story.ts'

interface Told {
  readonly subnet: string
  readonly published?: true
  /** What it says now; null: what makes no sense. */
  readonly wants?: string | null
  readonly deleting?: true
  readonly generation?: number
}

const say = (name: string, subnet: string, generation: number): SpecPool => ({
  ...{ spec: { subnet }, generation, settings: configured(name, [[subnet]]) },
})

const objects = (told: Readonly<Record<string, Told>>): ReadonlyMap<string, ObjectPool> =>
  new Map(
    Object.entries(told).map(([name, { subnet, published, wants, deleting, generation }], createdAt) => {
      const now = generation ?? (wants === undefined ? 1 : 2)
      const wanted = typeof wants === 'string' ? say(name, wants, now) : undefined
      const pending = wants === undefined ? undefined : { wanted, why: wanted ? undefined : 'no sense' }
      const inForce = say(name, subnet, 1)
      return [
        name,
        {
          ...{ inForce, published: published === true, pending, uid: `uid-${name}`, generation: now },
          ...{ createdAt, deleting: deleting === true },
        },
      ]
    }),
  )

const [one, other, small] = ['10.1.0.0/24', '10.2.0.0/24', '10.1.0.0/28']
const wide = '10.0.0.0/8'

/** "in force", "publish SUBNET", "REASON", "REASON, publish SUBNET", "REASON, not in force". */
const rows: readonly (readonly [
  what: string,
  before: Readonly<Record<string, Told>>,
  present: Readonly<Record<string, Told>>,
  verdicts: Readonly<Record<string, string>>,
])[] = [
  ['a new one', {}, { a: { subnet: one } }, { a: `publish ${one}` }],
  ['one that is published', {}, { a: { subnet: one, published: true } }, { a: 'in force' }],
  [
    'one that was changed and changed back',
    {},
    { a: { subnet: one, published: true, generation: 3 } },
    { a: `publish ${one}` },
  ],
  ['a change', {}, { a: { subnet: one, published: true, wants: other } }, { a: `publish ${other}` }],
  [
    'one that leaves addresses out',
    {},
    { a: { subnet: one, published: true, wants: small } },
    { a: 'AddressesInUse' },
  ],
  ['one that makes no sense', {}, { a: { subnet: one, published: true, wants: null } }, { a: 'Invalid' }],
  [
    'one that overlaps what is in force',
    {},
    { a: { subnet: one, published: true, wants: wide }, b: { subnet: other, published: true } },
    { a: 'Overlaps', b: 'in force' },
  ],
  [
    'one that overlaps what has just been accepted',
    {},
    { a: { subnet: one, published: true, wants: other }, b: { subnet: '10.2.0.0/16' } },
    { a: `publish ${other}`, b: 'Overlaps, not in force' },
  ],
  [
    'of two new ones the older counts',
    {},
    { a: { subnet: one }, b: { subnet: wide } },
    { a: `publish ${one}`, b: 'Overlaps, not in force' },
  ],
  [
    'what is published counts before what is older',
    {},
    { a: { subnet: wide }, b: { subnet: one, published: true } },
    { a: 'Overlaps, not in force', b: 'in force' },
  ],
  ['one that is deleted is not judged', {}, { a: { subnet: one, published: true, deleting: true } }, {}],
  [
    'nor can another one have its addresses as long as it is in force',
    { a: { subnet: one, published: true, deleting: true } },
    { a: { subnet: one, published: true, deleting: true }, b: { subnet: wide } },
    { b: 'Overlaps, not in force' },
  ],
  [
    'what was taken out of the status, and this daemon remembers',
    { a: { subnet: one, published: true } },
    { a: { subnet: small } },
    { a: `AddressesInUse, publish ${one}` },
  ],
]
for (const [what, before, present, wanted] of rows)
  t.test(what, t => {
    const there = objects(present)
    const verdicts = judgePoolObjects(new Map([...there, ...objects(before)]), there, (_, { pool }) =>
      capacityOf(pool) < 20n ? 'left out' : undefined,
    )
    const got = [...verdicts].map(([name, { uid, publish, refusal, isInForce }]) => {
      t.equal(uid, `uid-${name}`)
      const words = [
        ...(refusal ? [refusal.reason] : []),
        ...(publish ? [`publish ${String(publish.spec['subnet'])}`] : []),
        ...(isInForce ? [] : ['not in force']),
      ]
      return [name, words.length === 0 ? 'in force' : words.join(', ')]
    })
    t.strictSame(Object.fromEntries(got), wanted)
    t.end()
  })
