import type { CommandRow, KnownValue, ValueOffer, Option } from '../framework/command.ts'
import type { CommandProgram } from '../framework/dispatch.ts'

/** A program as completion sees it. */
export interface CompletedProgram extends Pick<CommandProgram, 'rows' | 'common' | 'leading'> {
  /** A command whose words are those of another program: "ctl" of ipkeeper-server. */
  readonly passesOn?: Readonly<Record<string, CompletedProgram>>
}

export interface CompletionCandidate {
  readonly value: string
  /** Shown beside it where the shell does so. */
  readonly text: string
}

/** What fits at the end of a line. */
export interface Completion {
  readonly candidates: readonly CompletionCandidate[]
  /** What the shell, or the daemon, is to be asked for beside them. */
  readonly more?: 'file' | 'folder' | KnownValue
  /** What stands in the word before the value: "--segment=". */
  readonly prefix: string
}

const nothing: Completion = { candidates: [], prefix: '' }

/** Words beside the commands that the tool knows. */
const ownWords: readonly CompletionCandidate[] = [
  { value: 'help', text: 'show help for a command' },
  { value: 'version', text: 'print the version' },
]

function completeOffer(offers: ValueOffer | undefined, prefix = ''): Completion {
  if (offers === undefined) return nothing
  if (typeof offers === 'string') return { candidates: [], more: offers, prefix }
  return { candidates: offers.map(value => ({ value: `${prefix}${value}`, text: '' })), prefix }
}

/** The option that a word names: "--limit", "--limit=5", "-o". */
function optionOf(word: string, options: Readonly<Record<string, Option>>): Option | undefined {
  const [, name = ''] = /^--([^=]+)/.exec(word) ?? []
  if (name !== '') return Object.hasOwn(options, name) ? options[name] : undefined
  return Object.values(options).find(({ letter }) => letter !== undefined && word === `-${letter}`)
}

const takesNext = (word: string, option: Option | undefined): boolean =>
  option?.value !== undefined && !/^--.*=/.test(word)

const listOptions = (options: Readonly<Record<string, Option>>, given: readonly string[]): Completion => ({
  candidates: Object.entries(options)
    .filter(
      ([name, { joined, letter }]) =>
        joined ?? !given.some(word => word === `-${letter ?? ''}` || word.split('=')[0] === `--${name}`),
    )
    .map(([name, { text }]) => ({ value: `--${name}`, text })),
  prefix: '',
})

/** Options, or the value of one; undefined where another word is to come. */
function completeOption(
  options: Readonly<Record<string, Option>>,
  given: readonly string[],
  current: string,
): Completion | undefined {
  const last = given.at(-1)
  if (last !== undefined) {
    const option = optionOf(last, options)
    if (takesNext(last, option)) return completeOffer(option?.offers)
  }
  const equals = /^--[^=]+=/.exec(current)
  if (equals) return completeOffer(optionOf(current, options)?.offers, equals[0])
  return current.startsWith('-') ? listOptions(options, given) : undefined
}

/** First words of commands, or second ones of a group. */
function completeName(
  rows: readonly CommandRow[],
  group: string | undefined,
): readonly CompletionCandidate[] {
  const inGroup = rows.filter(({ name }) => group === undefined || name.startsWith(`${group} `))
  const words = new Map<string, string>()
  for (const { name, summary } of inGroup) {
    const rest = group === undefined ? name : name.slice(group.length + 1)
    const [first = ''] = rest.split(' ')
    const before = words.get(first)
    const seconds = rest.slice(first.length + 1)
    // A group says which words follow.
    words.set(first, seconds === '' ? summary : before === undefined ? seconds : `${before}, ${seconds}`)
  }
  return Array.from(words, ([value, text]) => ({ value, text }))
}

/** Whether these words are the name of a command, the beginning of one, or none. */
function findRow(
  rows: readonly CommandRow[],
  words: readonly string[],
): { row?: CommandRow; group?: string; rest: readonly string[] } {
  const [first, second] = words
  if (first === undefined) return { rest: [] }
  const two = rows.find(({ name }) => name === `${first} ${second ?? ''}`)
  if (two) return { row: two, rest: words.slice(2) }
  const one = rows.find(({ name }) => name === first)
  if (one) return { row: one, rest: words.slice(1) }
  return { group: first, rest: words.slice(1) }
}

/** How many of the words after a command stand without an option's name. */
function countPositionals(words: readonly string[], options: Readonly<Record<string, Option>>): number {
  let count = 0
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (takesNext(word, optionOf(word, options))) index++
    else if (!word.startsWith('-') || word === '-') count++
  }
  return count
}

/**
 * What fits for the word at the end of a line; the shell drops what does not begin as it does.
 *
 * @param words what stands between the program and that word
 * @param current the word, which may be empty
 */
export function completeWords(
  program: CompletedProgram,
  words: readonly string[],
  current: string,
): Completion {
  let leading = 0
  for (;;) {
    const word = words[leading]
    if (word?.startsWith('-') !== true) break
    leading += takesNext(word, optionOf(word, program.leading)) ? 2 : 1
  }
  if (leading > words.length || leading === words.length)
    return (
      completeOption(program.leading, words, current) ?? {
        candidates: [...completeName(program.rows, undefined), ...ownWords],
        prefix: '',
      }
    )
  const called = words.slice(leading)
  const [first = '', ...others] = called
  if (first === 'help') return { candidates: completeName(program.rows, others[0]), prefix: '' }
  const inner =
    program.passesOn && Object.hasOwn(program.passesOn, first) ? program.passesOn[first] : undefined
  if (inner) return completeWords(inner, others, current)
  const { row, group, rest } = findRow(program.rows, called)
  if (!row) return rest.length > 0 ? nothing : { candidates: completeName(program.rows, group), prefix: '' }
  const options = { ...row.options, ...program.common(row) }
  const option = completeOption(options, rest, current)
  if (option) return option
  const at = countPositionals(rest, options)
  const more = row.arguments.some(({ repeated }) => repeated) ? row.arguments.at(-1) : undefined
  const argument = row.arguments[at] ?? more
  return completeOffer(argument?.offers)
}
