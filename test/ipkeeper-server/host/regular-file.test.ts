import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import {
  openRegularFile,
  readRegularFile,
  readRegularFileSync,
  type ReadingTerms,
} from '../../../ipkeeper-server/host/regular-file.ts'
import { leaveStaleSocket } from '../../rigs/scripted-socket.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const folder = tempFolder(t)
const at = (name: string): string => folder.file(name)
writeFileSync(at('small'), 'abc')
writeFileSync(at('large'), 'x'.repeat(200_000))
mkdirSync(at('folder'))
execFileSync('mkfifo', [at('pipe')])
leaveStaleSocket(at('socket'))
symlinkSync('small', at('link'))
symlinkSync('pipe', at('link-to-pipe'))

const rows: readonly [path: string, terms: ReadingTerms, ends: string | { readonly code: string }][] = [
  [at('small'), { most: 3 }, 'abc'],
  [at('small'), { most: 2 }, { code: 'larger than 2 bytes' }],
  [at('small'), { most: 2, cut: true }, 'ab'],
  [at('large'), { most: 200_000 }, 'x'.repeat(200_000)],
  [at('large'), { most: 199_999 }, { code: 'larger than 199999 bytes' }],
  [at('large'), { most: 70_000, cut: true }, 'x'.repeat(70_000)],
  [at('link'), { most: 9 }, 'abc'],
  [at('link'), { most: 9, noLink: true }, { code: 'ELOOP' }],
  [at('none'), { most: 9 }, { code: 'ENOENT' }],
  [at('folder'), { most: 9 }, { code: 'EISDIR' }],
  [at('pipe'), { most: 9 }, { code: 'a pipe, no regular file' }],
  [at('link-to-pipe'), { most: 9 }, { code: 'a pipe, no regular file' }],
  [at('socket'), { most: 9 }, { code: 'ENXIO' }],
  ['/dev/zero', { most: 9 }, { code: 'a device, no regular file' }],
  ['/dev/null', { most: 9 }, { code: 'a device, no regular file' }],
  // Its size is said to be 0.
  ['/proc/sys/kernel/ostype', { most: 9 }, 'Linux\n'],
  ['/proc/self/environ', { most: 0 }, { code: 'larger than 0 bytes' }],
]

t.test('a file is read, and nothing else is waited for', async t => {
  const before = readdirSync('/proc/self/fd').length
  for (const [path, terms, ends] of rows) {
    const name = `${path} ${JSON.stringify(terms)}`
    if (typeof ends === 'string') {
      t.equal(readRegularFileSync(path, terms).toString(), ends, name)
      t.equal((await readRegularFile(path, terms)).toString(), ends, name)
    } else {
      t.throws(() => readRegularFileSync(path, terms), ends, name)
      await t.rejects(readRegularFile(path, terms), ends, name)
    }
  }
  closeSync(openRegularFile(at('small'), { most: 9 }))
  t.throws(() => openRegularFile(at('pipe'), { most: 9 }), { code: 'a pipe, no regular file' })
  t.equal(readdirSync('/proc/self/fd').length, before, 'and everything is closed again')
})
