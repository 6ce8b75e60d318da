/**
 * Writes what people download: for each architecture a tarball with executables, manual pages, completion, manifests and
 * an example, and its bill of materials; SHA256SUMS over all of them. The same sources give the same bytes, in whatever
 * folder and whenever they are built (SOURCE_DATE_EPOCH, else the time of the commit). For the static plugin the same compiler
 * and C library have to be there; without a compiler for an architecture, its tarball has the other plugin alone, and a line says so.
 *
 *   node scripts/release.ts                        x64 and arm64, into dist/release
 *   node scripts/release.ts --arch x64 --out DIR   one of them, somewhere else
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { compilerFor, compilerVersion, libcVersion } from './c-compiler.ts'
import { fetchEngine, quickVersion } from './fetch-engine.ts'
import { fetchNode } from './fetch-node.ts'
import type { Architecture } from './package-executable.ts'
import { readSource } from './read-source.ts'
import { readVersion } from './read-version.ts'
import { writeBill, type Engine } from './software-bill.ts'
import { writeShare } from './write-share.ts'

const root = join(import.meta.dirname, '..')

/** Builds all executables into a folder; what is inside the static plugin, or undefined where it could not be built. */
function buildExecutables(architecture: Architecture, folder: string): Engine | undefined {
  const build = (script: string, ...flags: readonly string[]): string =>
    execFileSync(
      process.execPath,
      [join(root, 'scripts', script), '--arch', architecture, '--out', folder, ...flags],
      { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' },
    )
  build('build-executables.ts', '--no-code-cache')
  const said = build('build-static.ts')
  const sources = existsSync(join(folder, 'ipkeeper-static')) ? fetchEngine() : undefined
  if (sources === undefined) {
    process.stdout.write(said)
    return undefined
  }
  const { program } = compilerFor(architecture)
  return {
    version: quickVersion(sources),
    license: join(sources, 'LICENSE'),
    libc: libcVersion(program),
    compiler: compilerVersion(program),
  }
}

/** Lays out what the tarball holds. */
function fillFolder(folder: string, executables: string, engine: Engine | undefined): void {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  for (const name of ['ipkeeper', 'ipkeeper-server', ...(engine ? ['ipkeeper-static'] : [])])
    copyFileSync(join(executables, name), join(bin, name))
  if (engine) copyFileSync(engine.license, join(folder, 'LICENSE.quickjs-ng'))
  symlinkSync('ipkeeper-server', join(bin, 'ipkeeperctl'))
  writeShare(join(folder, 'share'))
  cpSync(join(root, 'deploy'), join(folder, 'deploy'), { recursive: true })
  for (const name of ['LICENSE', 'CHANGELOG.md', 'README.md', 'SECURITY.md'])
    copyFileSync(join(root, name), join(folder, name))
  cpSync(join(root, 'scripts', 'release'), folder, { recursive: true })
}

/** The modes that a release has, whatever the umask of the builder: git knows no others. */
function settleModes(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o755)
    else if (entry.isFile()) {
      const program =
        entry.parentPath.endsWith('/bin') || readFileSync(path).subarray(0, 2).toString() === '#!'
      chmodSync(path, program ? 0o755 : 0o644)
    }
  }
}

/** A tarball whose bytes depend on names, modes and contents alone. */
function pack(parent: string, name: string, time: number): Buffer {
  const words = [
    '--sort=name',
    '--format=ustar',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--mtime=@${time}`,
  ]
  const tar = execFileSync('tar', [...words, '-C', parent, '-cf', '-', name], {
    maxBuffer: 2 ** 30,
    env: { LC_ALL: 'C', PATH: process.env['PATH'] },
  })
  return gzipSync(tar, { level: 6 })
}

/** Builds one architecture; returns the names of the files it wrote. */
function release(architecture: Architecture, out: string, version: string): readonly string[] {
  const { commit, time } = readSource(root, process.env)
  const base = `ipkeeper-${version}-linux-${architecture}`
  const temporary = mkdtempSync(join(out, '.release-'))
  try {
    const node = fetchNode(architecture)
    const executables = join(temporary, 'executables')
    const engine = buildExecutables(architecture, executables)
    const folder = join(temporary, base)
    fillFolder(folder, executables, engine)
    const bill = writeBill(root, { version, architecture, node, engine, time })
    writeFileSync(join(folder, 'sbom.cdx.json'), bill)
    writeFileSync(join(folder, 'VERSION'), `${version}\n${commit}\n`)
    settleModes(folder)
    chmodSync(folder, 0o755)
    const packed = pack(temporary, base, time)
    const files = { [`${base}.tar.gz`]: packed, [`${base}.cdx.json`]: Buffer.from(bill) }
    for (const [name, bytes] of Object.entries(files)) {
      writeFileSync(join(temporary, name), bytes)
      renameSync(join(temporary, name), join(out, name))
    }
    console.log(`release: ${base}.tar.gz ${(packed.length / 1e6).toFixed(1)} MB (commit ${commit})`)
    return Object.keys(files)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const { values: options } = parseArgs({
  options: { arch: { type: 'string', multiple: true, default: ['x64', 'arm64'] }, out: { type: 'string' } },
})
const out = resolve(options.out ?? join(root, 'dist', 'release'))
mkdirSync(out, { recursive: true })
const version = readVersion()
const names = options.arch.flatMap(architecture => {
  if (architecture !== 'x64' && architecture !== 'arm64')
    throw new Error(`--arch must be x64 or arm64, not ${architecture}`)
  return release(architecture, out, version)
})
const sums = names.map(name => {
  const digest = createHash('sha256')
    .update(readFileSync(join(out, name)))
    .digest('hex')
  return `${digest}  ${name}\n`
})
writeFileSync(join(out, 'SHA256SUMS'), sums.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join(''))
