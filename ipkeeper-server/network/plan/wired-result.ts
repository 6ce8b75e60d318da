import type { CniResult, ResultInterface } from '../../../shared/cni/result.ts'
import type { WiringRecord } from '../../ipam/records/records.ts'
import type { MainConfig } from '../../ipam/records/main-config.ts'
import type { Survey } from './survey.ts'

/**
 * The Result of the main role: interfaces in the reference plugins' order (bridge, host's side, pod's side), the pod's
 * with CNI_IFNAME and CNI_NETNS verbatim (catalogue E7), and its addresses pointing to it.
 */
export function wiredResult(
  result: CniResult,
  wiring: WiringRecord,
  config: MainConfig,
  survey: Survey,
  pod: { readonly ifname: string; readonly netns: string },
): CniResult {
  const { bridge } = survey
  const { mtu } = wiring
  const interfaces: ResultInterface[] = [
    ...(bridge && bridge.state !== 'other' ? [{ name: config.bridge, mac: bridge.mac }] : []),
    ...(wiring.hostLink ? [{ ...wiring.hostLink, mtu }] : []),
    { name: pod.ifname, mac: wiring.mac, mtu, sandbox: pod.netns },
  ]
  const index = interfaces.length - 1
  const hasOwnDns = Object.keys(config.dns).length > 0
  return {
    interfaces,
    ips: result.ips.map(ip => ({ ...ip, interface: index })),
    routes: wiring.routes,
    dns: hasOwnDns ? config.dns : result.dns,
  }
}
