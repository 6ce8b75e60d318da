/**
 * Every command of ipkeeperctl that a text of the product, an alert or a page names is one that it has, with those options:
 * what is advised at three in the morning has to work as it stands. That what it does is what was promised, the stories test.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import type { CtlCommand } from '../../ipkeeper-server/cli/framework/command.ts'
import { commonOptions } from '../../ipkeeper-server/cli/framework/options.ts'
import { readCall } from '../../ipkeeper-server/cli/framework/read-call.ts'
import { commands } from '../../ipkeeper-server/cli/ipkeeperctl.ts'

const root = join(import.meta.dirname, '..', '..')
const program = 'ipkeeperctl'

/** What stands for a value that is only known when the text is made. */
const hole = 'VALUE'

/** A command, and the words behind its name. */
interface Found {
  readonly command: CtlCommand
  readonly rest: readonly string[]
}

/** undefined where there is none of that name. */
function commandOf(words: readonly string[]): Found | undefined {
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
const isArgument = (word: string): boolean =>
  /^(-|<|[A-Z0-9]|.*[/.:\d])/.test(word) && !/^[A-Z][a-z]/.test(word)

/**
 * The words of a command within a sentence, which may go on behind it: "see: ipkeeperctl leases --pool prod shows who".
 * An option takes its value; a lower-case word ends the command.
 */
function cutSentence({ command, rest }: Found): readonly string[] {
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
function faultOf({ command, rest }: Found, whole: boolean): string | undefined {
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
const prose =
  /^(ctl|link|ipkeeper-server|is|of|and|has|as|to|says|in|prints|on|from|for|shows|with|can|may|reads|ask|asks|takes|or|that|itself|does)$/

/** Faults of the commands that stand in a text. */
function faultsOfText(text: string): readonly string[] {
  const plain = text.replaceAll(/ 2>\S*/g, '').replaceAll(/(?<= --?[a-z-]+ )(["'])[^"'\n]*\1/g, hole)
  return [...plain.matchAll(/\bipkeeperctl((?: +[^\s;,()`"|<>#]+)+)/g)].flatMap(([line, tail = '']) => {
    const words = tail
      .trim()
      .split(/ +/)
      .map(word => (/^(kubernetes|etcd|sqlite):/.test(word) ? word : word.replace(/[.:?!'…]+$/, '')))
      // A hole that may hold further words.
      .map(word => word.replace(/(?<=^[a-z]+)VALUE.*/, ''))
    const [first = ''] = words
    if (!/^[a-z]/.test(first) || prose.test(first)) return []
    const found = commandOf(words)
    // What comes behind a group of commands is put in: "import SOURCE".
    if (!found) return first === 'import' && isArgument(words[1] ?? hole) ? [] : [`${line}: no such command`]
    const fault = faultOf({ ...found, rest: cutSentence(found) }, false)
    return fault === undefined ? [] : [`${line}: ${fault}`]
  })
}

/** A text as it is written in a source, with holes for what is put in. */
function literalOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => hole + literal.text).join('')
  return undefined
}

/** `open`: how many words it has is only known when it is made. */
interface Vector {
  readonly argv: readonly string[]
  readonly open: boolean
}

function faultOfVector({ argv, open }: Vector): string | undefined {
  const [first = ''] = argv
  if (!/^[a-z]/.test(first) || prose.test(first)) return undefined
  const found = commandOf(argv)
  if (!found) return 'no such command'
  return open ? undefined : faultOf(found, true)
}

/** Texts and argument vectors of a source. */
function* spoken(node: ts.Node): Generator<{ readonly text: string } | Vector> {
  const text = literalOf(node)
  if (text !== undefined && text.includes(`${program} `)) yield { text }
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
  for (const child of node.getChildren()) yield* spoken(child)
}

t.test('commands in the texts of the product', t => {
  const sources = globSync(['{plugin,shared,ipkeeper-server}/**/*.ts'], { cwd: root }).filter(
    path => !path.endsWith('.generated.ts'),
  )
  let seen = 0
  const faults: string[] = []
  for (const path of sources) {
    const source = readFileSync(join(root, path), 'utf8')
    if (!source.includes(program)) continue
    const tree = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
    for (const said of spoken(tree)) {
      seen++
      if ('text' in said) faults.push(...faultsOfText(said.text).map(fault => `${path}: ${fault}`))
      else {
        const fault = faultOfVector(said)
        if (fault !== undefined) faults.push(`${path}: ${said.argv.join(' ')}: ${fault}`)
      }
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
