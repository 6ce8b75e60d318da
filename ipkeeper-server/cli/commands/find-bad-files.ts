import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CacheFileItem } from '../../../shared/api/cache.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { badFileItem } from '../../result-cache/repair-file.ts'
import {} from '../../result-cache/file-calls.ts'
import { kindOfFolder, type CacheFolder, type CachePath } from '../../result-cache/list-cache-files.ts'
import { quietPeriod } from '../../result-cache/plan/judge-file.ts'
import { planRepair, type PlannedRepair } from '../../result-cache/plan/plan-repair.ts'
import { CacheScanner, type BadFile, type Scan } from '../../result-cache/scan-cache.ts'
import type { CacheSite } from './cache-site.ts'
import { showProgress } from '../framework/progress.ts'
import type { Terminal } from '../framework/terminal.ts'
import { systemCode } from '../../../shared/system-code.ts'

export interface FoundFile {
  readonly file: BadFile
  readonly repair: PlannedRepair
  readonly item: CacheFileItem
}

export interface WantedFiles {
  /** This folder alone. */
  readonly dir: string | undefined
  /** These files alone; empty: all. */
  readonly files: readonly string[]
  /** Whether files of other plugins' networks may be moved aside. */
  readonly others: boolean
}

/** How those who keep such files name them. */
const named: Readonly<Record<CacheFolder['kind'], (name: string, file: BadFile) => boolean>> = {
  results: (_, { sandbox }) => sandbox.containerId !== undefined,
  flannel: name => /^[0-9a-f]{64}$/.test(name),
  multus: name => /^[0-9a-f]{64}$/.test(name),
  hostLocal: name => isIP(name) !== 0,
}

/**
 * Whether a file of another plugin's network may be taken for one of a result cache. In a folder that nobody configured
 * only its name says so: a slip of the hand must not move a file of the system aside.
 */
function looksLikeCached(file: BadFile, { folders }: CacheSite): boolean {
  const path = file.path.toString()
  // host-local has a folder for each network.
  const above = [dirname(path), dirname(dirname(path))]
  const configured = folders.some(({ kind, path: folder }) =>
    kind === 'hostLocal' ? above.includes(folder) : folder === above[0],
  )
  return configured || named[file.kind](basename(path), file)
}

/** Throws IPK_CACHE_UNREADABLE. */
function namedFolder(path: string, configured: readonly CacheFolder[]): CacheFolder {
  let why: string | undefined
  try {
    if (!statSync(path).isDirectory()) why = 'it is not a folder'
  } catch (error) {
    why = systemCode(error)
  }
  if (why !== undefined)
    throw new Problem('IPK_CACHE_UNREADABLE', `${path} cannot be read (${why})`, {
      hint: 'name another one: ipkeeperctl cache scan --dir DIR',
    })
  return kindOfFolder(path, configured)
}

function foldersWanted(
  { dir, files }: WantedFiles,
  configured: readonly CacheFolder[],
): readonly CacheFolder[] {
  if (dir !== undefined) return [namedFolder(resolve(dir), configured)]
  if (files.length === 0) return configured
  return [...new Set(files.map(dirname))].map(path => namedFolder(path, configured))
}

/** One that could not be judged however long we waited. */
const restless = ({ kind, path, network }: CachePath): BadFile => ({
  ...{ kind, path, reason: 'changing', detail: 'it keeps changing' },
  ...{ sandbox: network === undefined ? {} : { network }, own: false, attachment: undefined },
  ...{ identity: undefined, size: null, modifiedAt: null },
})

/**
 * Scans once, and again when files that may be judged only after some seconds of rest have had them: a file that is being
 * written is empty for a moment, too.
 */
async function scanUntilRest(scanner: CacheScanner, site: CacheSite, terminal: Terminal): Promise<BadFile[]> {
  const deadline = performance.now() + quietPeriod + 1_500
  let scan: Scan = await scanner.scan(site.known())
  if (scan.again !== undefined)
    terminal.err(`note: files that just changed are checked again in ${quietPeriod / 1000} s\n`)
  while (scan.again !== undefined && performance.now() < deadline) {
    await delay(Math.min(scan.again + 20, Math.max(0, deadline - performance.now())))
    scan = await scanner.scan(site.known())
  }
  return [...scan.bad, ...scan.waiting.map(restless)]
}

/**
 * Bad files, each with what is to be done about it.
 *
 * @throws IPK_CACHE_UNREADABLE for a folder that was named, IPK_USAGE
 */
export async function findBadFiles(
  site: CacheSite,
  wanted: WantedFiles,
  terminal: Terminal,
): Promise<readonly FoundFile[]> {
  if (wanted.dir !== undefined && wanted.files.length > 0)
    throw new Problem('IPK_USAGE', 'either FILE or --dir DIR, not both')
  const files = wanted.files.map(file => resolve(file))
  const progress = showProgress(terminal, 'scanning', { what: 'files' })
  const scanner = new CacheScanner({
    folders: foldersWanted({ ...wanted, files }, site.folders),
    monotonic: () => performance.now(),
    onProgress: progress.at,
  })
  const all = await scanUntilRest(scanner, site, terminal).finally(progress.end)
  const named = new Set(files)
  const bad = named.size === 0 ? all : all.filter(({ path }) => named.has(path.toString()))
  const found: FoundFile[] = []
  for (const file of bad) {
    const text = file.attachment && (await site.cachedResult(file.attachment))
    const { recordsKnown } = site.known()
    const repair = planRepair(file, {
      others: !wanted.others ? 'report' : looksLikeCached(file, site) ? 'quarantine' : 'unlike',
      canRewrite: () => text !== undefined,
      recordsKnown,
    })
    found.push({ file, repair, item: badFileItem(file, repair) })
  }
  return found
}
