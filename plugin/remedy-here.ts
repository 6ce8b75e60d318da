import { readFileSync } from 'node:fs'
import { stateFiles } from '../shared/paths.ts'
import { remedyHere } from '../shared/remedy/place.ts'
import { readStartedAs, type StartedAs } from '../shared/remedy/service-lines.ts'

/** What the daemon has noted of how it runs; undefined where systemd starts it. */
function notedIn(stateDir: string): StartedAs | undefined {
  try {
    return readStartedAs(readFileSync(`${stateDir}/${stateFiles.startedAs}`, 'utf8'))
  } catch {
    return undefined
  }
}

/** A hint of the plugin's own as it works on this node. Those of the daemon do so already. */
export function pluginRemedy(
  hint: string,
  paths: { readonly stateDir: string; readonly socket: string },
): string {
  if (!/systemctl|ipkeeperctl/.test(hint)) return hint
  return remedyHere(hint, { ...paths, startedAs: notedIn(paths.stateDir) })
}
