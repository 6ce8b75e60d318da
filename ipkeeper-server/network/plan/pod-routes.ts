import { isIpv6 } from '../../../shared/net/address-text.ts'
import type { ResultAddress, ResultRoute } from '../../../shared/cni/result.ts'
import type { Command } from './command.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'

/** Scope "link" of rtnetlink: the destination is on the link itself, without a gateway. */
const scopeLink = 253

/**
 * Routes of a pod, each with its gateway: those of the network and its pools, the default routes that are missing where
 * the configuration wants them, and those to the cluster's services.
 *
 * @param ips addresses of the pod with the gateways of their pools
 * @param nodeGateway by which address of its node the pod reaches it; undefined: by the pool's gateway
 */
export function podRoutes(
  { defaultRoute, serviceCidrs }: Pick<MainConfig, 'defaultRoute' | 'serviceCidrs'>,
  ips: readonly ResultAddress[],
  routes: readonly ResultRoute[],
  nodeGateway: (ipv6: boolean) => string | undefined = () => undefined,
): ResultRoute[] {
  const gatewayOf = (ipv6: boolean): string | undefined =>
    ips.find(ip => isIpv6(ip.address) === ipv6)?.gateway
  const families = [...new Set(ips.map(ip => isIpv6(ip.address)))]
  const defaults = families.flatMap((ipv6): ResultRoute[] => {
    const dst = ipv6 ? '::/0' : '0.0.0.0/0'
    const wanted = defaultRoute && !routes.some(route => route.dst === dst)
    return wanted ? [{ dst }] : []
  })
  const services = serviceCidrs.flatMap((dst): ResultRoute[] => {
    const ipv6 = isIpv6(dst)
    if (!families.includes(ipv6) || routes.some(route => route.dst === dst)) return []
    const gw = nodeGateway(ipv6)
    return [gw === undefined ? { dst } : { dst, gw }]
  })
  // A route of a family that the pod has no address of has nowhere to go (the reference drops it as well).
  return [...routes, ...defaults, ...services]
    .filter(route => families.includes(isIpv6(route.dst)))
    .map(route => {
      if (route.gw !== undefined || route.scope === scopeLink) return route
      const gw = gatewayOf(isIpv6(route.dst))
      return gw === undefined ? route : { ...route, gw }
    })
}

const numbers = [
  ['priority', 'metric'],
  ['table', 'table'],
  ['scope', 'scope'],
  ['mtu', 'mtu'],
  ['advmss', 'advmss'],
] as const

/** The command that adds a route in the pod. One that is there already wins, as with the reference plugins. */
export function routeCommand(route: ResultRoute, ifname: string): Command {
  const { dst, gw } = route
  return {
    place: 'pod',
    words: [
      ...['route', 'add', dst],
      ...(gw === undefined ? [] : ['via', gw]),
      ...['dev', ifname],
      ...numbers.flatMap(([key, word]) => (route[key] === undefined ? [] : [word, String(route[key])])),
    ],
    about: `add route ${dst}${gw === undefined ? '' : ` via ${gw}`} to ${ifname}`,
    existing: 'fine',
  }
}
