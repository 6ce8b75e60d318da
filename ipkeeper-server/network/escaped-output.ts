import { escapeIpJson } from './plan/ip-json.ts'
import type { RunTool } from './run-tool.ts'

/** `run` for looks by `ip -json`, whose output can be parsed whatever links are called. */
export function escapingOutput(run: RunTool): RunTool {
  return async tool => {
    const ended = await run(tool)
    return { ...ended, stdout: escapeIpJson(ended.stdout) }
  }
}
