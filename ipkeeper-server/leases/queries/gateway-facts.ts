import { describeHolder } from '../../ipam/records/records.ts'
import type { GatewayFacts } from '../../network/plan/bridge-addresses.ts'
import type { LeaseService } from '../verbs/service.ts'

interface GatewayBook extends Pick<LeaseService, 'node' | 'bootId'> {
  readonly ledger: Pick<LeaseService['ledger'], 'isGateway' | 'leasesOn' | 'attachment'>
}

/** What the records say of gateways at this moment. */
export function gatewayFacts({ ledger, node, bootId }: GatewayBook): GatewayFacts {
  return {
    isGateway: address => ledger.isGateway(address),
    podsBehind: (cidr, bridge) => {
      const pods = new Set<string>()
      for (const { attachment: key, gateway, prefixLength, holder } of ledger.leasesOn(node)) {
        if (key === null || `${gateway}/${prefixLength}` !== cidr) continue
        const attachment = ledger.attachment(key)
        // What another boot had is gone with it; of what a lost journal knew nothing is certain.
        if (attachment && attachment.bootId !== null && attachment.bootId !== bootId) continue
        // Of another plugin's pod it is not known which bridge it is on.
        if (attachment?.wiring && attachment.wiring.master !== bridge) continue
        pods.add(describeHolder(holder))
      }
      return [...pods]
    },
  }
}
