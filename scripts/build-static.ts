/**
 * Builds dist/ipkeeper-static: the plugin without Node, as one static executable. The same TypeScript is compiled to the
 * bytecode of QuickJS-ng, which is linked with the engine and plugin/edges/quick/host/.
 *
 *   node scripts/build-static.ts               for this machine's architecture
 *   node scripts/build-static.ts --arch arm64  for another one, under dist/arm64/, where its compiler is
 *   node scripts/build-static.ts --sanitize    dist/sanitized/ipkeeper-static: each fault of memory ends it (for tests)
 *
 * It needs a C compiler with a static C library (Debian: gcc, libc6-dev) and cargo, which fetches the sources of the engine.
 * Without them it says so and leaves it out; with CI=true it fails where the compiler is. Nothing of it depends on the folder or the
 * time it is built in; compiler and C library go into it.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleStatic } from './bundle-executable.ts'
import { canRun, compilerFor } from './c-compiler.ts'
import { hostArchitecture } from './fetch-node.ts'
import { engineVersion, fetchEngine, leastCargo } from './fetch-engine.ts'
import type { Architecture } from './package-executable.ts'

const root = join(import.meta.dirname, '..')
const host = join(root, 'plugin', 'edges', 'quick', 'host')

const engineFiles = ['quickjs.c', 'libregexp.c', 'libunicode.c', 'dtoa.c']
const hostFiles = ['main.c', 'system.c']
const commonFlags = [
  '-std=gnu17',
  '-D_GNU_SOURCE',
  '-O2',
  '-g0',
  '-fno-plt',
  '-ffunction-sections',
  '-fdata-sections',
]
/** Runtimes start a plugin by its type, so tests find it under that name in a folder of its own. */
function linkAsType(folder: string): void {
  mkdirSync(join(folder, 'static'), { recursive: true })
  const link = join(folder, 'static', 'ipkeeper')
  rmSync(link, { force: true })
  symlinkSync('../ipkeeper-static', link)
}

/** What an attacker's input could reach is ours: a fault in it ends the process. */
const hostFlags = [
  ...['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Werror'],
  ...['-fstack-protector-strong', '-D_FORTIFY_SOURCE=2'],
]
const linkFlags = [
  '-static',
  '-s',
  '-Wl,--gc-sections',
  '-Wl,--build-id=none',
  '-Wl,-z,relro',
  '-Wl,-z,noexecstack',
]
const sanitizeFlags = [
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=all',
  '-fno-omit-frame-pointer',
  '-g',
]

function run(program: string, words: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(program, words, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0)
    throw new Error(`${program} ${words[0] ?? ''} failed: ${error?.message ?? `exit status ${status}`}`)
}

interface Toolchain {
  readonly compiler: string
  readonly flags: readonly string[]
  readonly linkFlags: readonly string[]
}

