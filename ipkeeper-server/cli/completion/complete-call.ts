import { basename } from 'node:path'
import { type CompletionCandidate, type CompletedProgram, completeWords } from './complete-words.ts'
import { askKnownValues } from './known-values.ts'
import { connectDaemon } from '../framework/daemon-client.ts'
import type { Terminal } from '../framework/terminal.ts'
import { defaultPaths } from '../../../shared/paths.ts'

/**
 * Splits the beginning of a shell's line into words as bash would: quotes and backslashes are taken away, nothing is
 * expanded. The last word, which may be empty, is the one at the cursor.
 */
export function splitLine(line: string): readonly string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let index = 0; index < line.length; index++) {
    const char = line.charAt(index)
    if (char === '\\' && quote !== "'") word += line.charAt(++index)
    else if (quote === char) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) quote = char
    else if (quote === '' && /\s/.test(char)) {
      if (word !== '') words.push(word)
      word = ''
    } else word += char
  }
  return [...words, word]
}

/** The word by which the scripts of the shells ask. */
export const completeWord = '__complete'

/** The programs that a line may begin with. */
export interface Programs {
  readonly tool: CompletedProgram
  readonly server: CompletedProgram
}

/** As many as people look through; a list of thousands only keeps the shell busy. */
const most = 2000

/** The socket that the line names. */
function socketOf(words: readonly string[]): string | undefined {
  const at = words.lastIndexOf('--socket')
  return (
    (at === -1 ? undefined : words[at + 1]) ?? words.findLast(word => word.startsWith('--socket='))?.slice(9)
  )
}

/** What of a word bash keeps for itself: it replaces only what stands behind its last break. */
function keptByBash(current: string, breaks: string): string {
  const ends = [':', '='].filter(char => breaks.includes(char)).map(char => current.lastIndexOf(char) + 1)
  return current.slice(0, Math.max(0, ...ends))
}

/**
 * Answers a shell's script (shell-scripts.ts). First a line that says what to do beside: "file", "folder", "open" for
 * values that go on behind the cursor, "words" for none of that; then a value on each line, for zsh and fish with its
 * text behind a tab.
 *
 * @param argv bash, the line up to the cursor, COMP_WORDBREAKS; or zsh or fish and all words up to the cursor
 */
export async function completeCall(
  argv: readonly string[],
  { env, out }: Terminal,
  { tool, server }: Programs,
): Promise<void> {
  const [shell, ...given] = argv
  const all = shell === 'bash' ? splitLine(given[0] ?? '') : given
  // Words before the program are settings of the environment: A=b ipkeeperctl.
  const at = Math.max(
    0,
    all.findIndex(word => ['ipkeeperctl', 'ipkeeper-server'].includes(basename(word))),
  )
  const current = all.length - at < 2 ? '' : (all.at(-1) ?? '')
  const words = all.slice(at + 1, -1)
  const program =
    basename(all[at] ?? '') === 'ipkeeper-server' ? { ...server, passesOn: { ctl: tool } } : tool
  const { candidates, more, prefix } = completeWords(program, words, current)
  if (more === 'file' || more === 'folder') {
    out(`${more}\n`)
    return
  }
  const known = more === undefined ? [] : await ask(socketOf(words) ?? env['IPKEEPER_SOCKET'], more)
  const fitting = [...candidates, ...known.map(({ value, text }) => ({ value: `${prefix}${value}`, text }))]
    .filter(({ value }) => value.startsWith(current))
    .slice(0, most)
  const kept = shell === 'bash' ? keptByBash(current, given[1] ?? '') : ''
  const open = fitting.length > 0 && fitting.every(({ value }) => value.endsWith(':'))
  const lines = fitting.map(({ value, text }) =>
    shell === 'bash' ? value.slice(kept.length) : `${value}\t${text}`,
  )
  out(`${[open ? 'open' : 'words', ...lines].join('\n')}\n`)
}

async function ask(
  socket: string | undefined,
  kind: Parameters<typeof askKnownValues>[1],
): Promise<readonly CompletionCandidate[]> {
  const daemon = connectDaemon(socket || defaultPaths.socket)
  try {
    return await askKnownValues(daemon, kind)
  } finally {
    await daemon.close()
  }
}
