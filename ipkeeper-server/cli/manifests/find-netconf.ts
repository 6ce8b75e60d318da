import { readdirSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { field, isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { JsonSyntaxError, parseJson } from '../../../shared/json/parse-json.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { compareNames, isRuntimeFile } from '../../diagnose/lint/runtime-files.ts'
import { usesIpkeeper } from '../../diagnose/lint/uses-ipkeeper.ts'
import { readTextFile } from '../framework/read-input.ts'
import { systemCode } from '../../../shared/system-code.ts'

export interface FoundNetconf {
  readonly file: string
  /** Of one plugin, as the runtime would hand it over on stdin. */
  readonly config: JsonObject
}

/** A file of a network: its name, and the plugin of it whose addresses are ours. */
interface NetworkFile {
  readonly name: unknown
  readonly config: JsonObject | undefined
}

export interface NetconfWanted {
  /** This file and no other. */
  readonly conflist: string | undefined
  /** Where the runtime looks for networks. */
  readonly folder: string
  readonly network: string | undefined
}

const ours = 'a plugin with "ipam": { "type": "ipkeeper" }'
const otherwise = 'name the file with --conflist FILE, or the folder with --net-dir DIR'

function failure(what: string, hint: string): Problem {
  return new Problem('IPK_REQUEST_INVALID', what, { hint })
}

function parseDocument(file: string): unknown {
  const text = readTextFile(file)
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw failure(`${file}:${error.line}:${error.column}: ${error.what}`, 'correct the file')
  }
}

/** The plugin that gives addresses by us: in a chain, the first; a single configuration is a chain of one. */
function ourPlugin(plugins: readonly unknown[]): JsonObject | undefined {
  return plugins.filter(isJsonObject).find(usesIpkeeper)
}

function readNetworkFile(file: string): NetworkFile {
  const document = parseDocument(file)
  if (!isJsonObject(document)) throw failure(`${file} is no JSON object`, 'correct the file')
  const plugins = field(document, 'plugins')
  if (plugins !== undefined && !Array.isArray(plugins))
    throw failure(`${file}: "plugins" is no array`, 'correct the file')
  const name = field(document, 'name')
  const plugin = ourPlugin(plugins ?? [document])
  const cniVersion = field(document, 'cniVersion')
  // Name and version of the list replace those of its plugins, as libcni does it.
  const head = { ...(name !== undefined && { name }), ...(cniVersion !== undefined && { cniVersion }) }
  return { name, config: plugin && { ...plugin, ...head } }
}

/** Files of the folder that a runtime would read, in its order. Throws IPK_REQUEST_INVALID. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isRuntimeFile).sort(compareNames)
  } catch (error) {
    const code = systemCode(error)
    throw failure(`${folder} cannot be read (${code})`, otherwise)
  }
}

/** A link may lead to another file of the folder, and nowhere else. Throws IPK_REQUEST_INVALID. */
function expectInside(folder: string, file: string): void {
  let target: string
  try {
    target = realpathSync(file)
  } catch {
    throw failure(`${file} leads nowhere`, 'correct the link')
  }
  if (relative(realpathSync(folder), target).startsWith('../'))
    throw failure(`${file} leads out of the folder`, 'name its target with --conflist FILE')
}

/**
 * The configuration that the runtime would call us with: of the named file, else of the first file of the folder, in the
 * order of their names, that uses ipkeeper for its addresses (and bears the network's name, where one is given).
 *
 * @param onPassedOver is told of each file of the folder that cannot be read, with what is wrong
 * @throws Problem IPK_REQUEST_INVALID
 */
export function findNetconf(
  { conflist, folder, network }: NetconfWanted,
  onPassedOver: (why: string) => void,
): FoundNetconf {
  if (conflist !== undefined) {
    const { name, config } = readNetworkFile(conflist)
    if (!config) throw failure(`${conflist} has not ${ours}`, 'name another file with --conflist FILE')
    if (network !== undefined && name !== network)
      throw failure(`${conflist} is not of network "${network}"`, 'leave --network out, or --conflist')
    return { file: conflist, config }
  }
  const names: string[] = []
  for (const entry of filesIn(folder)) {
    const file = join(folder, entry)
    try {
      expectInside(folder, file)
      const { name, config } = readNetworkFile(file)
      if (!config) continue
      if (network === undefined || name === network) return { file, config }
      if (typeof name === 'string') names.push(name)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      onPassedOver(error.message)
    }
  }
  if (network === undefined) throw failure(`no file in ${folder} has ${ours}`, otherwise)
  throw failure(
    `no file in ${folder} is of network "${network}" and has ${ours}`,
    names.length === 0 ? otherwise : `networks that use ipkeeper: ${names.join(', ')}`,
  )
}
