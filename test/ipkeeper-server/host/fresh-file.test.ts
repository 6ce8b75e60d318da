import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FreshFile } from '../../../ipkeeper-server/host/fresh-file.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

t.test('is read again when a minute has passed, or when somebody doubts it', t => {
  const path = join(t.testdir({ token: 'one' }), 'token')
  let now = 1_000_000
  const file = new FreshFile(path, 'token', () => now, 'IPK_KUBERNETES_CONFIG')
  const story: readonly [
    what: string,
    later: number,
    write: string | null | undefined,
    again: boolean,
    text: string,
  ][] = [
    ['at first', 0, undefined, false, 'one'],
    ['changed a moment ago', 59_999, 'two', false, 'one'],
    ['a minute later', 1, undefined, false, 'two'],
    ['changed again', 10, 'three', false, 'two'],
    ['doubted', 0, undefined, true, 'three'],
    ['being written', 60_000, '', false, 'three'],
    ['gone', 60_000, null, false, 'three'],
    ['gone and doubted', 0, null, true, 'three'],
    ['there again', 60_000, 'four', false, 'four'],
  ]
  for (const [what, later, write, again, text] of story) {
    now += later
    if (write === null) rmSync(path, { force: true })
    if (typeof write === 'string') writeFileSync(path, write)
    t.equal(file.read(again), text, what)
  }
  t.end()
})

t.test('has to be there at first', async t => {
  const path = join(t.testdir({}), 'token')
  t.match(await thrownProblem(() => new FreshFile(path, 'token of x', () => 0, 'IPK_KUBERNETES_CONFIG')), {
    code: 'IPK_KUBERNETES_CONFIG',
    message: `${path}: the token of x cannot be read (ENOENT)`,
  })
  writeFileSync(path, '\n')
  t.match(await thrownProblem(() => new FreshFile(path, 'token', () => 0, 'IPK_KUBERNETES_CONFIG')), {
    message: `${path}: the token is empty`,
  })
})
