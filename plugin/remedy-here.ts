import { readFileSync } from 'node:fs'
import type { PluginSettings } from '../shared/cni/netconf.ts'
import { defaultPaths, stateFiles } from '../shared/paths.ts'
import type { ProblemDocument } from '../shared/problem/problem.ts'
import { shellWord } from '../shared/text/shell-word.ts'

/**
 * A problem of the plugin's own, with a hint that works on this node. It knows the two commands that such hints have: all of
 * shared/remedy/ would cost every start of the plugin. Hints of the daemon work already.
 */
export function remedyHere(
  document: ProblemDocument,
  { socket, stateDir }: Pick<PluginSettings, 'socket' | 'stateDir'>,
): ProblemDocument {
  const hint = document.hint
    .replace('systemctl restart ipkeeper', line => {
      try {
        return (
          (JSON.parse(readFileSync(`${stateDir}/${stateFiles.startedAs}`, 'utf8')) as { restart?: string })
            .restart ?? line
        )
      } catch {
        // By systemd, or no daemon has run here.
        return line
      }
    })
    .replace('ipkeeperctl status', line =>
      socket === defaultPaths.socket ? line : `${line} --socket ${shellWord(socket)}`,
    )
  return { ...document, hint }
}
