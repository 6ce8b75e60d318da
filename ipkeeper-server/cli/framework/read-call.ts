import { parseArgs, type ParseArgsConfig } from 'node:util'
import { Problem } from '../../../shared/problem/problem.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { argumentText, type Argument, type CommandRow, type ReadCall } from './command.ts'
import { meantWord, type OtherWords } from './meant-word.ts'
import { OptionProblem } from './option-problem.ts'

/** Which options a command line may have, by long name. */
export interface KnownOptions {
  readonly valued: readonly string[]
  readonly flags: readonly string[]
  /** Those of `valued` that may stand several times: the values are joined by ":", as in CNI_PATH. */
  readonly joined?: readonly string[]
  /** Long names by their letter. */
  readonly letters: Readonly<Record<string, string>>
}

export interface Words {
  readonly values: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
  readonly positionals: readonly string[]
}

/** What other tools call our options. */
const otherWords: OtherWords = {
  output: ['format', 'json', 'yaml', 'wide'],
  namespace: ['ns'],
  watch: ['follow', 'f'],
  limit: ['count', 'max', 'head', 'tail'],
  'sort-by': ['sort', 'order', 'order-by'],
  'no-headers': ['no-header', 'quiet'],
  free: ['next', 'available'],
  // Of two of our own commands: each calls the runtime's folder by one of these.
  'conf-dir': ['net-dir'],
  'net-dir': ['conf-dir'],
}

/** The option that was meant; what means one that the command does not have is no slip of one that it has. */
function nearestOption(name: string, known: readonly string[]): string | undefined {
  const meant = meantWord(name, otherWords)
  return meant === undefined ? nearestWord(name, known) : known.find(own => own === meant)
}

/** Splits a command line. Throws IPK_USAGE, in one line of our own. */
export function readWords(
  argv: readonly string[],
  { valued, flags, joined = [], letters }: KnownOptions,
): Words {
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const name of valued) options[name] = { type: 'string' }
  for (const name of flags) options[name] = { type: 'boolean' }
  for (const [short, name] of Object.entries(letters)) {
    const option = options[name]
    if (option) option.short = short
  }
  const { tokens } = parseArgs({
    ...{ args: [...argv], options },
    ...{ strict: false, tokens: true, allowPositionals: true },
  })
  const values: Record<string, string> = {}
  const given = new Set<string>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, inlineValue } = token
    // "-o=json" is what other tools take as well.
    const value = rawName.startsWith('--') ? token.value : token.value?.replace(/^=/, '')
    if (valued.includes(name)) {
      // What looks like the next option is not taken for a value; a number below zero is.
      if (value === undefined || (!inlineValue && /^-[^0-9]/.test(value)))
        throw new OptionProblem(rawName, `${rawName} needs a value`)
      const before = values[name]
      // To take one of them would leave the other out without a word.
      if (before !== undefined && !joined.includes(name))
        throw new OptionProblem(rawName, `${rawName} is given twice: "${before}" and "${value}"`)
      values[name] = before === undefined ? value : `${before}:${value}`
    } else if (!flags.includes(name)) {
      const meant = nearestOption(name, [...valued, ...flags])
      if (meant === undefined) throw new Problem('IPK_USAGE', `unknown option ${rawName}`)
      throw new OptionProblem(`--${meant}`, `unknown option ${rawName}; did you mean --${meant}?`)
    } else if (value !== undefined) {
      throw new OptionProblem(rawName, `${rawName} takes no value`)
    } else given.add(name)
  }
  return { values, flags: given, positionals }
}

/**
 * Reads the words after a command's name.
 *
 * @param subject how a complaint calls the command
 * @throws IPK_USAGE
 */
export function readCall(
  row: Pick<CommandRow, 'arguments' | 'options'>,
  argv: readonly string[],
  subject: string,
): ReadCall {
  const options = Object.entries(row.options)
  const { values, flags, positionals } = readWords(argv, {
    valued: options.flatMap(([name, { value }]) => (value === undefined ? [] : [name])),
    flags: options.flatMap(([name, { value }]) => (value === undefined ? [name] : [])),
    joined: options.flatMap(([name, { joined }]) => (joined ? [name] : [])),
    letters: Object.fromEntries(
      options.flatMap(([name, { letter }]) => (letter === undefined ? [] : [[letter, name]])),
    ),
  })
  if (!flags.has('help')) checkNumber(row.arguments, positionals, subject)
  return { positionals, options: values, flags }
}

/** Throws IPK_USAGE for too few or too many words. */
function checkNumber(known: readonly Argument[], given: readonly string[], subject: string): void {
  const least = known.filter(({ optional }) => !optional).length
  const most = known.some(({ repeated }) => repeated) ? Infinity : known.length
  if (given.length >= least && given.length <= most) return
  if (most === 0) throw new Problem('IPK_USAGE', `${subject} takes no arguments; got ${given.join(' ')}`)
  if (most === 1 && least === 0) {
    const [one] = known
    const more = given.slice(1).join(' ')
    throw new Problem('IPK_USAGE', `${subject} takes at most one ${one?.name ?? ''}; got ${more} as well`)
  }
  const got = given.length === 0 ? 'none' : given.join(' ')
  throw new Problem('IPK_USAGE', `${subject} takes ${known.map(argumentText).join(' ')}; got ${got}`)
}
