import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { readStartedAs, type StartedAs } from '../../shared/remedy/service-lines.ts'
import { makeFolder } from './make-folder.ts'
import { readRegularFileSync } from './regular-file.ts'

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
    ...(env['IPKEEPER_POD'] && { pod: env['IPKEEPER_POD'] }),
  }
}

/** Beside the socket, since the state folder may be on a file system that hangs, and this is read when something is wrong. */
const noteOf = (socket: string): string => `${socket}.started-as.json`

/** For an ipkeeperctl of the node, which prints remedies when no daemon answers. Never throws: it does without. */
export function noteStartedAs(socket: string, startedAs: StartedAs | undefined): void {
  const path = noteOf(socket)
  try {
    if (!startedAs) rmSync(path, { force: true })
    else {
      makeFolder(dirname(path))
      // Its pod may have another name by then.
      writeFileSync(path, `${JSON.stringify({ ...startedAs, pod: undefined })}\n`, { mode: 0o600 })
    }
  } catch {
    // Where the folder takes no file, it takes no socket either, and that is told.
  }
}

/** What a daemon has noted; undefined where none has. */
export function notedStartedAs(socket: string): StartedAs | undefined {
  try {
    return readStartedAs(readRegularFileSync(noteOf(socket), { most: 4096 }).toString())
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
