import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'
import { leastGlibc } from '../host/least-glibc.ts'

export interface PluginChoice {
  /** Path of the executable. */
  readonly plugin: string
  /** What it is, and why, for the line that says what was installed; undefined for the one that is usual. */
  readonly note?: string
}

/** What the plugin that holds a Node is linked with, the loader first. */
const libraries = {
  x64: ['ld-linux-x86-64.so.2', 'libc.so.6'],
  arm64: ['ld-linux-aarch64.so.1', 'libc.so.6'],
  both: ['libdl.so.2', 'libm.so.6', 'libpthread.so.0', 'libgcc_s.so.1', 'libstdc++.so.6'],
} as const

const triples = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' } as const

/** Folders that distributions have libraries in. */
const libraryFolders = (architecture: keyof typeof triples): readonly string[] =>
  ['lib64', 'lib', join('lib', triples[architecture])].flatMap(folder => [folder, join('usr', folder)])

/** Whether a name is there at all: a link leads to where it would on the host, which need not be mounted here. */
function isNamed(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** A path of the host, as seen from here; a link that leads out of the host's root says nothing of the host. */
function realPathWithin(root: string, path: string): string | undefined {
  if (!existsSync(path)) return undefined
  const real = realpathSync(path)
  return real.startsWith(realpathSync(root).replace(/\/?$/, sep)) ? real : undefined
}

/**
 * What a host lacks of what the plugin that holds a Node is linked with, in words; undefined where nothing is missing.
 *
 * @param hostRoot folder that the host's root is mounted at, or one with its /usr: there distributions have their libraries today,
 *   and where one does not, the plugin that needs none is the right one as well
 */
export function missingLibrary(
  hostRoot: string,
  architecture: NodeJS.Architecture = process.arch,
): string | undefined {
  if (!existsSync(join(hostRoot, 'usr')))
    throw new Error(`${hostRoot} is not the root of a host: it has no folder usr`)
  const own = architecture === 'arm64' ? 'arm64' : 'x64'
  const folders = libraryFolders(own)
    .map(folder => realPathWithin(hostRoot, join(hostRoot, folder)))
    .filter(folder => folder !== undefined)
  const missing = (name: string): boolean => !folders.some(folder => isNamed(join(folder, name)))
  if (libraries[own].some(missing)) return 'glibc'
  // Each version that a C library has is named in it, and by that name programs ask for it.
  const isNewEnough = folders
    .map(folder => realPathWithin(hostRoot, join(folder, 'libc.so.6')))
    .some(path => path !== undefined && readFileSync(path).includes(`GLIBC_${leastGlibc}\0`))
  return isNewEnough ? libraries.both.find(missing) : `glibc ${leastGlibc} or newer`
}

/**
 * The plugin that starts on a host. Without `hostRoot` the host is where this runs, so what holds a Node, as this does, starts there.
 *
 * @param wanted auto, node, static, or the path of another plugin
 * @param folder where both are
 * @throws Problem IPK_INSTALL_FAILED
 */
export function choosePlugin(wanted: string, hostRoot: string | undefined, folder: string): PluginChoice {
  const withNode = { plugin: join(folder, 'ipkeeper') }
  const withoutNode = { plugin: join(folder, 'ipkeeper-static'), note: 'the static plugin' }
  if (wanted === 'node') return withNode
  if (wanted === 'static') return withoutNode
  if (wanted !== 'auto') return { plugin: wanted }
  const missing = hostRoot === undefined ? undefined : askHost(hostRoot)
  if (missing === undefined) return withNode
  if (!existsSync(withoutNode.plugin))
    throw new Problem(
      'IPK_INSTALL_FAILED',
      `this host has no ${missing}, which the plugin with Node needs, and there is no ${withoutNode.plugin}`,
      { hint: 'make static, and build the image again; or --plugin node, where the host has it elsewhere' },
    )
  return { ...withoutNode, note: `${withoutNode.note}, since this host has no ${missing}` }
}

function askHost(hostRoot: string): string | undefined {
  try {
    return missingLibrary(hostRoot)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Problem('IPK_INSTALL_FAILED', `which plugin starts on this host is not known: ${why}`, {
      cause: error,
      hint: 'mount its /usr there, or name the plugin: --plugin node, --plugin static',
    })
  }
}
