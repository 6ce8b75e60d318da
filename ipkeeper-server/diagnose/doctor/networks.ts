import { readConfDir } from '../../conf-dir/read-conf-dir.ts'
import type { NodeView } from './probe-node.ts'
import { lint, type Linted } from '../lint/lint.ts'
import type { LoadedNetwork } from '../lint/loaded-networks.ts'
import { usesIpkeeper } from '../lint/uses-ipkeeper.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { readMainConfig } from '../../network/plan/read-main-config.ts'
import type { LintFinding } from '../../../shared/api/lint.schema.ts'
import { field, isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'

const typeOf = (value: unknown): string | undefined => {
  const type = isJsonObject(value) ? field(value, 'type') : undefined
  return typeof type === 'string' ? type : undefined
}

/** The plugin that ipkeeper is in this network, or that it gives addresses to. */
export function oursIn({ plugins }: LoadedNetwork): { plugin: JsonObject; main: boolean } | undefined {
  const plugin = plugins.find(usesIpkeeper)
  return plugin && { plugin, main: typeOf(plugin) === 'ipkeeper' }
}

/** Every plugin that a network has the runtime, or another plugin, start. */
export function programsOf({ plugins }: LoadedNetwork): readonly string[] {
  return plugins.flatMap(plugin => {
    const ipam = field(plugin, 'ipam')
    const fallback = isJsonObject(ipam) ? field(ipam, 'fallback') : undefined
    return [plugin, ipam, fallback].flatMap(value => typeOf(value) ?? [])
  })
}

/** How ipkeeper wires pods here, of each network that it wires; one that it would refuse is left out. */
export function mainNetworks({ networks }: Pick<NodeView, 'networks'>): readonly MainConfig[] {
  return networks.flatMap(file => {
    const found = oursIn(file)
    if (found?.main !== true) return []
    try {
      return [readMainConfig(found.plugin)]
    } catch (error) {
      if (error instanceof Problem) return []
      throw error
    }
  })
}

/** How many files containerd takes, unless it is told otherwise. */
const maxConfNum = 1

/**
 * What the linter says of the node's folder of network configurations; not of the programs that they name, as checks of
 * their own do that.
 *
 * @throws Problem IPK_CONF_DIR_UNREADABLE
 */
export async function lintNetworks({ confDir }: NodeView): Promise<Linted> {
  return lint({ files: await readConfDir(confDir), directory: { path: confDir, maxConfNum } })
}

/** FILE:LINE:COLUMN: what is wrong. */
export const describeFinding = ({ file, line, column, message }: LintFinding): string =>
  `${file}:${line}:${column}: ${message}`
