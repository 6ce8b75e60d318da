import { join, resolve } from 'node:path'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import { version } from '../../../shared/build-info.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { counted } from '../../../shared/text/counted.ts'
import { shellLine, shellWord } from '../../../shared/text/shell-word.ts'
import { readBackupFile, writeBackupFile } from '../../migrate/transfer/backup-file.ts'
import { backupParts, type Backup } from '../../migrate/transfer/backup-lines.ts'
import { copyLedger } from '../../migrate/transfer/ledger-copy.ts'
import type { LedgerDigest } from '../../migrate/transfer/ledger-digest.ts'
import { countKinds, moveLedger, type MoveReport } from '../../migrate/transfer/move-ledger.ts'
import { command, type Option } from '../framework/command.ts'
import { describeTransfer, moveExit } from './migrate.ts'
import { offlineOptions, stateDirOf, withStores } from './offline-stores.ts'
import { showStages, type StagedProgress } from '../framework/progress.ts'

interface BackupReport extends LedgerDigest {
  readonly file: string
  readonly node: string
  readonly store: string
  readonly createdAt: string
  readonly kinds: Readonly<Record<string, number>>
  /** Words of the command that brings it back where it came from. */
  readonly restore: readonly string[]
}

function reportOf(file: string, { head, copy, digest }: Backup, target: readonly string[]): BackupReport {
  const { node, store, createdAt } = head
  const restore = ['ipkeeperctl', 'restore', file, ...target]
  return { file, node, store, createdAt, kinds: countKinds(copy.records), ...digest, restore }
}

/** Options by which restore finds the store of a daemon: without them it takes the embedded one in the usual folder. */
function storeOf({ stateDir, store: { kind, location } }: StatusReply): string[] {
  const folder = stateDir === defaultPaths.stateDir ? [] : ['--state-dir', stateDir]
  switch (kind) {
    case 'etcd':
      return ['--store', `etcd:${location}`, ...folder]
    case 'kubernetes':
      return ['--store', 'kubernetes:', ...folder]
    case 'sqlite':
      return location === join(stateDir, 'leases.db') ? folder : ['--store', `sqlite:${location}`, ...folder]
    default:
      return folder
  }
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
      text: 'file to write; an existing one is replaced only when the new one is complete',
      offers: 'file',
    },
  ],
  summary: 'Back up the ledger of the running daemon, or of a store, to a file',
  about: [
    'The file has every record and the history as of one moment, as compressed JSON lines; its last line has counts and digests. It is written under a temporary name, read back, compared and synced to disk before it is renamed.',
    'The daemon keeps serving meanwhile. With a store that nodes share, the file has the records of all nodes, but only the attachments and the history of this node.',
  ],
  options: {
    store: storeOption(
      'store of a stopped daemon, in the form of its --store (default: ask the running daemon)',
    ),
    ...offlineOptions,
  },
  examples: [
    { line: 'ipkeeperctl backup /root/ledger.ipkeeper', does: 'Back up the ledger of the running daemon' },
    {
      line: 'ipkeeperctl backup ledger.ipkeeper --store sqlite:/var/lib/ipkeeper/leases.db',
      does: 'Back up a store while no daemon runs',
    },
  ],
  run: async (daemon, args, terminal) => {
    const [file = ''] = args.positionals
    if (file === '') throw new Problem('IPK_USAGE', 'FILE is empty')
    const path = resolve(file)
    const interruption = terminal.interruption?.()
    const progress = showStages(terminal, 'saving')
    const write = async (parts: AsyncIterable<string>, target: readonly string[]): Promise<BackupReport> =>
      reportOf(file, await writeBackupFile(path, watched(parts, interruption, progress)), target)
    const { store: spec } = args.options
    try {
      if (spec === undefined)
        return await write(
          daemon.stream('/v1/backup'),
          storeOf((await daemon.ask('GET', '/v1/status')) as StatusReply),
        )
      return await withStores(args, terminal, async (stores, parse) => {
        const store = await stores.open(parse(spec), 'look', true)
        const { node } = stores
        const head = { version, createdAt: new Date().toISOString(), node, store: store.kind }
        return await write(backupParts(await copyLedger(store), head), ['--store', spec])
      })
    } finally {
      progress.end()
    }
  },
  print: ({ file, records, history, node, store, restore }) =>
    `${file}: ${records.count} records and ${history.count} history entries of node ${node} (${store})
records ${records.digest}
history ${history.digest}
to restore it: ${shellLine(restore)}\n`,
})

interface RestoreReport extends MoveReport {
  readonly file: string
  readonly store: string
}

export const restoreCommand = command<RestoreReport>({
  name: 'restore',
  arguments: [{ name: 'FILE', text: 'a file that ipkeeperctl backup wrote', offers: 'file' }],
  summary: 'Restore a backup into an empty store while no daemon runs',
  about: [
    'The whole file is read and checked against its digests before anything is written. The store must be empty or have only a part of the same ledger. The embedded store gets all records or none; to resume an interrupted run, start it again.',
    'Changes made after the backup are lost: the addresses of pods created later are free in it. The sweeper removes what no longer exists; for pods created later see docs/operations/backup.md.',
  ],
  options: {
    store: storeOption("target, in the form of the daemon's --store (default: sqlite in the state folder)"),
    ...offlineOptions,
    'dry-run': { text: 'only check the file and compare it with the store' },
    'without-history': { text: 'do not copy the history of addresses' },
  },
  examples: [
    { line: 'ipkeeperctl restore /root/ledger.ipkeeper', does: 'Restore the store of this node' },
    { line: 'ipkeeperctl restore /root/ledger.ipkeeper --dry-run', does: 'Check that the file is complete' },
  ],
  exits: {
    0: 'the store has everything in the file',
    1: 'the store has other records, or the restore was interrupted or failed',
  },
  run: async (_daemon, args, terminal) => {
    const [file = ''] = args.positionals
    if (file === '') throw new Problem('IPK_USAGE', 'FILE is empty')
    const { head, copy } = await readBackupFile(resolve(file))
    const spec = args.options['store'] ?? `sqlite:${join(stateDirOf(args, terminal), 'leases.db')}`
    return await withStores(args, terminal, async (stores, parse) => {
      if (!stores.isOwn(head.node)) {
        terminal.err(
          `note: this is a backup of node ${head.node}, but this is node ${stores.node}, which does not have its sandboxes\n`,
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
          `${target.kind} store ${spec} has ${counted(count, 'record that differs', 'records that differ')} from the backup or is not in it`,
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
    describeTransfer(report, `ipkeeperctl restore ${shellWord(report.file)}`) +
    (report.verified ? 'next: start the daemon, then look for what has gone since: ipkeeperctl audit\n' : ''),
})
