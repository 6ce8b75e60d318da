/** The network that cases use unless they say otherwise: one range set of each family. */
export const ranges = [[{ subnet: '10.22.0.0/24' }], [{ subnet: 'fd00:22::/64' }]]

export type Config = Record<string, unknown>

/** A netconf as a runtime hands it on; `more` are further keys at its top. */
export function network(version: string, more: object = {}): Config {
  return withIpam(version, { ranges }, more)
}

/** The same with other keys in `ipam`. */
export function withIpam(version: string, ipam: object, more: object = {}): Config {
  return { cniVersion: version, name: 'fixed', type: 'bridge', ipam: { type: 'ipkeeper', ...ipam }, ...more }
}

/** What a container gets first from it. */
export const firstAddresses = ['10.22.0.2/24', 'fd00:22::2/64'] as const

/** A result of a main plugin in the shape of the version, as runtimes hand it on as prevResult. */
export function previousResult(
  version: string,
  [v4, v6]: readonly [v4: string, v6: string] = firstAddresses,
): Config {
  if (version === '0.1.0' || version === '0.2.0')
    return { cniVersion: version, ip4: { ip: v4, gateway: '10.22.0.1' }, ip6: { ip: v6 }, dns: {} }
  const family = (number: string): object => (version.startsWith('0.') ? { version: number } : {})
  return {
    cniVersion: version,
    interfaces: [{ name: 'veth0' }, { name: 'eth0', sandbox: '/some/where' }],
    ips: [
      { ...family('4'), interface: 1, address: v4, gateway: '10.22.0.1' },
      { ...family('6'), address: v6 },
    ],
    dns: { nameservers: ['10.22.0.1'] },
  }
}
