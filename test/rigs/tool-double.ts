import type { RunTool, ToolEnd, ToolRun } from '../../ipkeeper-server/network/run-tool.ts'

/** Programs of the host of which only the answers exist. */
export interface ToolDouble {
  readonly run: RunTool
  /** What was run, in its order. */
  readonly runs: readonly ToolRun[]
}

/** `answer`: how a run ends; what it leaves away is success without a word. One that throws could not be run. */
export function toolDouble(answer: (run: ToolRun) => Partial<ToolEnd>): ToolDouble {
  const runs: ToolRun[] = []
  return {
    runs,
    run: async asked => {
      runs.push(asked)
      await Promise.resolve()
      return { exit: 0, stdout: '', stderr: '', ...answer(asked) }
    },
  }
}
