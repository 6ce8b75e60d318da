/**
 * Every command of ipkeeperctl that a text of the product, an alert or a page names is one that it has, with those options:
 * what is advised at three in the morning has to work as it stands. That what it does is what was promised, the stories test.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  callsIn,
  commandOf,
  cutSentence,
  faultOf,
  hole,
  isArgument,
  productTexts,
  prose,
  type Vector,
} from '../rigs/typed-commands.ts'

const root = join(import.meta.dirname, '..', '..')

/** Faults of the commands that stand in a text. */
function faultsOfText(text: string): readonly string[] {
  return callsIn(text).flatMap(({ line, words }) => {
    const [first = ''] = words
    if (!/^[a-z]/.test(first) || prose.test(first)) return []
    const found = commandOf(words)
    // What comes behind a group of commands is put in: "import SOURCE".
    if (!found) return first === 'import' && isArgument(words[1] ?? hole) ? [] : [`${line}: no such command`]
    const fault = faultOf({ ...found, rest: cutSentence(found) }, false)
    return fault === undefined ? [] : [`${line}: ${fault}`]
  })
}

function faultOfVector({ argv, open }: Vector): string | undefined {
  const [first = ''] = argv
  if (!/^[a-z]/.test(first) || prose.test(first)) return undefined
  const found = commandOf(argv)
  if (!found) return 'no such command'
  return open ? undefined : faultOf(found, true)
}

t.test('commands in the texts of the product', t => {
  let seen = 0
  const faults: string[] = []
  for (const said of productTexts(/\bipkeeperctl\b/)) {
    seen++
    if ('text' in said) faults.push(...faultsOfText(said.text).map(fault => `${said.path}: ${fault}`))
    else {
      const fault = faultOfVector(said)
      if (fault !== undefined) faults.push(`${said.path}: ${said.argv.join(' ')}: ${fault}`)
    }
  }
  t.ok(seen > 100, `${seen} texts name a command`)
  t.strictSame(faults, [])
  t.end()
})

t.test('commands of pages and alerts', t => {
  const files = [
    ...globSync('docs/**/*.md', { cwd: root }),
    'README.md',
    'SECURITY.md',
    'deploy/monitoring/alerts.yaml',
  ]
  const faults = files
    .filter(path => !path.startsWith('docs/adr/'))
    .flatMap(path => faultsOfText(readFileSync(join(root, path), 'utf8')).map(fault => `${path}: ${fault}`))
  t.strictSame(faults, [])
  t.end()
})

t.test('what an alert says of the log can be typed on nodes of a DaemonSet, too', t => {
  const alerts = readFileSync(join(root, 'deploy/monitoring/alerts.yaml'), 'utf8')
  const lines = alerts.split('\n').filter(line => /(systemctl \w+|journalctl -u) ipkeeper\b/.test(line))
  t.ok(lines.length > 3)
  for (const line of lines) t.match(line, /DaemonSet: kubectl -n ipkeeper-system (logs|get pods) /)
  t.end()
})

t.test('what is no command is found', t => {
  const rows: readonly (readonly [text: string, fault: RegExp | undefined])[] = [
    ['see: ipkeeperctl leases --pool prod; then go on', undefined],
    ['ipkeeperctl who says more', undefined],
    ['see: ipkeeperctl lease', /no such command/],
    ['see: ipkeeperctl leases --pools prod', /unknown option --pools/],
    ['see: ipkeeperctl leases --pool', /needs a value/],
    ['ipkeeperctl status 10.22.0.5', /takes no arguments/],
  ]
  for (const [text, fault] of rows) {
    const [found] = faultsOfText(text)
    if (fault) t.match(found, fault, text)
    else t.equal(found, undefined, text)
  }
  t.end()
})
