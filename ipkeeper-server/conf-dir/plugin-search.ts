import { statSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { isJsonObject } from '../../shared/json/fold.ts'
import type { PluginSeen } from '../diagnose/lint/site.ts'
import { runProgram } from '../host/run-program.ts'
import { systemCode } from '../../shared/system-code.ts'

/** Milliseconds that a plugin has for saying its versions; the reference plugins need a few. */
const patience = 2000

export interface PluginSearch {
  readonly binDirs: readonly string[]
  /** Whether plugins are run, to ask them for their versions. */
  readonly askVersions: boolean
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

function tryStat(path: string): Stats | string | undefined {
  try {
    return statOf(path)
  } catch (error) {
    const code = systemCode(error)
    return code === 'ENOTDIR' ? undefined : code
  }
}

/** Why root should not run a program: others than root may have put it there. */
function whyUnsafe(path: string, { uid, mode }: Stats): string | undefined {
  if (process.getuid?.() !== 0) return undefined
  if (uid !== 0) return `belongs to user ${uid}`
  if ((mode & 0o022) !== 0) return 'can be written by others than root'
  const folder = statOf(dirname(path))
  if (folder && (folder.uid !== 0 || ((folder.mode & 0o022) !== 0 && (folder.mode & 0o1000) === 0)))
    return 'is in a folder that others than root can write to'
  return undefined
}

/** The versions of an answer to VERSION; a text says why there are none. */
function readVersions(stdout: string): readonly string[] | string {
  let answer: unknown
  try {
    answer = JSON.parse(stdout)
  } catch {
    return stdout.trim() === '' ? 'it printed nothing' : 'what it printed is no JSON'
  }
  const versions = isJsonObject(answer) ? answer['supportedVersions'] : undefined
  if (!Array.isArray(versions)) return 'its answer has no "supportedVersions"'
  return versions.filter(version => typeof version === 'string')
}

async function askVersions(path: string): Promise<readonly string[] | string> {
  const end = await runProgram({
    path,
    args: [],
    // What libcni sets for VERSION.
    env: {
      CNI_COMMAND: 'VERSION',
      CNI_PATH: dirname(path),
      CNI_IFNAME: 'dummy',
      CNI_NETNS: 'dummy',
      CNI_CONTAINERID: 'dummy',
    },
    input: '{"cniVersion":"1.1.0"}',
    timeoutMs: patience,
  })
  if (end.kind === 'late') return `it did not answer within ${patience / 1000} s`
  if (end.kind === 'not-started') return end.error.message
  if (end.exit !== 0)
    return end.exit === null ? `signal ${end.signal ?? ''} ended it` : `it ended with exit code ${end.exit}`
  return readVersions(end.stdout)
}

/** Whether a type can be a name in a folder at all; what is a path is looked up nowhere. */
const isFileName = (type: string): boolean =>
  type.length <= 128 && !/[/\\\0]/.test(type) && !/^\.{0,2}$/.test(type)

async function findPlugin(type: string, { binDirs, askVersions: ask }: PluginSearch): Promise<PluginSeen> {
  let unusable: PluginSeen | undefined
  for (const folder of binDirs) {
    const path = join(folder, type)
    const found = tryStat(path)
    if (found === undefined) continue
    if (typeof found === 'string' || !found.isFile()) {
      // libcni goes on to the next folder.
      const why =
        typeof found === 'string'
          ? `it cannot be looked at (${found})`
          : found.isDirectory()
            ? 'it is a folder'
            : 'it is no regular file'
      unusable ??= { kind: 'unusable', path, why }
      continue
    }
    if ((found.mode & 0o111) === 0) return { kind: 'unusable', path, why: 'it is not executable' }
    const unsafe = whyUnsafe(path, found)
    if (!ask || unsafe !== undefined)
      return { kind: 'executable', path, versions: undefined, silence: '', unsafe }
    const answer = await askVersions(path)
    return typeof answer === 'string'
      ? { kind: 'executable', path, versions: undefined, silence: answer, unsafe }
      : { kind: 'executable', path, versions: answer, silence: '', unsafe }
  }
  return unusable ?? { kind: 'missing' }
}

/**
 * Looks for the programs of plugins as libcni does, in the order of the folders, and asks each once for its versions.
 * One that others than root may have written is not run by root.
 */
export async function findPlugins(
  types: readonly string[],
  search: PluginSearch,
): Promise<ReadonlyMap<string, PluginSeen>> {
  const wanted = types.filter(isFileName)
  const seen = await Promise.all(wanted.map(async type => [type, await findPlugin(type, search)] as const))
  return new Map(seen)
}
