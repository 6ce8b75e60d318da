import type { CniArgs } from '../../../shared/cni/cni-args.ts'
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

/** What CNI's own channels say, highest first, in the reference plugins' order; those that say nothing or '' are left out. */
function channelsOf(config: JsonObject, args: CniArgs): { readonly source: string; readonly text: string }[] {
  const runtime = objectField(config, 'runtimeConfig')
  // `args` is optional metadata, so content of another shape is ignored (catalogue I8). A request for a MAC is not.
  const metadata = field(config, 'args')
  const cni = isJsonObject(metadata) ? field(metadata, 'cni') : undefined
  const channels = [
    ['runtimeConfig.mac', runtime && stringField(runtime, 'mac', 'runtimeConfig.mac')],
    ['args.cni.mac', isJsonObject(cni) ? stringField(cni, 'mac', 'args.cni.mac') : undefined],
    ['CNI_ARGS MAC', args.mac],
  ] as const
  return channels.flatMap(([source, text]) => (text ? [{ source, text }] : []))
}

/**
 * The MAC address that CNI's own channels ask for: `runtimeConfig.mac`, else `args.cni.mac`, else MAC of CNI_ARGS. An invalid
 * one is refused also where a higher channel asks, as with addresses.
 *
 * @throws Problem IPK_CONFIG_INVALID that names the channel
 */
export function readMacRequest(config: JsonObject, args: CniArgs): MacRequest | undefined {
  const asked = channelsOf(config, args).map(({ source, text }) => {
    const mac = parseMac(text)
    if (mac !== undefined) return { mac, source }
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
export function readMacForParent(config: JsonObject, args: CniArgs): MacRequest | undefined {
  const [highest] = channelsOf(config, args)
  if (!highest) return undefined
  const mac = parseMac(highest.text)
  return mac === undefined ? undefined : { mac, source: highest.source }
}
