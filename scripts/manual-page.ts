import {
  type Argument,
  argumentText,
  type CommandRow,
  type Example,
  type Exits,
  type Option,
} from '../ipkeeper-server/cli/framework/command.ts'
import { ownOptions, usageExit, usualExits } from '../ipkeeper-server/cli/framework/options.ts'

/** Text of a manual page: a backslash begins a request, and so do a dot or an apostrophe in front of a line. */
export const escapeText = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^\./gm, '\\&.')

const bold = (text: string): string => `\\fB${escapeText(text)}\\fR`
const italic = (text: string): string => `\\fI${escapeText(text)}\\fR`

/** A request with one argument; quotes in it are doubled. */
const request = (name: string, text: string): string =>
  `.${name} "${escapeText(text).replaceAll('"', '""')}"\n`

/** The heading begins a paragraph itself. */
export const section = (title: string, body: string): string =>
  `${request('SH', title)}${body.replace(/^\.PP\n/, '')}`

export const paragraphs = (texts: readonly string[]): string =>
  texts.map(text => `.PP\n${escapeText(text)}\n`).join('')

/** A term, and what it means below it. */
export const item = (term: string, text: string): string => `.TP\n${term}\n${escapeText(text)}\n`

/** "-o json|table, --output json|table" */
function optionTerm(name: string, { letter, value }: Option): string {
  const behind = value === undefined ? '' : ` ${italic(value)}`
  return [
    ...(letter === undefined ? [] : [`${bold(`-${letter}`)}${behind}`]),
    `${bold(`--${name}`)}${behind}`,
  ].join(', ')
}

export const optionItems = (options: Readonly<Record<string, Option>>): string =>
  Object.entries(options)
    .map(([name, option]) => item(optionTerm(name, option), option.text))
    .join('')

const argumentItems = (words: readonly Argument[]): string =>
  words.map(word => item(italic(word.name), word.text)).join('')

export const exampleItems = (examples: readonly Example[]): string =>
  examples
    .map(
      ({ line, does }) => `.PP\n${escapeText(`${does}:`)}\n.PP\n.RS 4\n.nf\n${escapeText(line)}\n.fi\n.RE\n`,
    )
    .join('')

export const exitItems = (exits: Exits): string =>
  [item(bold('0'), exits[0]), item(bold('1'), exits[1]), item(bold('2'), usageExit)].join('')

const exitText = (exits: Exits): string => `Exit code 0: ${exits[0]}; 1: ${exits[1]}.`

/** A command as a part of the section COMMANDS. */
export function commandPart(program: string, row: CommandRow): string {
  const synopsis = [
    bold(`${program} ${row.name}`),
    ...row.arguments.map(word => italic(argumentText(word))),
  ].join(' ')
  const own = ownOptions(row)
  const options = Object.keys(own).length === 0 ? '' : ` [${italic('options')}]`
  return [
    request('SS', row.name),
    `${synopsis}${options}\n`,
    paragraphs([`${row.summary}.`, ...(row.about ?? [])]),
    argumentItems(row.arguments),
    optionItems(own),
    ...(row.exits && row.exits !== usualExits ? [paragraphs([exitText(row.exits)])] : []),
    exampleItems(row.examples),
  ].join('')
}

/** A page of section 8, commands of administrators. No date and no version: it changes only with what it says. */
export function manualPage(name: string, summary: string, sections: readonly string[]): string {
  return [
    `.\\" Made by scripts/generate-man.ts; change its sources, then: make generate\n`,
    `.TH ${name.toUpperCase().replaceAll('-', '\\-')} 8 "" "ipkeeper"\n`,
    // A line with one long word, such as the name of a resource, cannot be stretched to the margin.
    '.ad l\n',
    section('NAME', `${escapeText(name)} \\- ${escapeText(summary)}\n`),
    ...sections,
  ].join('')
}
