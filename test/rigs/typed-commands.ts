/** Commands of ipkeeperctl in the texts of the product: what of a text is one, and with which words. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import type { CtlCommand } from '../../ipkeeper-server/cli/framework/command.ts'
import { commonOptions } from '../../ipkeeper-server/cli/framework/options.ts'
import { readCall } from '../../ipkeeper-server/cli/framework/read-call.ts'
import { commands } from '../../ipkeeper-server/cli/ipkeeperctl.ts'

const root = join(import.meta.dirname, '..', '..')
const program = 'ipkeeperctl'

/** What stands for a value that is only known when the text is made. */
export const hole = 'VALUE'

/** A command, and the words behind its name. */
export interface Found {
  readonly command: CtlCommand
  readonly rest: readonly string[]
}

/** undefined where there is none of that name. */
export function commandOf(words: readonly string[]): Found | undefined {
  for (const length of [2, 1]) {
    const command = commands.find(({ name }) => name === words.slice(0, length).join(' '))
    if (command) return { command, rest: words.slice(length) }
  }
  return undefined
}

const optionsOf = (command: CtlCommand): CtlCommand['options'] => ({
  ...command.options,
  ...commonOptions(command),
})

/** Words that no sentence goes on with: options, placeholders, numbers, addresses, paths, and NAMESPACE/POD. */
export const isArgument = (word: string): boolean =>
  /^(-|<|[A-Z0-9]|.*[/.:\d])/.test(word) && !/^[A-Z][a-z]/.test(word)

/**
 * The words of a command within a sentence, which may go on behind it: "see: ipkeeperctl leases --pool prod shows who".
 * An option takes its value; a lower-case word ends the command.
 */
export function cutSentence({ command, rest }: Found): readonly string[] {
  const known = optionsOf(command)
  const words: string[] = []
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? ''
    if (!isArgument(word)) break
    words.push(word)
    const name = word.replace(/^-+/, '')
    const option = known[name] ?? Object.values(known).find(({ letter }) => word === `-${letter}`)
    if (word.startsWith('-') && option?.value !== undefined && !word.includes('='))
      words.push(...rest.slice(++index, index + 1))
  }
  return words
}

/** What is wrong with a command, of which all words are known or only those before a sentence goes on; undefined: nothing. */
export function faultOf({ command, rest }: Found, whole: boolean): string | undefined {
  // A name alone is a mention: "ipkeeperctl who says more".
  if (!whole && rest.length === 0) return undefined
  try {
    readCall({ ...command, options: optionsOf(command) }, rest, command.name)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Words behind the program's name that begin no command: it is the subject of a sentence, or stands in a list. */
export const prose =
  /^(ctl|link|ipkeeper-server|is|of|and|has|as|to|says|in|prints|on|from|for|shows|with|can|may|reads|ask|asks|takes|or|that|itself|does)$/

/** What stands behind the program's name in a text, as far as it can be one call. */
export function callsIn(
  text: string,
): readonly { readonly line: string; readonly words: readonly string[] }[] {
  const plain = text.replaceAll(/ 2>\S*/g, '').replaceAll(/(?<= --?[a-z-]+ )(["'])[^"'\n]*\1/g, hole)
  return [...plain.matchAll(/\bipkeeperctl((?: +[^\s;,()`"|<>#]+)+)/g)].map(([line, tail = '']) => ({
    line,
    words: tail
      .trim()
      .split(/ +/)
      .map(word => (/^(kubernetes|etcd|sqlite):/.test(word) ? word : word.replace(/[.:?!'…]+$/, '')))
      // A hole that may hold further words.
      .map(word => word.replace(/(?<=^[a-z]+)VALUE.*/, '')),
  }))
}

/** A text as it is written in a source, with holes for what is put in. */
function literalOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => hole + literal.text).join('')
  return undefined
}

/** `open`: how many words it has is only known when it is made. */
export interface Vector {
  readonly argv: readonly string[]
  readonly open: boolean
}

/** Texts and argument vectors of a source. */
function* spoken(node: ts.Node, wanted: RegExp): Generator<{ readonly text: string } | Vector> {
  const text = literalOf(node)
  if (text !== undefined && wanted.test(text)) yield { text }
  const list = ts.isArrayLiteralExpression(node)
    ? node.elements
    : ts.isCallExpression(node)
      ? node.arguments
      : []
  const start = list.findIndex(item => ts.isStringLiteralLike(item) && item.text === program)
  if (start >= 0 && start < list.length - 1) {
    const items = list.slice(start + 1)
    yield { argv: items.map(item => literalOf(item) ?? hole), open: items.some(ts.isSpreadElement) }
  }
  for (const child of node.getChildren()) yield* spoken(child, wanted)
}

/** All texts and argument vectors of the product, with the source that has them. */
export function* productTexts(
  wanted: RegExp,
): Generator<({ readonly text: string } | Vector) & { readonly path: string }> {
  const sources = globSync(['{plugin,shared,ipkeeper-server}/**/*.ts'], { cwd: root }).filter(
    path => !path.endsWith('.generated.ts'),
  )
  for (const path of sources) {
    const source = readFileSync(join(root, path), 'utf8')
    if (!wanted.test(source)) continue
    for (const said of spoken(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true), wanted))
      yield { ...said, path }
  }
}
