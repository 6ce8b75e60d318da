import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
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

/**
 * The folder with QuickJS-ng's sources, which cargo fetches the first time and compares with its checksum; undefined where
 * there is no cargo.
 */
export function fetchEngine(): string | undefined {
  const version = engineVersion()
  const folder = join(root, '.cache', 'engine', `${carrier}-${version}`)
  const sources = join(folder, 'quickjs')
  if (existsSync(sources)) return sources
  const cargo = findProgram('cargo', [join(process.env['HOME'] ?? '/root', '.cargo', 'bin')])
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
