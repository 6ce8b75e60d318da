import { Problem } from '../../shared/problem/problem.ts'
import { showJson } from './ip-commands.ts'
import type { RunTool } from './run-tool.ts'

/** Addresses, without prefix, that the node knows its neighbours to have under a MAC; none where there is no `ip`. */
export async function neighboursWithMac(run: RunTool, mac: string): Promise<readonly string[]> {
  try {
    const known = (await showJson(run, ['neighbour', 'show'])) as readonly {
      readonly dst?: string
      readonly lladdr?: string
    }[]
    return known.flatMap(({ dst, lladdr }) =>
      dst !== undefined && lladdr?.toLowerCase() === mac ? [dst] : [],
    )
  } catch (error) {
    if (error instanceof Problem && error.code === 'IPK_TOOL_MISSING') return []
    throw error
  }
}
