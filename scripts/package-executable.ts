import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { SeaConfig, SeaOptions } from '@yao-pkg/pkg/lib-es5/sea.js'
import { wrapScript } from './train-code-cache.ts'

/** Architectures that npm carries a Node binary for. */
export type Architecture = 'x64' | 'arm64'

/**
 * V8's cache of the compiled script. "made": by Node while it packages, of what is compiled before anything runs, and other
 * bytes with every build. A buffer: that of trained runs (scripts/train-code-cache.ts).
 */
export type CodeCache = 'none' | 'made' | Buffer

export interface Packaging {
  /** One bundled CommonJS file. */
  readonly script: string
  /** Where the executable goes; must not exist. */
  readonly output: string
  readonly architecture: Architecture
  /** Options of Node and V8 that the executable starts with; they are its own, nobody can add to them. */
  readonly nodeOptions: readonly string[]
  /** The Node binary to put the script into; its version must be that of the Node running this. */
  readonly base: string
  readonly codeCache: CodeCache
  /** Files that the script finds in the executable, by their names there. */
  readonly assets?: Readonly<Record<string, string>>
}

/**
 * What an executable with a trained cache runs first. A cache that this Node does not take, such as one of another Node, is
 * said so and costs the time that it would save; nothing else depends on it.
 */
const starter = `'use strict'
const { getRawAsset } = require('node:sea')
const { Script } = require('node:vm')
const source = Buffer.from(getRawAsset('script')).latin1Slice()
const script = new Script(source, { filename: 'ipkeeper.cjs', cachedData: Buffer.from(getRawAsset('cache')) })
if (script.cachedDataRejected) {
  try {
    require('node:fs').writeSync(2, 'ipkeeper: the code cache of this executable is not of its Node: each start takes longer. Build or install it anew.\\n')
  } catch {}
}
script.runInThisContext()(require)
`

/** What pkg does in simple SEA mode; its published types do not know the keys of execArgv yet. */
type PackageAsSea = (
  script: string,
  options: SeaOptions & {
    seaConfig: SeaConfig & {
      main: string
      execArgv: readonly string[]
      execArgvExtension: 'none'
      assets?: Readonly<Record<string, string>>
    }
  },
) => Promise<void>

const require = createRequire(import.meta.url)

/**
 * Puts a script into a Node binary. pkg's command line cannot be used: its SEA mode downloads the base binary, and
 * only its function takes one that is already here.
 */
export async function packageExecutable({
  script,
  output,
  architecture,
  nodeOptions,
  base,
  codeCache,
  assets,
}: Packaging): Promise<void> {
  const packageAsSea = (require('@yao-pkg/pkg/lib-es5/sea.js') as { default: PackageAsSea }).default
  const { log } = require('@yao-pkg/pkg/lib-es5/log.js') as { log: { info: () => void } }
  log.info = () => undefined
  const native = architecture === process.arch
  // The path of the script becomes part of the executable. pkg works in a folder of its own below TMPDIR; from there, this
  // path is the same wherever somebody builds.
  const folder = await mkdtemp(join(tmpdir(), 'ipkeeper-sea-'))
  const main = join(folder, basename(script))
  const trained = { script: join(folder, 'wrapped'), cache: join(folder, 'cache') }
  const isTrained = typeof codeCache === 'object'
  if (isTrained) {
    await writeFile(main, starter)
    await writeFile(trained.script, wrapScript(await readFile(script, 'latin1')), 'latin1')
    await writeFile(trained.cache, codeCache)
  } else await copyFile(script, main)
  const seaConfig = {
    main: join('..', basename(script)),
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: codeCache === 'made',
    // The environment of a runtime must not reach into the plugin: NODE_OPTIONS is ignored.
    execArgv: nodeOptions,
    execArgvExtension: 'none',
    assets: { ...assets, ...(isTrained && trained) },
  } as const
  const target = {
    nodeRange: `node${process.versions.node}`,
    platform: 'linux',
    arch: architecture,
    output,
  } as const
  try {
    if (native) {
      await withEnvironment({ TMPDIR: folder }, () =>
        packageAsSea(script, { nodePath: base, seaConfig, targets: [target] }),
      )
      return
    }
    // With `nodePath` pkg would run the foreign binary to learn its version. Found in pkg's cache it need not.
    const home = join(folder, 'home')
    await seedCache(home, architecture, base)
    await withEnvironment({ TMPDIR: folder, HOME: home }, () =>
      packageAsSea(script, { seaConfig, targets: [target] }),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** pkg takes these from the environment alone. */
async function withEnvironment(
  variables: Readonly<Record<string, string>>,
  run: () => Promise<void>,
): Promise<void> {
  const before = Object.keys(variables).map(name => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  try {
    await run()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = value
    }
  }
}

/** Lays a cache out as pkg leaves it after a verified download: archive and binary, each with its `.ok` mark. */
async function seedCache(home: string, architecture: Architecture, base: string): Promise<void> {
  if (!existsSync(base)) throw new Error(`no Node binary for ${architecture} at ${base}`)
  const release = `node-v${process.versions.node}-linux-${architecture}`
  const cache = join(home, '.pkg-cache', 'sea')
  const binary = join(cache, release, 'bin', 'node')
  await mkdir(dirname(binary), { recursive: true })
  await copyFile(base, binary)
  for (const file of [
    `${binary}.ok`,
    join(cache, `${release}.tar.gz`),
    join(cache, `${release}.tar.gz.ok`),
  ]) {
    await writeFile(file, '')
  }
}
