import { readFileSync } from 'node:fs'
import { stateFiles } from '../shared/paths.ts'
import type { ProblemDocument } from '../shared/problem/problem.ts'

/**
 * A problem of the plugin's own, with a hint that works on this node, as the daemon has noted it: all of shared/remedy/ would cost
 * every start of the plugin. Hints of the daemon work already.
 */
export function remedyHere(document: ProblemDocument, stateDir: string): ProblemDocument {
  let { hint } = document
  try {
    if (hint.includes('ctl ')) {
      const { says } = JSON.parse(readFileSync(`${stateDir}/${stateFiles.startedAs}`, 'utf8')) as {
        says: Record<string, string>
      }
      for (const [written, here] of Object.entries(says)) hint = hint.replace(written, () => here)
    }
  } catch {
    // The daemon runs as it usually does, or none has run here.
  }
  return { ...document, hint }
}
