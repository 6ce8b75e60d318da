import { closeSync, fsyncSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { stateFolders } from '../shared/paths.ts'
import { Problem } from '../shared/problem/problem.ts'
import { makeStateFolder } from './make-state-folder.ts'

/** More than a node has pods by far; beyond it something is wrong that a queue would only hide. */
const longestQueue = 10_000

export interface QueuedDel {
  /** Takes the entry back, for when the daemon was reached after all. */
  readonly withdraw: () => void
}

/** Writes one DEL durably into the queue of a state folder; `name` is unique and without "/". */
export type QueueDel = (stateDir: string, name: string, text: string) => QueuedDel

/**
 * The entry is whole or not there: temporary name, fsync, rename, fsync of the folder. Several plugins may do this at
 * once, and the daemon may read meanwhile; no lock is needed, because every entry is a file of its own.
 *
 * @throws Problem IPK_DEL_NOT_QUEUED: the queue is full or cannot be written
 */
export const queueDel: QueueDel = (stateDir, name, text) => {
  const folder = `${stateDir}/${stateFolders.deferredDels}`
  const target = `${folder}/${name}`
  try {
    makeStateFolder(stateDir)
    makeStateFolder(folder)
    if (readdirSync(folder).length >= longestQueue) {
      throw new Problem(
        'IPK_DEL_NOT_QUEUED',
        `the queue of deferred DELs in ${folder} is full (${longestQueue})`,
      )
    }
    writeWhole(`${folder}/.${name}`, target, text)
    syncFolder(folder)
  } catch (error) {
    if (error instanceof Problem) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Problem('IPK_DEL_NOT_QUEUED', `the DEL cannot be queued in ${folder} (${code})`, {
      cause: error,
    })
  }
  return {
    withdraw: () => {
      removeIfThere(target)
    },
  }
}

function writeWhole(temporary: string, target: string, text: string): void {
  const file = openSync(temporary, 'wx', 0o600)
  try {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
    fsyncSync(file)
    renameSync(temporary, target)
  } catch (error) {
    removeIfThere(temporary)
    throw error
  } finally {
    closeSync(file)
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Not there, or carried out and removed by the daemon meanwhile.
  }
}
