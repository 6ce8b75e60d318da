/** Why a name is not valid, in the words of the reference library (cni:pkg/utils/utils.go; cni-protocol B2, B3, C3). */
export interface IdentifierFault {
  readonly message: string
  /** What the library adds: the value, a rule, or nothing. */
  readonly details: string
}

const identifier = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/

/** IFNAMSIZ of Linux without the closing NUL, in bytes. */
const longestInterfaceName = 15

/** Go's unicode.IsSpace, which is not what \s means in JavaScript: U+0085 is one here, U+FEFF is none. */
const slashColonOrSpace = /[/:\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** undefined when the container ID is valid; it has no limit of length. */
export function containerIdFault(containerId: string): IdentifierFault | undefined {
  if (identifier.test(containerId)) return undefined
  return { message: 'invalid characters in containerID', details: containerId }
}

/** undefined when the network name is valid; '' counts as missing. */
export function networkNameFault(name: string): IdentifierFault | undefined {
  if (name === '') return { message: 'missing network name', details: '' }
  if (identifier.test(name)) return undefined
  return { message: 'invalid characters found in network name', details: name }
}

/** undefined when the interface name is valid; "%d" is. */
export function interfaceNameFault(ifname: string): IdentifierFault | undefined {
  if (ifname === '') return { message: 'interface name is empty', details: '' }
  if (new TextEncoder().encode(ifname).length > longestInterfaceName) {
    const details = `interface name should be less than ${longestInterfaceName + 1} characters`
    return { message: 'interface name is too long', details }
  }
  if (ifname === '.' || ifname === '..') return { message: 'interface name is . or ..', details: '' }
  if (!slashColonOrSpace.test(ifname)) return undefined
  return { message: 'interface name contains / or : or whitespace characters', details: '' }
}
