/** The manual pages are well-formed, and say what the tables of commands say. */
import { join } from 'node:path'
import t from 'tap'
import { commands } from '../../ipkeeper-server/cli/ipkeeperctl.ts'
import { serverCommands } from '../../ipkeeper-server/cli/ipkeeper-server.ts'
import { manualPages } from '../../scripts/generate-man.ts'
import { findProgram } from '../rigs/find-program.ts'
import { missing } from '../rigs/requirements.ts'
import { mustRun, runProgram } from '../rigs/run-program.ts'

const root = join(import.meta.dirname, '..', '..')
const skip = missing('mandoc')

for (const { path } of manualPages) {
  t.test(path, { skip }, async t => {
    const { stdout } = await runProgram('mandoc', ['-Tlint', '-W', 'warning', join(root, path)])
    // A date would say that a page is new when only the calendar is.
    t.strictSame(
      stdout.split('\n').filter(line => line !== '' && !line.includes('missing date')),
      [],
      'mandoc has nothing to say',
    )
    if (findProgram('groff') === undefined) return
    const groff = await runProgram('groff', ['-ww', '-man', '-Tutf8', join(root, path)])
    t.match(groff, { exit: 0, stderr: '' }, 'nor has groff')
  })
}

t.test('every command with its options and examples', { skip }, async t => {
  for (const [page, rows] of [
    ['ipkeeperctl', commands],
    ['ipkeeper-server', Object.values(serverCommands)],
  ] as const) {
    const path = join(root, 'docs', 'reference', 'man', `${page}.8`)
    const text = (await mustRun('mandoc', ['-Tascii', '-O', 'width=400', path]))
      // Bold and underlined letters are overstruck.
      .replaceAll(/.\u0008/g, '')
      .replaceAll(/\s+/g, ' ')
    for (const { name, options, examples } of rows) {
      t.ok(text.includes(`${page} ${name}`), name)
      for (const option of Object.keys(options)) t.ok(text.includes(`--${option}`), `${name} --${option}`)
      for (const { line } of examples) t.ok(text.includes(line.replaceAll(/\s+/g, ' ')), line)
    }
  }
})