/** Compiles the engine once for each set of flags: it takes half a minute. Returns its objects. */
function buildEngine(sources: string, { compiler, flags }: Toolchain): string[] {
  const words = [...commonFlags, ...flags, '-w', `-ffile-prefix-map=${sources}=quickjs`]
  const { stdout } = spawnSync(compiler, ['--version'], { encoding: 'utf8' })
  const key = createHash('sha256')
    .update(JSON.stringify([compiler, stdout, engineVersion(), words.slice(0, -1)]))
    .digest('hex')
  const folder = join(root, '.cache', 'engine', key.slice(0, 16))
  const objects = engineFiles.map(file => join(folder, file.replace(/c$/, 'o')))
  if (objects.every(object => existsSync(object))) return objects
  console.log('build: QuickJS-ng (half a minute the first time)')
  mkdirSync(join(folder, '..'), { recursive: true })
  const unfinished = mkdtempSync(join(folder, '..', 'unfinished-'))
  try {
    for (const file of engineFiles)
      run(compiler, [...words, '-c', file, '-o', join(unfinished, file.replace(/c$/, 'o'))], sources)
    rmSync(folder, { recursive: true, force: true })
    renameSync(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return objects
}

const native: Toolchain = { compiler: compilerFor(hostArchitecture).program, flags: [], linkFlags: [] }

interface Build {
  readonly toolchain: Toolchain
  readonly sources: string
  readonly bundle: string
  readonly output: string
}

function buildStatic({ toolchain, sources, bundle, output }: Build): void {
  const { compiler, flags } = toolchain
  const folder = mkdtempSync(join(output, '..', '.build-'))
  const at = (name: string): string => join(folder, name)
  try {
    const include = ['-isystem', sources]
    // Bytecode is the same for both architectures, which have the same order of bytes.
    run(
      native.compiler,
      [
        ...commonFlags,
        ...include,
        join(host, 'compile.c'),
        ...buildEngine(sources, native),
        '-lm',
        '-o',
        at('compile'),
      ],
      folder,
    )
    writeFileSync(at('ipkeeper.js'), bundle)
    run(at('compile'), ['ipkeeper.js', 'bytecode'], folder)
    run(
      compiler,
      [`-DPLUGIN_BYTECODE="bytecode"`, '-c', join(host, 'bytecode.S'), '-o', 'bytecode.o'],
      folder,
    )
    for (const file of hostFiles)
      run(
        compiler,
        [
          ...commonFlags,
          ...flags,
          ...hostFlags,
          ...include,
          `-ffile-prefix-map=${host}=host`,
          '-c',
          join(host, file),
          '-o',
          file.replace(/c$/, 'o'),
        ],
        folder,
      )
    const objects = [
      ...hostFiles.map(file => file.replace(/c$/, 'o')),
      'bytecode.o',
      ...buildEngine(sources, toolchain),
    ]
    run(compiler, [...flags, ...toolchain.linkFlags, ...objects, '-lm', '-o', 'ipkeeper'], folder)
    renameSync(at('ipkeeper'), output)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const { values: options } = parseArgs({
  options: {
    arch: { type: 'string', default: hostArchitecture },
    sanitize: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})
if (options.arch !== 'x64' && options.arch !== 'arm64')
  throw new Error(`--arch must be x64 or arm64, not ${options.arch}`)
const architecture: Architecture = options.arch
const isNative = architecture === hostArchitecture
const { program: compiler, packages } = compilerFor(architecture)
// The compiler of bytecode runs here, whatever the executable is for.
const lacking = [native.compiler, compiler].find(program => !canRun(program))
const sources = lacking === undefined ? fetchEngine() : undefined
if (sources === undefined) {
  const missing = lacking === undefined ? `cargo ${leastCargo} or newer` : `${lacking} (Debian: ${packages})`
  const line = `build: ipkeeper-static for ${architecture} left out: needs ${missing}`
  if (lacking === undefined && process.env['CI'] === 'true') throw new Error(line)
  console.log(line)
} else {
  const place = options.sanitize ? 'sanitized' : isNative ? '' : architecture
  const folder = options.out ?? join(root, 'dist', place)
  const started = performance.now()
  mkdirSync(folder, { recursive: true })
  const output = join(folder, 'ipkeeper-static')
  const toolchain = options.sanitize
    ? { compiler, flags: sanitizeFlags, linkFlags: [] }
    : { compiler, flags: [], linkFlags }
  const bundle = await bundleStatic()
  const stamp = join(folder, '.ipkeeper-static.sha256')
  const parts = [
    bundle,
    JSON.stringify(toolchain),
    engineVersion(),
    ...['main.c', 'system.c', 'system.h', 'compile.c', 'bytecode.S'].map(file =>
      readFileSync(join(host, file), 'utf8'),
    ),
  ]
  const print = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === print) {
    console.log(`build: ${relative(root, output)} is up to date`)
  } else {
    rmSync(stamp, { force: true })
    buildStatic({ toolchain, sources, bundle, output })
    writeFileSync(stamp, print)
    linkAsType(folder)
    const megabytes = (statSync(output).size / 1e6).toFixed(1)
    const seconds = ((performance.now() - started) / 1e3).toFixed(1)
    console.log(
      `build: ${relative(root, output)} ${megabytes} MB (bundle ${(Buffer.byteLength(bundle) / 1e3).toFixed(1)} kB) in ${seconds} s`,
    )
  }
}
