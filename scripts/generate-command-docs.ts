/**
 * Writes docs/reference/ipkeeperctl.generated.md from the tables of commands.
 *
 *   node scripts/generate-command-docs.ts
 */
import { callText, type CommandRow, type Option } from '../ipkeeper-server/cli/framework/command.ts'
import { commands } from '../ipkeeper-server/cli/ipkeeperctl.ts'
import { commonOptions, ownOptions, usageExit, usualExits } from '../ipkeeper-server/cli/framework/options.ts'
import { serverCommands } from '../ipkeeper-server/cli/ipkeeper-server.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const introduction = `<!-- Made by scripts/generate-command-docs.ts from ipkeeper-server/cli; change that, then: make generate -->

# Commands

What \`ipkeeperctl\` and \`ipkeeper-server\` are called with. The manual pages (\`man ipkeeperctl\`)
say the same, and \`ipkeeperctl COMMAND --help\` the most of it; all of them are made from one table.
`

const cell = (text: string): string => text.replaceAll('|', '\\|')

const optionText = (name: string, { letter, value }: Option): string =>
  [...(letter === undefined ? [] : [`-${letter}`]), `--${name}`]
    .map(word => `\`${word}${value === undefined ? '' : ` ${value}`}\``)
    .join(', ')

const optionTable = (options: Readonly<Record<string, Option>>): string[] => [
  '| option | what it does |',
  '|---|---|',
  ...Object.entries(options).map(
    ([name, option]) => `| ${cell(optionText(name, option))} | ${cell(option.text)} |`,
  ),
]

function part(program: string, row: CommandRow): string {
  const words = row.arguments.map(({ name, text }) => `| \`${cell(name)}\` | ${cell(text)} |`)
  const exits = row.exits ?? usualExits
  const options = ownOptions(row)
  return [
    `### ${program} ${row.name}`,
    '',
    '```text',
    `${program} ${callText(row)}`,
    '```',
    '',
    `${row.summary}.`,
    ...(row.about ?? []).flatMap(text => ['', text]),
    ...(words.length === 0 ? [] : ['', '| argument | what it is |', '|---|---|', ...words]),
    ...(Object.keys(options).length === 0 ? [] : ['', ...optionTable(options)]),
    '',
    '```sh',
    ...row.examples.map(({ line, does }) => `${line}   # ${does}`),
    '```',
    '',
    `Exit codes: 0 ${exits[0]}; 1 ${exits[1]}; 2 ${usageExit}.`,
    '',
  ].join('\n')
}

function generate(): string {
  return [
    introduction,
    `## Exit codes\n`,
    `0 ${usualExits[0]}; 1 ${usualExits[1]}; 2 ${usageExit}. Commands whose codes 0 and 1 mean something else say so below.\n`,
    `## Options of all commands of ipkeeperctl\n`,
    `${optionTable(commonOptions()).join('\n')}\n`,
    `## ipkeeperctl\n`,
    ...commands.map(row => part('ipkeeperctl', row)),
    `## ipkeeper-server\n`,
    ...Object.values(serverCommands).map(row => part('ipkeeper-server', row)),
  ].join('\n')
}

export const commandReference: GeneratedFile = { path: 'docs/reference/ipkeeperctl.generated.md', generate }

if (import.meta.main) await writeGenerated(commandReference)
