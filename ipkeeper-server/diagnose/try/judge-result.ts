import { cidrContains, firstOf, lastOf, parseCidr, type Cidr } from '../../../shared/net/cidr.ts'
import { parseAddress, type Address } from '../../../shared/net/address.ts'
import type { PluginResult, ResultIp } from './plugin-result.ts'
import { failure, remark, warning, type TryFinding } from './report.ts'

/** What the kernel has in the scratch namespace. */
export interface ScratchView {
  readonly links: readonly {
    readonly name: string
    readonly mac: string
    /** CIDR notation. */
    readonly addresses: readonly string[]
  }[]
  readonly routes: readonly NamespaceRoute[]
}

export interface NamespaceRoute {
  /** CIDR notation; a default route is 0.0.0.0/0 or ::/0. */
  readonly dst: string
  /** undefined for what is on the link. */
  readonly gateway: string | undefined
}

export interface ResultInPlace {
  readonly result: PluginResult
  /** What the plugin before gave; null for the first. */
  readonly previous: PluginResult | null
  /** Whether the plugin's own configuration asks an IPAM plugin for addresses. */
  readonly asksForAddresses: boolean
  /** Whether any plugin of the list does. */
  readonly listAsksForAddresses: boolean
  readonly isLast: boolean
  readonly ifname: string
  readonly netns: string
  readonly view: ScratchView
}

/** Whether a Result is true, and whether runtimes can use it (cni-protocol 1.E, incidents 3a). */
export function judgeResult(place: ResultInPlace): readonly TryFinding[] {
  return [
    ...judgePresence(place),
    ...judgeInterfaces(place),
    ...place.result.ips.flatMap((ip, index) => judgeIp(place, ip, index)),
    ...judgeRoutes(place),
    ...judgeDns(place.result),
  ]
}

function judgePresence(place: ResultInPlace): readonly TryFinding[] {
  const { result, previous, asksForAddresses, listAsksForAddresses, isLast } = place
  if (result.ips.length > 0) return []
  if (previous !== null && previous.ips.length > 0) {
    return [
      failure(
        `it dropped the addresses that it was given: ${previous.ips.map(({ address }) => address).join(', ')}`,
        'a chained plugin prints the prevResult, changed where it changed something',
      ),
    ]
  }
  if (asksForAddresses || (isLast && listAsksForAddresses))
    return [
      failure(
        'its Result has no address; containerd then fails with "failed to find network info for sandbox"',
        'see what its IPAM plugin gave',
      ),
    ]
  return isLast
    ? [remark('the pod has no address, and no plugin of the list is configured to assign one ("ipam")')]
    : []
}

function judgeInterfaces({ result, ifname, netns, view }: ResultInPlace): readonly TryFinding[] {
  const { interfaces } = result
  const findings: TryFinding[] = []
  for (const { name, mac, sandbox } of interfaces) {
    if (sandbox === undefined) continue
    if (sandbox !== netns) {
      findings.push(
        failure(`interface ${name} is reported in ${sandbox}, not in ${netns}`, 'print CNI_NETNS unchanged'),
      )
      continue
    }
    const link = view.links.find(candidate => candidate.name === name)
    if (link === undefined) findings.push(failure(`interface ${name} is not in the namespace`))
    else if (mac !== undefined && mac.toLowerCase() !== link.mac.toLowerCase())
      findings.push(failure(`interface ${name} has MAC ${link.mac}, not ${mac}`))
    if (mac === undefined && name === ifname)
      findings.push(warning(`interface ${name} is given without a MAC, which podman refuses`))
  }
  const inside = interfaces.filter(({ sandbox }) => sandbox !== undefined)
  // The loopback plugin speaks of lo alone.
  if (inside.length > 0 && !inside.some(({ name }) => name === ifname || name === 'lo'))
    findings.push(
      failure(
        `it names no interface ${ifname} in the sandbox; containerd looks for the addresses of that one`,
        'the interface in the container must have the name in CNI_IFNAME',
      ),
    )
  return findings
}

