import { Problem } from '../../shared/problem/problem.ts'
import type { DaemonClient } from './daemon-client.ts'
import type { Terminal } from './terminal.ts'

/** What a command was called with, beyond the common options. */
export interface CommandArguments {
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
}

/** One command of ipkeeperctl. It returns data; `print` turns them into text for people, `-o json` prints them as they are. */
export interface Command {
  readonly name: string
  readonly arguments: string
  readonly summary: string
  /** Options with a value, by name: what the value is called, and what it does. */
  readonly options: Readonly<Record<string, readonly [value: string, text: string]>>
  /** Options without one. */
  readonly flags?: Readonly<Record<string, string>>
  /** Options that may stand several times; their values come joined by ":". */
  readonly joined?: readonly string[]
  readonly example: string
  /** What the exit codes 0 and 1 mean, where it is not what they mean elsewhere. */
  readonly exits?: string
  /** The exit code that the data call for. */
  readonly exitCode: (data: unknown) => 0 | 1
  /** @param tell prints a part of a long report as soon as it is known; says nothing where `-o json` wants one document */
  readonly run: (
    daemon: DaemonClient,
    args: CommandArguments,
    terminal: Terminal,
    tell: (text: string) => void,
  ) => Promise<unknown>
  readonly print: (data: unknown) => string
  /** What `-o` takes beside json and table. */
  readonly formats?: Readonly<Record<string, (data: unknown) => string>>
}

/** Ties a command's data type together once, so that run and print agree. */
export function command<T>(
  row: Omit<Command, 'run' | 'print' | 'formats' | 'exitCode'> & {
    run: (
      daemon: DaemonClient,
      args: CommandArguments,
      terminal: Terminal,
      tell: (text: string) => void,
    ) => Promise<T>
    print: (data: T) => string
    formats?: Readonly<Record<string, (data: T) => string>>
    exitCode?: (data: T) => 0 | 1
  },
): Command {
  const { print, formats = {}, exitCode = () => 0, ...rest } = row
  return {
    ...rest,
    print: data => print(data as T),
    formats: formats as NonNullable<Command['formats']>,
    exitCode: data => exitCode(data as T),
  }
}

/** As many words as there are names for them. Throws IPK_USAGE. */
export function expectPositionals(args: CommandArguments, names: readonly string[]): readonly string[] {
  if (args.positionals.length !== names.length) {
    const wanted = names.length === 0 ? 'takes no arguments' : `takes ${names.join(' ')}`
    const got = args.positionals.length === 0 ? 'none' : args.positionals.join(' ')
    throw new Problem('IPK_USAGE', `this command ${wanted}; got ${got}`)
  }
  return args.positionals
}
