import { join, resolve } from 'node:path'
import { version } from '../../../shared/build-info.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import { readBackupFile, writeBackupFile } from '../../migrate/transfer/backup-file.ts'
import { backupParts, type Backup } from '../../migrate/transfer/backup-lines.ts'
import { copyLedger } from '../../migrate/transfer/ledger-copy.ts'
import type { LedgerDigest } from '../../migrate/transfer/ledger-digest.ts'
import { countKinds, moveLedger, type MoveReport } from '../../migrate/transfer/move-ledger.ts'
import { command, type Option } from '../framework/command.ts'
import { describeMove, moveExit } from './migrate.ts'
import { offlineOptions, stateDirOf, withStores } from './offline-stores.ts'
import { showStages, type StagedProgress } from '../framework/progress.ts'

interface BackupReport extends LedgerDigest {
  readonly file: string
  readonly node: string
  readonly store: string
  readonly createdAt: string
  readonly kinds: Readonly<Record<string, number>>
}

function reportOf(file: string, { head, copy, digest }: Backup): BackupReport {
  const { node, store, createdAt } = head
  return { file, node, store, createdAt, kinds: countKinds(copy.records), ...digest }
}

const storeOption = (text: string): Option => ({ value: 'SPEC', text })

/** The parts of an answer until somebody presses Ctrl-C, with a line of progress. */
async function* watched(
  parts: AsyncIterable<string>,
  signal: AbortSignal | undefined,
  progress: StagedProgress,
): AsyncGenerator<string> {
  let bytes = 0
  for await (const part of parts) {
    if (signal?.aborted) throw new Problem('IPK_INTERRUPTED', 'interrupted: no backup was written')
    bytes += part.length
    progress.at('KiB', Math.floor(bytes / 1024))
    yield part
  }
}

export const backupCommand = command<BackupReport>({
  name: 'backup',
  arguments: [
    {
      name: 'FILE',
      text: 'that is written; one of that name stays until the new one is whole',
      offers: 'file',
    },
  ],
  summary: 'write the ledger of the running daemon, or of a store, to one file',
  about: [
    'The file has every record and the history as of one moment, as compressed lines of JSON, and in its last line counts and digests. It is written under another name, read back and compared, brought to the disk, and only then given its name.',
    'A daemon goes on serving meanwhile. With a store that nodes share the file has the records of all nodes, and the attachments and the history of this one.',
  ],
  options: {
    store: storeOption('of a daemon that does not run, as its --store names it (default: ask the daemon)'),
    ...offlineOptions,
  },
  examples: [
    { line: 'ipkeeperctl backup /root/ledger.ipkeeper', does: 'saves the ledger of the running daemon' },
    {
      line: 'ipkeeperctl backup ledger.ipkeeper --store sqlite:/var/lib/ipkeeper/leases.db',
      does: 'the same while no daemon runs',
    },
  ],
  run: async (daemon, args, terminal) => {
    const [file = ''] = args.positionals
    if (file === '') throw new Problem('IPK_USAGE', 'FILE is empty')
    const path = resolve(file)
    const interruption = terminal.interruption?.()
    const progress = showStages(terminal, 'saving')
    const write = async (parts: AsyncIterable<string>): Promise<BackupReport> =>
      reportOf(file, await writeBackupFile(path, watched(parts, interruption, progress)))
    const { store: spec } = args.options
    try {
      if (spec === undefined) return await write(daemon.stream('/v1/backup'))
      return await withStores(args, terminal, async (stores, parse) => {
        const store = await stores.open(parse(spec), 'look', true)
        const { node } = stores
        const head = { version, createdAt: new Date().toISOString(), node, store: store.kind }
        return await write(backupParts(await copyLedger(store), head))
      })
    } finally {
      progress.end()
    }
  },
  print: ({ file, records, history, node, store }) =>
    `${file}: ${records.count} records and ${history.count} entries of the history, of node ${node} (${store})
records ${records.digest}
history ${history.digest}
next, where it is needed: ipkeeperctl restore ${shellWord(file)}\n`,
})

interface RestoreReport extends MoveReport {
  readonly file: string
  readonly store: string
}

export const restoreCommand = command<RestoreReport>({
  name: 'restore',
  arguments: [{ name: 'FILE', text: 'that ipkeeperctl backup has written', offers: 'file' }],
  summary: 'bring a backup into an empty store, while no daemon runs',
  about: [
    'The file is read to its end and compared with its digests before anything is written. A store that has anything else than a part of the same ledger is refused. The embedded store gets all records or none; a run that was interrupted goes on when it is started again.',
    'What has changed since the backup was made is not in it: addresses of pods that came later are free in it. The sweeper ends what is gone; of pods that came later see docs/operations/backup.md.',
  ],
  options: {
    store: storeOption('as --store of the daemon names it (default: sqlite in the state folder)'),
    ...offlineOptions,
    'dry-run': { text: 'only check the file, and compare it with the store' },
    'without-history': { text: 'leave out who had which address when' },
  },
  examples: [
    { line: 'ipkeeperctl restore /root/ledger.ipkeeper', does: 'fills the empty store of this node' },
    { line: 'ipkeeperctl restore /root/ledger.ipkeeper --dry-run', does: 'says whether the file is whole' },
  ],
  exits: { 0: 'the store has all that the file has', 1: 'it has something else, interrupted, or failed' },
  run: async (_daemon, args, terminal) => {
    const [file = ''] = args.positionals
    if (file === '') throw new Problem('IPK_USAGE', 'FILE is empty')
    const { head, copy } = await readBackupFile(resolve(file))
    const spec = args.options['store'] ?? `sqlite:${join(stateDirOf(args, terminal), 'leases.db')}`
    return await withStores(args, terminal, async (stores, parse) => {
      if (!stores.isOwn(head.node)) {
        terminal.err(
          `note: this is a backup of node ${head.node}, and here is ${stores.node}: its sandboxes are not here\n`,
        )
      }
      const target = parse(spec)
      const progress = showStages(terminal, 'restoring')
      const dryRun = args.flags.has('dry-run')
      const report = await moveLedger(copy, stores.target(target, dryRun), {
        dryRun,
        othersAreFine: false,
        withHistory: !args.flags.has('without-history'),
        onProgress: progress.at,
        signal: terminal.interruption?.(),
      }).finally(progress.end)
      if (report.conflicts.length > 0) {
        const count = report.conflicts.length
        throw new Problem(
          'IPK_STORE_OCCUPIED',
          `${target.kind} store ${spec} has ${count} record${count === 1 ? '' : 's'} that ${count === 1 ? 'is' : 'are'} not in the backup as it stands`,
          {
            details: report.conflicts
              .slice(0, 5)
              .map(({ kind, key }) => `${kind} ${key}`)
              .join(', '),
          },
        )
      }
      return { file, store: spec, ...report }
    })
  },
  exitCode: moveExit,
  print: report =>
    describeMove(report, `ipkeeperctl restore ${shellWord(report.file)}`) +
    (report.verified ? 'next: start the daemon; what is gone since is found by: ipkeeperctl audit\n' : ''),
})
