/**
 * Builds the executables: each entry point is bundled by esbuild to one CommonJS file, and pkg puts that file into a
 * copy of the Node binary that npm pinned ("simple SEA": a plain Node with one script, about 20 ms to start).
 *
 * An executable whose bundle, Node, packager and options are those of the last build is left alone. The network is
 * used for the Node of another architecture alone: that of this machine comes out of node_modules.
 *
 *   node scripts/build-executables.ts              dist/ipkeeper, dist/ipkeeper-server, the symlink dist/ipkeeperctl
 *   node scripts/build-executables.ts NAME ...     only these
 *   node scripts/build-executables.ts --trivial    dist/trivial only: the yardstick of the benchmark
 *   node scripts/build-executables.ts --arch arm64 the same for another architecture, under dist/arm64/
 *   node scripts/build-executables.ts --node PATH  the same around this Node, under dist/given-node/: a static one, or one
 *                                                  that brings its libraries (docs/install/host.md)
 *
 *   node scripts/build-executables.ts --out DIR --no-code-cache   somewhere else, and the same bytes with every build: only
 *                                                  the plugin's cache, which is always the same, is in
 *
 * Node and koffi of another architecture are fetched by npm (scripts/fetch-node.ts). Version and commit are stamped in
 * (scripts/read-version.ts, scripts/read-source.ts).
 *
 * The binary is not stripped: strip made it 14 % smaller and no quicker to start (21.1 ms against 21.3 ms), and
 * would make the result depend on whether the builder has binutils.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleExecutable, products, yardstick, type Executable } from './bundle-executable.ts'
import { seedOption } from './choose-random-seed.ts'
import { fetchKoffi, fetchNode, hostArchitecture } from './fetch-node.ts'
import { packageExecutable, type Architecture, type CodeCache } from './package-executable.ts'
import { trainCodeCache } from './train-code-cache.ts'
import { writeShare } from './write-share.ts'

const root = join(import.meta.dirname, '..')
const require = createRequire(import.meta.url)

/** The Node that a script is put into. */
interface Base {
  readonly path: string
  /** A file that says which one it is: shorter than itself, where there is one. */
  readonly identity: string
}

/** Everything the bytes of an executable depend on. */
async function fingerprint(
  text: string,
  base: Base,
  nodeOptions: readonly string[],
  assets: readonly string[],
): Promise<string> {
  const hash = createHash('sha256')
  for (const file of [
    base.identity,
    ...assets,
    ...['@yao-pkg/pkg', 'esbuild'].map(name => require.resolve(`${name}/package.json`)),
  ]) {
    hash.update(await readFile(file))
  }
  for (const script of ['package-executable.ts', 'train-code-cache.ts', 'trained-run.ts'])
    hash.update(await readFile(join(import.meta.dirname, script)))
  hash.update(JSON.stringify(nodeOptions))
  hash.update(text)
  return hash.digest('hex')
}

interface Target {
  readonly architecture: Architecture
  readonly base: Base
  readonly folder: string
  readonly codeCache: boolean
}

/**
 * A trained cache is the same with every build, so that releases have it as well. It is of the machine it was made on: another
 * one's executables go without, since their Node cannot be run here.
 */
async function cacheOf(
  { isTrained }: Executable,
  { script, nodeOptions, target }: { script: string; nodeOptions: readonly string[]; target: Target },
): Promise<CodeCache> {
  const native = target.architecture === hostArchitecture
  if (isTrained && native) return await trainCodeCache({ script, node: target.base.path, nodeOptions })
  return target.codeCache && native ? 'made' : 'none'
}

/** Builds one executable into the folder, unless the one there is what would come of it. */
async function buildOne(executable: Executable, target: Target): Promise<void> {
  const { architecture, base, folder, codeCache } = target
  const started = performance.now()
  const output = join(folder, executable.name)
  const stamp = join(folder, `.${executable.name}.sha256`)
  const text = await bundleExecutable(executable)
  const nodeOptions = [
    ...executable.nodeOptions,
    ...(executable.isTrained ? [seedOption(process.versions.node, base.path)] : []),
  ]
  const assets = executable.hasKoffi ? { koffi: fetchKoffi(architecture) } : {}
  const options = [...nodeOptions, codeCache ? 'code cache' : '']
  const print = await fingerprint(text, base, options, Object.values(assets))
  const shown = relative(root, output)
  if (existsSync(output) && existsSync(stamp) && (await readFile(stamp, 'utf8')) === print) {
    console.log(`build: ${shown} is up to date`)
    return
  }
  // Beside the target, so that the rename is one step: whoever starts the executable gets the old or the new, whole.
  const temporary = await mkdtemp(join(folder, '.build-'))
  try {
    const script = join(temporary, `${executable.name}.cjs`)
    const packaged = join(temporary, executable.name)
    const finished = `${packaged}.copy`
    await writeFile(script, text)
    await packageExecutable({
      ...{ script, output: packaged, architecture, nodeOptions, base: base.path, assets },
      codeCache: await cacheOf(executable, { script, nodeOptions, target }),
    })
    // Written in one piece, as pkg leaves it, a file lies in the page cache in large blocks. A start then faults 370 times
    // less; but all of a block counts as resident once one page of it is touched, and with a daemon that is 17 MiB of its
    // memory until the next boot (docs/adr/0007-memory-of-the-daemon.md), so that one is copied.
    if (executable.isTrained) await rename(packaged, finished)
    else await copyFile(packaged, finished)
    await chmod(finished, 0o755)
    await rm(stamp, { force: true })
    await rename(finished, output)
    await writeFile(stamp, print)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  const megabytes = ((await stat(output)).size / 1e6).toFixed(1)
  const bundled = (Buffer.byteLength(text) / 1e3).toFixed(1)
  const seconds = ((performance.now() - started) / 1e3).toFixed(1)
  console.log(`build: ${shown} ${megabytes} MB (bundle ${bundled} kB) in ${seconds} s`)
}

/** The operator's tool is the daemon's executable under another name. */
async function linkControl(folder: string): Promise<void> {
  const temporary = join(folder, `.ipkeeperctl-${process.pid}`)
  await symlink('ipkeeper-server', temporary)
  await rename(temporary, join(folder, 'ipkeeperctl'))
}

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    trivial: { type: 'boolean', default: false },
    arch: { type: 'string', default: hostArchitecture },
    out: { type: 'string' },
    'no-code-cache': { type: 'boolean', default: false },
    node: { type: 'string' },
  },
})
if (options.arch !== 'x64' && options.arch !== 'arm64') {
  throw new Error(`--arch must be x64 or arm64, not ${options.arch}`)
}
const codeCache = !options['no-code-cache']
const path = options.node === undefined ? fetchNode(options.arch) : resolve(options.node)
const base: Base = {
  path,
  identity: options.node === undefined ? join(path, '..', '..', 'package.json') : path,
}
const place = options.arch === hostArchitecture ? '' : options.arch
const folder = resolve(options.out ?? join(root, 'dist', options.node === undefined ? place : 'given-node'))
await mkdir(folder, { recursive: true })
const all = options.trivial ? yardstick : products
for (const name of names) {
  if (!all.some(executable => executable.name === name)) throw new Error(`no executable is called ${name}`)
}
const wanted = all.filter(executable => names.length === 0 || names.includes(executable.name))
for (const executable of wanted)
  await buildOne(executable, { architecture: options.arch, base, folder, codeCache })
if (!options.trivial) {
  await linkControl(folder)
  writeShare(join(folder, 'share'))
}
