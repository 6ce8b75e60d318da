import { offlineOptions, withStores } from './offline-stores.ts'
import { command } from '../framework/command.ts'
import { showStages } from '../framework/progress.ts'
import { formatTable } from '../framework/terminal-text.ts'
import type { RecordConflict } from '../../migrate/transfer/bring-in.ts'
import { copyLedger } from '../../migrate/transfer/ledger-copy.ts'
import { moveLedger, type MoveReport, withoutOwn } from '../../migrate/transfer/move-ledger.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { counted } from '../../../shared/text/counted.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import { visible } from '../../../shared/text/visible.ts'

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
export function describeTransfer(report: MoveReport, again: string): string {
  const { written, same, left, history, conflicts, dryRun, interrupted, source, target, verified } = report
  if (conflicts.length > 0) {
    if (conflicts.some(({ boundOn }) => boundOn !== undefined)) {
      return `${conflictTable(conflicts)}\nnothing was written: the target is the store of one node, which would never release what is bound on other nodes
next: drain the other nodes while their daemons run, then run this again\n`
    }
    return `${conflictTable(conflicts)}\nnothing was written: the target has other records under these keys
next: name an empty store, or compare the records: ipkeeperctl backup FILE --store SPEC\n`
  }
  if (dryRun && interrupted) return `interrupted: not all records were compared\nnext: ${again}\n`
  const leftOut = left > 0 ? `, ${left} left out that the target does not need` : ''
  if (dryRun)
    return `no conflicts: ${counted(same, 'record is', 'records are')} already there${leftOut}\nnext: ${again}\n`
  if (interrupted)
    return `interrupted after ${counted(written, 'record, which stays', 'records, which stay')}\nnext: ${again}\n`
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
  return `${counted(written, 'record')} written, ${same} already there${leftOut}, ${counted(history, 'history entry', 'history entries')}
${digests}${verified ? 'the target is identical to the source' : `the target differs from the source\nnext: ${again}`}\n`
}

/** 1 where somebody has to do something more. */
export function moveExit({ dryRun, interrupted, verified, conflicts }: MoveReport): 0 | 1 {
  return conflicts.length === 0 && ((dryRun && !interrupted) || verified) ? 0 : 1
}

interface MigrateReport extends MoveReport {
  readonly from: string
  readonly to: string
}

export const migrateCommand = command<MigrateReport>({
  name: 'migrate',
  arguments: [
    {
      name: 'FROM',
      text: "source store, in the form of the daemon's --store: sqlite:PATH, etcd:URL[,URL...] or kubernetes:",
    },
    { name: 'TO', text: 'target store, in the same form' },
  ],
  summary: 'Copy the ledger of one store into another and compare the two; no daemon may run',
  about: [
    'Records that the target already has are skipped, so that an interrupted run can be resumed by starting it again. If the target has a different record under the same key, the conflict is listed and nothing is written. The same holds for a record that is bound on another node when the target is the store of one node, which would never release it. Records that only the target has stay. The source is not changed.',
    'Afterwards the target is reopened and compared with the source by digest: the sum of the SHA-256 of every record in canonical form.',
    "With a store that nodes share, attachments and history are in the journal in the state folder: run the command once on each node, with that node's state folder.",
  ],
  options: {
    ...offlineOptions,
    'dry-run': { text: 'only compare the two stores' },
    'without-history': { text: 'do not copy the history of addresses' },
  },
  examples: [
    {
      line: 'ipkeeperctl migrate sqlite:/var/lib/ipkeeper/leases.db etcd:https://10.0.0.1:2379',
      does: "Copy this node's ledger into the etcd that all nodes share",
    },
    {
      line: 'ipkeeperctl migrate sqlite:/var/lib/ipkeeper/leases.db kubernetes: --dry-run',
      does: 'Show whether there are conflicts',
    },
  ],
  exits: {
    0: 'the target has everything in the source',
    1: 'records conflict or are bound on another node, or the migration was interrupted or failed',
  },
  run: async (_daemon, args, terminal) => {
    const [from = '', to = ''] = args.positionals
    if (from === to) throw new Problem('IPK_USAGE', 'the two stores are the same')
    return await withStores(args, terminal, async (stores, parse) => {
      const specs = [parse(from), parse(to)] as const
      const [source, target] = specs
      // Both have this node's own in the one journal: it stays where it is.
      const oneJournal = specs.every(({ kind }) => kind === 'etcd' || kind === 'kubernetes')
      const interruption = terminal.interruption?.()
      const dryRun = args.flags.has('dry-run')
      const store = await stores.open(source, dryRun ? 'look' : 'resolve', true)
      const whole = await copyLedger(store)
      if (oneJournal) await stores.close(store)
      const copy = oneJournal ? withoutOwn(whole) : whole
      const progress = showStages(terminal, 'migrating')
      const report = await moveLedger(copy, stores.target(target, dryRun), {
        dryRun,
        othersAreFine: true,
        withHistory: !args.flags.has('without-history'),
        isOwn: name => stores.isOwn(name),
        onProgress: progress.at,
        signal: interruption,
      }).finally(progress.end)
      return { from, to, ...report }
    })
  },
  exitCode: moveExit,
  print: report =>
    describeTransfer(report, `ipkeeperctl migrate ${shellWord(report.from)} ${shellWord(report.to)}`) +
    (report.verified
      ? `next: start the daemon with --store ${shellWord(report.to)}; ${report.from} was not changed\n`
      : ''),
})
