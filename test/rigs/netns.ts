import { randomBytes } from 'node:crypto'
import type { PrivateHost } from './private-host.ts'

/** A network namespace, as a runtime makes one for a pod. */
export interface NetworkNamespace {
  readonly name: string
  /** Path for CNI_NETNS; valid inside the private host. */
  readonly path: string
  /** Output of `ip -json ARGS` in it, parsed. */
  ip(...args: readonly string[]): Promise<unknown>
  /** Addresses on an interface, each `address/prefix`, global ones only. */
  addresses(ifname: string): Promise<readonly string[]>
  delete(): Promise<void>
}

interface AddressEntry {
  readonly addr_info: readonly {
    readonly local: string
    readonly prefixlen: number
    readonly scope: string
  }[]
}

/** Makes a network namespace of a unique name in a private host; it goes with the host at the latest. */
export async function makeNetworkNamespace(host: PrivateHost, prefix = 'pod'): Promise<NetworkNamespace> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`
  await host.must('ip', ['netns', 'add', name])
  await host.must('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
  const ip = async (...args: readonly string[]): Promise<unknown> => {
    const text = await host.must('ip', ['-n', name, '-json', ...args])
    return text.trim() === '' ? [] : (JSON.parse(text) as unknown)
  }
  return {
    name,
    path: `/run/netns/${name}`,
    ip,
    addresses: async ifname => {
      const links = (await ip('address', 'show', 'dev', ifname)) as readonly AddressEntry[]
      return links
        .flatMap(link => link.addr_info)
        .filter(address => address.scope === 'global')
        .map(address => `${address.local}/${address.prefixlen}`)
    },
    delete: async () => {
      await host.run('ip', ['netns', 'delete', name])
    },
  }
}
