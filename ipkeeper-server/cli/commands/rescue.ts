import { dirname } from 'node:path'
import type { RescueReply } from '../../../shared/api/rescue.schema.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import { command } from '../framework/command.ts'
import { offlineOptions, withStores } from './offline-stores.ts'

/** Milliseconds that the daemon may take to write and compare a large ledger. */
const rescueDeadline = 300_000

/** Lines that are shown of what may be many. */
const mostShown = 20

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`

function few(lines: readonly string[]): readonly string[] {
  return lines.length > mostShown
    ? [...lines.slice(0, mostShown), `... and ${lines.length - mostShown} more (-o json shows more)`]
    : lines
}

function describe({ kinds, notes, history }: RescueReply): string {
  const of = (kind: string): number => kinds[kind] ?? 0
  return [
    count(of('lease'), 'lease', 'leases'),
    count(of('attachment'), 'attachment', 'attachments'),
    ...(notes > 0 ? [count(notes, 'note', 'notes')] : []),
    count(history, 'history entry', 'history entries'),
  ].join(', ')
}

function lines(report: Report): readonly string[] {
  const { needed, file, unreadable, aside, inUse, faults = [], reserved = [], unknown = 0, dryRun } = report
  if (!needed) return [`${file} is intact; to copy the ledger: ipkeeperctl backup FILE`]
  return [
    ...few(faults).map(fault => `fault: ${fault}`),
    dryRun
      ? `${file}: can be saved: ${describe(report)}`
      : `${file} was rewritten and verified: ${describe(report)}`,
    ...few(unreadable).map(line => `not saved: ${line}`),
    ...few(
      reserved.map(
        ({ address, by }) => `the lease of ${address} is lost (${by}); it is reserved for external:rescue`,
      ),
    ),
    ...(unknown > 0
      ? [`${count(unknown, 'acknowledged change is', 'acknowledged changes are')} lost, of unknown addresses`]
      : []),
    ...(aside.length > 0 ? [`the old file is now ${aside.map(shellWord).join(' and ')}`] : []),
    ...next(report, inUse),
  ]
}

/** What to type next, in the order in which it is to be typed. */
function next(
  { file, reserved = [], unknown = 0, offline, dryRun }: Report,
  inUse: boolean,
): readonly string[] {
  if (dryRun) return [`next: ipkeeperctl rescue --store sqlite:${shellWord(file)}`]
  const later = [
    ...(unknown > 0
      ? ['next: compare ipkeeperctl leases with the running pods, and recreate those without a lease']
      : []),
    ...(reserved.length > 0
      ? ['next: when such an address is no longer used: ipkeeperctl unreserve ADDRESS']
      : []),
  ]
  if (offline) return ['next: start the daemon: systemctl start ipkeeper', ...later]
  return inUse
    ? ['the daemon is using it; next: ipkeeperctl doctor']
    : [
        `next: systemctl restart ipkeeper (the folder ${dirname(file)} is not the one that the daemon started with)`,
      ]
}

interface Report extends RescueReply {
  /** Without a daemon. */
  readonly offline: boolean
  readonly dryRun: boolean
}

export const rescueCommand = command<Report>({
  name: 'rescue',
  arguments: [],
  summary: 'Rewrite the file of the ledger after it was removed, replaced, truncated or damaged',
  about: [
    'The running daemon has all records in memory. It writes them to a new file in place of the old one, with as much of the history as can be read. The new file is read back and compared before it is renamed; the old file is kept beside it. Then the daemon continues to serve. Do not restart the daemon before that: the records in its memory would be lost.',
    'With --store, while no daemon runs, everything that can be read from a damaged file is saved in the same way. An address whose lease is lost is listed and reserved, so that it is not assigned again.',
  ],
  options: {
    store: {
      value: 'SPEC',
      text: 'sqlite:FILE, the ledger (leases.db) or journal (journal.db) of a stopped daemon',
    },
    ...offlineOptions,
    'dry-run': { text: 'with --store: only show what can be saved' },
  },
  examples: [
    { line: 'ipkeeperctl rescue', does: 'Save the records that the running daemon has in memory' },
    {
      line: 'ipkeeperctl rescue --store sqlite:/var/lib/ipkeeper/leases.db --dry-run',
      does: 'Show what can be read from a damaged ledger',
    },
  ],
  exits: { 0: 'the file is intact, or was rewritten', 1: 'it could not be rewritten, and was not changed' },
  run: async (daemon, args, terminal) => {
    const { store: spec } = args.options
    if (spec === undefined) {
      const reply = (await daemon.ask('POST', '/v1/rescue', {}, rescueDeadline)) as RescueReply
      return { ...reply, offline: false, dryRun: false }
    }
    const dryRun = args.flags.has('dry-run')
    return await withStores(args, terminal, async (stores, parse) => {
      const rescued = await stores.rescue(parse(spec), dryRun)
      return {
        ...{ needed: true, ...rescued, offline: true, dryRun },
        kinds: { ...rescued.kinds },
        unreadable: [...rescued.unreadable],
        aside: [...rescued.aside],
        faults: [...rescued.faults],
        reserved: [...rescued.reserved],
      }
    })
  },
  print: report => `${lines(report).join('\n')}\n`,
})
