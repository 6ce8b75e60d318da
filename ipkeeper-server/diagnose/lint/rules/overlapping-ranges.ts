import { formatRange, type Range } from '../../../ipam/pools/pool.ts'
import { attachmentName } from '../attachment-objects.ts'
import { textField, type JsonNode } from '../json/json-node.ts'
import { allRanges, type SeenRange } from '../ranges.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf, type LintInput, type LintedNetwork } from '../site.ts'

/** Within which an address may be assigned once: a segment of ipkeeper, or the files that host-local keeps. */
function domainOf({ section }: SeenRange): string {
  const { node, entry, type } = section
  if (type === 'ipkeeper') return `ipkeeper ${textField(node, 'segment') ?? 'default'}`
  return `host-local ${textField(node, 'dataDir') ?? ''} ${entry.network.name ?? ''}`
}

const isFallbackOf = (a: SeenRange, b: SeenRange): boolean =>
  a.section.entry === b.section.entry && a.section.node !== b.section.node

function whereIs({ section, subnetNode }: SeenRange, from: SeenRange): string {
  const { document, name } = section.entry.network
  const { line } = document.file.lines.placeOf(document.view.inFile(subnetNode.start))
  if (document === from.section.entry.network.document) return `the one on line ${line}`
  const { attachment } = document
  const whose = attachment ? attachmentName(attachment) : `network ${JSON.stringify(name ?? '')}`
  return `that of ${whose} (${document.file.name}, line ${line})`
}

export const overlappingRanges: LintRule = {
  id: 'overlapping-ranges',
  severity: 'error',
  summary:
    'Ranges that share addresses: of one configuration, of an `ipkeeper` section and its fallback, or of several networks of one `segment`. Definitions of Multus are compared with each other, files that a manifest brings to different nodes are not; between files with `host-local` it is a warning.',
  *check(site) {
    const seen = [...allRanges(site)].filter(({ range }) => range !== undefined)
    // Sorted by their beginnings, so that only neighbours need be compared.
    const sorted = seen.toSorted((a, b) => {
      const [left, right] = [a.range?.first, b.range?.first]
      if (!left || !right) return 0
      return left.family - right.family || (left.value < right.value ? -1 : left.value > right.value ? 1 : 0)
    })
    const order = new Map(seen.map((range, index) => [range, index]))
    // Of each section that which reaches farthest: if any earlier range overlaps, that one does.
    const farthest = new Map<JsonNode, SeenRange>()
    for (const late of sorted) {
      const { range, section } = late
      if (!range) continue
      const clash = Array.from(farthest.values(), early => ({
        early,
        severity: severityOf(early, late, site.input),
      })).find(({ early, severity }) => severity !== undefined && reaches(early, range))
      if (clash) {
        const [one, other] =
          (order.get(clash.early) ?? 0) < (order.get(late) ?? 0) ? [clash.early, late] : [late, clash.early]
        const shown = other.range ? formatRange(other.range) : ''
        yield {
          at: spotOf(other.section.entry.network.document, other.subnetNode),
          message: `the range ${shown} overlaps ${whereIs(one, other)}`,
          remedy: remedyOf(one, other),
          ...(clash.severity && { severity: clash.severity }),
        }
      }
      const before = farthest.get(section.node)
      if (!before || !reaches(before, range) || (before.range?.last.value ?? 0n) < range.last.value)
        farthest.set(section.node, late)
    }
  },
}

/** Whether a range that begins earlier goes on to where another one begins. */
function reaches({ range: early }: SeenRange, late: Range): boolean {
  return early !== undefined && early.family === late.family && early.last.value >= late.first.value
}

/** With which other networks one can meet on a node. */
function placeOf({ document: { attachment, standing } }: LintedNetwork): 'cluster' | 'folder' | 'elsewhere' {
  return attachment ? 'cluster' : standing === 'runtime' ? 'folder' : 'elsewhere'
}

function severityOf(a: SeenRange, b: SeenRange, { directory }: LintInput): 'error' | 'warning' | undefined {
  const [left, right] = [a.section.entry.network, b.section.entry.network]
  const sameFile = left.document === right.document
  const [one, other] = [placeOf(left), placeOf(right)]
  // Files of a ConfigMap may be for different nodes, and files that are named one by one for different machines.
  if (!sameFile && (one !== other || one === 'elsewhere' || (one === 'folder' && !directory)))
    return undefined
  // Two files of one network are left to duplicate-network-name.
  if (!sameFile && left.name === right.name) return undefined
  if (isFallbackOf(a, b)) return 'error'
  if (domainOf(a) === domainOf(b)) return 'error'
  const bothForeign = a.section.type === 'host-local' && b.section.type === 'host-local'
  return bothForeign ? 'warning' : a.section.type === b.section.type ? undefined : 'warning'
}

function remedyOf(one: SeenRange, other: SeenRange): string {
  if (isFallbackOf(one, other))
    return 'give the fallback addresses that ipkeeper does not assign, by "rangeStart" and "rangeEnd"'
  if (one.section.entry.network.document === other.section.entry.network.document)
    return 'use disjoint ranges'
  const bothOurs = other.section.type === 'ipkeeper' && one.section.type === 'ipkeeper'
  if (bothOurs && other.section.entry.network.document.attachment)
    return 'to share addresses, give both configurations one "name", or one "pool" in place of their ranges; else use disjoint ranges, or another "segment" if they really are separate links'
  return bothOurs
    ? 'use disjoint ranges, or give one network another "segment" if they really are separate links'
    : 'use disjoint ranges: neither plugin knows what the other assigns'
}
