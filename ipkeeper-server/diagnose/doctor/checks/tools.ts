import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { neededTools, tools, type ToolName } from '../../../network/plan/tools.ts'
import { fail, ok, warn, type Check } from '../check.ts'
import { mainNetworks } from '../main-networks.ts'

const folders = ['/usr/sbin', '/sbin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/local/bin']

function isThere(tool: string): boolean {
  return folders.some(folder => {
    try {
      accessSync(join(folder, tool), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export const toolsCheck: Check = {
  id: 'tools',
  title: 'the programs that wire pods are installed',
  why: 'ipkeeper wires pods with ip, nft, nsenter and arping; without them an ADD of its own networks fails.',
  run: node => {
    const needed = new Set(mainNetworks(node).flatMap(neededTools))
    const missing = (Object.keys(tools) as ToolName[]).filter(tool => !isThere(tool))
    const inTheWay = missing.filter(tool => needed.has(tool))
    const install = (names: readonly ToolName[]): string[] => [
      'apt-get',
      'install',
      ...new Set(names.map(name => tools[name])),
    ]
    if (inTheWay.length > 0) return fail(`missing: ${inTheWay.join(', ')}`, ...install(inTheWay))
    if (missing.length > 0)
      return warn(`missing, though no network here needs it: ${missing.join(', ')}`, ...install(missing))
    return ok(Object.keys(tools).join(', '))
  },
}
