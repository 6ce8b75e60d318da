import { spawn } from 'node:child_process'
import { until } from './poll.ts'

/** A program on a terminal of its own, as a person has it. */
export interface TerminalSession {
  /** Everything that was drawn, as the terminal got it. */
  readonly drawn: () => string
  /** Presses keys. */
  readonly type: (keys: string) => void
  /** Waits until the text drawn since the last such call has it; returns that part, without colours and the like. */
  readonly see: (pattern: RegExp) => Promise<string>
  /** Waits for the end; the program's exit code. */
  readonly ended: Promise<number | null>
  readonly kill: () => void
}

const ESC = '\u001b'
const commands = new RegExp(`${ESC}(\\[[0-9;?=>]*[A-Za-z]|[()][A-Z0-9]|[=>]|\\][^\u0007]*\u0007)`, 'g')

/** What is drawn, without the commands to the terminal. */
const plain = (text: string): string => text.replaceAll(commands, '')

/** Runs a line of sh on a pseudo-terminal of 120 columns (util-linux's script makes it). */
export function openTerminal(line: string, env: Readonly<Record<string, string>>): TerminalSession {
  const child = spawn('script', ['-qfec', `stty cols 120 rows 40; ${line}`, '/dev/null'], {
    env: { TERM: 'xterm', PATH: process.env['PATH'] ?? '', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let drawn = ''
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => (drawn += text))
  // The program may have ended while keys are pressed.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  return {
    drawn: () => drawn,
    type: keys => child.stdin.write(keys),
    see: async pattern => {
      await until(String(pattern), () => pattern.test(plain(drawn).slice(seen)), 15_000).catch(
        (error: unknown) => {
          throw new Error(`no ${String(pattern)} in ${JSON.stringify(plain(drawn).slice(seen))}`, {
            cause: error,
          })
        },
      )
      const part = plain(drawn).slice(seen)
      const found = pattern.exec(part)
      seen += (found?.index ?? 0) + (found?.[0].length ?? 0)
      return part
    },
    ended,
    kill: () => child.kill('SIGKILL'),
  }
}
