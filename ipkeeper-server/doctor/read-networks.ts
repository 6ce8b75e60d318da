import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { field, isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import { JsonSyntaxError, parseJson } from '../../shared/json/parse-json.ts'

/** One file of the folder of network configurations. */
export interface NetworkFile {
  readonly path: string
  /** Why it cannot be used, with line and column where it has one; undefined when nothing is wrong with its form. */
  readonly fault: string | undefined
  readonly name: string | undefined
  /** In the order of the chain, each with name and version of the list. */
  readonly plugins: readonly JsonObject[]
}

const mostBytes = 1024 * 1024
const mostFiles = 200

/** The text of a regular file of the folder, or why there is none. */
function readInside(folder: string, path: string): { text: string } | { fault: string } {
  let file: number | undefined
  try {
    const target = realpathSync(path)
    // kubelet's mounts of ConfigMaps are links within their folder.
    if (relative(realpathSync(folder), target).startsWith('..')) return { fault: 'leads out of the folder' }
    file = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = fstatSync(file)
    if (!stats.isFile()) return { fault: 'is no regular file' }
    if (stats.size > mostBytes) return { fault: 'has more than 1 MiB' }
    return { text: readFileSync(file, 'utf8') }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return { fault: `cannot be read (${code})` }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function readFile(folder: string, path: string): NetworkFile {
  const bad = (fault: string): NetworkFile => ({
    path,
    fault: `${path} ${fault}`,
    name: undefined,
    plugins: [],
  })
  const read = readInside(folder, path)
  if ('fault' in read) return bad(read.fault)
  let document: unknown
  try {
    document = parseJson(read.text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const fault = `${path}:${error.line}:${error.column}: ${error.what}`
    return { path, fault, name: undefined, plugins: [] }
  }
  if (!isJsonObject(document)) return bad('is no JSON object')
  const listed = field(document, 'plugins')
  const isList = path.endsWith('.conflist')
  if (isList && !Array.isArray(listed)) return bad('has no list "plugins"')
  if (!isList && listed !== undefined)
    return bad('holds a list of plugins, so its name has to end in .conflist')
  const [name, cniVersion] = [field(document, 'name'), field(document, 'cniVersion')]
  const head = { ...(name !== undefined && { name }), ...(cniVersion !== undefined && { cniVersion }) }
  const plugins: readonly unknown[] = Array.isArray(listed) ? listed : [document]
  return {
    path,
    fault: undefined,
    name: typeof name === 'string' ? name : undefined,
    plugins: plugins.filter(isJsonObject).map(plugin => ({ ...plugin, ...head })),
  }
}

/** What a runtime may read of a folder, in its order. Throws when the folder cannot be listed. */
export function readNetworks(folder: string): readonly NetworkFile[] {
  return readdirSync(folder)
    .filter(name => /\.(conflist|conf|json)$/.test(name))
    .sort()
    .slice(0, mostFiles)
    .map(name => readFile(folder, join(folder, name)))
}

const typeOf = (value: unknown): string | undefined => {
  const type = isJsonObject(value) ? field(value, 'type') : undefined
  return typeof type === 'string' ? type : undefined
}

/** The plugin that ipkeeper is in this configuration, or that it gives addresses to. */
export function oursIn({ plugins }: NetworkFile): { plugin: JsonObject; main: boolean } | undefined {
  for (const plugin of plugins) {
    if (typeOf(plugin) === 'ipkeeper') return { plugin, main: true }
    if (typeOf(field(plugin, 'ipam')) === 'ipkeeper') return { plugin, main: false }
  }
  return undefined
}

/** Every plugin that a configuration has the runtime, or another plugin, start. */
export function programsOf({ plugins }: NetworkFile): readonly string[] {
  return plugins.flatMap(plugin => {
    const ipam = field(plugin, 'ipam')
    const fallback = isJsonObject(ipam) ? field(ipam, 'fallback') : undefined
    return [plugin, ipam, fallback].flatMap(value => typeOf(value) ?? [])
  })
}
