import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { queueDel } from '../../plugin/deferred-del.ts'
import { Problem } from '../../shared/problem/problem.ts'

/** For a full disk, which none of these is. */
const brief = ''

t.test('an entry is whole, private and can be taken back', t => {
  const stateDir = join(t.testdir({}), 'not-there-yet')
  const folder = join(stateDir, 'deferred-dels')
  const entry = queueDel(stateDir, { name: '1-a.json', writer: 'w1', text: '{"a":1}\n', brief })
  queueDel(stateDir, { name: '2-b.json', writer: 'w2', text: '{"b":1}\n', brief })
  queueDel(stateDir, { name: '1-a.json', writer: 'w3', text: 'the same attachment, again', brief })
  t.strictSame(readdirSync(folder).sort(), ['1-a.json', '2-b.json'], 'no temporary name is left')
  t.equal(readFileSync(join(folder, '1-a.json'), 'utf8'), '{"a":1}\n')
  t.equal(statSync(join(folder, '1-a.json')).mode & 0o777, 0o600)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  entry.withdraw()
  entry.withdraw()
  t.strictSame(readdirSync(folder), ['2-b.json'])
  t.end()
})

t.test('a queue that cannot take the entry is an error, and nothing is left behind', t => {
  const refuses = (stateDir: string, name = 'a.json'): Problem => {
    try {
      queueDel(stateDir, { name, writer: 'w', text: '{}', brief })
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
    throw new Error('the entry was taken')
  }
  const base = t.testdir({ file: '', taken: { 'deferred-dels': { '.w': 'of another' } } })
  t.match(refuses(join(base, 'file')), { code: 'IPK_DEL_NOT_QUEUED', message: /ENOTDIR/ })
  t.match(refuses('/proc/none'), { code: 'IPK_DEL_NOT_QUEUED' })
  t.match(refuses(join(base, 'taken')), { code: 'IPK_DEL_NOT_QUEUED', message: /EEXIST/ })
  t.strictSame(readdirSync(join(base, 'taken', 'deferred-dels')), ['.w'], 'what another wrote stays')
  const full = join(base, 'full', 'deferred-dels')
  mkdirSync(full, { recursive: true })
  for (let index = 0; index < 10_000; index++) writeFileSync(join(full, `${index}`), '')
  t.match(refuses(join(base, 'full')), { code: 'IPK_DEL_NOT_QUEUED', message: /is full \(10000\)/ })
  t.equal(readdirSync(full).length, 10_000)
  t.end()
})
