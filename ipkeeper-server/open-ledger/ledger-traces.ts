import { lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { resultCacheFolders } from '../../shared/paths.ts'
import { findKeptResults, type ResultPlaces } from '../migrate/import/kept-results.ts'
import {
  showsUse,
  summarizeUse,
  type Absence,
  type EarlierUse,
  type LeftFile,
  type EarlierAttachment,
} from './earlier-use.ts'
import { listLinks } from '../network/ip-show.ts'
import { runTool } from '../network/run-tool.ts'
import { linkOwner } from '../reconcile/plan-links.ts'
import { lastChangePath, readLastChange } from '../store/sqlite/last-change.ts'

/** What is left on a node of a ledger that was in use. */

/** undefined: a file with something in it is there. */
export function absenceOf(path: string): Absence | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return 'missing'
  return size === 0 ? 'empty' : undefined
}

/** @param path of the ledger that is not there */
export async function lookForUse(path: string, places: ResultPlaces): Promise<EarlierUse> {
  const { own, ofOthers } = await findKeptResults(places)
  const attachments: EarlierAttachment[] = own.map(result => ({ ...result, by: 'result' }))
  const known = new Set([...ofOthers, ...own.map(({ containerId }) => containerId)])
  try {
    for (const link of await listLinks(runTool, ['type', 'veth'])) {
      const owner = linkOwner(link)
      if (!owner || [...known].some(id => id.startsWith(owner.containerId))) continue
      attachments.push({ ...owner, addresses: [], pod: null, by: 'link', beforeBoot: false })
    }
  } catch (error) {
    places.onUnseen('whether there are links of pods cannot be seen', error)
  }
  return { attachments, files: leftFiles(path, places.stateDir) }
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

const hasBytes = (path: string): boolean =>
  isFile(path) && (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0

/** Files that only a ledger in use leaves behind. */
function leftFiles(path: string, stateDir: string): readonly LeftFile[] {
  const folder = dirname(path)
  const name = basename(path)
  const copies = namesIn(folder).filter(
    other => other.startsWith(`${name}.`) && /\.(saved-\w+|rescued|before-(rescue|anew)-\w+)$/.test(other),
  )
  const attachments = (database: string): string => {
    const count = readLastChange(database)?.attachments
    return count === undefined ? '' : `${count} attachments then`
  }
  // Of the other store: somebody named another one, and has not brought there what the pods have.
  const others = ['leases.db', 'journal.db']
    .map(other => join(stateDir, other))
    .filter(other => other !== path)
  return [
    // An empty one is left by a daemon that was killed before it was given anything to write.
    ...[`${path}-wal`].filter(hasBytes).map(file => ({ path: file, says: 'its log', isLedger: false })),
    ...[lastChangePath(path)].filter(isFile).map(file => ({
      ...{ path: file, says: attachments(path), isLedger: false },
    })),
    ...copies.map(copy => ({
      ...{ path: join(folder, copy), says: 'a copy', isLedger: !copy.includes('.before-') },
    })),
    ...others
      .filter(other => isFile(other) && (readLastChange(other)?.attachments ?? 0) > 0)
      .map(other => ({
        path: other,
        says: `${attachments(other)}; to bring them here: ipkeeperctl migrate`,
        isLedger: false,
      })),
  ]
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** Of a daemon that does not run: why its ledger is not begun. Which of the two it has, is in its configuration. */
export async function missingLedgerIn(stateDir: string): Promise<string | undefined> {
  const paths = ['leases.db', 'journal.db'].map(name => join(stateDir, name))
  const absences = paths.map(path => [path, absenceOf(path)] as const)
  if (absences.some(([, absence]) => absence === undefined)) return undefined
  const [empty] = absences.find(([, absence]) => absence === 'empty') ?? []
  if (empty !== undefined) return `${empty} is empty (0 bytes), as no ledger ever is`
  for (const path of paths) {
    const use = await lookForUse(path, {
      ...{ stateDir, results: resultCacheFolders.results },
      onUnseen: () => undefined,
    })
    if (showsUse(use)) return `there is no ledger in ${stateDir}, and there was one: ${summarizeUse(use)}`
  }
  return undefined
}
