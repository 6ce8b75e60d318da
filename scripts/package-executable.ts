import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { SeaConfig, SeaOptions } from '@yao-pkg/pkg/lib-es5/sea.js'

/** Architectures that npm carries a Node binary for. */
export type Architecture = 'x64' | 'arm64'

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
}

/** What pkg does in simple SEA mode; its published types do not know the keys of execArgv yet. */
type PackageAsSea = (
  script: string,
  options: SeaOptions & { seaConfig: SeaConfig & { execArgv: readonly string[]; execArgvExtension: 'none' } },
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
}: Packaging): Promise<void> {
  const packageAsSea = (require('@yao-pkg/pkg/lib-es5/sea.js') as { default: PackageAsSea }).default
  const { log } = require('@yao-pkg/pkg/lib-es5/log.js') as { log: { info: () => void } }
  log.info = () => undefined
  const native = architecture === process.arch
  const seaConfig = {
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    // V8's cache is of the machine that made it: a foreign one would be rejected at every start.
    useCodeCache: native,
    // The environment of a runtime must not reach into the plugin: NODE_OPTIONS is ignored.
    execArgv: nodeOptions,
    execArgvExtension: 'none',
  } as const
  const target = {
    nodeRange: `node${process.versions.node}`,
    platform: 'linux',
    arch: architecture,
    output,
  } as const
  if (native) {
    await packageAsSea(script, { nodePath: base, seaConfig, targets: [target] })
    return
  }
  // With `nodePath` pkg would run the foreign binary to learn its version. Found in pkg's cache it need not.
  const home = await mkdtemp(join(tmpdir(), 'ipkeeper-pkg-'))
  const before = process.env['HOME']
  try {
    await seedCache(home, architecture, base)
    process.env['HOME'] = home
    await packageAsSea(script, { seaConfig, targets: [target] })
  } finally {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
    await rm(home, { recursive: true, force: true })
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
