import { field, isJsonObject, type JsonObject } from '../../../../shared/json/fold.ts'
import { ok, skip, warn, type Check } from '../check.ts'
import { oursIn } from '../our-plugin.ts'

const annotations = 'io.kubernetes.cri.pod-annotations'
/** By which a pod can ask for an address without Kubernetes; one of them shows that somebody thought of it. */
const channels = [annotations, 'ips', 'mac', 'ipRanges'] as const

const has = (plugin: JsonObject, name: string): boolean => {
  const capabilities = field(plugin, 'capabilities')
  // Names of capabilities are compared as they are written.
  return isJsonObject(capabilities) && capabilities[name] === true
}

export const capabilitiesCheck: Check = {
  id: 'capabilities',
  title: 'the runtime passes annotations on',
  why: 'Without the line in the conflist the plugin never sees the annotations of a pod, and every pod gets a dynamic address.',
  run: node => {
    const ours = node.networks.flatMap(file => {
      const found = oursIn(file)
      return found ? [{ path: file.path, plugin: found.plugin }] : []
    })
    if (ours.length === 0) return skip(`no configuration in ${node.confDir} uses ipkeeper`)
    const without = ours.find(({ plugin }) => !channels.some(name => has(plugin, name)))
    if (without)
      return warn(
        `${without.path} lacks "capabilities": { "${annotations}": true }`,
        ...['ipkeeperctl', 'lint', without.path],
      )
    return ok(ours.map(({ path }) => path).join(', '))
  },
}
