import { parseAddress } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { textField, valueOf, type JsonNode } from '../json/json-node.ts'
import { hasRanges, ipamSections } from '../ranges.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf } from '../site.ts'

type Notation = 'address' | 'cidr'

/** Why a text is not an address of that notation, and what to write; undefined when it is one. */
function faultOf(text: string, notation: Notation): readonly [why: string, remedy: string] | undefined {
  const address = parseAddress(text)
  const cidr = parseCidr(text)
  if (notation === 'cidr') {
    if (cidr) return undefined
    if (address) return ['has no prefix length', `write it like ${text}/${address.family === 4 ? 24 : 64}`]
    return ['is not a subnet', 'write it like 10.22.0.0/16']
  }
  if (address) return undefined
  if (cidr) return ['has a prefix length', `write ${text.slice(0, text.indexOf('/'))}`]
  return ['is not an IP address', 'write it like 10.22.0.1']
}

export const invalidAddress: LintRule = {
  id: 'invalid-address',
  severity: 'error',
  summary:
    'A value that is not an IP address or subnet, where one belongs. Leading zeros ("10.22.0.050") are not allowed.',
  *check(site) {
    for (const section of ipamSections(site)) {
      const { node, type, entry } = section
      const wanted: [JsonNode, string, Notation][] = []
      const ask = (holder: JsonNode, keys: Readonly<Record<string, Notation>>): void => {
        for (const [key, notation] of Object.entries(keys)) wanted.push([holder, key, notation])
      }
      if (hasRanges(section)) {
        const ranges = (valueOf(node, 'ranges')?.items ?? []).flatMap(({ items }) => items)
        for (const range of [node, ...ranges])
          ask(range, { subnet: 'cidr', rangeStart: 'address', rangeEnd: 'address', gateway: 'address' })
      }
      if (type === 'static')
        for (const address of valueOf(node, 'addresses')?.items ?? [])
          ask(address, { address: 'cidr', gateway: 'address' })
      if (hasRanges(section) || type === 'static')
        for (const route of valueOf(node, 'routes')?.items ?? []) ask(route, { dst: 'cidr', gw: 'address' })
      for (const [holder, key, notation] of wanted) {
        const text = textField(holder, key)
        const value = valueOf(holder, key)
        // Words that stand for a value have rules of their own.
        if (text === undefined || text === '' || !value || !/^[\s\d.:/]|^[0-9a-fA-F:]+(?:\/|$)/.test(text))
          continue
        const fault = faultOf(text, notation)
        if (!fault) continue
        yield {
          at: spotOf(entry.network.document, value),
          message: `${JSON.stringify(key)}: ${JSON.stringify(text)} ${fault[0]}`,
          remedy: fault[1],
        }
      }
    }
  },
}
