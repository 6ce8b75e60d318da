import type { CacheFileItem, CacheReply, QuarantinedItem } from '../../../shared/api/cache.schema.ts'
import { cacheReasons } from '../../../shared/cache-reasons.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import {} from '../../result-cache/file-calls.ts'
import { Quarantine } from '../../result-cache/quarantine.ts'
import { readBoot } from '../../host/boot.ts'
import { repairFile } from '../../result-cache/repair-file.ts'
import { lookAtSite, siteOptions } from './cache-site.ts'
import { command, type ReadCall } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { type Column, listing, tableOf } from '../framework/listing.ts'
import { distance, formatTable } from '../framework/terminal-text.ts'
import { findBadFiles } from './find-bad-files.ts'
import { showProgress } from '../framework/progress.ts'
import type { Terminal } from '../framework/terminal.ts'
import { systemCode } from '../../../shared/system-code.ts'
import { visible } from '../../../shared/text/visible.ts'

const dirOption = {
  dir: {
    value: 'DIR',
    text: 'only this folder; its owner is recognised by its name or its content',
    offers: 'folder',
  },
} as const

const fileColumns: readonly Column<CacheFileItem>[] = [
  { title: 'REASON', key: 'reason', value: ({ reason }) => reason },
  { title: 'PLAN', key: 'plan', value: ({ plan }) => plan },
  { title: 'SIZE', key: 'size', value: ({ size }) => size },
  {
    ...{ title: 'CHANGED', key: 'modifiedAt', value: ({ modifiedAt }) => modifiedAt },
    text: ({ modifiedAt }) => (modifiedAt === null ? '-' : distance(modifiedAt)),
  },
  { title: 'PATH', key: 'path', value: ({ path }) => path },
  { title: 'WHY', key: 'why', value: ({ detail, because }) => `${detail}; ${because}` },
]

export const cacheScanCommand = listing<{ readonly files: readonly CacheFileItem[] }, CacheFileItem>({
  name: 'cache scan',
  arguments: [],
  summary: 'Find bad files in result caches; needs no daemon',
  options: { ...dirOption, ...siteOptions },
  examples: [
    { line: 'ipkeeperctl cache scan', does: 'Scan the caches of this node' },
    {
      line: 'ipkeeperctl cache scan --dir /var/lib/cni/results -o json',
      does: 'Scan one folder, and print JSON',
    },
  ],
  exits: { 0: 'no bad files', 1: 'bad files found, or the scan failed' },
  run: async (daemon, args, terminal) => {
    const site = await lookAtSite(daemon, args, terminal)
    const wanted = { dir: args.options['dir'], files: [], others: false }
    const files = (await findBadFiles(site, wanted, terminal)).map(({ item }) => item)
    return { files }
  },
  exitCode: ({ files }) => (files.length === 0 ? 0 : 1),
  rows: ({ files }) => files,
  columns: fileColumns,
  nameOf: ({ path }) => path,
  below: ({ files }) => (files.length === 0 ? '' : '\nnext: ipkeeperctl cache repair --dry-run\n'),
  empty: 'no bad files',
})

interface RepairedItem extends CacheFileItem {
  /** planned: --dry-run was given. left: only reported, or it changed meanwhile. */
  readonly result: 'planned' | 'rewritten' | 'quarantined' | 'left' | 'failed'
  /** Its name in quarantine, or why it was left or failed. */
  readonly note: string
}

/** Whether somebody goes on stumbling over it. */
const remains = ({ result, reason }: RepairedItem): boolean =>
  result === 'planned' ||
  result === 'failed' ||
  (result === 'left' && cacheReasons[reason].fault !== 'left-over')

export const cacheRepairCommand = command({
  name: 'cache repair',
  arguments: [
    {
      name: 'FILE',
      text: 'only these files, as cache scan lists them',
      optional: true,
      repeated: true,
      offers: 'file',
    },
  ],
  summary: 'Rewrite bad files in result caches, or move them aside',
  options: {
    ...dirOption,
    ...siteOptions,
    others: {
      text: "also move files of other plugins' networks aside (default: only files that are named)",
    },
    'dry-run': { text: 'only show what would be done' },
  },
  examples: [
    { line: 'ipkeeperctl cache repair --dry-run', does: 'Show what would be done' },
    { line: 'ipkeeperctl cache repair', does: "Repair ipkeeper's own files" },
    {
      line: 'ipkeeperctl cache repair /var/lib/cni/results/cbr0-3f2a91c0d1e2-eth0',
      does: "Move this file aside, even if it is another plugin's",
    },
  ],
  exits: { 0: 'no bad files are left', 1: 'bad files are left, or the repair failed' },
  run: async (daemon, args, terminal, tell) => {
    const site = await lookAtSite(daemon, args, terminal)
    const named = args.positionals
    const wanted = {
      ...{ dir: args.options['dir'], files: named },
      others: args.flags.has('others') || named.length > 0,
    }
    const found = await findBadFiles(site, wanted, terminal)
    const dryRun = args.flags.has('dry-run')
    if (!dryRun && found.length > 0)
      tell(
        `${tableOf(
          fileColumns,
          found.map(({ item }) => item),
        )}\n`,
      )
    const quarantine = new Quarantine({ ...site, now: Date.now })
    const interruption = dryRun ? undefined : terminal.interruption?.()
    const files: RepairedItem[] = []
    const progress = showProgress(terminal, 'repairing', { what: 'files', total: found.length })
    for (const { file, repair, item } of found) {
      if (dryRun) {
        files.push({ ...item, result: 'planned', note: '' })
        continue
      }
      if (interruption?.aborted) {
        files.push({ ...item, result: 'left', note: 'interrupted' })
        continue
      }
      progress.at(files.length)
      try {
        const how = await repairFile(file, repair.plan, { quarantine, cachedResult: site.cachedResult })
        const note = how.done === 'quarantined' ? how.name : how.done === 'left' ? how.why : ''
        files.push({ ...item, result: how.done, note })
      } catch (error) {
        files.push({ ...item, result: 'failed', note: systemCode(error) })
      }
    }
    progress.end()
    return { files, dryRun }
  },
  exitCode: ({ files }: { files: readonly RepairedItem[] }) => (files.some(remains) ? 1 : 0),
  print: ({ files, dryRun }) =>
    dryRun
      ? tableOf(fileColumns, files, { empty: 'no bad files' })
      : formatTable(
          ['RESULT', 'PATH', 'NOTE'],
          files.map(({ result, path, note }) => [result, visible(path), visible(note) || '-']),
          'no bad files',
        ),
})

