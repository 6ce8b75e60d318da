import { parseCniArgs } from '../../../shared/cni/cni-args.ts'
import {
  field,
  isJsonObject,
  objectField,
  stringField,
  showJson,
  type JsonObject,
} from '../../../shared/json/fold.ts'
import { parseMac } from '../../../shared/net/mac.ts'
import type { MacRequest } from '../../ipam/request/request.ts'
import { Problem } from '../../../shared/problem/problem.ts'

/** What CNI's own channels say, highest first, in the reference plugins' order. '' is as good as nothing. */
function channelsOf(
  config: JsonObject,
  rawArgs: string,
): (readonly [channel: string, mac: string | undefined])[] {
  const runtime = objectField(config, 'runtimeConfig')
  // `args` is optional metadata: content of another shape is none of ours (catalogue I8). A request for a MAC is.
  const metadata = field(config, 'args')
  const cni = isJsonObject(metadata) ? field(metadata, 'cni') : undefined
  return [
    ['runtimeConfig.mac', runtime && stringField(runtime, 'mac', 'runtimeConfig.mac')],
    ['args.cni.mac', isJsonObject(cni) ? stringField(cni, 'mac', 'args.cni.mac') : undefined],
    ['CNI_ARGS MAC', parseCniArgs(rawArgs).mac],
  ]
}

/**
 * The MAC address that CNI's own channels ask for: `runtimeConfig.mac`, else `args.cni.mac`, else MAC of CNI_ARGS. One that
 * is none is refused also where a higher channel asks, as with addresses.
 *
 * @throws Problem IPK_CONFIG_INVALID that names the channel
 */
export function readMacRequest(config: JsonObject, rawArgs: string): MacRequest | undefined {
  const asked = channelsOf(config, rawArgs).flatMap(([source, text]) => {
    if (text === undefined || text === '') return []
    const mac = parseMac(text)
    if (mac !== undefined) return [{ mac, source }]
    throw new Problem('IPK_CONFIG_INVALID', `${source}: ${showJson(text)} is no unicast MAC address`, {
      hint: 'write six octets such as 02:42:ac:11:00:02',
    })
  })
  return asked[0]
}

/**
 * The same under a parent plugin, which obeys the highest channel and knows best what it says: where that is no MAC of six
 * octets, nothing is asked for here.
 */
export function readMacForParent(config: JsonObject, rawArgs: string): MacRequest | undefined {
  const [highest] = channelsOf(config, rawArgs).filter(([, text]) => text !== undefined && text !== '')
  const [source, text = ''] = highest ?? ['']
  const mac = parseMac(text)
  return mac === undefined ? undefined : { mac, source }
}

/** readMacRequest for who does not ask which channel it was. */
export function readRequestedMac(config: JsonObject, rawArgs: string): string | undefined {
  return readMacRequest(config, rawArgs)?.mac
}
