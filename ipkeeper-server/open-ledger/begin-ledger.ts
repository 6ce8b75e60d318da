import { lstatSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { stateFiles } from '../../shared/paths.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { shellWord } from '../../shared/text/shell-word.ts'
import { describeUse, missingLedger, showsUse } from './earlier-use.ts'
import type { ClusterLog } from '../kubernetes/client-context.ts'
import { absenceOf, lookForUse } from './ledger-traces.ts'
import { lastChangePath } from '../store/sqlite/last-change.ts'
import { syncSync } from '../host/durable-file.ts'
import { timeStamp } from '../store/sqlite/rescue-file.ts'
import { refuseOlderThanSaved } from '../store/sqlite/saved-ledger.ts'
import type { SqliteStore } from '../store/sqlite/sqlite-store.ts'

/**
 * An address that is in use and is not in the ledger is given to the next pod. So a ledger that is not there begins empty only where
 * nothing shows that there was one, or a person says so by a file.
 */

/** Lines that the log gets of what was seen when a ledger begins anew; a node has fewer pods. */
const mostLogged = 1000

/** How it shows that there was a ledger. */
export interface BeginTerms {
  /** Folders where libcni keeps results of ADDs. */
  readonly results: readonly string[]
  /**
   * The state folder was another machine's, and this one has not opened a store in it yet: what shows there says nothing of
   * this one, whose journal begins empty.
   */
  readonly hasOpenedNone: boolean
}

interface BeginOptions extends BeginTerms {
  readonly stateDir: string
  readonly log: ClusterLog
}

/**
 * Opens a ledger or journal, which begins empty only where it may.
 *
 * @param open makes the file where it is not there
 * @throws IPK_STORE_MISSING, and nothing was made; IPK_STORE_DAMAGED for one that is older than what a daemon saved; what `open` throws
 */
export async function beginLedger(
  path: string,
  open: () => SqliteStore,
  options: BeginOptions,
): Promise<SqliteStore> {
  const marker = join(options.stateDir, stateFiles.beginAnew)
  const isJournal = basename(path) === 'journal.db'
  const mayBegin = options.hasOpenedNone && isJournal
  const absence = absenceOf(path)
  if (absence === undefined && !mayBegin) refuseOlderThanSaved(path)
  let store = absence === undefined ? open() : undefined
  const lacks = absence ?? (store?.file.isUnused() === true ? 'unused' : undefined)
  if (lacks === undefined && store) {
    if (isMarker(marker)) {
      removeMarker(marker)
      options.log.warn(
        { marker },
        'the ledger exists and is kept; the file that asked for an empty one was removed',
      )
    }
    return store
  }
  try {
    const use = await lookForUse(path, {
      ...options,
      onUnseen: (text, error) => {
        options.log.warn({ err: error }, text)
      },
    })
    const isRefused = !mayBegin && (showsUse(use) || lacks === 'empty')
    if (isRefused && !mayBeginAnew(marker)) throw missingLedger(path, lacks ?? 'missing', use, marker)
    if (lacks !== 'unused') putAside(path)
    store ??= open()
    // Else the next start would find it as this one did.
    if (isRefused || mayBegin) store.begin()
    if (isRefused) {
      options.log.warn(
        { marker, attachments: use.attachments.length, seen: describeUse(use, mostLogged) },
        `${path} starts empty, as ${marker} asks: the pods that were seen may lose their addresses`,
      )
    }
    removeMarker(marker)
    return store
  } catch (error) {
    await store?.close()
    throw error
  }
}

// ---- What a person says

const isMarker = (path: string): boolean => {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true && [0, process.geteuid?.()].includes(stats.uid)
}

/** Throws IPK_STORE_FAILED for something else of that name: whoever made it meant something. */
function mayBeginAnew(marker: string): boolean {
  if (isMarker(marker)) return true
  if (!lstatSync(marker, { throwIfNoEntry: false })) return false
  throw new Problem('IPK_STORE_FAILED', `${marker} is not a regular file owned by root`, {
    hint: `remove it; to start with an empty ledger: touch ${shellWord(marker)}`,
  })
}

/** It counts once. */
function removeMarker(marker: string): void {
  if (!isMarker(marker)) return
  rmSync(marker)
  syncSync(dirname(marker))
}

/** What is left of a ledger stays beside the new one. */
function putAside(path: string): void {
  const stamp = timeStamp()
  for (const left of [`${path}-wal`, path, lastChangePath(path)])
    if (lstatSync(left, { throwIfNoEntry: false })) renameSync(left, `${left}.before-anew-${stamp}`)
}
