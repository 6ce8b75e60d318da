import { join, resolve } from 'node:path'
import { version } from '../../../shared/build-info.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import { readBackupFile, writeBackupFile } from '../../transfer/backup-file.ts'
import { backupParts, type Backup } from '../../transfer/backup-lines.ts'
import { copyLedger } from '../../transfer/ledger-copy.ts'
import type { LedgerDigest } from '../../transfer/ledger-digest.ts'
import { countKinds, moveLedger, type MoveReport } from '../../transfer/move-ledger.ts'
import { command, expectPositionals } from '../command.ts'
import { describeMove, moveExit } from '../describe-move.ts'
import { offlineOptions, stateDirOf, withStores } from '../offline-stores.ts'

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

/** The parts of an answer until somebody presses Ctrl-C, with a line of progress. */
async function* watched(
  parts: AsyncIterable<string>,
  signal: AbortSignal | undefined,
  onProgress: ((text: string) => void) | undefined,
): AsyncGenerator<string> {
  let bytes = 0
  for await (const part of parts) {
    if (signal?.aborted) throw new Problem('IPK_INTERRUPTED', 'interrupted: no backup was written')
    bytes += part.length
    onProgress?.(`${(bytes / 1024 / 1024).toFixed(1)} MiB`)
    yield part
  }
}

export const backupCommand = command<BackupReport>({
  name: 'backup',
  arguments: 'FILE',
  summary: 'write the ledger of the running daemon, or of a store, to one file',
  options: {
    store: ['SPEC', 'of a daemon that does not run, as its --store has it (default: ask the daemon)'],
    ...offlineOptions,
  },
  example: 'ipkeeperctl backup /root/ledger-$(date +%F).ipkeeper',
  run: async (daemon, args, terminal) => {
    const [file = ''] = expectPositionals(args, ['FILE'])
    if (file === '') throw new Problem('IPK_USAGE', 'FILE is empty')
    const path = resolve(file)
    const interruption = terminal.interruption?.()
    const write = async (parts: AsyncIterable<string>): Promise<BackupReport> =>
      reportOf(file, await writeBackupFile(path, watched(parts, interruption, terminal.progress)))
    const { store: spec } = args.options
    try {
      if (spec === undefined) return await write(daemon.stream('/v1/backup'))
      return await withStores(args, terminal, async (stores, parse) => {
        const store = await stores.open(parse(spec), true)
        const { node } = stores
        const head = { version, createdAt: new Date().toISOString(), node, store: store.kind }
        return await write(backupParts(await copyLedger(store), head))
      })
    } finally {
      terminal.progress?.('')
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
  arguments: 'FILE',
  summary: 'bring a backup into an empty store, while no daemon runs',
  options: {
    store: ['SPEC', 'as --store of the daemon (default: sqlite in the state folder)'],
    ...offlineOptions,
  },
  flags: {
    'dry-run': 'only check the file, and compare it with the store',
    'without-history': 'leave out who had which address when',
  },
  example: 'ipkeeperctl restore /root/ledger.ipkeeper',
  exits: '0 the store has all that the file has, 1 it has something else, interrupted, or failed',
  run: async (_daemon, args, terminal) => {
    const [file = ''] = expectPositionals(args, ['FILE'])
    if (file === '') throw new Problem('IPK_USAGE', 'FILE is empty')
    const { head, copy } = await readBackupFile(resolve(file))
    const spec = args.options['store'] ?? `sqlite:${join(stateDirOf(args, terminal), 'leases.db')}`
    return await withStores(args, terminal, async (stores, parse) => {
      if (head.node !== stores.node) {
        terminal.err(
          `note: this is a backup of node ${head.node}, and here is ${stores.node}: its sandboxes are not here\n`,
        )
      }
      const target = parse(spec)
      const report = await moveLedger(
        copy,
        { open: () => stores.open(target, false), close: opened => stores.close(opened) },
        {
          dryRun: args.flags.has('dry-run'),
          othersAreFine: false,
          withHistory: !args.flags.has('without-history'),
          onProgress: text => terminal.progress?.(text),
          signal: terminal.interruption?.(),
        },
      )
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
