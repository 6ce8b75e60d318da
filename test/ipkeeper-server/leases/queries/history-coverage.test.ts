import t from 'tap'
import { notKnown } from '../../../../ipkeeper-server/leases/queries/history-coverage.ts'

const at = (time: string): number => Date.parse(`2026-11-21T${time}:00Z`)
const from = (node: string, begin: string | null, to: string | null = null) => ({
  node,
  from: begin && `2026-11-21T${begin}:00.000Z`,
  to: to && `2026-11-21T${to}:00.000Z`,
})
const begins = 'not known before 2026-11-21T10:00:00Z: the history of node n1 begins then'

const cases: readonly (readonly [string, Parameters<typeof notKnown>, readonly string[]])[] = [
  ['all of it, to its end', [[from('n1', '10:00')], { since: undefined, isCut: false }], [begins]],
  ['a page of it', [[from('n1', '10:00')], { since: undefined, isCut: true }], []],
  ['a time after its begin', [[from('n1', '10:00')], { since: at('10:00'), isCut: false }], []],
  ['a time before', [[from('n1', '10:00')], { since: at('09:59'), isCut: false }], [begins]],
  ['a page of a time before', [[from('n1', '10:00')], { since: at('09:59'), isCut: true }], [begins]],
  [
    'none',
    [[from('n1', null)], { since: undefined, isCut: false }],
    ['no history of node n1: what was recorded there is not known'],
  ],
  [
    'a node that was lost',
    [[from('n1', '08:00'), from('n2', '08:00', '11:00')], { since: at('09:00'), isCut: false }],
    ['not known of node n2 after 2026-11-21T11:00:00Z: it has sent nothing since'],
  ],
  [
    'many nodes',
    [
      ['n1', 'n2', 'n3', 'n4', 'n5'].map((name, index) => from(name, `0${index + 1}:00`)),
      { since: undefined, isCut: false },
    ],
    [
      ...[5, 4, 3].map(
        index => `not known before 2026-11-21T0${index}:00:00Z: the history of node n${index} begins then`,
      ),
      'and so for 2 more nodes (-o json lists them)',
    ],
  ],
  [
    'several without one',
    [[from('n1', '10:00'), from('n2', null), from('n3', null)], { since: at('11:00'), isCut: false }],
    ['no history of nodes n2, n3: what was recorded there is not known'],
  ],
]
for (const [what, asked, lines] of cases) {
  t.test(what, t => {
    t.strictSame(notKnown(...asked), lines)
    t.end()
  })
}
