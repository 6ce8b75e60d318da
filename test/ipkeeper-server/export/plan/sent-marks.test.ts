import fc from 'fast-check'
import t from 'tap'
import { isSent, withMark, type SentMark } from '../../../../ipkeeper-server/export/plan/sent-marks.ts'

const mark = (id: number): SentMark => ({ id, link: `l${id}` })
const marksOf = (ids: readonly number[]): readonly SentMark[] =>
  ids.reduce<readonly SentMark[]>((marks, id) => withMark(marks, mark(id)), [])
const idsOf = (marks: readonly SentMark[]): number[] => marks.map(({ id }) => id)

t.test('the older, the fewer', t => {
  for (const [what, ids, kept] of [
    ['the first one', [7], [7]],
    ['one after the other', [1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 5, 1]],
    ['in steps', [200, 400, 600, 800, 1000], [1000, 800, 600, 200]],
    ['what comes after a ledger that was put back', [10, 20, 30, 15], [15, 10]],
    ['the same one again', [10, 20, 20], [20, 10]],
  ] as const)
    t.strictSame(idsOf(marksOf(ids)), kept, what)
  t.end()
})

t.test('after any ledger that was put back, what is sent again is a few times what it lacks', t => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 60 }), steps => {
      const ids = steps.map((_, index) => steps.slice(0, index + 1).reduce((sum, step) => sum + step, 0))
      const marks = idsOf(marksOf(ids))
      const [newest = 0] = marks
      const longest = Math.max(...steps)
      return (
        marks.length <= 2 + Math.log2(newest) &&
        ids.every(lost => {
          const from = marks.find(id => id < lost) ?? 0
          return lost - from <= 4 * (newest - lost) + 4 * longest
        })
      )
    }),
  )
  t.end()
})

t.test('whether an entry is the one that was sent', t => {
  for (const [what, entry, sent] of [
    ['it is', { id: 7, link: 'l7' }, true],
    ['another link', { id: 7, link: 'other' }, false],
    ['another ID', { id: 8, link: 'l7' }, false],
    ['without a link', { id: 7 }, false],
  ] as const)
    t.equal(isSent(mark(7), entry), sent, what)
  t.equal(isSent({ id: 7, link: null }, { id: 7 }), true, 'both of a version without links')
  t.end()
})
