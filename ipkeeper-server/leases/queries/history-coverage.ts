import type { HistoryReply } from '../../../shared/api/address.schema.ts'
import { formatTime, isoTime } from '../../ipam/records/times.ts'
import type { LeaseService } from '../verbs/service.ts'

type Coverage = HistoryReply['coverage']

/** From when on the history of this node tells all that its daemon did. */
export async function historyCoverage({
  ledger,
  node,
}: Pick<LeaseService, 'ledger' | 'node'>): Promise<Coverage> {
  const begins = await ledger.historyBegins()
  return [{ node, from: begins ? isoTime(begins.at) : null, to: null }]
}

/** What was asked for. Moments are milliseconds since the epoch. */
interface Asked {
  readonly since: number | undefined
  /** Whether there is more than was shown: then nothing is said of a time before. */
  readonly isCut: boolean
}

/** Of which node and time there is no history, in one line each. */
export function notKnown(coverage: Coverage, { since, isCut }: Asked): string[] {
  return coverage.flatMap(({ node, from, to }) => {
    const lines: string[] = []
    if (from === null) return [`node ${node} has no history yet: what was before is not known`]
    const begin = Date.parse(from)
    if (since === undefined ? !isCut : since < begin)
      lines.push(`not known before ${formatTime(begin)}: the history of node ${node} begins then`)
    if (to !== null)
      lines.push(`not known of node ${node} after ${formatTime(Date.parse(to))}: it has sent nothing since`)
    return lines
  })
}
