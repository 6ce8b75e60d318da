import { Problem } from '../../../shared/problem/problem.ts'
import { copyLedger } from '../../transfer/ledger-copy.ts'
import { moveLedger, withoutOwn, type MoveReport } from '../../transfer/move-ledger.ts'
import { command, expectPositionals } from '../command.ts'
import { describeMove, moveExit } from '../describe-move.ts'
import { offlineOptions, withStores } from '../offline-stores.ts'

interface MigrateReport extends MoveReport {
  readonly from: string
  readonly to: string
}

export const migrateCommand = command<MigrateReport>({
  name: 'migrate',
  arguments: 'STORE STORE',
  summary: 'copy the ledger of one store into another and compare the two; no daemon may run',
  options: offlineOptions,
  flags: {
    'dry-run': 'only compare them',
    'without-history': 'leave out who had which address when',
  },
  example: 'ipkeeperctl migrate sqlite:/var/lib/ipkeeper/leases.db etcd:https://10.0.0.1:2379',
  exits: '0 the target has all that the source has, 1 something else is there, interrupted, or failed',
  run: async (_daemon, args, terminal) => {
    const [from = '', to = ''] = expectPositionals(args, ['STORE', 'STORE'])
    if (from === to) throw new Problem('IPK_USAGE', 'the two stores are the same')
    return await withStores(args, terminal, async (stores, parse) => {
      const specs = [parse(from), parse(to)] as const
      const [source, target] = specs
      // Both have this node's own in the one journal: it stays where it is.
      const oneJournal = specs.every(({ kind }) => kind === 'etcd' || kind === 'kubernetes')
      const interruption = terminal.interruption?.()
      const store = await stores.open(source, true)
      const whole = await copyLedger(store)
      if (oneJournal) await stores.close(store)
      const copy = oneJournal ? withoutOwn(whole) : whole
      const report = await moveLedger(
        copy,
        { open: () => stores.open(target, false), close: opened => stores.close(opened) },
        {
          dryRun: args.flags.has('dry-run'),
          othersAreFine: true,
          withHistory: !args.flags.has('without-history'),
          onProgress: text => terminal.progress?.(text),
          signal: interruption,
        },
      )
      return { from, to, ...report }
    })
  },
  exitCode: moveExit,
  print: report =>
    describeMove(report, `ipkeeperctl migrate ${report.from} ${report.to}`) +
    (report.verified
      ? `next: start the daemon with --store ${report.to}; ${report.from} is as it was\n`
      : ''),
})
