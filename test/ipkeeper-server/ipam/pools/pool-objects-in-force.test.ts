import t from 'tap'
import {
  joinPools,
  objectsInForce,
  type ObjectPool,
  type SpecPool,
} from '../../../../ipkeeper-server/ipam/pools/pool-objects-in-force.ts'
import type { PoolRules, PoolSettings } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { configured } from '../../leases/story.ts'

const spec = (name: string, subnet: string, generation: number, rules: PoolRules = {}): SpecPool => ({
  ...{ spec: { subnet }, generation },
  settings: { ...configured(name, [[subnet]]), rules },
})

/**
 * "prod 10.1.0.0/24"; "deleting"; "published"; "wants=10.2.0.0/24", by namespace shop alone; "invalid"; "why=...". Made in the
 * order in which they are listed.
 */
function objects(lines: readonly string[]): ReadonlyMap<string, ObjectPool> {
  return new Map(
    lines.map((line, createdAt) => {
      const [name = '', subnet = '', ...words] = line.split(' ')
      const valueOf = (key: string): string | undefined =>
        words.find(word => word.startsWith(`${key}=`))?.slice(key.length + 1)
      const [wants, why] = [valueOf('wants'), valueOf('why')]
      const invalid = words.includes('invalid')
      const wanted = wants === undefined ? undefined : spec(name, wants, 2, { namespaces: ['shop'] })
      const object: ObjectPool = {
        inForce: spec(name, subnet, 1),
        published: words.includes('published'),
        pending: wanted || invalid ? { wanted, why: invalid ? 'no sense' : why } : undefined,
        ...{ uid: `uid-${name}`, generation: wanted || invalid ? 2 : 1, createdAt },
        deleting: words.includes('deleting'),
      }
      return [name, object]
    }),
  )
}

const shown = ({ pool }: PoolSettings): string => {
  const [[range] = []] = pool.rangeSets
  const value = range?.subnet.address.value ?? 0n
  return `${pool.name} 10.${(value >> 16n) & 255n}`
}

const deleted = 'was deleted; it stays in force until none of its addresses is in use'

const rows: readonly (readonly [
  what: string,
  before: readonly string[],
  present: readonly string[],
  inUse: readonly string[],
  inForce: readonly string[],
  note?: string,
])[] = [
  ['the first', [], ['a 10.1.0.0/24'], [], ['a 10.1']],
  ['changed', ['a 10.1.0.0/24'], ['a 10.2.0.0/24'], [], ['a 10.2']],
  [
    'changed in use',
    ['a 10.1.0.0/24'],
    ['a 10.2.0.0/24'],
    ['a'],
    ['a 10.1'],
    'left out; what was in force before stays in force',
  ],
  ['deleted, unused', ['a 10.1.0.0/24'], ['a 10.1.0.0/24 deleting'], [], []],
  ['deleted in use', ['a 10.1.0.0/24'], ['a 10.1.0.0/24 deleting'], ['a'], ['a 10.1'], deleted],
  ['changed after it was deleted', ['a 10.1.0.0/24'], ['a 10.2.0.0/24 deleting'], ['a'], ['a 10.1'], deleted],
  [
    'deleted in use before this daemon was started',
    [],
    ['a 10.1.0.0/24 deleting'],
    ['a'],
    ['a 10.1'],
    deleted,
  ],
  ['deleted and unused before this daemon was started', [], ['a 10.1.0.0/24 deleting'], [], []],
  ['gone by force, in use', ['a 10.1.0.0/24'], [], ['a'], ['a 10.1'], deleted],
  ['gone', ['a 10.1.0.0/24'], [], ['b'], []],
  ['published, whatever was before', ['a 10.1.0.0/24'], ['a 10.2.0.0/24 published'], ['a'], ['a 10.2']],
  ['published, and another one wanted', [], ['a 10.1.0.0/24 published wants=10.2.0.0/24'], ['a'], ['a 10.1']],
  [
    'published, and another one refused',
    [],
    ['a 10.1.0.0/24 published wants=10.2.0.0/24 why=full'],
    [],
    ['a 10.1'],
    'full; what was in force before stays in force',
  ],
  [
    'published, and what it says makes no sense',
    [],
    ['a 10.1.0.0/24 published invalid'],
    [],
    ['a 10.1'],
    'no sense; what was in force before stays in force',
  ],
]
for (const [what, before, present, used, inForce, note] of rows) {
  t.test(what, t => {
    const outcome = objectsInForce(objects(before), objects(present), {
      inUse: name => used.includes(name),
      leftOut: ({ pool }) => (used.includes(pool.name) ? 'left out' : undefined),
    })
    t.strictSame(
      Array.from(outcome.inForce.values(), ({ inForce }) => shown(inForce.settings)),
      inForce,
    )
    t.strictSame([...outcome.notes.values()], note === undefined ? [] : [note])
    t.end()
  })
}

t.test('beside the pools of the file', t => {
  const { pools, notes } = joinPools(
    [configured('mine', [['10.9.0.0/24']])],
    objects(['b 10.1.0.0/24', 'a 10.1.0.0/16', 'mine 10.3.0.0/24', 'c 10.9.0.0/16', 'd 10.4.0.0/24']),
  )
  t.strictSame(pools.map(shown), ['mine 10.9', 'b 10.1', 'd 10.4'])
  t.strictSame(
    [...notes],
    [
      ['a', 'overlaps pool b of another, older object, which counts; this one does not'],
      ['mine', 'the file of the daemon has a pool of this name, which counts; this one does not'],
      ['c', "overlaps pool mine of the daemon's file, which counts; this one does not"],
    ],
  )
  t.end()
})

t.test('of two objects of one moment the first by name counts, in whatever order they are told', t => {
  const [a, b] = ['a', 'b'].map(name => ({
    ...objects([`${name} 10.1.0.0/24`]).get(name),
    createdAt: 5,
  })) as [ObjectPool, ObjectPool]
  for (const present of [
    new Map([
      ['a', a],
      ['b', b],
    ]),
    new Map([
      ['b', b],
      ['a', a],
    ]),
  ]) {
    const { pools, notes } = joinPools([], present)
    t.strictSame(
      pools.map(({ pool }) => pool.name),
      ['a'],
    )
    t.match(notes.get('b'), /^overlaps pool a of another, older object, which counts/)
  }
  t.end()
})

t.test('of two objects the one that is published counts', t => {
  const { pools } = joinPools([], objects(['a 10.1.0.0/24', 'b 10.1.0.0/16 published']))
  t.strictSame(pools.map(shown), ['b 10.1'])
  t.end()
})

t.test('rules of a spec that is not in force shut out all the same', t => {
  const { pools } = joinPools([], objects(['a 10.1.0.0/24 published wants=10.2.0.0/24']))
  t.match(pools, [{ rules: { besides: { namespaces: ['shop'] } } }])
  t.end()
})
