import t from 'tap'
import { catalogue, problemRow, type ProblemCode } from '../../../shared/problem/catalogue.ts'

const codes = Object.keys(catalogue) as ProblemCode[]

t.test('a CNI code from 100 on stands for one problem', t => {
  const seen = new Map<number, ProblemCode>()
  for (const code of codes) {
    const { cniCode } = problemRow(code)
    if (cniCode < 100) continue
    t.equal(seen.get(cniCode), undefined, `${cniCode}: ${code}`)
    seen.set(cniCode, code)
  }
  t.end()
})

t.test('summary and hint are one line each', t => {
  for (const code of codes) {
    const { summary, hint } = problemRow(code)
    for (const text of [summary, hint]) t.match(text, /^\S.*\S$/, code)
  }
  t.end()
})
