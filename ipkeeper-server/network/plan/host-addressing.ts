import type { Command } from './command.ts'

/**
 * Addresses and routes of a link of the host, read from `ip -json -N` and written as commands of `ip`, so that they can
 * move to another link and back. What the kernel makes by itself (routes of "proto kernel") comes with the addresses.
 */

/** Seconds; the kernel writes this where there is no end. */
const forever = 4_294_967_295

/** Numbers of rtnetlink, as `ip -N` shows them. */
const scopeLink = '253'
const protocolKernel = '2'
const routeTypes: Readonly<Record<string, string>> = { '1': 'unicast', '2': 'local' }

export interface HostAddress {
  readonly family: 4 | 6
  readonly local: string
  readonly prefixLength: number
  /** The other end of a point-to-point address. */
  readonly peer?: string
  readonly broadcast?: string
  /** Number of rtnetlink. */
  readonly scope: string
  readonly label?: string
  readonly metric?: number
  /** Words of `ip` such as "noprefixroute". */
  readonly flags: readonly string[]
  /** Seconds left; null without an end. */
  readonly validFor: number | null
  readonly preferredFor: number | null
}

export interface RouteHop {
  /** Words after "via": the address, after its family where that is another one than the route's. */
  readonly via: readonly string[]
  /** null: the link whose routes these are. */
  readonly dev: string | null
  readonly weight?: number
  readonly onlink: boolean
}

export interface HostRoute {
  readonly family: 4 | 6
  readonly type: string
  readonly dst: string
  /** Numbers of rtnetlink. */
  readonly table: string
  readonly protocol: string
  readonly scope: string
  /** Further words, in pairs: src, tos, metric, pref, expires, mtu and its like. */
  readonly attributes: readonly (readonly [word: string, value: string])[]
  /** Seconds left; null without an end. */
  readonly expires: number | null
  /** More than one: a route of several ways. */
  readonly hops: readonly RouteHop[]
}

export interface HostAddressing {
  readonly addresses: readonly HostAddress[]
  readonly routes: readonly HostRoute[]
}

interface AddressJson {
  readonly family?: string
  readonly local?: string
  readonly address?: string
  readonly prefixlen?: number
  readonly broadcast?: string
  readonly scope?: string
  readonly label?: string
  readonly metric?: number
  readonly valid_life_time?: number
  readonly preferred_life_time?: number
}

interface HopJson {
  readonly gateway?: string
  readonly via?: { readonly family?: string; readonly host?: string }
  readonly dev?: string
  readonly weight?: number
  readonly flags?: readonly string[]
}

interface RouteJson extends HopJson {
  readonly type?: string
  readonly dst?: string
  readonly tos?: string
  readonly table?: string
  readonly protocol?: string
  readonly scope?: string
  readonly prefsrc?: string
  readonly metric?: number
  readonly pref?: string
  readonly expires?: number
  readonly metrics?: readonly Readonly<Record<string, unknown>>[]
  readonly nexthops?: readonly HopJson[]
  readonly nhid?: number
  readonly encap?: unknown
}

const addressFlags = ['noprefixroute', 'nodad', 'home', 'mngtmpaddr', 'autojoin'] as const

/** Metrics of a route that `ip` takes in the form in which it shows them; `unit` where it does not. */
const routeMetrics: Readonly<Record<string, string>> = {
  ...{ mtu: '', advmss: '', window: '', hoplimit: '', initcwnd: '', initrwnd: '', quickack: '' },
  ...{ reordering: '', cwnd: '', ssthresh: '', rtt: 'ms', rttvar: 'ms', rto_min: 'ms' },
}

const span = (seconds: number | undefined): number | null =>
  seconds === undefined || seconds >= forever ? null : seconds

