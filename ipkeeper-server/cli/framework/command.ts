import type { DaemonClient } from './daemon-client.ts'
import type { Paint } from './terminal-text.ts'
import type { Terminal } from './terminal.ts'

/**
 * How a command is called: what its help, its man page, the reference, the shells' completion and the parser of its words
 * are all made from. There is no second list of commands or options.
 */
export interface CommandRow {
  /** One word, or two of a group: "cache scan". */
  readonly name: string
  readonly arguments: readonly Argument[]
  /** One line in the imperative, without a full stop: "List addresses". */
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

/** A word without an option's name. */
export interface Argument {
  /** In capitals, as help calls it: ADDRESS. */
  readonly name: string
  readonly text: string
  readonly optional?: true
  /** Any number of them; only one argument may say so. */
  readonly repeated?: true
  readonly offers?: ValueOffer
}

export interface Option {
  /** What its value is called; an option without a value has none. */
  readonly value?: string
  readonly text: string
  /** One letter, for -o beside --output. */
  readonly letter?: string
  /** May stand several times; the values come joined by ":", as in CNI_PATH. */
  readonly joined?: true
  readonly offers?: ValueOffer
}

/**
 * What a shell offers for a value: these words, what is on the disk, or what the daemon of this node knows
 * (completion/known-values.ts).
 */
export type ValueOffer = readonly string[] | 'file' | 'folder' | KnownValue

/** What the daemon can be asked for while somebody types. */
export type KnownValue =
  | 'kept address'
  | 'reserved address'
  | 'any address'
  | 'address or pod'
  | 'pod'
  | 'namespace'
  | 'node'
  | 'owner'
  | 'container'
  | 'network'
  | 'pool'
  | 'segment'
  | 'bridge'
  | 'lost node'

export interface Example {
  readonly line: string
  /** What it does, in the imperative, without a full stop. */
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
  /** What `-o` says, or "table"; absent where nobody has read it. */
  readonly output?: string
}

/** "[FILE...]" */
export function argumentText({ name, optional, repeated }: Argument): string {
  const text = `${name}${repeated ? '...' : ''}`
  return optional ? `[${text}]` : text
}

/** "reserve ADDRESS OWNER" */
export const callText = (row: Pick<CommandRow, 'name' | 'arguments'>): string =>
  [row.name, ...row.arguments.map(argumentText)].join(' ')

/** One command of ipkeeperctl. It returns data; `print` turns them into text for people, `-o json` and `-o yaml` print them as they are. */
export interface CtlCommand extends CommandRow {
  /** A listing that may be looked at again and again. */
  readonly watch?: true
  /** The exit code that the data call for. */
  readonly exitCode: (data: unknown) => 0 | 1
  /** @param tell prints a part of a long report as soon as it is known; says nothing where `-o json` wants one document */
  readonly run: (
    daemon: DaemonClient,
    args: ReadCall,
    terminal: Terminal,
    tell: (text: string) => void,
  ) => Promise<unknown>
  readonly print: Show<unknown>
  /** What `-o` takes beside json, yaml and table. */
  readonly formats?: Readonly<Record<string, Show<unknown>>>
  /** Of a listing: the keys of its columns. */
  readonly keys?: readonly string[]
}

/** Data as text for people; the line of titles of a table may not be wanted. */
export type Show<T> = (data: T, paint: Paint, headers: boolean) => string

/** Ties a command's data type together once, so that run and print agree. */
export function command<T>(
  row: CommandRow & {
    run: (
      daemon: DaemonClient,
      args: ReadCall,
      terminal: Terminal,
      tell: (text: string) => void,
    ) => Promise<T>
    print: Show<T>
    formats?: Readonly<Record<string, Show<T>>>
    keys?: readonly string[]
    watch?: true
    exitCode?: (data: T) => 0 | 1
  },
): CtlCommand {
  const { print, formats = {}, exitCode = () => 0, ...rest } = row
  return {
    ...rest,
    print: (data, paint, headers) => print(data as T, paint, headers),
    formats: formats as NonNullable<CtlCommand['formats']>,
    exitCode: data => exitCode(data as T),
  }
}
