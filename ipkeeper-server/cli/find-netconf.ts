import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { field, isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import { JsonSyntaxError, parseJson } from '../../shared/json/parse-json.ts'
import { Problem } from '../../shared/problem/problem.ts'

export interface FoundNetconf {
  readonly file: string
  /** Of one plugin, as the runtime would hand it over on stdin. */
  readonly config: JsonObject
}

function failure(what: string, hint: string): Problem {
  return new Problem('IPK_REQUEST_INVALID', what, { hint })
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw failure(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      'name a conflist with --conflist FILE',
    )
  }
}

function parseDocument(file: string): unknown {
  try {
    return parseJson(readFile(file))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw failure(`${file}:${error.line}:${error.column}: ${error.what}`, 'correct the file')
  }
}

/** The plugin of a conflist, or of a single configuration, whose addresses are ours; undefined when there is none. */
function ourPlugin(document: JsonObject): JsonObject | undefined {
  const plugins = field(document, 'plugins')
  const list: readonly unknown[] = Array.isArray(plugins) ? plugins : [document]
  return list.filter(isJsonObject).find(plugin => {
    const ipam = field(plugin, 'ipam')
    return isJsonObject(ipam) && field(ipam, 'type') === 'ipkeeper'
  })
}

function readNetconf(file: string): { readonly found?: FoundNetconf; readonly name: unknown } {
  const document = parseDocument(file)
  if (!isJsonObject(document)) return { name: undefined }
  const name = field(document, 'name')
  const plugin = ourPlugin(document)
  if (!plugin) return { name }
  const cniVersion = field(document, 'cniVersion')
  return {
    name,
    found: { file, config: { ...plugin, name, ...(cniVersion !== undefined && { cniVersion }) } },
  }
}

/**
 * The configuration that the runtime would call us with: of the named file, else of the first file of the folder, in the
 * order of their names, that uses ipkeeper for its addresses (and bears the network's name, where one is given).
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function findNetconf(options: {
  readonly conflist: string | undefined
  readonly folder: string
  readonly network: string | undefined
}): FoundNetconf {
  const { conflist, folder, network } = options
  if (conflist !== undefined) {
    const { found } = readNetconf(conflist)
    if (found) return found
    throw failure(
      `${conflist}: no plugin with "ipam": { "type": "ipkeeper" }`,
      'name another one with --conflist FILE',
    )
  }
  let names: string[]
  try {
    names = readdirSync(folder).filter(name => /\.(conflist|conf|json)$/.test(name))
  } catch (error) {
    throw failure(
      `${folder} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      'name a conflist with --conflist FILE',
    )
  }
  for (const name of names.sort()) {
    const { found, name: its } = tryRead(join(folder, name))
    if (found && (network === undefined || its === network)) return found
  }
  const which = network === undefined ? 'no network' : `no network "${network}"`
  throw failure(
    `${folder}: ${which} with "ipam": { "type": "ipkeeper" }`,
    'name a conflist with --conflist FILE, or the folder with --net-dir DIR',
  )
}

/** A file that is broken, or another program's, is passed over: the question is about ours. */
function tryRead(file: string): ReturnType<typeof readNetconf> {
  try {
    return readNetconf(file)
  } catch (error) {
    if (error instanceof Problem) return { name: undefined }
    throw error
  }
}
