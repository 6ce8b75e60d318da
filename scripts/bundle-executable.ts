import { join } from 'node:path'
import { build } from 'esbuild'
import { bundlePage } from './bundle-page.ts'
import { readSource } from './read-source.ts'
import { readVersion } from './read-version.ts'

export interface Executable {
  readonly name: string
  /** Entry point, or the source itself for a program that has no file of its own. */
  readonly source: { readonly entry: string } | { readonly text: string }
  readonly nodeOptions: readonly string[]
  /** Whether it is started so often that V8's cache is made of trained runs. */
  readonly isTrained?: true
  /** Whether the page of the daemon is in it. */
  readonly hasPage?: true
  /** Whether it calls the kernel by koffi, which is then in it. */
  readonly hasKoffi?: true
}

/** V8's helper threads are for programs that compute: the plugin starts 2 ms sooner with one, the daemon is smaller. */
const fewThreads = '--v8-pool-size=1'
/** A run of milliseconds gains nothing from it; and whether V8 was about to make it when a trained run ended stands in the cache. */
const noBaselineCode = '--no-sparkplug'
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
/** What is installed. */
export const products: readonly Executable[] = [
  {
    name: 'ipkeeper',
    source: { entry: 'plugin/edges/node/main.ts' },
    nodeOptions: [fewThreads, noBaselineCode, noDebugger, ...deafToEnvironment],
    isTrained: true,
  },
  {
    name: 'ipkeeper-server',
    source: { entry: 'ipkeeper-server/main.ts' },
    nodeOptions: [fewThreads, smallYoungGeneration, noDebugger],
    hasPage: true,
    hasKoffi: true,
  },
]
/** What the benchmark compares with: the least that an executable of this kind can do. */
export const yardstick: readonly Executable[] = [
  { name: 'trivial', source: { text: "require('node:fs').writeSync(1, '{}\\n')" }, nodeOptions: [] },
]

/** What is stamped into every executable. */
const stamps = () => ({
  IPKEEPER_VERSION: JSON.stringify(readVersion()),
  IPKEEPER_COMMIT: JSON.stringify(commit),
})

/** The plugin for QuickJS: one script, with our own files in the place of node:fs. */
export async function bundleStatic(): Promise<string> {
  const result = await build({
    entryPoints: [join(root, 'plugin', 'edges', 'quick', 'main.ts')],
    absWorkingDir: root,
    bundle: true,
    platform: 'neutral',
    target: 'es2024',
    format: 'iife',
    alias: { 'node:fs': './plugin/edges/quick/fs.ts' },
    charset: 'ascii',
    legalComments: 'none',
    define: stamps(),
    logLevel: 'warning',
    write: false,
  })
  const [file] = result.outputFiles
  if (file === undefined) throw new Error('esbuild made nothing of ipkeeper-static')
  return file.text
}

/** One self-contained CommonJS text: SEA runs CommonJS only, and one file is quickest to start. */
export async function bundleExecutable(executable: Executable): Promise<string> {
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
      ...stamps(),
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
