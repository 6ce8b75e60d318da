import { closeSync, fsyncSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { stateFolders } from '../shared/paths.ts'
import { hintOfDisk, isDiskFault, lacksRoom } from '../shared/problem/disk-fault.ts'
import { Problem } from '../shared/problem/problem.ts'
import { makeStateFolder } from './make-state-folder.ts'
import { queueInSpare } from './spare-del.ts'
import { systemCode } from '../shared/system-code.ts'

/** More than a node has pods by far; beyond it something is wrong that a queue would only hide. */
const longestQueue = 10_000

export interface QueuedDel {
  /** Takes the entry back, for when the daemon was reached after all; never rejects. */
  readonly withdraw: () => void | Promise<void>
}

export interface DelEntry {
  /** File name of the entry: the same for every DEL of one attachment. Without "/", and not beginning with a dot. */
  readonly name: string
  /** Unique among all runs. */
  readonly writer: string
  readonly text: string
  /** The same in few words, for where the disk has no room for more. */
  readonly brief: string
}

/** Writes one DEL durably into the queue of a state folder. */
export type QueueDel = (stateDir: string, entry: DelEntry) => QueuedDel

/**
 * The entry is whole or not there: temporary name, fsync, rename, fsync of the folder. Several plugins may do this at
 * once, and the daemon may read meanwhile; no lock is needed, because every entry is a file of its own. One that waits for
 * the same attachment already says all there is to say: while it waits no ADD has been served, and runtimes that repeat a
 * DEL must not fill the queue.
 *
 * @throws Problem IPK_DEL_NOT_QUEUED: the queue is full or cannot be written
 */
export const queueDel: QueueDel = (stateDir, { name, writer, text, brief }) => {
  const folder = `${stateDir}/${stateFolders.deferredDels}`
  const target = `${folder}/${name}`
  try {
    makeStateFolder(stateDir)
    makeStateFolder(folder)
    const waiting = readdirSync(folder).filter(entry => !entry.startsWith('.'))
    if (!waiting.includes(name) && waiting.length >= longestQueue) {
      throw new Problem(
        'IPK_DEL_NOT_QUEUED',
        `the queue of deferred DELs in ${folder} is full (${longestQueue})`,
      )
    }
    if (!waiting.includes(name)) writeWhole(`${folder}/.${writer}`, target, text)
    syncFolder(folder)
  } catch (error) {
    if (error instanceof Problem) throw error
    const code = systemCode(error)
    const spare = isDiskFault(code) && lacksRoom(code) ? queueInSpare(stateDir, brief) : undefined
    if (spare) return spare
    const hint = hintOfDisk(error, stateDir, { limitedBy: 'runtime' })
    throw new Problem('IPK_DEL_NOT_QUEUED', `the DEL cannot be queued in ${folder} (${code})`, {
      cause: error,
      ...(hint !== undefined && { hint }),
    })
  }
  return {
    withdraw: () => {
      withdrawDel(stateDir, name)
    },
  }
}

/** Takes an entry back by its name; never throws. */
export function withdrawDel(stateDir: string, name: string): void {
  removeIfThere(`${stateDir}/${stateFolders.deferredDels}/${name}`)
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
