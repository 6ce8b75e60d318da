/**
 * Programs of others that tests use and no distribution has in the version wanted: a Go module of this repository
 * names them, as tools, and a script builds them into `.cache/NAME/DIGEST`, where the digest is that of what they are
 * made from.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'

const root = join(import.meta.dirname, '..', '..')

export interface GoModule {
  /** The folder of its go.mod. */
  readonly sources: string
  /** Where the builds are, each in a folder named after what it was made from. */
  readonly cache: string
  /** The folder of the executables that belong to the sources as they are now. */
  readonly built: string
  /** Are they built? The folder appears only when all of them are in it. */
  isBuilt(): boolean
  /** The version of a module that it requires, such as `1.3.1`; empty when it requires none of that name. */
  versionOf(module: string): string
  /** The oldest Go that can build it. */
  wantedGo(): string
  /** The Go of this machine, or undefined when there is none that is new enough; another is never downloaded. */
  findGo(): string | undefined
}

/**
 * @param name of its folder in `.cache`
 * @param sources folder of its go.mod, from the root of the repository
 * @param script that builds it, from the root: its options are part of what the executables are made from
 */
export function goModule(name: string, sources: string, script: string): GoModule {
  const folder = join(root, sources)
  const goModLine = (matches: (line: string) => boolean): string =>
    readFileSync(join(folder, 'go.mod'), 'utf8').split('\n').find(matches) ?? ''
  const wantedGo = (): string => goModLine(line => line.startsWith('go ')).slice('go '.length)
  const cache = join(root, '.cache', name)
  const built = join(cache, digestOf(sources, script))
  return {
    sources: folder,
    cache,
    built,
    isBuilt: () => existsSync(built),
    versionOf: module => /\sv(\S+)/.exec(goModLine(line => line.includes(`${module} v`)))?.[1] ?? '',
    wantedGo,
    findGo: () => {
      const go = findProgram('go', ['/usr/local/go/bin'])
      return go !== undefined && isAtLeast(versionOfGo(go), wantedGo()) ? go : undefined
    },
  }
}

function versionOfGo(go: string): string {
  // Outside of the module: an old Go refuses to answer inside one that wants a newer.
  const env = { ...process.env, GOTOOLCHAIN: 'local' }
  const { stdout } = spawnSync(go, ['version'], { cwd: '/', encoding: 'utf8', env })
  return /\bgo(\d+(?:\.\d+)*)/.exec(stdout)?.[1] ?? '0'
}

function isAtLeast(version: string, wanted: string): boolean {
  return version.localeCompare(wanted, 'en', { numeric: true }) >= 0
}

function digestOf(sources: string, script: string): string {
  const hash = createHash('sha256')
  const files = globSync(`${sources}/**/*`, { cwd: root }).filter(path => /\.(mod|sum|go)$/.test(path))
  for (const path of [...files, script, 'scripts/go-build.ts'].sort())
    hash.update(readFileSync(join(root, path)))
  return hash.digest('hex').slice(0, 16)
}
