import { Problem } from '../../../shared/problem/problem.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { readMainConfig } from '../../network/plan/read-main-config.ts'
import type { NodeView } from './node-view.ts'
import { oursIn } from './our-plugin.ts'

/** How ipkeeper wires pods here, of each network that it wires; one that it would refuse is left out. */
export function mainNetworks(node: NodeView): readonly MainConfig[] {
  return node.networks.flatMap(file => {
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
