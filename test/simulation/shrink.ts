import type { Invariant } from './judge.ts'
import type { Outcome } from './play-history.ts'
import type { History, Step } from './steps.ts'

export interface ShrinkOptions {
  readonly play: (history: History) => Promise<Outcome>
  /** What has to be broken still. */
  readonly invariant: Invariant
  /** Asked before each try: false ends it with what was found so far. */
  readonly goOn: () => boolean
  readonly onShorter?: (steps: number, tries: number) => void
}

export interface Shrunk {
  readonly history: History
  /** How it ends; undefined: nothing could be left out. */
  readonly outcome: Outcome | undefined
  readonly tries: number
  /** Whether no single step can be left out; else there was no time to find out. */
  readonly isSmallest: boolean
}

/** Milliseconds that a pause is shortened to. */
const shortPause = 1000

/**
 * A shorter history that breaks the same invariant, by delta debugging: halves of its steps are left out, then quarters, and in
 * the end single ones. Each other step keeps its moment. What then is left is made plainer, where it can be.
 */
export async function shrink(history: History, options: ShrinkOptions): Promise<Shrunk> {
  const tried = new Tried(history, options)
  do {
    await leaveOut(tried)
    // What is plainer may need fewer others.
  } while ((await makePlainer(tried)) && (await leaveOut(tried)))
  const { best, outcome, tries, isOver } = tried
  return { history: best, outcome, tries, isSmallest: !isOver }
}

/** The shortest so far. */
class Tried {
  best: History
  outcome: Outcome | undefined
  tries = 0
  /** There is no time left. */
  isOver = false
  readonly #options: ShrinkOptions

  constructor(history: History, options: ShrinkOptions) {
    this.best = history
    this.#options = options
  }

  /** Whether a history that differs from the best one in this is as wrong, and now the best one. */
  async takes(change: Partial<Pick<History, 'moments' | 'end'>>): Promise<boolean> {
    const { play, invariant, goOn, onShorter } = this.#options
    this.isOver ||= !goOn()
    if (this.isOver) return false
    this.tries++
    const candidate = { ...this.best, ...change }
    const outcome = await play(candidate)
    if (!outcome.violations.some(violation => violation.invariant === invariant)) return false
    const isShorter = candidate.moments.length < this.best.moments.length
    this.best = candidate
    this.outcome = outcome
    if (isShorter) onShorter?.(candidate.moments.length, this.tries)
    return true
  }
}

/** Returns whether anything was left out. */
async function leaveOut(tried: Tried): Promise<boolean> {
  const before = tried.best.moments.length
  for (let size = Math.ceil(before / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    // The last ones first: what happens after the first wrong moment matters least.
    for (let to = tried.best.moments.length; to > 0; to -= size)
      await tried.takes({
        moments: tried.best.moments.filter((_, place) => place < to - size || place >= to),
      })
  return tried.best.moments.length < before
}

/** Returns whether anything was made plainer. */
async function makePlainer(tried: Tried): Promise<boolean> {
  let isPlainer = false
  for (let place = 0; place <= tried.best.moments.length; place++) {
    const { moments, end } = tried.best
    const moment = moments[place]
    const plainer = moment && plainerThan(moment.step)
    if (plainer && (await tried.takes({ moments: moments.with(place, { ...moment, step: plainer }) })))
      isPlainer = true
    const tooMuch = (moment?.at ?? end) - (moments[place - 1]?.at ?? 0) - shortPause
    if (tooMuch > 0 && (await tried.takes(sooner(tried.best, place, tooMuch)))) isPlainer = true
  }
  return isPlainer
}

/** All from a place on by so many milliseconds. */
const sooner = ({ moments, end }: History, from: number, by: number): Pick<History, 'moments' | 'end'> => ({
  moments: moments.map((moment, place) => (place < from ? moment : { ...moment, at: moment.at - by })),
  end: end - by,
})

/** The same without what it perhaps can do without. */
function plainerThan(step: Step): Step | undefined {
  switch (step.do) {
    case 'start':
      return step.killed === undefined ? undefined : { ...step, killed: undefined }
    case 'stop':
      return step.dies === undefined ? undefined : { ...step, dies: undefined }
    case 'GC':
      return step.late === 0 ? undefined : { ...step, late: 0 }
    case 'restart':
      return step.name === undefined ? undefined : { ...step, name: undefined }
    default:
      return undefined
  }
}
