import { field, isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'

/** Whether a plugin's configuration is ipkeeper's own, or leaves its addresses to ipkeeper. */
export function usesIpkeeper(config: JsonObject): boolean {
  const ipam = field(config, 'ipam')
  return field(config, 'type') === 'ipkeeper' || (isJsonObject(ipam) && field(ipam, 'type') === 'ipkeeper')
}
