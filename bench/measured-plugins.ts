import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { callers, callersFolder } from '../test/rigs/callers.ts'
import { distFolder, findReferencePlugins } from '../test/rigs/requirements.ts'

/** An executable of the plugin: the one with Node, or the one without. */
export interface Executable {
  readonly name: 'static' | 'Node'
  /** Where it is called "ipkeeper", as runtimes know it. */
  readonly folder: string
}

/** Those that are built. */
export function findExecutables(): readonly Executable[] {
  const all = [
    { name: 'static', folder: join(distFolder, 'static') },
    { name: 'Node', folder: distFolder },
  ] as const
  return all.filter(({ folder }) => existsSync(join(folder, 'ipkeeper')))
}

/** The reference plugins in one version. */
export interface Reference {
  /** Such as "1.9.1"; none of these plugins says its own. */
  readonly version: string
  readonly folder: string
}

/** Those of the machine, then those that are built for tests (make callers): each where it is there. */
export function findReferences(): readonly Reference[] {
  const installed = findReferencePlugins()
  const built = callers.versionOf('github.com/containernetworking/plugins')
  return [
    ...(installed === undefined ? [] : [{ version: versionOf(installed), folder: installed }]),
    ...(callers.isBuilt() ? [{ version: built, folder: callersFolder }] : []),
  ]
}

/** What Debian's package has, without its own revision; "installed" where they came in another way. */
function versionOf(folder: string): string {
  const query = (...words: readonly string[]): string =>
    spawnSync('dpkg-query', words, { encoding: 'utf8' }).stdout
  const [name = ''] = query('--search', join(folder, 'bridge')).split(':')
  return /^[\d.]+/.exec(query('--show', '--showformat=${Version}', name))?.[0] ?? 'installed'
}

/** A figure as a multiple of that of each reference, by its version. */
export type ToReferences = Readonly<Record<string, number>>
