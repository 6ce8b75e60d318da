import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { BoundedLooks } from '../../../ipkeeper-server/host/bounded-looks.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const patience = 150

/** Looks that end when the test says so. */
function makeLooks(most = 2) {
  const looks = new BoundedLooks({ patience, most })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const look = (path: string): Promise<string> =>
    looks.run('test', path, () => {
      begun.push(path)
      return new Promise(resolve => {
        ends.set(path, () => {
          resolve(`${path} is there`)
        })
      })
    })
  return { looks, begun, look, end: (path: string) => ends.get(path)?.() }
}

t.test('what ends in time is told, also that it failed', async t => {
  const looks = new BoundedLooks({ patience, most: 2 })
  t.equal(await looks.run('test', '/a', () => Promise.resolve(7)), 7)
  await t.rejects(
    looks.run('test', '/a', () => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.equal(looks.isHanging('/a'), false)
})

t.test('one that hangs is waited for once, and not tried again until it ends', async t => {
  const { looks, look, begun, end } = makeLooks()
  t.match(await thrownProblem(() => look('/hung/a')), {
    code: 'IPK_FILE_HANGS',
    message: '/hung/a does not answer (for 0.15 s): its file system hangs',
  })
  for (const path of ['/hung/a', '/hung/b']) {
    const started = performance.now()
    t.match(await thrownProblem(() => look(path)), {
      message: `${path} does not answer (still): its file system hangs`,
    })
    t.ok(performance.now() - started < patience, `${path}: at once`)
    t.ok(looks.isHanging(path))
  }
  t.notOk(looks.isHanging('/elsewhere/a'))
  t.same(begun, ['/hung/a'])
  end('/hung/a')
  await nextTurn()
  t.notOk(looks.isHanging('/hung/a'))
  const again = look('/hung/a')
  end('/hung/a')
  t.equal(await again, '/hung/a is there')
})

t.test('those who want the same at once share a look; of others few are under way', async t => {
  const { look, begun, end } = makeLooks(2)
  const same = [look('/one/a'), look('/one/a'), look('/one/a')]
  const other = look('/two/b')
  const third = look('/three/c')
  t.same(begun, ['/one/a', '/two/b'])
  end('/one/a')
  t.same(await Promise.all(same), ['/one/a is there', '/one/a is there', '/one/a is there'])
  await nextTurn()
  t.same(begun, ['/one/a', '/two/b', '/three/c'])
  end('/two/b')
  end('/three/c')
  await Promise.all([other, third])
})

t.test('while all that may be under way hangs, others are refused in time', async t => {
  const { look, begun, end } = makeLooks(1)
  await thrownProblem(() => look('/hung/a'))
  t.match(await thrownProblem(() => look('/well/b')), {
    code: 'IPK_FILE_HANGS',
    message: '/well/b is not looked at: too many files on this node do not answer',
  })
  t.same(begun, ['/hung/a'])
  end('/hung/a')
  await nextTurn()
  const well = look('/well/b')
  end('/well/b')
  t.equal(await well, '/well/b is there')
})
