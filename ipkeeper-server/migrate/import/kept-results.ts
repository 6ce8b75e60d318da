import { lstatSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defaultPaths } from '../../../shared/paths.ts'
import { readBoot } from '../../host/boot.ts'
import { readOwnResult } from '../../result-cache/plan/read-cached-result.ts'
import type { KeptResult } from '../plan/unrecorded-results.ts'
import { filesIn } from './host-local.ts'

/** Where it is looked, and who is told of what could not be seen. */
export interface ResultPlaces {
  readonly stateDir: string
  /** Folders where libcni keeps results of ADDs. */
  readonly results: readonly string[]
  readonly onUnseen: (text: string, error: unknown) => void
}

export interface KeptResults {
  /** Of this state folder. */
  readonly own: readonly KeptResult[]
  /** Containers whose plugin used another one. */
  readonly ofOthers: ReadonlySet<string>
}

/** What runtimes have on the disk of ADDs that this state folder was used for. */
export async function findKeptResults({ results, stateDir, onUnseen }: ResultPlaces): Promise<KeptResults> {
  const isOurs = (other: string): boolean => isSame(other, stateDir)
  const told = toldFolder(stateDir)
  const bootedAt = readBoot().at
  const own: KeptResult[] = []
  const ofOthers = new Set<string>()
  for (const folder of results) {
    try {
      for await (const { path, text, modifiedAt } of filesIn(folder, name => !name.startsWith('.'))) {
        const result = text === null ? undefined : readOwnResult(text, told)
        if (!result) continue
        if (result.stateDirs.some(isOurs))
          own.push({ ...result, path, modifiedAt, beforeBoot: modifiedAt < bootedAt })
        else ofOthers.add(result.containerId)
      }
    } catch (error) {
      onUnseen(`whether there were pods cannot be seen in ${folder}`, error)
    }
  }
  return { own, ofOthers }
}

/**
 * The folder of a plugin whose configuration names none: that of its environment, which nobody keeps, else the usual one. The
 * plugins of a daemon with another folder were told of it; but where the usual one is in use as well, they may be of that.
 */
function toldFolder(stateDir: string): string {
  const usual = defaultPaths.stateDir
  const isFile = (name: string): boolean =>
    lstatSync(join(usual, name), { throwIfNoEntry: false })?.isFile() === true
  const isInUse = ['node.json', 'leases.db', 'journal.db'].some(isFile)
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
