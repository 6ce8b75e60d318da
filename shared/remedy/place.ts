import { clusterLines } from './cluster-lines.ts'
import { documentPaths } from './document-paths.ts'
import { serviceLines, type StartedAs } from './service-lines.ts'
import { toolLines } from './tool-lines.ts'

/**
 * Where a remedy is read. Texts are written for a daemon that systemd started, on the default paths, of a node of a cluster; what is
 * not known here is left as it is written.
 */
export interface Place {
  /** How the daemon runs where systemd has not started it; undefined: by systemd, or not known. */
  readonly startedAs?: StartedAs | undefined
  /** Whether ipkeeperctl is at hand where this is read; undefined: not known. */
  readonly toolIsHere?: boolean | undefined
  /** Of the daemon; undefined: where ipkeeperctl looks for it by itself. */
  readonly socket?: string | undefined
  /** Of the daemon; undefined: where ipkeeperctl looks for it by itself. */
  readonly stateDir?: string | undefined
  /** Whether there is a Kubernetes API; undefined: not known. */
  readonly clustered?: boolean | undefined
  /** The folder in which the folder "docs" was installed; undefined: nowhere. */
  readonly documents?: string | undefined
}

/** A hint, or another text with commands in it, as it works as typed in this place. To do it twice changes nothing. */
export function remedyHere(text: string, place: Place): string {
  const clustered = place.startedAs?.service === 'pod' || place.clustered
  return documentPaths(clusterLines(serviceLines(toolLines(text, place), place), { clustered }), place)
}

/** A command in this place; what there is no command for, in words. */
export function commandHere(
  argv: readonly string[],
  line: string,
  place: Place,
): { readonly argv: readonly string[]; readonly words?: string } {
  const here = remedyHere(line, place)
  if (here === line) return { argv }
  if (!/^(kubectl|crictl|ipkeeperctl|ipkeeper-server|sudo) /.test(here)) return { argv: [], words: here }
  return { argv: /['$]| && /.test(here) ? ['sh', '-c', here] : here.split(' ') }
}
