/** Which suites are played with which executable and way of wiring: CONTRIBUTING.md says what the Makefile does. */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..', '..')

/** Test files of paths of files and folders. */
const filesOf = (paths: readonly string[]): readonly string[] =>
  paths.flatMap(path => (path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.test.ts`, { cwd: root })))

/** The files that a cell names: those of its paths, without those that follow "but" up to the next comma. */
function filesOfCell(cell: string): ReadonlySet<string> {
  const named = cell
    .split(', ')
    .map(part =>
      part
        .split(' but ')
        .map(half => new Set(filesOf(Array.from(half.matchAll(/`([^`]+)`/g), ([, path = '']) => path)))),
    )
  return new Set(named.flatMap(([all, not]) => [...(all ?? [])].filter(file => not?.has(file) !== true)))
}

/** The files that a target runs, by the environment that names an executable or a way of wiring. */
function filesRunBy(target: string): ReadonlyMap<string, readonly string[]> {
  // What this process got from a make that it may be run by is not for another one.
  const env = { PATH: process.env['PATH'] ?? '' }
  const commands = execFileSync('make', ['-n', target], { cwd: root, env, encoding: 'utf8' })
  const runs = commands.matchAll(
    /((?:\b(?:PLUGIN|IPK_NETLINK)=\w+ )+)\S*node scripts\/run-tests\.ts ([\w./ -]*)/g,
  )
  const found = new Map<string, string[]>()
  for (const [, environment = '', paths = ''] of runs) {
    const name = environment.trim()
    found.set(name, [...(found.get(name) ?? []), ...filesOf(paths.trim().split(' '))])
  }
  return found
}

const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
const [, section = ''] = text.split('\n### Which executable, which way of wiring\n')
const rows = Array.from(
  section.split('\n#')[0]!.matchAll(/^\| `([^`]+)` +\|[^|]*\|[^|]*\|([^|]*)\|([^|]*)\|$/gm),
  ([, name = '', often = '', rest = '']) => ({
    name,
    often: filesOfCell(often),
    rest: filesOfCell(rest),
  }),
).filter(({ name }) => name.includes('='))
const sorted = (files: Iterable<string>): readonly string[] => [...new Set(files)].sort()

t.test('the table says what make test and make test-all run', t => {
  const often = filesRunBy('test')
  const all = filesRunBy('test-all')
  t.strictSame(rows.map(({ name }) => name).sort(), [...all.keys()].sort())
  for (const row of rows) {
    const inTest = often.get(row.name) ?? []
    t.strictSame(sorted(row.often), sorted(inTest), `make test with ${row.name}`)
    // What test-all depends on comes first.
    t.strictSame(
      sorted(row.rest),
      sorted((all.get(row.name) ?? []).slice(inTest.length)),
      `and make test-all`,
    )
  }
  t.end()
})

t.test('what the static plugin is to survive as well as the other', t => {
  const played = new Set(
    rows.filter(({ name }) => name === 'PLUGIN=static').flatMap(({ often, rest }) => [...often, ...rest]),
  )
  for (const folder of ['faults', 'spec', 'packaged', 'callers', 'main-plugin', 'privileged'])
    t.strictSame(
      filesOf([`test/${folder}`]).filter(file => !played.has(file)),
      [],
      folder,
    )
  t.end()
})

t.test('a test takes the executable that it is told to take', t => {
  // Of this one it says what it is linked with.
  const exempt = 'test/ipkeeper-server/install/choose-plugin.test.ts'
  const stubborn = globSync('test/**/*.ts', { cwd: root }).filter(file =>
    /\bjoin\(distFolder, 'ipkeeper'\)|dist\}?\/ipkeeper\b(?!-)/.test(readFileSync(join(root, file), 'utf8')),
  )
  t.strictSame(stubborn, [exempt])
  t.end()
})
