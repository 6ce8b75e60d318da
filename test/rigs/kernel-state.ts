import type { PrivateHost } from './private-host.ts'

/**
 * What the kernel has of a host's network, one line for each thing, so that a difference names what differs. What the
 * kernel counts, numbers or makes by itself (indices, handles, counters, ages; link-local IPv6, which comes seconds after
 * its link) is left out.
 */
export interface KernelState {
  readonly links: readonly string[]
  readonly addresses: readonly string[]
  readonly routes: readonly string[]
  readonly rules: readonly string[]
  readonly neighbours: readonly string[]
  readonly ruleset: readonly string[]
  readonly namespaces: readonly string[]
}

interface LinkEntry {
  readonly ifname: string
  readonly mtu: number
  readonly address?: string
  readonly master?: string
  readonly ifalias?: string
  readonly flags: readonly string[]
  readonly linkinfo?: { readonly info_kind?: string; readonly info_slave_data?: Record<string, unknown> }
  readonly addr_info: readonly {
    readonly local: string
    readonly prefixlen: number
    readonly scope: string
    readonly tentative?: boolean
  }[]
}

type Entry = Readonly<Record<string, unknown>>

/** Settings of a port of a bridge that a plugin may choose. */
const portSettings = ['hairpin', 'guard', 'isolated', 'learning', 'flood'] as const
/** Of the flags of a link, those that somebody sets. */
const setFlags = ['UP', 'PROMISC', 'NOARP', 'ALLMULTI']
const routeKeys = [
  'type',
  'dst',
  'gateway',
  'dev',
  'table',
  'scope',
  'prefsrc',
  'metric',
  'protocol',
] as const

/** Link-local and multicast IPv6. */
const ofTheLink = (text: unknown): boolean => typeof text === 'string' && /^f(e80|f00):/.test(text)

const tell = (entry: Entry, keys: readonly string[]): string =>
  keys.flatMap(key => (entry[key] === undefined ? [] : [`${key} ${JSON.stringify(entry[key])}`])).join(' ')

function tellLink(link: LinkEntry): string {
  const port = link.linkinfo?.info_slave_data
  return [
    link.ifname,
    link.linkinfo?.info_kind ?? '',
    `mtu ${link.mtu} ${link.address ?? ''}`,
    ...(link.master === undefined ? [] : [`master ${link.master}`]),
    ...(link.ifalias === undefined ? [] : [`alias ${link.ifalias}`]),
    link.flags.filter(flag => setFlags.includes(flag)).join(),
    ...(port === undefined ? [] : [tell(port, portSettings)]),
  ].join(' ')
}

/** What each of these commands of `ip` shows; routes are of both families, all others of IPv4 unless the options say so. */
async function ipJson<Shown extends readonly (readonly unknown[])[]>(
  host: PrivateHost,
  options: readonly string[],
  commands: readonly string[],
): Promise<Shown> {
  const text = await host.must('ip', [...options, '-details', '-json', '-batch', '-'], {
    input: commands.map(line => `${line}\n`).join(''),
  })
  const lines = text.trim().split('\n')
  if (lines.length !== commands.length)
    throw new Error(`ip: ${lines.length} of ${commands.length} answers: ${text}`)
  return lines.map(line => JSON.parse(line) as unknown) as unknown as Shown
}

/**
 * Looks at all of it.
 *
 * @param namespace name of a network namespace on the host to look at, in place of the host itself
 */
export async function kernelState(host: PrivateHost, namespace?: string): Promise<KernelState> {
  const within = namespace === undefined ? [] : ['-n', namespace]
  const nft = namespace === undefined ? ['nft'] : ['ip', 'netns', 'exec', namespace, 'nft']
  // As few programs as possible: tests look at it hundreds of times.
  const [[links, routes, rules4, neighbours, proxies], [rules6], whole, namespaces] = await Promise.all([
    ipJson<[LinkEntry[], Entry[], Entry[], Entry[], Entry[]]>(host, within, [
      ...['address show', 'route show table all', 'rule show', 'neigh show', 'neigh show proxy'],
    ]),
    ipJson<[Entry[]]>(host, [...within, '-6'], ['rule show']),
    host.must(nft[0] ?? '', [...nft.slice(1), '--stateless', 'list', 'ruleset']),
    host.must('ls', ['/run/netns']),
  ])
  // Which change was the last one is nothing that a DEL takes back.
  const ruleset = whole.replace(/(set revision {\n(?:\t\t(?!elements).*\n)*)\t\telements = .*\n/, '$1')
  return {
    links: links.map(tellLink).sort(),
    addresses: links
      .flatMap(({ ifname, addr_info: addresses }) =>
        addresses
          .filter(({ local }) => !ofTheLink(local))
          .map(({ local, prefixlen }) => `${ifname} ${local}/${prefixlen}`),
      )
      .sort(),
    routes: routes
      .filter(route => !ofTheLink(route['dst']))
      .map(route => tell(route, routeKeys))
      .sort(),
    rules: [...rules4, ...rules6].map(rule => JSON.stringify(rule)),
    neighbours: [
      // What was asked for in vain is an entry without a MAC for a while.
      ...neighbours.filter(entry => entry['lladdr'] !== undefined && !ofTheLink(entry['dst'])),
      ...proxies.map(entry => ({ ...entry, proxy: true })),
    ]
      .map(entry => tell(entry, ['dst', 'dev', 'lladdr', 'proxy']))
      .sort(),
    ruleset: ruleset.split('\n').filter(line => line.trim() !== ''),
    namespaces: namespaces.trim() === '' ? [] : namespaces.trim().split('\n').sort(),
  }
}

/** Parts of a state, for when the rest is expected to change. */
export function partOf<K extends keyof KernelState>(
  state: KernelState,
  ...keys: readonly K[]
): Pick<KernelState, K> {
  return Object.fromEntries(keys.map(key => [key, state[key]])) as Pick<KernelState, K>
}

/**
 * The state as soon as it is as expected, or as it is when the time is over: links of a deleted namespace go when the
 * kernel finds time.
 */
export async function settledState(
  host: PrivateHost,
  expected: KernelState,
  milliseconds = 10_000,
): Promise<KernelState> {
  const deadline = performance.now() + milliseconds
  const wanted = JSON.stringify(expected)
  for (;;) {
    const state = await kernelState(host)
    if (JSON.stringify(state) === wanted || performance.now() > deadline) return state
  }
}
