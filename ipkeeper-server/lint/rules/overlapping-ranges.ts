import { formatRange } from '../../ipam/pool.ts'
import { textOf } from '../json-node.ts'
import { allRanges, type SeenRange } from '../ranges.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

/** In which nobody else may give the same address: a segment of ipkeeper, or the books that host-local keeps. */
function domainOf({ section }: SeenRange): string {
  const { node, entry, type } = section
  if (type === 'ipkeeper') return `ipkeeper ${textOf(node, 'segment') ?? 'default'}`
  return `host-local ${textOf(node, 'dataDir') ?? ''} ${entry.network.name ?? ''}`
}

const isFallbackOf = (a: SeenRange, b: SeenRange): boolean =>
  a.section.entry === b.section.entry && a.section.node !== b.section.node

function whereIs({ section, subnetNode }: SeenRange, from: SeenRange): string {
  const { document, name } = section.entry.network
  const { line } = document.file.lines.placeOf(document.view.inFile(subnetNode.start))
  if (document === from.section.entry.network.document) return `that of line ${line}`
  return `that of network ${JSON.stringify(name ?? '')} (${document.file.name}, line ${line})`
}

export const overlappingRanges: LintRule = {
  id: 'overlapping-ranges',
  severity: 'error',
  summary:
    'Ranges that share addresses: of one configuration, of an `ipkeeper` section and its fallback, or of several networks of one `segment`. Across files that a manifest brings to different nodes nothing is said; between files with `host-local` it is a warning.',
  *check(site) {
    const seen = [...allRanges(site)].filter(({ range }) => range !== undefined)
    // Sorted by their beginnings, so that only neighbours need be compared.
    const sorted = seen.toSorted((a, b) => {
      const [left, right] = [a.range?.first, b.range?.first]
      if (!left || !right) return 0
      return left.family - right.family || (left.value < right.value ? -1 : left.value > right.value ? 1 : 0)
    })
    let open: SeenRange[] = []
    for (const late of sorted) {
      const { range } = late
      if (!range) continue
      open = open.filter(
        ({ range: early }) => early && early.family === range.family && early.last.value >= range.first.value,
      )
      const clashes = open.flatMap(early => {
        const severity = severityOf(early, late)
        return severity ? [{ early, severity }] : []
      })
      // One is enough: the others overlap each other as well, or are told of when this one is mended.
      const [clash] = clashes
      if (clash) {
        const [one, other] =
          seen.indexOf(clash.early) < seen.indexOf(late) ? [clash.early, late] : [late, clash.early]
        const shown = other.range ? formatRange(other.range) : ''
        yield {
          at: spotOf(other.section.entry.network.document, other.subnetNode),
          message: `the range ${shown} overlaps ${whereIs(one, other)}`,
          remedy: remedyOf(one, other),
          severity: clash.severity,
        }
      }
      open.push(late)
    }
  },
}

function severityOf(a: SeenRange, b: SeenRange): 'error' | 'warning' | undefined {
  const [left, right] = [a.section.entry.network, b.section.entry.network]
  const sameFile = left.document === right.document
  if (!sameFile && (left.document.standing === 'manifest' || right.document.standing === 'manifest'))
    return undefined
  // Two files of one network: duplicate-network-name tells of it.
  if (!sameFile && left.name === right.name) return undefined
  if (isFallbackOf(a, b)) return 'error'
  const [one, other] = [domainOf(a), domainOf(b)]
  if (one === other) return 'error'
  const bothForeign = a.section.type === 'host-local' && b.section.type === 'host-local'
  return bothForeign ? 'warning' : a.section.type === b.section.type ? undefined : 'warning'
}

function remedyOf(one: SeenRange, other: SeenRange): string {
  if (isFallbackOf(one, other))
    return 'give the fallback addresses that ipkeeper does not give, by "rangeStart" and "rangeEnd"'
  if (one.section.entry.network.document === other.section.entry.network.document)
    return 'use disjoint ranges'
  return other.section.type === 'ipkeeper' && one.section.type === 'ipkeeper'
    ? 'use disjoint ranges, or give one network another "segment" if they really are separate links'
    : 'use disjoint ranges: neither plugin knows what the other gives'
}
