import { meantVersion, supportedVersions } from '../../../shared/cni/versions.ts'
import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import { firstOf, formatCidr, parseCidr } from '../../../shared/net/cidr.ts'
import type { JsonNode } from './json/json-node.ts'
import { knownCapabilities, type ValueKind } from './plugin-keys.ts'

/** How a single value is written that stands where a list or an object is wanted. */
interface Meant {
  /** The part that is wanted, as JSON; undefined where the value is none. */
  readonly part: (text: string) => string | undefined
  /** The whole, around that part. */
  readonly whole: (part: string) => string
}

const quoted = (text: string): string => JSON.stringify(text)

function network(text: string): string | undefined {
  const cidr = parseCidr(text)
  return cidr && quoted(formatCidr({ ...cidr, address: firstOf(cidr) }))
}

function withPrefix(text: string): string | undefined {
  const cidr = parseCidr(text)
  return cidr && quoted(formatCidr(cidr))
}

function address(text: string): string | undefined {
  const found = parseAddress(text)
  return found && quoted(formatAddress(found))
}

const member = (key: string, part: string): string => `{ "${key}": ${part} }`

/** By the key that has the value; 'range set', 'range' and 'plugin' are items of a list. */
const meant: Readonly<Record<string, Meant>> = {
  ranges: { part: network, whole: part => `[[${member('subnet', part)}]]` },
  'range set': { part: network, whole: part => `[${member('subnet', part)}]` },
  range: { part: network, whole: part => member('subnet', part) },
  routes: { part: network, whole: part => `[${member('dst', part)}]` },
  addresses: { part: withPrefix, whole: part => `[${member('address', part)}]` },
  dns: { part: address, whole: part => member('nameservers', `[${part}]`) },
  plugins: { part: quoted, whole: part => `[${member('type', part)}]` },
  plugin: { part: quoted, whole: part => member('type', part) },
  ipam: { part: () => undefined, whole: part => member('type', part) },
  capabilities: {
    part: text => (knownCapabilities.includes(text) ? quoted(text) : undefined),
    whole: part => `{ ${part}: true }`,
  },
  vlanTrunk: { part: wholeNumber, whole: part => `[${member('id', part)}]` },
  request: { part: quoted, whole: part => `[${member('option', part)}]` },
  provide: { part: () => undefined, whole: part => `[{ "option": ${part}, "value": ... }]` },
  cniVersions: { part: version, whole: part => `[${part}]` },
}

function version(text: string): string | undefined {
  const found = meantVersion(text)
  return found && quoted(found)
}

function wholeNumber(text: string): string | undefined {
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? String(Number(text)) : undefined
}

/** What to write in place of a value of another kind: as it works, where it can be told what the value means. */
export function remedyForKind({ kind, value }: JsonNode, wanted: ValueKind, place: string): string {
  const bare =
    typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : undefined
  const isText = kind === 'string' && bare !== undefined
  const integer = isText && wanted === 'an integer' ? wholeNumber(bare) : undefined
  if (integer !== undefined) return `write ${integer}, without quotes`
  if (wanted === 'true or false' && isText && /^(?:true|false)$/i.test(bare))
    return `write ${bare.toLowerCase()}, without quotes`
  if (place === 'cniVersion')
    return `write ${(bare !== undefined && version(bare)) || `one of ${supportedVersions.map(quoted).join(', ')}`}`
  if (wanted === 'a string' && (kind === 'number' || kind === 'boolean')) return `write "${String(value)}"`
  const known = Object.hasOwn(meant, place) ? meant[place] : undefined
  if (known) return `write ${known.whole((bare !== undefined && known.part(bare)) || '...')}`
  return wanted === 'an array' && bare !== undefined ? `write [${quoted(bare)}]` : `write ${wanted}`
}
