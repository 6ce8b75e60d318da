/** The configuration of a running daemon: changed, broken, mended, and refused where leases would be orphaned. */
import { linkSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { configuredDaemon } from '../rigs/configured-daemon.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')

const one = 'pools:\n  - name: prod\n    subnet: 10.22.0.0/24\n'
const two = `${one}  - name: lab\n    subnet: 10.23.0.0/24\n`

t.test('a pool is added while the daemon runs', { skip }, async t => {
  const { write, add, daemon, logged } = await configuredDaemon(t, one)
  t.equal(await add('web-0'), '10.22.0.2/24')
  t.equal(await add('web-1', 'lab'), 132, 'no such pool')
  write(two)
  t.match(await logged('configuration reloaded'), { added: ['lab'], changed: [], removed: [] })
  t.equal(await add('web-1', 'lab'), '10.23.0.2/24')
  const { stdout } = await daemon.control('pools', '-o', 'json')
  t.match(JSON.parse(stdout), {
    pools: [
      { name: 'lab', used: 1 },
      { name: 'prod', used: 1 },
    ],
  })
})

t.test('SIGHUP', { skip }, async t => {
  const { path, write, add, daemon, logged, status } = await configuredDaemon(t, one)
  const elsewhere = tempFolder(t)
  // Written under its other name, in a folder that nobody watches: only SIGHUP tells of it.
  linkSync(path, elsewhere.file('same'))
  writeFileSync(elsewhere.file('same'), two)
  await delay(500)
  t.equal(await add('web-1', 'lab'), 132, 'nobody has noticed')
  daemon.kill('SIGHUP')
  await logged('configuration reloaded')
  t.equal(await add('web-1', 'lab'), '10.23.0.2/24')
  const before = await status()
  daemon.kill('SIGHUP')
  daemon.kill('SIGHUP')
  t.equal(await add('web-2', 'lab'), '10.23.0.3/24', 'the same again is no news')
  t.strictSame(await status(), before)
  write(one)
  daemon.kill('SIGHUP')
  await logged('IPK_POOLS_ORPHAN')
})

t.test('a file that cannot be used leaves the last good one in force', { skip }, async t => {
  const { path, write, add, daemon, logged, status } = await configuredDaemon(t, one)
  const loaded = await status()
  t.match(loaded, { path, problem: null })
  const cases: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ['no YAML', 'pools:\n  - name: [prod\n', /config\.yaml:\d+:\d+: /],
    ['an unknown key', `${one}    gatway: 10.22.0.1\n`, /config\.yaml:4:5: .*gatway.*did you mean.*gateway/],
    ['a wrong value', one.replace('/24', '/33'), /config\.yaml:3:13: .*10\.22\.0\.0\/33/],
    ['pools that overlap', two.replace('10.23', '10.22'), /config\.yaml:\d+:\d+: .*(lab|prod).*(lab|prod)/],
    ['another node', `node: other\n${one}`, /config\.yaml:1:7: node cannot change while the daemon runs/],
    ['an empty file', '', /config\.yaml: is empty/],
  ]
  for (const [index, [what, text, message]] of cases.entries()) {
    const from = daemon.log().length
    write(text)
    const line = await logged('the last good configuration stays in force', from)
    t.match(line, { level: 'error', msg: message }, what)
    const { problem, loadedAt } = await status()
    t.match(problem, { message }, `${what}: status shows it`)
    t.equal(loadedAt, loaded.loadedAt, `${what}: what is in force is the old one`)
    t.match(await add(`web-${index}`, 'prod'), /^10\.22\.0\.\d\/24$/, `${what}: the old pool serves`)
  }
  const { stdout } = await daemon.control('status')
  t.match(stdout, /^config +\S+\/config\.yaml is not in use; the one loaded at 20\S+Z stays: .*is empty/m)

  write(two)
  await logged('configuration reloaded')
  t.match(await status(), { problem: null })
  t.equal(await add('late', 'lab'), '10.23.0.2/24', 'mended')
  t.equal(readFileSync(path, 'utf8'), two, 'the file is nobody else to write')
})

t.test('a change that would leave leases without their pool', { skip }, async t => {
  const { write, add, daemon, logged, status } = await configuredDaemon(t, two)
  t.equal(await add('web-0', 'prod'), '10.22.0.2/24')
  t.equal(await add('web-1', 'lab'), '10.23.0.2/24')
  const cases: readonly (readonly [what: string, text: string, words: readonly string[]])[] = [
    ['a pool is taken away', one, ['lab', '10.23.0.2', 'shop/web-1']],
    [
      'a pool shrinks',
      two.replace('subnet: 10.22.0.0/24', 'subnet: 10.22.0.0/24\n    rangeStart: 10.22.0.10'),
      ['prod', '10.22.0.2', 'shop/web-0'],
    ],
    [
      'an address is excluded',
      two.replace('subnet: 10.22.0.0/24', 'subnet: 10.22.0.0/24\n    exclude: [10.22.0.2]'),
      ['prod', '10.22.0.2', 'shop/web-0'],
    ],
  ]
  for (const [what, text, words] of cases) {
    const from = daemon.log().length
    write(text)
    const line = await logged('IPK_POOLS_ORPHAN', from)
    const { problem } = await status()
    for (const word of words) {
      t.match(`${String(line['msg'])} ${String(line['details'])}`, word, `${what}: the log names ${word}`)
      t.match(JSON.stringify(problem), word, `${what}: status names ${word}`)
    }
  }
  t.equal((await daemon.boundLeases()).length, 2, 'nothing was lost')
  t.equal(await add('web-2', 'lab'), '10.23.0.3/24', 'and both pools serve')
})
