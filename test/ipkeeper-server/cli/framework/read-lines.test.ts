import { mkdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { readLines } from '../../../../ipkeeper-server/cli/framework/read-lines.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

t.test('lines', t => {
  const file = tempFolder(t).file('copy')
  const long = 'é'.repeat(100_000)
  for (const [what, bytes, lines] of [
    ['an empty file', '', []],
    ['two lines', 'a\nb\n', ['a', 'b']],
    ['the last one has no end', 'a\n\nb', ['a', '', 'b']],
    ['longer than what is read at once', `${long}\n${long}`, [long, long]],
    ['no UTF-8', Buffer.from([0x61, 0xff, 0x0a]), ['a\ufffd']],
    ['a line of two mebibytes', 'x'.repeat(2 ** 21), ['x'.repeat(2 ** 20)]],
  ] as const) {
    writeFileSync(file, bytes)
    t.strictSame([...readLines(file)], lines, what)
  }
  t.end()
})

t.test('no file', t => {
  const folder = tempFolder(t)
  mkdirSync(folder.file('folder'))
  for (const [path, why] of [
    [folder.file('absent'), 'ENOENT'],
    [folder.file('folder'), 'EISDIR'],
  ] as const)
    t.throws(() => [...readLines(path)], {
      code: 'IPK_REQUEST_INVALID',
      message: `${path} cannot be read (${why})`,
    })
  t.end()
})
