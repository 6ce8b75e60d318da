import { showProgress, type Progress } from './progress.ts'
import type { Terminal } from './terminal.ts'

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
