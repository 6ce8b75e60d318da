import { fail, noDaemon, ok, skip, warn, type Check } from '../check.ts'

export const identityCheck: Check = {
  id: 'identity',
  title: 'the node is known by more than its name',
  why: 'A name may change, and a disk may be copied: by an ID that is bound to the machine the daemon knows which leases are its own.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    if (!status.identity) return skip(`ipkeeper-server ${status.version} does not tell`)
    const { id, wanted, formerNames, knownBy, refused } = status.identity
    const [former] = formerNames
    const says = `node ${status.node}, ID ${id.slice(0, 12)}`
    if (refused) return fail(`no ADD is served: ${refused.message}; ${refused.hint}`, 'ipkeeperctl', 'status')
    if (wanted !== status.node)
      return warn(
        `${says}, is to be called ${wanted} at a start at which the store answers`,
        'ipkeeperctl',
        'status',
      )
    if (knownBy.length === 0)
      return warn(
        `${says}: neither /etc/machine-id nor the hardware tells this machine from a copy of it`,
        ...['ls', '-l', '/etc/machine-id', '/sys/class/dmi/id/product_uuid'],
      )
    // A clone of a virtual machine gets another hardware UUID; machine ID and folder are copied with its disk.
    if (status.store.state !== undefined && !knownBy.includes('hardware'))
      return warn(
        `${says}, by ${knownBy.join(' and ')}: nodes share the store, and a copy of this disk that starts while this daemon is stopped would be taken for this machine`,
        ...['ls', '-l', '/sys/class/dmi/id/product_uuid'],
      )
    return ok(`${says}, by ${knownBy.join(' and ')}${former ? `; was called ${former.name}` : ''}`)
  },
}
