import { field, isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import type { LoadedNetwork } from '../lint/loaded-networks.ts'
import { usesIpkeeper } from '../lint/uses-ipkeeper.ts'

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
