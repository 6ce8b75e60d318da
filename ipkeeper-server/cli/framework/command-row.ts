import { Problem } from '../../../shared/problem/problem.ts'
import { readWords } from './read-words.ts'

/**
 * How a command is called: what its help, its man page, the reference, the shells' completion and the parser of its words
 * are all made from. There is no second list of commands or options.
 */
export interface CommandRow {
  /** One word, or two of a group: "cache scan". */
  readonly name: string
  readonly arguments: readonly Argument[]
  /** One line, lower case, without a full stop. */
  readonly summary: string
  /** What the summary leaves out: paragraphs for the man page and the reference. */
  readonly about?: readonly string[]
  /** By long name, in the order of the help. */
  readonly options: Readonly<Record<string, Option>>
  /** Whole lines to type; the first is what errors show. */
  readonly examples: readonly [Example, ...(readonly Example[])]
  /** What the exit codes 0 and 1 mean, where it is not what they mean elsewhere. */
  readonly exits?: Exits
}

/** A word without an option's name. Those that may be left out come last. */
export interface Argument {
  /** In capitals, as help calls it: ADDRESS. */
  readonly name: string
  readonly text: string
  readonly optional?: true
  /** Any number of them; only the last argument may say so. */
  readonly repeated?: true
  readonly offers?: Offer
}

export interface Option {
  /** What its value is called; an option without a value has none. */
  readonly value?: string
  readonly text: string
  /** One letter, for -o beside --output. */
  readonly letter?: string
  /** May stand several times; the values come joined by ":", as in CNI_PATH. */
  readonly joined?: true
  readonly offers?: Offer
}

/**
 * What a shell offers for a value: these words, what is on the disk, or what the daemon of this node knows
 * (completion/known-values.ts).
 */
export type Offer = readonly string[] | 'file' | 'folder' | KnownValue

/** What the daemon can be asked for while somebody types. */
export type KnownValue =
  | 'kept address'
  | 'reserved address'
  | 'any address'
  | 'pod'
  | 'container'
  | 'network'
  | 'pool'
  | 'segment'
  | 'bridge'
  | 'awaited node'

export interface Example {
  readonly line: string
  /** What it does, lower case, without a full stop. */
  readonly does: string
}

export interface Exits {
  readonly 0: string
  readonly 1: string
}

/** What a command was called with. */
export interface ReadCall {
  readonly positionals: readonly string[]
  /** Values of options, by long name. */
  readonly options: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
}

/** "[FILE...]" */
export function argumentText({ name, optional, repeated }: Argument): string {
  const text = `${name}${repeated ? '...' : ''}`
  return optional ? `[${text}]` : text
}

/** "reserve ADDRESS OWNER" */
export const callText = (row: Pick<CommandRow, 'name' | 'arguments'>): string =>
  [row.name, ...row.arguments.map(argumentText)].join(' ')

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
