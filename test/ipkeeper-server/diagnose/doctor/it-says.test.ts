/** The page "It says X, what do I do" is what the doctor knows: every text of it, and commands that exist. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commands } from '../../../../ipkeeper-server/cli/ipkeeperctl.ts'
import { checks } from '../../../../ipkeeper-server/diagnose/doctor/checks.ts'
import { knownTexts } from '../../../../ipkeeper-server/diagnose/doctor/messages/known-texts.ts'
import { recognise } from '../../../../ipkeeper-server/diagnose/doctor/messages/recognise.ts'
import { shellLine } from '../../../../shared/text/shell-word.ts'
import { catalogue } from '../../../../shared/problem/catalogue.ts'

const page = readFileSync(
  join(import.meta.dirname, '../../../../docs/reference/it-says.generated.md'),
  'utf8',
)

interface Section {
  readonly id: string
  readonly texts: readonly string[]
  readonly commands: readonly string[]
}

const blockOf = (part: string, language: string): string[] =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(part)?.[1]?.split('\n') ?? []

const sections: readonly Section[] = page
  .split(/^### /m)
  .slice(1)
  .map(part => ({
    id: part.slice(0, part.indexOf('\n')),
    texts: blockOf(part, 'text'),
    commands: blockOf(part, 'sh').map(line => line.replace(/ {3}# .*$/, '')),
  }))

t.test('every text of the page is recognised as what it stands under', t => {
  t.strictSame(
    sections.map(({ id }) => id),
    knownTexts.map(({ id }) => id),
  )
  for (const { id, texts } of sections) {
    t.ok(texts.length > 0, id)
    for (const text of texts)
      t.strictSame(
        recognise(text).found.map(found => found.text.id),
        [id],
        text,
      )
  }
  t.end()
})

t.test('rows have one name each, and every code of ipkeeper has a row', t => {
  const ids = knownTexts.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
  t.strictSame(
    Object.keys(catalogue).filter(code => !ids.includes(code)),
    [],
  )
  const checkIds = checks.map(({ id }) => id)
  t.equal(new Set(checkIds).size, checkIds.length)
  t.end()
})

/** Programs that are not ours, and that a person on a node has or knows. */
const foreign = [
  ...['systemctl', 'journalctl', 'kubectl', 'crictl', 'calicoctl', 'ls', 'df', 'ip', 'ss', 'dmesg', 'make'],
  ...['apt-get', '/opt/cni/bin/dhcp', 'ipkeeper-server'],
]

/** What is wrong with a command line of ours; undefined when it can be typed. */
function faultOf(argv: readonly string[]): string | undefined {
  const [program = '', name = '', ...words] = argv
  const [sub = ''] = words
  if (program !== 'ipkeeperctl') return foreign.includes(program) ? undefined : `${program} is not known`
  if (name === '--help') return undefined
  const command = commands.find(candidate => [name, `${name} ${sub}`].includes(candidate.name))
  if (!command) return `no command ${name}`
  const options = words.filter(word => word.startsWith('--')).map(word => word.slice(2))
  const unknown = options.find(option => !Object.hasOwn(command.options, option))
  return unknown === undefined ? undefined : `${name} has no --${unknown}`
}

t.test('every command can be typed', t => {
  for (const { id, commands: lines } of sections) {
    t.ok(lines.length > 0, `${id} says what to type`)
    for (const line of lines) t.equal(faultOf(line.split(' ')), undefined, `${id}: ${line}`)
  }
  t.end()
})

t.test('what a text names never becomes more than one word of a command', t => {
  const hostile = 'x; rm -rf / $(id) `id` \'"'
  const captures = {
    ...{ network: hostile, containerId: hostile, plugin: hostile, path: hostile, socket: hostile },
    ...{ pod: `${hostile}/${hostile}`, address: hostile, ifname: hostile },
  }
  for (const row of knownTexts) {
    for (const { argv } of row.mend(captures)) {
      const line = shellLine(argv)
      const words = Array.from(line.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g), ([word]) =>
        word.replaceAll(
          /'([^']*)'|\\(')/g,
          (_, quoted: string | undefined, escaped: string | undefined) => quoted ?? escaped ?? '',
        ),
      )
      t.strictSame(words, argv, `${row.id}: ${line}`)
    }
  }
  t.end()
})
