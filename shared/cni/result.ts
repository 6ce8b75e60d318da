import type { CniVersion } from './versions.ts'

/** An address of a result, in CIDR notation, e.g. "10.22.0.50/16". `interface` is an index into `interfaces`. */
export interface ResultAddress {
  readonly address: string
  readonly gateway?: string
  readonly interface?: number
}

/** A route of a result; numbers are those of rtnetlink. `gw` absent means the family's first gateway. */
export interface ResultRoute {
  readonly dst: string
  readonly gw?: string
  readonly mtu?: number
  readonly advmss?: number
  readonly priority?: number
  readonly table?: number
  readonly scope?: number
}

export interface ResultInterface {
  readonly name: string
  readonly mac?: string
  readonly mtu?: number
  readonly sandbox?: string
}

export interface ResultDns {
  readonly nameservers?: readonly string[]
  readonly domain?: string
  readonly search?: readonly string[]
  readonly options?: readonly string[]
}

/** What ADD produced, independent of the version it is printed in. */
export interface CniResult {
  readonly interfaces?: readonly ResultInterface[]
  readonly ips: readonly ResultAddress[]
  readonly routes: readonly ResultRoute[]
  readonly dns: ResultDns
}

export type ResultDocument = Record<string, unknown>

const isV6 = (address: string): boolean => address.includes(':')

/** Routes before 1.1.0 know only dst and gw; the later keys are dropped so that the shape is exactly the version's. */
function encodeRoute(route: ResultRoute, full: boolean): ResultDocument {
  const short: ResultDocument = { dst: route.dst }
  if (route.gw !== undefined) short['gw'] = route.gw
  if (!full) return short
  for (const key of ['mtu', 'advmss', 'priority', 'table', 'scope'] as const) {
    if (route[key] !== undefined) short[key] = route[key]
  }
  return short
}

function encodeDns(dns: ResultDns): ResultDocument {
  const document: ResultDocument = {}
  if (dns.nameservers?.length) document['nameservers'] = dns.nameservers
  if (dns.domain) document['domain'] = dns.domain
  if (dns.search?.length) document['search'] = dns.search
  if (dns.options?.length) document['options'] = dns.options
  return document
}

/** 0.1.0 and 0.2.0: one object per family; routes hang on the family they belong to. */
function encodeByFamily(result: CniResult, version: CniVersion): ResultDocument {
  const document: ResultDocument = { cniVersion: version }
  for (const [key, wantsV6] of [
    ['ip4', false],
    ['ip6', true],
  ] as const) {
    const ip = result.ips.find(candidate => isV6(candidate.address) === wantsV6)
    if (!ip) continue
    const routes = result.routes
      .filter(route => isV6(route.dst) === wantsV6)
      .map(route => encodeRoute(route, false))
    document[key] = {
      ip: ip.address,
      ...(ip.gateway !== undefined && { gateway: ip.gateway }),
      ...(routes.length > 0 && { routes }),
    }
  }
  document['dns'] = encodeDns(result.dns)
  return document
}

/**
 * Result in the shape of one specification version (cni-protocol rows E1-E10).
 * 0.1.0/0.2.0 can express one address per family; the caller refuses more before it allocates.
 */
export function encodeResult(result: CniResult, version: CniVersion): ResultDocument {
  if (version === '0.1.0' || version === '0.2.0') return encodeByFamily(result, version)
  const withFamily = version === '0.3.0' || version === '0.3.1' || version === '0.4.0'
  const full = version === '1.1.0'
  const document: ResultDocument = { cniVersion: version }
  if (result.interfaces?.length) {
    document['interfaces'] = result.interfaces.map(link => ({
      name: link.name,
      ...(link.mac !== undefined && { mac: link.mac }),
      ...(full && link.mtu !== undefined && { mtu: link.mtu }),
      ...(link.sandbox !== undefined && { sandbox: link.sandbox }),
    }))
  }
  if (result.ips.length > 0) {
    document['ips'] = result.ips.map(ip => ({
      ...(withFamily && { version: isV6(ip.address) ? '6' : '4' }),
      ...(ip.interface !== undefined && { interface: ip.interface }),
      address: ip.address,
      ...(ip.gateway !== undefined && { gateway: ip.gateway }),
    }))
  }
  if (result.routes.length > 0) document['routes'] = result.routes.map(route => encodeRoute(route, full))
  const dns = encodeDns(result.dns)
  if (withFamily || Object.keys(dns).length > 0) document['dns'] = dns
  return document
}