function readAddress(value: AddressJson & Readonly<Record<string, unknown>>): HostAddress[] {
  const { family, local, prefixlen, address, broadcast, label, metric } = value
  if (local === undefined || prefixlen === undefined) return []
  return [
    {
      family: family === 'inet6' ? 6 : 4,
      local,
      prefixLength: prefixlen,
      ...(address !== undefined && { peer: address }),
      ...(broadcast !== undefined && { broadcast }),
      scope: value.scope ?? '0',
      ...(label !== undefined && { label }),
      ...(metric !== undefined && { metric }),
      flags: addressFlags.filter(flag => value[flag] === true),
      validFor: span(value.valid_life_time),
      preferredFor: span(value.preferred_life_time),
    },
  ]
}

function readHop({ gateway, via, dev, weight, flags }: HopJson, link: string): RouteHop {
  const words =
    gateway !== undefined
      ? [gateway]
      : via?.host === undefined
        ? []
        : [via.family === 'inet6' ? 'inet6' : 'inet', via.host]
  return {
    via: words,
    dev: dev === link || dev === undefined ? null : dev,
    ...(weight !== undefined && { weight }),
    onlink: flags?.includes('onlink') === true,
  }
}

/** What cannot be said to `ip` again as it was read: undefined when there is nothing. */
function unmovable({ type = '1', nhid, encap, metrics = [] }: RouteJson): string | undefined {
  if (nhid !== undefined) return 'uses a nexthop object'
  if (encap !== undefined) return 'has an encapsulation'
  if (routeTypes[type] === undefined) return `is of type ${type}`
  const odd = metrics
    .flatMap(Object.entries<unknown>)
    .find(([name, value]) => routeMetrics[name] === undefined || typeof value !== 'number')
  return odd && `has ${odd[0]}`
}

function readRoute(route: RouteJson, family: 4 | 6, link: string): HostRoute {
  const { type = '1', dst = 'default', tos, prefsrc, metric, pref, nexthops } = route
  const pairs: readonly (readonly [word: string, value: string | number | undefined])[] = [
    ['tos', tos],
    ['metric', metric],
    ['src', prefsrc],
    ['pref', pref === 'medium' ? undefined : pref],
    ...(route.metrics ?? [])
      .flatMap(Object.entries<unknown>)
      .map(([name, value]) => [name, `${String(value)}${routeMetrics[name] ?? ''}`] as const),
  ]
  return {
    family,
    type: routeTypes[type] ?? 'unicast',
    dst,
    table: route.table ?? '254',
    protocol: route.protocol ?? '3',
    scope: route.scope ?? '0',
    attributes: pairs.flatMap(([word, value]) =>
      value === undefined ? [] : [[word, String(value)] as const],
    ),
    expires: route.expires ?? null,
    hops: (nexthops ?? [route]).map(hop => readHop(hop, link)),
  }
}

/**
 * Reads what a link has.
 *
 * @param link its name
 * @param shown of `ip -json -N -details`: `address show dev LINK`, and `route show table all` of each family
 * @returns what can move, and for what cannot, why: "route 10.9.0.0/16 has an encapsulation"
 */
export function readAddressing(
  link: string,
  shown: {
    readonly addresses: readonly unknown[]
    readonly routes4: readonly unknown[]
    readonly routes6: readonly unknown[]
  },
): { readonly addressing: HostAddressing; readonly unmovable: readonly string[] } {
  const [entry] = shown.addresses as readonly { readonly addr_info?: readonly Record<string, unknown>[] }[]
  const found = ([4, 6] as const).flatMap(family =>
    (shown[`routes${family}`] as readonly RouteJson[])
      .filter(({ dev, nexthops = [] }) => dev === link || nexthops.some(hop => hop.dev === link))
      .filter(({ protocol }) => protocol !== protocolKernel)
      .map(route => ({ route, family, why: unmovable(route) })),
  )
  return {
    addressing: {
      addresses: (entry?.addr_info ?? []).flatMap(readAddress),
      routes: found.flatMap(({ route, family, why }) =>
        why === undefined ? [readRoute(route, family, link)] : [],
      ),
    },
    unmovable: found.flatMap(({ route, why }) =>
      why === undefined ? [] : [`route ${route.dst ?? ''} ${why}`],
    ),
  }
}

