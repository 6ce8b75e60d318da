import { parseAddress } from '../../../shared/net/address.ts'
import {
  noAddress,
  readAddressPerFamily,
  readEntries,
  type Dialect,
} from '../annotations/annotation-reader.ts'

/**
 * The forerunner (generals-space/crd-ipkeeper, readme and pkg/util/const.go). Its addresses bear the prefix length of their
 * subnet, so "172.16.91.0/24" would be that address and no block. It wants a gateway beside either of the others and reads
 * the pool from the Deployment itself; here the gateway may be left out, and the pool belongs to the pod template.
 */
export const crdIpkeeper: Dialect = {
  'ipkeeper.generals.space/ip_address': annotation => ({
    addresses: readAddressPerFamily(annotation, [annotation.value], 'with-prefix'),
  }),
  'ipkeeper.generals.space/ip_pool': annotation => ({
    candidates: readEntries(
      annotation,
      annotation.value.split(',').map(entry => [entry]),
      'with-prefix',
    ),
  }),
  'ipkeeper.generals.space/gateway': annotation => {
    const address = parseAddress(annotation.value)
    if (!address) throw noAddress(annotation, annotation.value)
    return { gateways: [{ address, source: annotation.source }] }
  },
}
