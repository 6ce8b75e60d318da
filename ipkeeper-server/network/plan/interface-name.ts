import { interfaceNameFault, type IdentifierFault } from '../../../shared/cni/identifiers.ts'
import { showJson } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'

/** IFNAMSIZ of Linux without the closing NUL, in bytes. */
const longestName = 15

const hostName = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/

/** What else CNI and Linux allow could mean something to `ip`, or to the kernel, which makes a number of "%d". */
const podName = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/

/** Folders of /proc/sys/net/*\/conf that speak of all interfaces, so that the kernel makes none for a link so called. */
const reserved: readonly string[] = ['all', 'default']

/**
 * The name of a link of the host that a configuration gives.
 *
 * @throws Problem IPK_CONFIG_INVALID that names `path`
 */
export function checkHostInterface(name: string, path: string): string {
  const invalid = (why: string): Problem =>
    new Problem('IPK_CONFIG_INVALID', `"${path}": ${why}`, {
      hint: `a name of 1 to ${longestName} letters, digits, ".", "_" and "-" that begins with a letter or digit`,
    })
  const bytes = new TextEncoder().encode(name).length
  if (bytes > longestName) {
    throw invalid(`interface name too long: ${showJson(name)} has ${bytes} bytes, ${longestName} is the most`)
  }
  if (!hostName.test(name) || reserved.includes(name)) {
    throw invalid(`${showJson(name)} is no name of an interface`)
  }
  return name
}

/**
 * undefined when a pod can have an interface of this name from us. Narrower than what CNI allows, as the name becomes a
 * word of a batch of `ip` and a part of a path below /proc/sys.
 */
export function podInterfaceFault(ifname: string): IdentifierFault | undefined {
  const fault = interfaceNameFault(ifname)
  if (fault) return fault
  if (podName.test(ifname) && !reserved.includes(ifname)) return undefined
  return {
    message: 'interface name cannot be wired',
    details: `CNI_IFNAME ${showJson(ifname)}: letters, digits, ".", "_", "@" and "-", a letter or digit first; not "all" or "default"`,
  }
}

/** Begins the names of the host's links. */
export const linkPrefix = 'ipk'

const hostLinkName = new RegExp(`^${linkPrefix}[0-9a-f]{12}$`)

/** Whether a link of the host is called as the host's side of a pod's veth is: only root gives such names. */
export function isHostLinkName(name: string): boolean {
  return hostLinkName.test(name)
}
