import { setTimeout as delay } from 'node:timers/promises'
import { toProblem, type Problem } from '../../../shared/problem/problem.ts'

/** What a watched command is looked at with. */
export interface Watching {
  /** Asks once more. */
  readonly look: () => Promise<unknown>
  /** As text for people, or as one line of JSON. */
  readonly show: (data: unknown) => string
  /** A screen is drawn over at each look; elsewhere only what changed is printed. */
  readonly screen: boolean
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Whether nobody reads what is printed any more. */
  readonly readerGone: () => boolean
  readonly interruption: AbortSignal
  /** Milliseconds between two looks. */
  readonly every: number
  /** Stands above what is drawn on a screen. */
  readonly title: string
}

const [home, clearLine, clearBelow] = ['\u001b[H', '\u001b[K', '\u001b[J']
/** Another screen, so that what stood on the terminal is there again afterwards; without a cursor. */
const [enter, leave] = ['\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l']

/** Nothing blinks: each line is written over the one that was there. */
const draw = (text: string): string =>
  `${home}${text
    .trimEnd()
    .split('\n')
    .map(line => `${line}${clearLine}\n`)
    .join('')}${clearBelow}`

const said = ({ message, code, hint }: Problem): string => `error: ${message} [${code}]\nhint: ${hint}\n`

/**
 * Looks again and again until it is interrupted. A daemon that is away is waited for, and told of once.
 *
 * @throws what the first look throws
 */
export async function watchCommand(watching: Watching): Promise<void> {
  const { look, show, screen, out, err, readerGone, interruption, every, title } = watching
  let data = await look()
  let before: string | undefined
  let trouble: Problem | undefined
  const tell = (): void => {
    if (screen) {
      out(draw(`${title}\n\n${trouble ? `${said(trouble)}\n` : ''}${show(data)}`))
      return
    }
    const now = JSON.stringify(data)
    if (now === before) return
    before = now
    out(show(data))
  }
  if (screen) out(enter)
  try {
    for (;;) {
      tell()
      await delay(every, undefined, { signal: interruption }).catch(() => undefined)
      if (interruption.aborted || readerGone()) return
      try {
        data = await look()
        trouble = undefined
      } catch (error) {
        const problem = toProblem(error)
        if (!screen && trouble?.message !== problem.message) err(said(problem))
        trouble = problem
      }
    }
  } finally {
    if (screen) out(leave)
  }
}