const quarantineColumns: readonly Column<QuarantinedItem>[] = [
  { title: 'NAME', key: 'name', value: ({ name }) => name },
  { title: 'REASON', key: 'reason', value: ({ reason }) => reason },
  { title: 'MOVED', key: 'at', value: ({ at }) => at, text: ({ at }) => distance(at) },
  { title: 'FROM', key: 'path', value: ({ path }) => path },
  { title: 'WHY', key: 'detail', value: ({ detail }) => detail },
]

const emptyQuarantine = 'the quarantine is empty'

/** Without --state-dir the daemon says where its quarantine is; without the daemon it is the default. */
async function openQuarantine(
  daemon: DaemonClient,
  { options }: ReadCall,
  { env }: Terminal,
): Promise<Quarantine> {
  const named = options['state-dir'] ?? (env['IPKEEPER_STATE_DIR'] || undefined)
  const ofDaemon =
    named ??
    (await daemon.ask('GET', '/v1/cache').then(
      reply => (reply as CacheReply).stateDir,
      () => undefined,
    ))
  const stateDir = ofDaemon ?? defaultPaths.stateDir
  return new Quarantine({ stateDir, bootId: readBoot().id, now: Date.now })
}

const stateDirOption = { 'state-dir': siteOptions['state-dir'] } as const

export const cacheQuarantineCommand = listing<
  { readonly quarantined: readonly QuarantinedItem[] },
  QuarantinedItem
>({
  name: 'cache quarantine',
  arguments: [],
  summary: 'List files in quarantine; needs no daemon',
  options: stateDirOption,
  examples: [{ line: 'ipkeeperctl cache quarantine', does: 'List files that were moved aside, and why' }],
  run: async (daemon, args, terminal) => {
    return { quarantined: await (await openQuarantine(daemon, args, terminal)).list() }
  },
  rows: ({ quarantined }) => quarantined,
  columns: quarantineColumns,
  nameOf: ({ name }) => name,
  empty: emptyQuarantine,
})

interface RestoredItem extends QuarantinedItem {
  readonly result: 'planned' | 'restored' | 'failed'
  readonly note: string
}

/** Each name, or former path, as the file that it means. Throws IPK_USAGE for one that means none, or several. */
function chosen(all: readonly QuarantinedItem[], names: readonly string[]): readonly QuarantinedItem[] {
  return names.map(name => {
    const [first, ...more] = all.filter(item => item.name === name || item.path === name)
    if (first && more.length === 0) return first
    throw new Problem(
      'IPK_USAGE',
      first
        ? `${more.length + 1} files in quarantine come from ${name}; use their names`
        : `no file in quarantine has the name or former path ${name}`,
    )
  })
}

export const cacheRestoreCommand = command({
  name: 'cache restore',
  arguments: [
    {
      name: 'NAME',
      text: 'name in quarantine, or former path; without it, list them',
      optional: true,
      repeated: true,
    },
  ],
  summary: 'Restore files from quarantine; needs no daemon',
  options: { ...stateDirOption, 'dry-run': { text: 'only show what would be done' } },
  examples: [
    {
      line: 'ipkeeperctl cache restore results-3f2a91c0-fixed-web-0',
      does: 'Move it back to where it was',
    },
    { line: 'ipkeeperctl cache restore', does: 'List files that can be restored' },
  ],
  run: async (
    daemon,
    args,
    terminal,
  ): Promise<{ quarantined?: readonly QuarantinedItem[]; restored?: readonly RestoredItem[] }> => {
    const quarantine = await openQuarantine(daemon, args, terminal)
    const all = await quarantine.list()
    if (args.positionals.length === 0) return { quarantined: all }
    const restored: RestoredItem[] = []
    const interruption = terminal.interruption?.()
    for (const item of chosen(all, args.positionals)) {
      if (args.flags.has('dry-run')) restored.push({ ...item, result: 'planned', note: '' })
      else if (interruption?.aborted) restored.push({ ...item, result: 'failed', note: 'interrupted' })
      else {
        try {
          await quarantine.restore(item)
          restored.push({ ...item, result: 'restored', note: '' })
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          restored.push({ ...item, result: 'failed', note: error.message })
        }
      }
    }
    return { restored }
  },
  exitCode: data => (data.restored?.some(({ result }) => result === 'failed') ? 1 : 0),
  print: ({ quarantined, restored = [] }) =>
    quarantined
      ? tableOf(quarantineColumns, quarantined, { empty: emptyQuarantine })
      : formatTable(
          ['RESULT', 'TO', 'NOTE'],
          restored.map(({ result, path, note }) => [result, visible(path), visible(note) || '-']),
          '',
        ),
})
