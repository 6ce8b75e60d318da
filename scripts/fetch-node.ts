import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Architecture } from './package-executable.ts'

interface Lock {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, { readonly version?: string }>>
}

const root = join(import.meta.dirname, '..')
export const hostArchitecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

/**
 * The Node binary of an architecture. That of this machine is among the packages of the project; another one is fetched by
 * npm into .cache, in the version and with the digest of package-lock.json.
 */
export function fetchNode(architecture: Architecture): string {
  const name = `node-linux-${architecture}`
  const path = join('node_modules', name, 'bin', 'node')
  if (architecture === hostArchitecture) return join(root, path)
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const entry = lock.packages[`node_modules/${name}`]
  if (entry?.version === undefined) throw new Error(`package-lock.json has no ${name}`)
  const folder = join(root, '.cache', `${name}-${entry.version}`)
  const binary = join(folder, path)
  const done = join(folder, 'fetched')
  if (existsSync(done)) return binary
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest = { name: 'other-node', version: '0.0.0', optionalDependencies: { [name]: entry.version } }
  const ownLock = {
    ...{ name: manifest.name, version: manifest.version, lockfileVersion: lock.lockfileVersion },
    packages: { '': manifest, [`node_modules/${name}`]: entry },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(ownLock))
  console.log(`release: npm ci ${name}@${entry.version}`)
  execFileSync(
    'npm',
    ['ci', '--os=linux', `--cpu=${architecture}`, '--ignore-scripts', '--no-audit', '--no-fund'],
    {
      ...{ cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
    },
  )
  if (!existsSync(binary)) throw new Error(`${name}@${entry.version} has no bin/node`)
  writeFileSync(done, '')
  return binary
}
