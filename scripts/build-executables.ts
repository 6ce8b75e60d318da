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
 *   node scripts/build-executables.ts --out DIR --no-code-cache   somewhere else, and the same bytes with every build
 *
 * The base binary of another architecture is fetched by npm (scripts/fetch-node.ts). Version and commit are stamped in
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
import { build } from 'esbuild'
import { bundlePage } from './bundle-page.ts'
import { fetchNode, hostArchitecture } from './fetch-node.ts'
import { packageExecutable, type Architecture } from './package-executable.ts'
import { readSource } from './read-source.ts'
import { readVersion } from './read-version.ts'
import { writeShare } from './write-share.ts'

interface Executable {
  readonly name: string
  /** Entry point, or the source itself for a program that has no file of its own. */
  readonly source: { readonly entry: string } | { readonly text: string }
  readonly nodeOptions: readonly string[]
  /** Whether the page of the daemon is in it. */
  readonly hasPage?: true
}

/** V8's helper threads are for programs that compute: the plugin starts 2 ms sooner with one, the daemon is smaller. */
const fewThreads = '--v8-pool-size=1'
/** V8 would let its young generation grow to 128 MiB under load, and keep it (docs/adr/0007-memory-of-the-daemon.md). */
const smallYoungGeneration = '--max-semi-space-size=2'

/** SIGUSR1 would open the debugger on TCP port 9229, where any local user could run code as root. */
const noDebugger = '--disable-sigusr1'
/**
 * What the environment of a runtime must not reach: with a broken file in OPENSSL_CONF, or a broken proxy URL beside
 * NODE_USE_ENV_PROXY, Node ends before the first line of the plugin, which needs neither.
 */
const deafToEnvironment = ['--openssl-config=/dev/null', '--no-use-env-proxy']

const root = join(import.meta.dirname, '..')
const { commit } = readSource(root, process.env)
const require = createRequire(import.meta.url)

const products: readonly Executable[] = [
  {
    name: 'ipkeeper',
    source: { entry: 'plugin/main.ts' },
    nodeOptions: [fewThreads, noDebugger, ...deafToEnvironment],
  },
  {
    name: 'ipkeeper-server',
    source: { entry: 'ipkeeper-server/main.ts' },
    nodeOptions: [fewThreads, smallYoungGeneration, noDebugger],
    hasPage: true,
  },
]
const yardstick: readonly Executable[] = [
  { name: 'trivial', source: { text: "console.log('{}')" }, nodeOptions: [] },
]

/** One self-contained CommonJS text: SEA runs CommonJS only, and one file is quickest to start. */
async function bundle(executable: Executable): Promise<string> {
  const { source } = executable
  const result = await build({
    ...('entry' in source
      ? { entryPoints: [join(root, source.entry)] }
      : { stdin: { contents: source.text, resolveDir: root } }),
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // import() of a built-in module becomes require: an executable has no loader for the former.
    supported: { 'dynamic-import': false },
    // One character beyond Latin-1 would double what V8 keeps of the text; names stay, for stack traces.
    charset: 'ascii',
    minifyWhitespace: true,
    legalComments: 'none',
    define: {
      IPKEEPER_VERSION: JSON.stringify(readVersion()),
      IPKEEPER_COMMIT: JSON.stringify(commit),
      ...(executable.hasPage && { IPKEEPER_PAGE: JSON.stringify(await bundlePage()) }),
    },
    logLevel: 'warning',
    logOverride: { 'empty-import-meta': 'error' },
    write: false,
  })
  const [file] = result.outputFiles
  if (file === undefined) throw new Error(`esbuild made nothing of ${executable.name}`)
  return file.text
}

/** The Node that a script is put into. */
interface Base {
  readonly path: string
  /** A file that says which one it is: shorter than itself, where there is one. */
  readonly identity: string
}

/** Everything the bytes of an executable depend on. */
async function fingerprint(text: string, base: Base, nodeOptions: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of [
    base.identity,
    ...['@yao-pkg/pkg', 'esbuild'].map(name => require.resolve(`${name}/package.json`)),
  ]) {
    hash.update(await readFile(file))
  }
  hash.update(await readFile(join(import.meta.dirname, 'package-executable.ts')))
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

/** Builds one executable into the folder, unless the one there is what would come of it. */
async function buildOne(
  executable: Executable,
  { architecture, base, folder, codeCache }: Target,
): Promise<void> {
  const started = performance.now()
  const output = join(folder, executable.name)
  const stamp = join(folder, `.${executable.name}.sha256`)
  const text = await bundle(executable)
  const print = await fingerprint(text, base, [...executable.nodeOptions, codeCache ? 'code cache' : ''])
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
      script,
      output: packaged,
      architecture,
      nodeOptions: executable.nodeOptions,
      base: base.path,
      codeCache,
    })
    // Written in one piece, a file lies in the page cache in large blocks, which all count as resident once one page of
    // them is touched: 17 MiB of a daemon's memory until the next boot (docs/adr/0007-memory-of-the-daemon.md).
    await copyFile(packaged, finished)
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
