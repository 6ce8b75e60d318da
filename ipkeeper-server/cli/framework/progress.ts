import type { Terminal } from './terminal.ts'

/** How far a long job is, shown to whoever looks on. Every call is cheap: it draws at most ten times a second. */
export interface Progress {
  /** So many are done now. */
  readonly at: (done: number) => void
  /** Takes the line away. Call it before anything else is printed, and whatever became of the job. */
  readonly end: () => void
}

/** What is counted: "leases", "files"; the number of all of them, where it is known. */
export interface CountedWork {
  readonly what: string
  readonly total?: number
}

/** Milliseconds between two drawings. */
const pace = 100
/** Milliseconds that must have gone by before a remaining time is guessed. */
const guessAfter = 2_000
const barWidth = 24

/** Seconds as people say them: "8 s", "3 min". */
const spoken = (seconds: number): string =>
  seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`

/**
 * One line of a bar: "migrating [#######-----------------]  3,210 of 10,240 leases, 31 %, 12 s left". Without a total only
 * what is known: "scanning  3,210 files, 4 s".
 *
 * @param elapsed milliseconds since the job began
 */
export function progressLine(
  job: string,
  { what, total }: CountedWork,
  done: number,
  elapsed: number,
): string {
  const count = (number: number): string => number.toLocaleString('en-US')
  if (total === undefined || total === 0) {
    const counted = done === 0 ? '' : `  ${count(done)} ${what},`
    return `${job}${counted} ${spoken(elapsed / 1000)}`
  }
  const share = Math.min(1, done / total)
  const filled = Math.floor(share * barWidth)
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`
  const left =
    elapsed < guessAfter || done === 0 || done >= total
      ? ''
      : `, ${spoken(((elapsed / done) * (total - done)) / 1000)} left`
  return `${job} ${bar}  ${count(done)} of ${count(total)} ${what}, ${Math.floor(share * 100)} %${left}`
}

/**
 * Shows how far a job is where the terminal has somebody looking on; says nothing elsewhere. A job that reports nothing
 * for long, such as one question to the daemon, shows the time that it takes.
 *
 *   const progress = showProgress(terminal, 'importing', { what: 'leases', total: found.length })
 *   try {
 *     for (const [index, lease] of found.entries()) {
 *       await adopt(lease)
 *       progress.at(index + 1)
 *     }
 *   } finally {
 *     progress.end()
 *   }
 *
 * @param monotonic milliseconds
 */
export function showProgress(
  { progress: draw }: Pick<Terminal, 'progress'>,
  job: string,
  counted: CountedWork = { what: '' },
  monotonic: () => number = () => performance.now(),
): Progress {
  if (!draw) return { at: () => undefined, end: () => undefined }
  const began = monotonic()
  let drawnAt = began - pace
  let drawn = false
  let done = 0
  const look = (): void => {
    const now = monotonic()
    if (now - drawnAt < pace) return
    drawnAt = now
    drawn = true
    draw(progressLine(job, counted, done, now - began))
  }
  const timer = setInterval(look, 250)
  timer.unref()
  return {
    at: now => {
      done = now
      look()
    },
    end: () => {
      clearInterval(timer)
      if (drawn) draw('')
      drawn = false
    },
  }
}

/** Progress of a job that counts one thing after another: records, then entries of the history. */
export interface StagedProgress {
  readonly at: (what: string, done: number, total?: number) => void
  readonly end: () => void
}

export function showStages(terminal: Pick<Terminal, 'progress'>, job: string): StagedProgress {
  let stage: { readonly what: string; readonly progress: Progress } | undefined
  const end = (): void => {
    stage?.progress.end()
    stage = undefined
  }
  return {
    at: (what, done, total) => {
      if (stage?.what !== what) {
        end()
        stage = {
          what,
          progress: showProgress(terminal, job, { what, ...(total !== undefined && { total }) }),
        }
      }
      stage.progress.at(done)
    },
    end,
  }
}
