import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Architecture } from './package-executable.ts'

interface Lock {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, { readonly version?: string }>>
}

const root = join(import.meta.dirname, '..')
const attempts = 3
const pauseMs = 5_000
const anywhere = { optional: undefined, os: undefined, cpu: undefined }
export const hostArchitecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

/** The Node binary of an architecture. */
export function fetchNode(architecture: Architecture): string {
  return fetchFile(architecture, `node-linux-${architecture}`, 'bin/node')
}

/** The library by which the daemon calls the kernel (docs/adr/0032-netlink-in-the-daemon.md). */
export function fetchKoffi(architecture: Architecture): string {
  return fetchFile(architecture, `@koromix/koffi-linux-${architecture}`, `linux_${architecture}/koffi.node`)
}

/**
 * A file of a package that there is for each architecture. Those of this machine are among the packages of the project; others
 * are fetched by npm into .cache, in the version and with the digest of package-lock.json.
 */
function fetchFile(architecture: Architecture, name: string, file: string): string {
  const path = join('node_modules', name, file)
  if (architecture === hostArchitecture) return join(root, path)
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const entry = lock.packages[`node_modules/${name}`]
  if (entry?.version === undefined) throw new Error(`package-lock.json has no ${name}`)
  const folder = join(root, '.cache', `${name.replaceAll('/', '-')}-${entry.version}`)
  const binary = join(folder, path)
  const done = join(folder, 'fetched')
  if (existsSync(done)) return binary
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // A plain dependency, for whatever machine: npm goes on without an optional one that it cannot fetch, and says nothing.
  const manifest = { name: 'other-architecture', version: '0.0.0', dependencies: { [name]: entry.version } }
  const ownLock = {
    ...{ name: manifest.name, version: manifest.version, lockfileVersion: lock.lockfileVersion },
    packages: { '': manifest, [`node_modules/${name}`]: { ...entry, ...anywhere } },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(ownLock))
  console.log(`release: npm ci ${name}@${entry.version}`)
  // npm retries a request by itself; a registry that is away for longer is tried again as a whole.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund']
  for (let attempt = 1; ; attempt++) {
    const { status, error, stdout, stderr } = spawnSync('npm', ['ci', ...flags], {
      ...{ cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' },
    })
    if (status === 0 && existsSync(binary)) break
    const cause = error?.message ?? (status === 0 ? `it has no ${file}` : `${stderr}${stdout}`.trim())
    if (attempt === attempts) throw new Error(`npm cannot fetch ${name}@${entry.version}: ${cause}`)
    console.error(
      `release: attempt ${attempt} of ${attempts} to fetch ${name}@${entry.version} failed: ${cause}`,
    )
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, attempt * pauseMs)
  }
  writeFileSync(done, '')
  return binary
}
