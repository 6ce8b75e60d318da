import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { defaultPaths, resultCacheFolders } from '../../shared/paths.ts'
import { filesIn } from '../migrate/import/host-local.ts'
import {
  showsUse,
  summarizeUse,
  type Absence,
  type EarlierUse,
  type LeftFile,
  type SeenAttachment,
} from './earlier-use.ts'
import { listLinks } from '../network/ip-show.ts'
import { runTool } from '../network/run-tool.ts'
import { linkOwner } from '../reconcile/plan-links.ts'
import { readOwnResult } from '../result-cache/plan/read-cached-result.ts'
import { readBoot } from '../host/boot.ts'
import { lastChangePath, readLastChange } from '../store/sqlite/last-change.ts'

/** What is left on a node of a ledger that was in use. */

/** Where it is looked, and who is told of what could not be seen. */
export interface TracePlaces {
  readonly stateDir: string
  /** Folders where libcni keeps results of ADDs. */
  readonly results: readonly string[]
  readonly onUnseen: (text: string, error: unknown) => void
}

/** undefined: a file with something in it is there. */
export function absenceOf(path: string): Absence | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return 'missing'
  return size === 0 ? 'empty' : undefined
}

/** @param path of the ledger that is not there */
export async function lookForUse(
  path: string,
  { results, stateDir, onUnseen }: TracePlaces,
): Promise<EarlierUse> {
  const isOurs = (other: string): boolean => isSame(other, stateDir)
  const told = toldFolder(stateDir)
  const bootedAt = readBoot().at
  const attachments: SeenAttachment[] = []
  const ofOthers = new Set<string>()
  for (const folder of results) {
    try {
      for await (const { text, modifiedAt } of filesIn(folder, name => !name.startsWith('.'))) {
        const result = text === null ? undefined : readOwnResult(text, told)
        if (!result) continue
        if (result.stateDirs.some(isOurs))
          attachments.push({ ...result, by: 'result', beforeBoot: modifiedAt < bootedAt })
        else ofOthers.add(result.containerId)
      }
    } catch (error) {
      onUnseen(`whether there were pods cannot be seen in ${folder}`, error)
    }
  }
  const known = new Set([...ofOthers, ...attachments.map(({ containerId }) => containerId)])
  try {
    for (const link of await listLinks(runTool, ['type', 'veth'])) {
      const owner = linkOwner(link)
      if (!owner || [...known].some(id => id.startsWith(owner.containerId))) continue
      attachments.push({ ...owner, addresses: [], pod: null, by: 'link', beforeBoot: false })
    }
  } catch (error) {
    onUnseen('whether there are links of pods cannot be seen', error)
  }
  return { attachments, files: leftFiles(path, stateDir) }
}

/**
 * The folder of a plugin whose configuration names none: that of its environment, which nobody keeps, else the usual one. The
 * plugins of a daemon with another folder were told of it; but where the usual one is in use as well, they may be of that.
 */
function toldFolder(stateDir: string): string {
  const usual = defaultPaths.stateDir
  const isInUse = ['node.json', 'leases.db', 'journal.db'].some(name => isFile(join(usual, name)))
  return isInUse && !isSame(usual, stateDir) ? usual : stateDir
}

function isSame(path: string, stateDir: string): boolean {
  if (resolve(path) === resolve(stateDir)) return true
  try {
    return realpathSync(path) === realpathSync(stateDir)
  } catch {
    return false
  }
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
