import { containerIdFault, interfaceNameFault } from '../../../shared/cni/identifiers.ts'
import type { AttachmentKey } from '../../ipam/records/records.ts'
import type { NamedSandbox } from './cache-kinds.ts'

/** Name of the file in which libcni keeps the result of an attachment (libcni/api.go, getCacheFilePath). */
export function resultFileName({ network, containerId, ifname }: AttachmentKey): string {
  return `${network}-${containerId}-${ifname}`
}

/** Container IDs of the runtimes that Kubernetes uses. */
const usual = /^(.+)-([0-9a-f]{64})-(.+)$/

/** The container ID in a name, where it is one that nothing else can be taken for. */
export function usualContainerId(name: string): string | undefined {
  return usual.exec(name)?.[2]
}

const plausible = (key: AttachmentKey): boolean =>
  !containerIdFault(key.containerId) && !interfaceNameFault(key.ifname)

/**
 * Whose result a name speaks of. All three parts may contain "-", so this is a guess, and better the more networks are
 * known: nothing is done by it that could harm a sandbox.
 */
export function sandboxOfName(name: string, networks: Iterable<string>): NamedSandbox {
  const match = usual.exec(name)
  if (match) {
    const key = { network: match[1] ?? '', containerId: match[2] ?? '', ifname: match[3] ?? '' }
    if (plausible(key)) return key
  }
  const known = [...networks]
    .filter(network => name.startsWith(`${network}-`))
    .sort((a, b) => b.length - a.length)
  const first = known[0] ?? name.slice(0, Math.max(0, name.indexOf('-')))
  const rest = name.slice(first.length + 1)
  const last = rest.lastIndexOf('-')
  if (first === '' || last < 1) return {}
  const key = { network: first, containerId: rest.slice(0, last), ifname: rest.slice(last + 1) }
  return plausible(key) ? key : {}
}