/** An address that the kernel makes for every link by itself, and that means nothing beyond it. */
export function isLinkLocal({ family, scope }: HostAddress): boolean {
  return family === 6 && scope === scopeLink
}

/** "10.30.0.11/24" */
export function cidrOf({ local, prefixLength }: HostAddress): string {
  return `${local}/${prefixLength}`
}

/** Whether a link has anything by which its host is reached or reaches others. */
export function isAddressed({ addresses, routes }: HostAddressing): boolean {
  return routes.length > 0 || addresses.some(address => !isLinkLocal(address))
}

/** The same a while later: without what came to its end meanwhile. */
export function later({ addresses, routes }: HostAddressing, seconds: number): HostAddressing {
  const left = (time: number | null): number | null => time && Math.max(0, time - seconds)
  return {
    addresses: addresses
      .map(address => ({
        ...address,
        validFor: left(address.validFor),
        preferredFor: left(address.preferredFor),
      }))
      .filter(({ validFor }) => validFor !== 0),
    routes: routes
      .map(route => ({ ...route, expires: left(route.expires) }))
      .filter(({ expires }) => expires !== 0),
  }
}

/** A label has to begin with the name of its link, and to be as short as one. */
function labelOn(link: string, { label, family }: HostAddress, before: string): readonly string[] {
  if (family === 6 || label === undefined || label === before || label === link) return []
  const renamed = label.startsWith(`${link}:`) ? label : label.replace(before, link)
  return renamed.startsWith(`${link}:`) && renamed.length <= 15 ? ['label', renamed] : []
}

const addressWords = (address: HostAddress): readonly string[] =>
  address.peer === undefined
    ? [cidrOf(address)]
    : [address.local, 'peer', `${address.peer}/${address.prefixLength}`]

function addAddress(address: HostAddress, link: string, before: string): Command[] {
  const { family, broadcast, scope, metric, flags, validFor, preferredFor } = address
  const about = `give ${link} the address ${cidrOf(address)}`
  const words = [
    ...[...addressWords(address), 'dev', link],
    ...(broadcast === undefined ? [] : ['broadcast', broadcast]),
    ...labelOn(link, address, before),
    ...['scope', scope],
    ...(metric === undefined ? [] : ['metric', String(metric)]),
    ...(validFor === null ? [] : ['valid_lft', String(validFor)]),
    ...(validFor === null && preferredFor === null
      ? []
      : ['preferred_lft', preferredFor === null ? 'forever' : String(preferredFor)]),
    ...flags,
  ]
  const add = { place: 'host', about, existing: 'fine' } as const
  if (family === 4 || flags.includes('nodad')) return [{ ...add, words: ['address', 'add', ...words] }]
  // Nobody else has it, as we had it just now; asking would take it away for a second or two. A change of the flags
  // does not begin to ask.
  return [
    { ...add, words: ['address', 'add', ...words, 'nodad'] },
    { place: 'host', words: ['address', 'change', ...words], about },
  ]
}

function hopWords({ via, dev, onlink }: RouteHop, link: string): string[] {
  return [...(via.length > 0 ? ['via', ...via] : []), 'dev', dev ?? link, ...(onlink ? ['onlink'] : [])]
}

/** A destination as a batch of `ip` understands it: there is no place for a family beside the word "default". */
function destination({ family, dst }: HostRoute): string {
  if (dst !== 'default') return dst
  return family === 6 ? '::/0' : '0.0.0.0/0'
}

