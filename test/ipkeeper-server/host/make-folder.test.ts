import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeFolder } from '../../../ipkeeper-server/host/make-folder.ts'

const mode = (path: string): number => statSync(path).mode & 0o777

t.test('makes what is missing for ourselves alone, and leaves alone what is there', t => {
  const root = t.testdir({ there: {} })
  chmodSync(join(root, 'there'), 0o755)
  makeFolder(join(root, 'there', 'a', 'b'))
  t.equal(mode(join(root, 'there')), 0o755)
  t.equal(mode(join(root, 'there', 'a')), 0o700)
  t.equal(mode(join(root, 'there', 'a', 'b')), 0o700)
  makeFolder(join(root, 'there', 'a', 'b'))
  makeFolder('/')
  makeFolder('.')
  t.end()
})

t.test('what cannot be made is an error, and no hang', t => {
  const root = t.testdir({ file: 'x' })
  for (const [path, code] of [
    [join(root, 'file'), 'EEXIST'],
    [join(root, 'file', 'below'), 'EEXIST'],
    ['/proc/ipkeeper/x', 'ENOENT'],
  ] as const) {
    t.throws(
      () => {
        makeFolder(path)
      },
      { code },
    )
  }
  t.end()
})
