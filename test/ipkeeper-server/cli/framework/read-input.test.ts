import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readTextFile } from '../../../../ipkeeper-server/cli/framework/read-input.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const source = join(import.meta.dirname, '../../../../ipkeeper-server/cli/framework/read-input.ts')
const most = 1024 * 1024

t.test('files', async t => {
  const folder = t.testdir({ empty: '', text: 'ä\n', most: 'x'.repeat(most), more: 'x'.repeat(most + 1) })
  const file = (name: string): string => join(folder, name)
  spawnSync('mkfifo', [file('pipe')])
  writeFileSync(file('bytes'), Buffer.from([0xff]))
  t.equal(readTextFile(file('empty')), '')
  t.equal(readTextFile(file('text')), 'ä\n')
  t.equal(readTextFile(file('most')).length, most)
  for (const [name, why] of [
    ['more', 'is larger than 1 MiB'],
    ['none', 'cannot be read (ENOENT)'],
    ['.', 'is not a regular file'],
    ['pipe', 'is not a regular file'],
    ['bytes', 'is not UTF-8 text'],
  ] as const)
    t.match(await thrownProblem(() => readTextFile(file(name))), {
      code: 'IPK_REQUEST_INVALID',
      message: `${file(name)} ${why}`,
    })
  t.match(await thrownProblem(() => readTextFile('/dev/zero')), {
    message: '/dev/zero is not a regular file',
  })
})

t.test('standard input', t => {
  const program = `import { readTextFile } from ${JSON.stringify(source)}
try { process.stdout.write(String(readTextFile('-').length)) } catch (error) { process.stdout.write(error.message) }`
  const lengthOf = (input: string): string =>
    spawnSync(process.execPath, ['--input-type=module', '-e', program], { input, encoding: 'utf8' }).stdout
  t.equal(lengthOf(''), '0')
  t.equal(lengthOf('x'.repeat(most)), String(most))
  t.equal(lengthOf('x'.repeat(most + 1)), 'standard input is larger than 1 MiB')
  t.end()
})
