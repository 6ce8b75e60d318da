import type { Terminal } from '../../ipkeeper-server/cli/framework/terminal.ts'
import { runIpkeeperctl } from '../../ipkeeper-server/cli/ipkeeperctl.ts'

export interface ToolRun {
  readonly exit: number
  readonly out: string
  readonly err: string
}

/** One call of ipkeeperctl in this process, in an empty environment unless `terminal` has one, and what it printed. */
export async function runTool(argv: readonly string[], terminal: Partial<Terminal> = {}): Promise<ToolRun> {
  let [out, err] = ['', '']
  const exit = await runIpkeeperctl(argv, {
    env: {},
    out: text => (out += text),
    err: text => (err += text),
    ...terminal,
  })
  return { exit, out, err }
}
