import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { nothingSent, SentFile } from '../../../ipkeeper-server/export/sent-file.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const sent = {
  marks: [
    { id: 9, link: 'l9' },
    { id: 3, link: null },
  ],
  begin: 2,
}

const noFault = (why: string): never => {
  throw new Error(why)
}

t.test('what is written is read', async t => {
  const folder = tempFolder(t)
  const file = new SentFile(folder.path)
  t.equal(file.path, folder.file('history-export.json'))
  t.strictSame(file.read(noFault), nothingSent, 'no file is no fault')
  await file.write(sent)
  t.strictSame(file.read(noFault), sent)
  t.equal(statSync(file.path).mode & 0o777, 0o600)
  t.equal(readFileSync(file.path, 'utf8'), '{"version":1,"begin":2,"marks":[[9,"l9"],[3,null]]}\n')
})

t.test('what cannot be used is nothing, and is told', t => {
  const folder = tempFolder(t)
  const file = new SentFile(folder.path)
  const text = (content: string) => (): void => {
    writeFileSync(file.path, content)
  }
  for (const [what, make, why] of [
    ['no JSON', text('{'), 'not as it is written'],
    ['empty', text(''), 'not as it is written'],
    ['another version', text('{"version":2,"marks":[]}'), 'not as it is written'],
    ['no marks', text('{"version":1}'), 'not as it is written'],
    ['a mark that is none', text('{"version":1,"begin":1,"marks":[[1]]}'), 'not as it is written'],
    ['too large', text(' '.repeat(70_000)), 'larger than 65536 bytes'],
    [
      'a folder',
      () => {
        mkdirSync(file.path)
      },
      'EISDIR',
    ],
    [
      'a link',
      () => {
        symlinkSync('/etc/passwd', file.path)
      },
      'ELOOP',
    ],
  ] as const) {
    rmSync(file.path, { recursive: true, force: true })
    make()
    const told: string[] = []
    t.strictSame(
      file.read(reason => told.push(reason)),
      nothingSent,
      what,
    )
    t.strictSame(told, [why], what)
  }
  t.end()
})
