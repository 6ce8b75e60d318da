import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compareVersions } from '../shared/text/compare-versions.ts'
import { findProgram } from '../test/rigs/find-program.ts'

const root = join(import.meta.dirname, '..')
const engine = join(root, 'plugin', 'edges', 'quick', 'engine')
const carrier = 'rquickjs-sys'

/** Version of the package that carries the engine's sources. */
export function engineVersion(): string {
  const lock = readFileSync(join(engine, 'Cargo.lock'), 'utf8')
  const version = new RegExp(`name = "${carrier}"\\nversion = "(.+?)"`).exec(lock)?.[1]
  if (version === undefined) throw new Error(`${engine}/Cargo.lock names no ${carrier}`)
  return version
}

/** The package says edition 2024, which an older cargo cannot read (Debian 12 has 0.66). */
export const leastCargo = '1.85.0'

function findCargo(): string | undefined {
  const cargo = findProgram('cargo', [join(process.env['HOME'] ?? '/root', '.cargo', 'bin')])
  if (cargo === undefined) return undefined
  const { stdout } = spawnSync(cargo, ['--version'], { cwd: engine, encoding: 'utf8' })
  const version = /^cargo (\d+\.\d+\.\d+)/.exec(stdout)?.[1]
  return version !== undefined && compareVersions(version, leastCargo) >= 0 ? cargo : undefined
}

/** The version that QuickJS-ng's own sources say. */
export function quickVersion(sources: string): string {
  const header = readFileSync(join(sources, 'quickjs.h'), 'utf8')
  return ['MAJOR', 'MINOR', 'PATCH']
    .map(part => {
      const number = new RegExp(`^#define QJS_VERSION_${part} (\\d+)$`, 'm').exec(header)?.[1]
      if (number === undefined) throw new Error(`${sources}/quickjs.h names no QJS_VERSION_${part}`)
      return number
    })
    .join('.')
}

/**
 * The folder with QuickJS-ng's sources, which cargo fetches the first time and compares with its checksum; undefined where
 * there is no cargo that can.
 */
export function fetchEngine(): string | undefined {
  const version = engineVersion()
  const folder = join(root, '.cache', 'engine', `${carrier}-${version}`)
  const sources = join(folder, 'quickjs')
  if (existsSync(sources)) return sources
  const cargo = findCargo()
  if (cargo === undefined) return undefined
  console.log('build: fetching the sources of QuickJS-ng')
  mkdirSync(join(folder, '..'), { recursive: true })
  const unfinished = mkdtempSync(join(folder, '..', 'unfinished-'))
  try {
    const words = ['vendor', '--quiet', '--locked', '--versioned-dirs', unfinished]
    const { status, error } = spawnSync(cargo, words, { cwd: engine, stdio: ['ignore', 'ignore', 'inherit'] })
    if (status !== 0) throw new Error(`cargo vendor failed: ${error?.message ?? `exit status ${status}`}`)
    renameSync(join(unfinished, `${carrier}-${version}`), folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return sources
}
