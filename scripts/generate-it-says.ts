/**
 * Writes docs/reference/it-says.generated.md from the table of known texts and the table of checks.
 *
 *   node scripts/generate-it-says.ts
 */
import { checks } from '../ipkeeper-server/diagnose/doctor/checks.ts'
import type { KnownText, TextGroup } from '../ipkeeper-server/diagnose/doctor/messages/text-group.ts'
import { textGroups } from '../ipkeeper-server/diagnose/doctor/messages/known-texts.ts'
import { recognise } from '../ipkeeper-server/diagnose/doctor/messages/recognise.ts'
import { shellLine } from '../shared/text/shell-word.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const introduction = `<!-- Made by scripts/generate-it-says.ts from ipkeeper-server/diagnose/doctor; change that, then: make generate -->

# It says X, what do I do

What kubelet, containerd, CRI-O, plugins and ipkeeper print when the network of a pod goes wrong, and what to type. Whatever
is put around such a text, \`ipkeeperctl\` finds it, and says who holds what it is about:

\`\`\`sh
journalctl -u kubelet -n 50 | ipkeeperctl doctor --message -
kubectl describe pod web-0 | ipkeeperctl doctor --message -
\`\`\`

Words in capitals in a command are for you to fill in; the doctor fills in what the text names. [doctor.md](../operations/doctor.md)
tells more of it.

An error of ipkeeper is a message, then what to do, a code and a request ID: \`[IPK_ADDRESS_HELD, request 9dc703913ef1]\`. The
request ID stands on the lines of the daemon's log as \`reqId\`. [errors.generated.md](errors.generated.md) has every code.
`

const reference = 'docs/reference/'

/** Of ipkeeper's own codes a link to their page; of others the place where somebody reported them. */
function sourceText(source: string): string {
  if (!source.startsWith(reference)) return source
  const page = source.slice(reference.length)
  return `[${page.replace(/.*#/, '')}](${page})`
}

function textSection(text: KnownText): string {
  const [example] = text.examples
  const captures = recognise(example).found[0]?.captures ?? {}
  const commands = text.mend(captures).map(({ argv, does }) => `${shellLine(argv)}   # ${does}`)
  return [
    `### ${text.id}`,
    ['```text', ...text.examples, '```'].join('\n'),
    `${text.means} ${text.why}`,
    ['```sh', ...commands, '```'].join('\n'),
    `Who: ${text.affects}. See: ${sourceText(text.source)}.`,
  ].join('\n\n')
}

function groupSection({ title, texts }: TextGroup): string {
  return [`## ${title}`, ...texts.map(textSection)].join('\n\n')
}

/** The anchor that a heading gets. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const checksTitle = 'What the doctor checks'

function checksSection(): string {
  const rows = checks.map(({ id, title, why }) => `| \`${id}\` | ${title} | ${why} |`)
  return [`## ${checksTitle}`, ['| check | looks whether | why |', '|---|---|---|', ...rows].join('\n')].join(
    '\n\n',
  )
}

function generate(): string {
  const contents = [...textGroups.map(({ title }) => title), checksTitle].map(
    title => `- [${title}](#${anchorOf(title)})`,
  )
  return `${[introduction, contents.join('\n'), ...textGroups.map(groupSection), checksSection()].join('\n\n')}\n`
}

export const itSaysReference: GeneratedFile = { path: 'docs/reference/it-says.generated.md', generate }

if (import.meta.main) await writeGenerated(itSaysReference)
