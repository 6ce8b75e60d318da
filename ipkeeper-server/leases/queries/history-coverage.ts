import { formatTime } from '../../ipam/records/times.ts'
import type { Coverage } from './history-source.ts'

/** What was asked for. Moments are milliseconds since the epoch. */
interface Asked {
  readonly since: number | undefined
  /** Whether there is more than was shown: then nothing is said of a time before. */
  readonly isCut: boolean
}

/** Nodes that are named in one line. */
const mostNamed = 3

/** Of which node and time there is no history, in one line each; of many nodes in one line for all. */
export function notKnown(coverage: Coverage, { since, isCut }: Asked): string[] {
  const none = coverage.filter(({ from }) => from === null)
  const late = coverage.flatMap(({ node, from }) => {
    const begin = from === null ? -Infinity : Date.parse(from)
    const isAsked = since === undefined ? !isCut : since < begin
    return from !== null && isAsked ? [{ node, at: begin }] : []
  })
  const lost = coverage.flatMap(({ node, to }) => (to === null ? [] : [{ node, at: Date.parse(to) }]))
  return [
    ...inLines(late, beginsThen),
    ...inLines(
      lost,
      ({ node, at }) => `not known of node ${node} after ${formatTime(at)}: it has sent nothing since`,
    ),
    ...(none.length === 0
      ? []
      : [`no history of ${names(none.map(({ node }) => node))}: what was recorded there is not known`]),
  ]
}

interface NodeTime {
  readonly node: string
  readonly at: number
}

const beginsThen = ({ node, at }: NodeTime): string =>
  `not known before ${formatTime(at)}: the history of node ${node} begins then`

function inLines(found: readonly NodeTime[], line: (one: NodeTime) => string): string[] {
  const newestFirst = found.toSorted((a, b) => b.at - a.at)
  const rest = newestFirst.length - mostNamed
  const shown = newestFirst.slice(0, mostNamed).map(line)
  return rest > 0
    ? [...shown, `and so for ${rest} more ${rest === 1 ? 'node' : 'nodes'} (-o json lists them)`]
    : shown
}

function names(nodes: readonly string[]): string {
  const rest = nodes.length - mostNamed
  const named = nodes.slice(0, mostNamed).join(', ')
  return `${nodes.length === 1 ? 'node' : 'nodes'} ${named}${rest > 0 ? ` and ${rest} more` : ''}`
}
