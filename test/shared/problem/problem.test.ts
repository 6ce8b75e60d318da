import t from 'tap'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'

t.test('a problem as it is on the wire', t => {
  const problem = new Problem('IPK_POOL_FULL', 'pool net is full')
  t.match(problem.toDocument(), { code: 'IPK_POOL_FULL', message: 'pool net is full', details: '' })
  t.not(problem.hint, '', 'the catalogue knows what to do')
  const own = new Problem('IPK_POOL_FULL', 'pool net is full', { hint: 'wait', details: '5 addresses' })
  t.match(own.toDocument(), { hint: 'wait', details: '5 addresses' }, 'unless somebody knows better')
  t.end()
})

t.test('whatever was thrown becomes a problem', t => {
  const problem = new Problem('IPK_POOL_FULL', 'pool net is full')
  t.equal(toProblem(problem), problem)
  const fault = new RangeError('broken')
  t.match(toProblem(fault), { code: 'IPK_INTERNAL', message: 'internal error: broken', cause: fault })
  t.match(toProblem('broken'), { code: 'IPK_INTERNAL', message: 'internal error: broken' })
  t.end()
})
