import { join } from 'node:path'
import { listConfDir } from '../../conf-dir/read-conf-dir.ts'
import { isRuntimeFile } from '../lint/runtime-files.ts'
import { networkNameFault } from '../../../shared/cni/identifiers.ts'
import { field, isJsonObject, type JsonObject, jsonTypeName, showJson } from '../../../shared/json/fold.ts'
import { JsonSyntaxError, parseJson } from '../../../shared/json/parse-json.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { compareVersions } from '../../../shared/text/compare-versions.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'

/**
 * The file of a folder that containerd takes: the first by the bytes of its name, with a dot at the beginning or without
 * (cni-protocol J1, J2).
 *
 * @throws Problem IPK_CONFLIST_MISSING, IPK_CONF_DIR_UNREADABLE
 */
export async function chooseConflist(folder: string): Promise<string> {
  const first = (await listConfDir(folder)).find(isRuntimeFile)
  if (first !== undefined) return join(folder, first)
  throw new Problem('IPK_CONFLIST_MISSING', `${folder} has no .conflist, .conf or .json`)
}

/** A network configuration as libcni holds it: one plugin of a `.conf` is a list of one. */
export interface TriedNetwork {
  readonly name: string
  /** As it is spelt; "" where the file says none, which plugins take for 0.1.0. */
  readonly cniVersion: string
  readonly disableCheck: boolean
  /** In the order of the file, as they were decoded; each has a `type`. */
  readonly plugins: readonly JsonObject[]
}

/** The version of libcni that is imitated here speaks this one at most (cni-protocol D7). */
const newest = '1.1.0'

/**
 * Reads a file as libcni does: a name that ends in .conf or .json is one plugin, everything else a list.
 *
 * @throws Problem IPK_CONFLIST_INVALID, whose message begins with "FILE:LINE:COLUMN: " or "FILE: "
 */
export function readNetwork(path: string, text: string): TriedNetwork {
  const refuse = (why: string): Problem =>
    new Problem('IPK_CONFLIST_INVALID', why, {
      hint: `correct it (see: ipkeeperctl lint ${shellWord(path)}); a runtime refuses the file, too`,
    })
  let document: unknown
  try {
    document = parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw refuse(`${path}:${error.line}:${error.column}: ${error.what}`)
  }
  if (!isJsonObject(document))
    throw refuse(`${path}:1:1: it must be an object, not ${jsonTypeName(document)}`)
  const single = /\.(conf|json)$/.test(path)
  if (single && Object.hasOwn(document, 'plugins')) {
    throw refuse(
      `${path}: it holds a list of plugins, which runtimes look for only in files whose name ends in .conflist`,
    )
  }
  const name = readText(document, 'name')
  if (name === undefined) throw refuse(`${path}: "name" is missing, or no text`)
  const fault = networkNameFault(name)
  if (fault) throw refuse(`${path}: "name": ${fault.message} ${fault.details}`.trimEnd())
  const plugins = single ? [document] : document['plugins']
  if (!Array.isArray(plugins) || plugins.length === 0)
    throw refuse(`${path}: "plugins" must be an array of at least one plugin`)
  return {
    name,
    cniVersion: chooseVersion(document, path, refuse),
    disableCheck: /^true$/i.test(String(document['disableCheck'])),
    plugins: plugins.map((plugin: unknown, index) =>
      readPlugin(plugin, single ? path : `${path}: plugins[${index}]`, refuse),
    ),
  }
}

type Refuse = (why: string) => Problem

function readText(object: JsonObject, key: string): string | undefined {
  const value = object[key]
  return typeof value === 'string' ? value : undefined
}

/** The highest of `cniVersions` and `cniVersion` that libcni knows (cni-protocol D7). */
function chooseVersion(document: JsonObject, path: string, refuse: Refuse): string {
  const { cniVersion = '', cniVersions } = document
  if (typeof cniVersion !== 'string')
    throw refuse(`${path}: "cniVersion" must be a string, not ${jsonTypeName(cniVersion)}`)
  if (cniVersions === undefined) return cniVersion
  if (!Array.isArray(cniVersions) || cniVersions.some(version => typeof version !== 'string'))
    throw refuse(`${path}: "cniVersions" must be an array of strings`)
  const known = [...(cniVersions as readonly string[]), cniVersion]
    .filter(version => version !== '' && compareVersions(version, newest) <= 0)
    .sort(compareVersions)
  return known.at(-1) ?? cniVersion
}

/** A type is the name of a file in the plugin folders; anything that is a path stays out of our argument vectors. */
function readPlugin(plugin: unknown, where: string, refuse: Refuse): JsonObject {
  if (!isJsonObject(plugin)) throw refuse(`${where}: a plugin must be an object, not ${jsonTypeName(plugin)}`)
  const type = field(plugin, 'type')
  if (typeof type !== 'string' || type === '') throw refuse(`${where}: "type" is missing, or no text`)
  if (/[/\u0000]/.test(type) || type === '.' || type === '..')
    throw refuse(`${where}: "type" must be the name of a plugin, not ${showJson(type)}`)
  const capabilities = field(plugin, 'capabilities') ?? {}
  if (!isJsonObject(capabilities))
    throw refuse(`${where}: "capabilities" must be an object, not ${jsonTypeName(capabilities)}`)
  for (const [key, value] of Object.entries(capabilities)) {
    if (typeof value !== 'boolean')
      throw refuse(`${where}: capability ${showJson(key)} must be true or false, not ${showJson(value)}`)
  }
  return plugin
}

/** The type of a plugin of a network that was read. */
export function pluginType(plugin: JsonObject): string {
  return String(field(plugin, 'type'))
}

/** The type of its `ipam`; undefined where it asks nobody for addresses. */
export function ipamType(plugin: JsonObject): string | undefined {
  const ipam = field(plugin, 'ipam')
  const type = isJsonObject(ipam) ? field(ipam, 'type') : undefined
  return typeof type === 'string' && type !== '' ? type : undefined
}

/** Whether a capability is declared true. */
export function declares(plugin: JsonObject, capability: string): boolean {
  const capabilities = field(plugin, 'capabilities')
  return isJsonObject(capabilities) && capabilities[capability] === true
}

/** Whether CHECK exists in a version, and DEL gets the Result of the ADD (cni-protocol G4). */
export function sinceCheck(cniVersion: string): boolean {
  return cniVersion !== '' && compareVersions(cniVersion, '0.4.0') >= 0
}
