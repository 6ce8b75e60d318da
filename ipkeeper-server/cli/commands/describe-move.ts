import type { RecordConflict } from '../../migrate/transfer/bring-in.ts'
import type { MoveReport } from '../../migrate/transfer/move-ledger.ts'
import { formatTable } from '../framework/table.ts'
import { visible } from '../framework/visible.ts'

/** How many conflicts are listed; `-o json` has all. */
const shown = 20

function conflictTable(conflicts: readonly RecordConflict[]): string {
  const rows = conflicts
    .slice(0, shown)
    .map(({ kind, key, boundOn }) => [
      kind,
      visible(key),
      boundOn === undefined ? 'other' : `bound on ${visible(boundOn)}`,
    ])
  const more = conflicts.length - rows.length
  return formatTable(['KIND', 'KEY', 'IS'], rows, '') + (more > 0 ? `and ${more} more: -o json\n` : '')
}

/** What became of a ledger that was to be brought somewhere; `again` is the command that goes on. */
export function describeMove(report: MoveReport, again: string): string {
  const { written, same, left, history, conflicts, dryRun, interrupted, source, target, verified } = report
  if (conflicts.length > 0) {
    if (conflicts.some(({ boundOn }) => boundOn !== undefined)) {
      return `${conflictTable(conflicts)}\nnothing was written: the target is the store of one node, and nothing there ends what is bound on others
next: going back is for a single node: drain the others while their daemons run, and do this again\n`
    }
    return `${conflictTable(conflicts)}\nnothing was written: the target has other records under these keys
next: name an empty store, or compare them: ipkeeperctl backup FILE --store SPEC\n`
  }
  if (dryRun && interrupted) return `interrupted: not all was compared\nnext: ${again}\n`
  const leftOut = left > 0 ? `, ${left} left out that it has no use for` : ''
  if (dryRun) return `nothing is in the way: ${same} records are there already${leftOut}\nnext: ${again}\n`
  if (interrupted) return `interrupted after ${written} records; those stay\nnext: ${again}\n`
  const digests =
    source && target
      ? formatTable(
          ['', 'RECORDS', 'DIGEST', 'HISTORY', 'DIGEST'],
          [
            [
              'source',
              String(source.records.count),
              source.records.digest,
              String(source.history.count),
              source.history.digest,
            ],
            [
              'target',
              String(target.records.count),
              target.records.digest,
              String(target.history.count),
              target.history.digest,
            ],
          ],
          '',
        )
      : ''
  return `${written} records written, ${same} were there already${leftOut}, ${history} entries of the history
${digests}${verified ? 'the target has the same as the source' : `the target differs from the source\nnext: ${again}`}\n`
}

/** 1 where somebody has to do something more. */
export function moveExit({ dryRun, interrupted, verified, conflicts }: MoveReport): 0 | 1 {
  return conflicts.length === 0 && ((dryRun && !interrupted) || verified) ? 0 : 1
}
