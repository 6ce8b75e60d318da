/**
 * Real callers of CNI plugins in versions that no distribution has yet: cnitool, go-cni, the reference plugins and
 * containerd, built by `make callers`. scripts/callers/go.mod alone says which, and in which version.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'

const root = join(import.meta.dirname, '..', '..')

/** The Go module they are built from. */
export const callersModule = join(root, 'scripts', 'callers')

/** Where the builds are, each in a folder named after what it was made from. */
export const callersCache = join(root, '.cache', 'callers')

/** The folder of the executables that belong to the sources as they are now. */
export const callersFolder = join(callersCache, digestOfSources())

/** Are they built? The folder appears only when all of them are in it. */
export function hasCallers(): boolean {
  return existsSync(callersFolder)
}

/** The version of a module that they are built from, such as `1.3.1`. */
export function callerVersion(module: string): string {
  const found = goModLine(line => line.includes(`${module} v`))
  return /\sv(\S+)/.exec(found)?.[1] ?? ''
}

/** The oldest Go that can build them. */
export function wantedGo(): string {
  return goModLine(line => line.startsWith('go ')).slice('go '.length)
}

/** The Go of this machine, or undefined when there is none that is new enough; another one is never downloaded. */
export function findGo(): string | undefined {
  const go = findProgram('go', ['/usr/local/go/bin'])
  return go !== undefined && isAtLeast(versionOf(go), wantedGo()) ? go : undefined
}

function versionOf(go: string): string {
  // Outside of the module: an old Go refuses to answer inside one that wants a newer.
  const env = { ...process.env, GOTOOLCHAIN: 'local' }
  const { stdout } = spawnSync(go, ['version'], { cwd: '/', encoding: 'utf8', env })
  return /\bgo(\d+(?:\.\d+)*)/.exec(stdout)?.[1] ?? '0'
}

function isAtLeast(version: string, wanted: string): boolean {
  return version.localeCompare(wanted, 'en', { numeric: true }) >= 0
}

function goModLine(matches: (line: string) => boolean): string {
  const lines = readFileSync(join(callersModule, 'go.mod'), 'utf8').split('\n')
  return lines.find(matches) ?? ''
}

function digestOfSources(): string {
  const hash = createHash('sha256')
  const sources = [
    ...globSync('scripts/callers/**/*', { cwd: root }).filter(path => /\.(mod|sum|go)$/.test(path)),
    'scripts/build-callers.ts',
  ]
  for (const path of sources.sort()) hash.update(readFileSync(join(root, path)))
  return hash.digest('hex').slice(0, 16)
}
