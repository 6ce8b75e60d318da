import type { CommandRow, ReadCall } from './command-row.ts'
import type { DaemonClient } from './daemon-client.ts'
import type { Paint } from './paint.ts'
import type { Terminal } from './terminal.ts'

/** What a command was called with, beyond the common options. */
export type CommandArguments = ReadCall

/** One command of ipkeeperctl. It returns data; `print` turns them into text for people, `-o json` prints them as they are. */
export interface Command extends CommandRow {
  /** A listing that may be looked at again and again. */
  readonly watch?: true
  /** The exit code that the data call for. */
  readonly exitCode: (data: unknown) => 0 | 1
  /** @param tell prints a part of a long report as soon as it is known; says nothing where `-o json` wants one document */
  readonly run: (
    daemon: DaemonClient,
    args: CommandArguments,
    terminal: Terminal,
    tell: (text: string) => void,
  ) => Promise<unknown>
  readonly print: (data: unknown, paint: Paint) => string
  /** What `-o` takes beside json and table. */
  readonly formats?: Readonly<Record<string, (data: unknown) => string>>
}

/** Ties a command's data type together once, so that run and print agree. */
export function command<T>(
  row: CommandRow & {
    run: (
      daemon: DaemonClient,
      args: CommandArguments,
      terminal: Terminal,
      tell: (text: string) => void,
    ) => Promise<T>
    print: (data: T, paint: Paint) => string
    formats?: Readonly<Record<string, (data: T) => string>>
    watch?: true
    exitCode?: (data: T) => 0 | 1
  },
): Command {
  const { print, formats = {}, exitCode = () => 0, ...rest } = row
  return {
    ...rest,
    print: (data, paint) => print(data as T, paint),
    formats: formats as NonNullable<Command['formats']>,
    exitCode: data => exitCode(data as T),
  }
}
