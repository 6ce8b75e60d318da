import t from 'tap'
import {
  joinPools,
  objectsInForce,
  type ObjectPool,
} from '../../../../ipkeeper-server/ipam/pools/pool-objects-in-force.ts'
import { configured } from '../../leases/story.ts'

/** "prod 10.1.0.0/24", "prod 10.1.0.0/24 deleting"; made in the order in which they are listed. */
function objects(lines: readonly string[]): ReadonlyMap<string, ObjectPool> {
  return new Map(
    lines.map((line, createdAt) => {
      const [name = '', subnet = '', deleting] = line.split(' ')
      return [name, { settings: configured(name, [[subnet]]), createdAt, deleting: deleting !== undefined }]
    }),
  )
}

const shown = ({ pool }: ObjectPool['settings']): string => {
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
    'left out; what was in force before stays',
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
]
for (const [what, before, present, used, inForce, note] of rows) {
  t.test(what, t => {
    const outcome = objectsInForce(objects(before), objects(present), {
      inUse: name => used.includes(name),
      leftOut: ({ pool }) => (used.includes(pool.name) ? 'left out' : undefined),
    })
    t.strictSame(
      Array.from(outcome.inForce.values(), ({ settings }) => shown(settings)),
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
    settings: configured(name, [['10.1.0.0/24']]),
    createdAt: 5,
    deleting: false,
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