function judgeIp(place: ResultInPlace, ip: ResultIp, index: number): readonly TryFinding[] {
  const { cidr, address, gateway, interface: link } = ip
  const findings: TryFinding[] = []
  const bits = cidr.address.family === 4 ? 32 : 128
  const roomy = cidr.prefixLength < bits - 1
  if (roomy && cidr.address.value === firstOf(cidr).value) {
    findings.push(
      cidr.address.family === 4
        ? failure(`${address} is the address of the network itself, which no pod can have`)
        : warning(`${address} is the anycast address of the routers of its subnet`),
    )
  }
  if (roomy && cidr.address.family === 4 && cidr.address.value === lastOf(cidr).value)
    findings.push(failure(`${address} is the broadcast address of its subnet, which no pod can have`))
  findings.push(...judgeHolder(place, address, index, link))
  if (gateway !== undefined) {
    const parsed = parseAddress(gateway)
    if (parsed && !cidrContains(cidr, parsed) && !onLink(place.view, parsed))
      findings.push(
        failure(
          `gateway ${gateway} is outside ${address}, and the pod has no route to it`,
          'correct "gateway" or the subnet in "ipam"',
        ),
      )
    if (parsed?.value === cidr.address.value && parsed.family === cidr.address.family)
      findings.push(failure(`${gateway} is both the address of the pod and its gateway`))
  }
  return findings
}

/** Whether an address is where the Result says. */
function judgeHolder(
  { result, netns, view }: ResultInPlace,
  address: string,
  index: number,
  link: number | undefined,
): readonly TryFinding[] {
  const holders = view.links.filter(({ addresses }) => addresses.includes(address))
  if (link === undefined) {
    return holders.length > 0
      ? []
      : [failure(`${address} is on no interface of the namespace`, 'a Result has to match what was done')]
  }
  const named = result.interfaces[link]
  if (named === undefined) {
    return [
      failure(
        `ips[${index}].interface is ${link}, and there are ${result.interfaces.length} interfaces; containerd may panic on that`,
        '"interface" counts from 0 into "interfaces"',
      ),
    ]
  }
  if (named.sandbox !== netns) return []
  if (holders.some(({ name }) => name === named.name)) return []
  const others = holders.map(({ name }) => name).join(', ')
  return [
    failure(
      `${address} is not on ${named.name}${others === '' ? '' : `, but on ${others}`}`,
      'a Result has to match what was done',
    ),
  ]
}

/** Whether the pod can reach an address without a router. */
function onLink({ routes }: ScratchView, address: Address): boolean {
  return routes.some(({ dst, gateway }) => {
    const cidr = gateway === undefined ? parseCidr(dst) : undefined
    return cidr !== undefined && cidrContains(cidr, address)
  })
}

function judgeRoutes({ result, view }: ResultInPlace): readonly TryFinding[] {
  return result.routes.flatMap(({ dst, gw }) => {
    const findings: TryFinding[] = []
    const hop = gw === undefined ? undefined : parseAddress(gw)
    if (hop && !onLink(view, hop))
      findings.push(
        failure(
          `the route to ${dst} goes by ${gw ?? ''}, which the pod cannot reach`,
          'the next hop of a route has to be in a subnet of the pod',
        ),
      )
    const wanted = parseCidr(dst)
    if (wanted && !view.routes.some(route => sameNetwork(route.dst, wanted)))
      findings.push(warning(`there is no route to ${dst} in the main table of the namespace`))
    return findings
  })
}

function sameNetwork(text: string, other: Cidr): boolean {
  const cidr = parseCidr(text)
  return (
    cidr?.address.family === other.address.family &&
    cidr.prefixLength === other.prefixLength &&
    firstOf(cidr).value === firstOf(other).value
  )
}

function judgeDns({ dns }: PluginResult): readonly TryFinding[] {
  const servers = Array.isArray(dns['nameservers']) ? (dns['nameservers'] as readonly string[]) : []
  return servers
    .filter(server => parseAddress(server) === undefined)
    .map(server => warning(`nameserver ${JSON.stringify(server)} is no address, which podman refuses`))
}
