/**
 * What a test needs beyond Node. Every test that can be skipped asks here, so that one runner can say what is missing
 * in one line, and refuse in CI to leave out what set-up supplies.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Begins the reason of a skip that is no fault even in CI: nothing that apt or npm supply would enable the test. */
export const optionalSkip = 'optional: '

export type Requirement = 'namespaces' | 'containerd' | 'reference-plugins' | 'executables' | 'go'

/** Folders of reference plugins: Debian's package, then the upstream convention. */
const pluginFolders = ['/usr/lib/cni', '/opt/cni/bin']

/** Tools of an administrator are not on every user's PATH. */
const searchPath = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']

/** Full path of a program, or undefined when the machine has none. */
export function findProgram(name: string): string | undefined {
  return searchPath
    .filter(folder => folder !== '')
    .map(folder => join(folder, name))
    .find(isExecutable)
}

/** Folder that holds `bridge`, `host-local` and `loopback`, or undefined. */
export function findReferencePlugins(): string | undefined {
  const wanted = ['bridge', 'host-local', 'loopback']
  return pluginFolders.find(folder => wanted.every(name => isExecutable(join(folder, name))))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Being root is not enough: in an unprivileged container root may not make namespaces. Tried once. */
function mayMakeNamespaces(): boolean {
  if (process.getuid?.() !== 0 || findProgram('ip') === undefined) return false
  namespacesWork ??= spawnSync('unshare', ['--mount', '--net', '--pid', '--fork', 'true']).status === 0
  return namespacesWork
}
let namespacesWork: boolean | undefined

/** Each requirement: is it met, and what to say when it is not. */
const requirements: Readonly<
  Record<Requirement, { readonly met: () => boolean; readonly otherwise: string }>
> = {
  namespaces: {
    met: mayMakeNamespaces,
    otherwise: 'needs root that may make network namespaces, and ip (Debian package iproute2)',
  },
  containerd: {
    met: () => ['containerd', 'ctr', 'runc'].every(name => findProgram(name) !== undefined),
    otherwise: 'needs containerd, ctr and runc (Debian packages containerd, runc)',
  },
  'reference-plugins': {
    met: () => findReferencePlugins() !== undefined,
    otherwise: 'needs the reference CNI plugins (Debian package containernetworking-plugins)',
  },
  executables: {
    met: () => ['ipkeeper', 'ipkeeper-server'].every(name => existsSync(join(distFolder, name))),
    otherwise: 'needs the packaged executables (make build)',
  },
  go: { met: () => findProgram('go') !== undefined, otherwise: `${optionalSkip}needs Go >= 1.24` },
}

/** Where `make build` leaves the executables. */
export const distFolder = join(import.meta.dirname, '..', '..', 'dist')

/**
 * For tap's `skip` option: false when everything is there, else the reason.
 *
 * @example t.test('under the real bridge', { skip: missing('namespaces', 'reference-plugins') }, ...)
 */
export function missing(...wanted: readonly Requirement[]): false | string {
  const reasons = wanted.map(name => requirements[name]).filter(requirement => !requirement.met())
  return reasons.length === 0 ? false : reasons.map(requirement => requirement.otherwise).join(', ')
}
