import type { WiringRecord } from '../../ipam/records/records.ts'
import type { MainConfig } from '../../ipam/records/main-config.ts'
import type { Survey } from './survey.ts'

/**
 * Links of the host that have to take no routers' announcements, as pods could send them. A bridge by which the node itself
 * may live is left as it is: its way out may come from such an announcement.
 */
export function guardedLinks(
  { mode, bridge, isGateway, moveHostAddresses }: MainConfig,
  { bridge: present, nodeAddresses }: Pick<Survey, 'bridge' | 'nodeAddresses'>,
  { hostLink }: Pick<WiringRecord, 'hostLink'>,
): readonly string[] {
  switch (mode) {
    case 'bridge': {
      const isOfNode = !isGateway && present?.state === 'bridge' && present.addresses.length > 0
      return isOfNode ? [] : [bridge]
    }
    case 'underlay':
      return moveHostAddresses || nodeAddresses.length > 0 ? [] : [bridge]
    case 'ptp':
      return hostLink ? [hostLink.name] : []
    case 'macvlan':
      return []
  }
}
