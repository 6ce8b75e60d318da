import { containerIdFault } from '../../../../shared/cni/identifiers.ts'
import { formatAddress, parseAddress } from '../../../../shared/net/address.ts'
import { bareAllocation, type Findings, type Unreadable } from './findings.ts'

/** A file of a folder of host-local. */
export interface HostLocalFile {
  /** Absolute. */
  readonly path: string
  readonly name: string
  /** null: it cannot be read. */
  readonly text: string | null
  /** Why it cannot. */
  readonly why: string
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
}

/** Beside reservations there are "lock" and "last_reserved_ip.N", and files of the name of nothing. */
export const isReservationName = (name: string): boolean => parseAddress(name) !== undefined

/**
 * The reservations of one network: a file for each address, named by it, with the container ID in the first line and since
 * 0.7 the interface in the second (plugins: plugins/ipam/host-local/backend/disk/backend.go).
 */
export function readHostLocal(network: string, files: readonly HostLocalFile[]): Findings {
  const unreadable: Unreadable[] = []
  const allocations = files.flatMap(({ path, name, text, why, modifiedAt }) => {
    const address = parseAddress(name)
    if (!address) return []
    const canonical = formatAddress(address)
    const fail = (reason: string): [] => {
      unreadable.push({ origin: path, address: canonical, why: reason })
      return []
    }
    if (text === null) return fail(why)
    if (text === '') return fail('it is empty: the holder of the address is not known')
    const [containerId = '', ifname = ''] = text
      .trim()
      .split(/\r?\n/)
      .map(line => line.trim())
    if (containerId === '' || containerIdFault(containerId)) return fail('its first line is no container ID')
    return [
      {
        ...bareAllocation(path, canonical),
        ...{ network, containerId, ifname: ifname === '' ? null : ifname, since: Math.floor(modifiedAt) },
      },
    ]
  })
  return { allocations, unreadable }
}
