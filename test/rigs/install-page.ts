/**
 * A page of docs/install as somebody follows it: every `sh` block is typed into a root shell, one after the other, and what
 * the page shows behind it has to come. A block that follows a paragraph beginning with "*Not tried here*" is left out, and one that
 * follows "*Typed where nodes are*" as well where there are none.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Finished, ProgramOptions } from './run-program.ts'

export interface PageStep {
  /** Line of the page that the block begins in, from 1. */
  readonly line: number
  readonly script: string
  /** What the page shows; a line `...` stands for any lines. */
  readonly shown: readonly string[] | undefined
  /** Why it is not run; undefined for one that is. */
  readonly untried: string | undefined
  /** Whether it needs nodes with a kubelet. */
  readonly onNodes: boolean
}

const folder = join(import.meta.dirname, '..', '..', 'docs', 'install')

/** The steps of a page, in order. */
export function readSteps(page: string): readonly PageStep[] {
  const lines = readFileSync(join(folder, page), 'utf8').split('\n')
  const steps: PageStep[] = []
  let paragraph: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, indent = '', language = ''] = /^( *)```(\w*)$/.exec(lines[at] ?? '') ?? []
    if (!/^ *```/.test(lines[at] ?? '')) {
      const text = (lines[at] ?? '').trim()
      if (text !== '' && (lines[at - 1] ?? '').trim() === '') paragraph = []
      if (text !== '') paragraph.push(text)
      continue
    }
    const begin = at
    const body: string[] = []
    for (at++; at < lines.length && lines[at] !== `${indent}\`\`\``; at++)
      body.push((lines[at] ?? '').slice(indent.length))
    if (language === 'sh') {
      const said = paragraph.join(' ')
      const untried = said.startsWith('*Not tried here*') ? said : undefined
      const onNodes = said.startsWith('*Typed where nodes are*')
      steps.push({ line: begin + 1, script: body.join('\n'), shown: undefined, untried, onNodes })
    } else if (language === '') {
      const last = steps.at(-1)
      // One that follows later is about something else.
      if (last && !last.shown) steps[steps.length - 1] = { ...last, shown: body }
    }
    paragraph = []
  }
  return steps
}

/** What differs from run to run, taken out: times, spans, identifiers, versions, process ids, widths of columns. */
function levelled(line: string): string {
  return line
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'UUID')
    .replaceAll(/\bdefault-[\da-f]{5,64}\b|\b[\da-f]{12,64}(-dirty)?\b/g, 'ID')
    .replaceAll(/(?<![\d.])\d+\.\d+\.\d+(?![\d.])/g, 'VERSION')
    .replaceAll(/\bpid \d+/g, 'pid N')
    .replaceAll(/\b\d+ MiB/g, 'N MiB')
    .replaceAll(/\b\d+(\.\d+)? ?(ms|s|m|h)\b/g, 'SPAN')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Whether the lines are those shown. */
export function isAsShown(said: readonly string[], shown: readonly string[]): boolean {
  const [first, ...rest] = shown
  if (first === undefined) return said.length === 0
  if (first.trim() === '...')
    return Array.from({ length: said.length + 1 }, (_, at) => said.slice(at)).some(left =>
      isAsShown(left, rest),
    )
  return said[0] !== undefined && levelled(said[0]) === levelled(first) && isAsShown(said.slice(1), rest)
}

/** Lines of an output, without the empty ones at its end. */
export const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n')

/** Where blocks are run: each in a shell of its own, in the checkout, as the pages say. */
export interface Follower {
  shell(script: string, options?: ProgramOptions): Promise<Finished>
}

/**
 * Follows a page, as far as it says that it was tried.
 *
 * @param options.nodes whether nodes with a kubelet are there
 */
export async function followPage(
  t: Test,
  machine: Follower,
  page: string,
  { nodes = false }: { readonly nodes?: boolean } = {},
): Promise<void> {
  for (const { line, script, shown, untried, onNodes } of readSteps(page)) {
    const name = `${page}:${line}: ${script.split('\n')[0] ?? ''}`
    if (untried !== undefined || (onNodes && !nodes)) {
      t.comment(`${name} (${untried ?? 'no nodes here'})`)
      continue
    }
    const { exit, stdout, stderr, ms } = await machine.shell(script, { timeoutMs: 120_000 })
    const good = exit === 0 && (!shown || isAsShown(linesOf(stdout), shown))
    t.ok(good, `${name} (${Math.round(ms)} ms)`, { exit, stdout, stderr, shown })
    // What comes next stands on it.
    if (!good) return
  }
}
