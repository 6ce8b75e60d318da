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
    count(history, 'entry of the history', 'entries of the history'),
  ].join(', ')
}

function lines(report: Report): readonly string[] {
  const { needed, file, unreadable, aside, inUse, faults = [], reserved = [], unknown = 0, dryRun } = report
  if (!needed)
    return [`${file} is as it should be; a copy of the ledger is written by: ipkeeperctl backup FILE`]
  return [
    ...few(faults).map(fault => `was wrong: ${fault}`),
    dryRun
      ? `${file}: can be saved: ${describe(report)}`
      : `${file} was written anew and compared: ${describe(report)}`,
    ...few(unreadable).map(line => `not saved: ${line}`),
    ...few(
      reserved.map(
        ({ address, by }) => `the lease of ${address} is lost (${by}); it is reserved for external:rescue`,
      ),
    ),
    ...(unknown > 0
      ? [
          `${count(unknown, 'acknowledged change is', 'acknowledged changes are')} lost, and nobody knows of which address`,
        ]
      : []),
    ...(aside.length > 0 ? [`what stood there is now ${aside.map(shellWord).join(' and ')}`] : []),
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
      ? ['next: compare ipkeeperctl leases with the pods that run, and make anew those without a lease']
      : []),
    ...(reserved.length > 0
      ? ['next: when nobody uses such an address any more: ipkeeperctl unreserve ADDRESS']
      : []),
  ]
  if (offline) return ['next: start the daemon: systemctl start ipkeeper', ...later]
  return inUse
    ? ['the daemon goes on with it; next: ipkeeperctl doctor']
    : [
        `next: systemctl restart ipkeeper (the folder ${dirname(file)} is another one than the daemon began with)`,
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
  summary: 'write the ledger to a new file, where its own was removed, replaced, cut or damaged',
  about: [
    'While the daemon runs it has all records in memory, and writes them to a new file in the place of the old one, with what can still be read of the history. The new file is read again and compared before it gets the name; whatever stood there is kept beside it. Then the daemon serves on. Do not restart it before: what it has in memory would be gone.',
    'With --store, while no daemon runs, what can still be read of a damaged file is saved in the same way. An address whose lease is lost is reserved, so that nobody gets it, and listed.',
  ],
  options: {
    store: {
      value: 'SPEC',
      text: 'sqlite:FILE, the ledger (leases.db) or journal (journal.db) of a daemon that does not run',
    },
    ...offlineOptions,
    'dry-run': { text: 'with --store: only tell what can be saved' },
  },
  examples: [
    { line: 'ipkeeperctl rescue', does: 'saves what the running daemon has in memory' },
    {
      line: 'ipkeeperctl rescue --store sqlite:/var/lib/ipkeeper/leases.db --dry-run',
      does: 'tells what can be read of a damaged ledger',
    },
  ],
  exits: { 0: 'the file is whole, or was written anew', 1: 'it was not, and stands as it was' },
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
