import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { stateFiles } from '../../shared/paths.ts'
import { remedyHere } from '../../shared/remedy/place.ts'
import { readStartedAs, type StartedAs } from '../../shared/remedy/service-lines.ts'

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Throws where there is no such file. */
  readonly read?: (path: string) => string
  readonly exists?: (path: string) => boolean
  /** Of this process and its parent: the first of a container is 1. */
  readonly pids?: readonly number[]
}

/** Where kubelet says of which namespace a pod is. */
const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'

/** Where deploy/kubernetes puts it. */
const usualNamespace = 'ipkeeper-system'

/** What container engines leave in a container: Podman and CRI-O, Docker. */
const containerMarks = ['/run/.containerenv', '/.dockerenv']

/** How this process was started; undefined where it is neither in a pod nor in another container. */
export function findStartedAs({
  env,
  read = path => readFileSync(path, 'utf8'),
  exists = existsSync,
  pids = [],
}: Surroundings): StartedAs | undefined {
  if ((env['KUBERNETES_SERVICE_HOST'] ?? '') === '')
    return pids.includes(1) && containerMarks.some(exists) && !exists('/run/systemd/system')
      ? { service: 'container' }
      : undefined
  let namespace = ''
  try {
    namespace = read(namespaceFile).trim()
  } catch {
    // Its token was not mounted.
  }
  return {
    service: 'pod',
    namespace: namespace || usualNamespace,
    node: env['IPKEEPER_NODE'] || hostname(),
  }
}

/** Commands in hints of the plugin's own. */
const linesOfPlugin = ['systemctl restart ipkeeper', 'ipkeeperctl status']

/**
 * For ipkeeperctl and the plugin, which print remedies when no daemon answers: how this one runs, and what the plugin says then, which
 * has no time to find it. Never throws: they do without.
 */
export function noteStartedAs(stateDir: string, startedAs: StartedAs | undefined, socket: string): void {
  const path = join(stateDir, stateFiles.startedAs)
  const says = linesOfPlugin
    .map(line => [line, remedyHere(line, { startedAs, socket })] as const)
    .filter(([written, here]) => written !== here)
  try {
    if (says.length === 0) rmSync(path, { force: true })
    else {
      const note = { ...startedAs, says: Object.fromEntries(says) }
      writeFileSync(path, `${JSON.stringify(note)}\n`, { mode: 0o600 })
    }
  } catch {
    // A full disk, or one that is read-only, is told elsewhere.
  }
}

/** What a daemon has noted; undefined where none has. */
export function notedStartedAs(stateDir: string): StartedAs | undefined {
  try {
    return readStartedAs(readFileSync(join(stateDir, stateFiles.startedAs), 'utf8'))
  } catch {
    return undefined
  }
}

/** The folder in which `make install` put the pages that belong to this executable; undefined where there are none. */
export function findDocuments(
  execPath: string,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  const folder = join(dirname(dirname(execPath)), 'share', 'doc', 'ipkeeper')
  return exists(join(folder, 'docs', 'README.md')) ? folder : undefined
}