function replaceRoute(route: HostRoute, link: string): Command {
  const { family, type, dst, table, protocol, scope, attributes, expires, hops } = route
  const [only] = hops
  return {
    place: 'host',
    words: [
      ...['route', 'replace', type, destination(route)],
      ...(hops.length === 1 && only ? hopWords(only, link) : []),
      ...['table', table, 'proto', protocol],
      ...(family === 4 ? ['scope', scope] : []),
      ...attributes.flat(),
      ...(expires === null ? [] : ['expires', String(expires)]),
      ...(hops.length === 1
        ? []
        : hops.flatMap(hop => ['nexthop', ...hopWords(hop, link), 'weight', String(hop.weight ?? 1)])),
    ],
    about: `lead the route to ${dst} to ${link}`,
  }
}

/** IPv6 knows several routes of one metric, so that a replaced one may have a sister. */
function dropRoute(route: HostRoute, link: string): Command {
  const { dst, table, attributes } = route
  const metric = attributes.find(([word]) => word === 'metric')
  return {
    place: 'host',
    words: ['route', 'delete', destination(route), 'dev', link, 'table', table, ...(metric ?? [])],
    about: `take the route to ${dst} from ${link}`,
    missing: 'fine',
  }
}

/**
 * Moves addresses and routes from one link to another. Nothing is taken away before it is in its new place, so that no
 * route is missing at any instant, and the commands can be repeated from the start wherever they were broken off.
 *
 * @param between what is done when the addresses are on both links, and the host still sends by the first
 */
export function moveAddressing(
  { addresses, routes }: HostAddressing,
  from: string,
  to: string,
  between: readonly Command[] = [],
): Command[] {
  const of = (family: 4 | 6): HostAddress[] => addresses.filter(address => address.family === family)
  // The kernel shows the newest IPv6 address first, and the oldest IPv4 address.
  const ordered = [...of(4), ...of(6).reverse()]
  const onLink = (route: HostRoute): boolean => route.hops.every(({ via }) => via.length === 0)
  return [
    ...ordered.flatMap(address => addAddress(address, to, from)),
    ...between,
    ...[...routes.filter(onLink), ...routes.filter(route => !onLink(route))].map(route =>
      replaceRoute(route, to),
    ),
    ...routes.filter(({ family }) => family === 6).map(route => dropRoute(route, from)),
    // The last one first: with an IPv4 address go the later ones of its subnet.
    ...ordered.reverse().map((address): Command => ({
      place: 'host',
      words: ['address', 'delete', ...addressWords(address), 'dev', from],
      about: `take the address ${cidrOf(address)} from ${from}`,
      missing: 'fine',
    })),
  ]
}

/**
 * What goes back to a link: what its bridge has now, with the labels and flags that it had on the link.
 *
 * @param before what moved to the bridge
 * @param stays addresses of the bridge, without prefix, that never were the link's; or all that did not come from it,
 *   routes as well, where the bridge stays
 */
export function returning(
  before: HostAddressing,
  present: HostAddressing,
  stays: ((address: string) => boolean) | 'the rest',
): HostAddressing {
  const known = new Map(before.addresses.map(address => [cidrOf(address), address]))
  const order = [...known.keys()]
  const rank = (address: HostAddress): number => {
    const index = order.indexOf(cidrOf(address))
    return index < 0 ? order.length : index
  }
  return {
    addresses: present.addresses
      .flatMap((address): HostAddress[] => {
        const former = known.get(cidrOf(address))
        const { validFor, preferredFor } = address
        if (former) return [{ ...former, validFor, preferredFor }]
        if (stays === 'the rest' || isLinkLocal(address) || stays(address.local)) return []
        return [address]
      })
      .sort((a, b) => rank(a) - rank(b)),
    routes: present.routes.filter(
      route => stays !== 'the rest' || before.routes.some(former => sameWay(former, route)),
    ),
  }
}

const sameWay = (a: HostRoute, b: HostRoute): boolean =>
  a.dst === b.dst && a.table === b.table && JSON.stringify(a.hops) === JSON.stringify(b.hops)
