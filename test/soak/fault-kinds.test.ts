import t from 'tap'
import { cycle, faultKinds, nameIn, planEpisode, promised } from './fault-kinds.ts'

const everything = (pending: boolean): readonly string[] =>
  faultKinds
    .filter(fault => pending || fault.pending === undefined)
    .flatMap(({ kind, stores }) => stores.map(store => nameIn(kind, store)))
    .sort()

for (const pending of [false, true]) {
  t.test(
    `as many seeds in a row as a cycle has see every kind${pending ? ', the pending ones too' : ''}`,
    t => {
      t.strictSame(promised({ pending }), everything(pending))
      for (const first of [0, 3, 17, 2_000_000_000]) {
        const seen = Array.from({ length: cycle }, (_, index) => planEpisode(first + index, { pending }))
        const kinds = new Set(seen.flatMap(({ store, kinds }) => kinds.map(kind => nameIn(kind, store))))
        t.ok(kinds.size >= everything(pending).length * 0.8, `${kinds.size} kinds from seed ${first} on`)
      }
      t.end()
    },
  )
}

t.test('the same seed has the same plan', t => {
  t.strictSame(planEpisode(42), planEpisode(42))
  t.notSame(planEpisode(42), planEpisode(42 + cycle))
  t.strictSame(planEpisode(0, { pending: true, only: ['engine wiped', 'byte flipped'] }).kinds, [
    'engine wiped',
  ])
  t.end()
})
