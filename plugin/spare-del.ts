import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import type { DeferredDel } from '../shared/api/deferred-del.schema.ts'
import { stateFolders } from '../shared/paths.ts'
import {
  isFreeSpare,
  isSpareFolder,
  isWaitingSpare,
  numberOfSpare,
  spareDels,
  takenSpare,
  waitingSpare,
} from '../shared/spare-dels.ts'

/** Where a DEL waits that found a spare file. */
export interface SpareDel {
  /** Makes it free again, for when the daemon was reached after all. */
  readonly withdraw: () => void
}

/**
 * Writes a DEL durably over a file that the daemon has made in advance: no byte and no file is taken from the disk. One that
 * waits already for the same attachment says all there is to say. The text is that of a deferred DEL
 * (shared/api/deferred-del.schema.ts).
 *
 * @param text of at most spareDels.bytes
 * @returns undefined where there is no such file, or none left, or the disk does not even let itself be written over
 */
export function queueInSpare(stateDir: string, text: string): SpareDel | undefined {
  const bytes = Buffer.alloc(spareDels.bytes, ' ')
  if (Buffer.byteLength(text) > bytes.length) return undefined
  bytes.write(text)
  const root = `${stateDir}/${stateFolders.spareDels}`
  const folders = namesIn(root)
    .filter(isSpareFolder)
    .map(name => `${root}/${name}`)
  const attachment = attachmentIn(text)
  for (const folder of folders)
    for (const name of namesIn(folder).filter(isWaitingSpare))
      if (waitingIn(`${folder}/${name}`) === attachment) return { withdraw: () => undefined }
  for (const folder of folders)
    for (const number of namesIn(folder).filter(isFreeSpare)) {
      const spare = take(folder, number) ? write(stateDir, folder, number, bytes) : undefined
      if (spare) return spare
    }
  return undefined
}

/** None of a folder that cannot be read: there are others. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function attachmentIn(text: string): string {
  const { request } = JSON.parse(text) as DeferredDel
  return JSON.stringify([request.containerId, request.ifname, request.config['name']])
}

/** Whose DEL waits in a file; undefined where it says nothing of the kind: that is the daemon's to put aside. */
function waitingIn(path: string): string | undefined {
  try {
    const text = Buffer.alloc(spareDels.bytes)
    // A pipe would be waited for.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const file = openSync(path, flags)
    try {
      return attachmentIn(text.toString('utf8', 0, readSync(file, text)))
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** Whether it is ours: of those who rename one file, one succeeds. */
function take(folder: string, number: string): boolean {
  try {
    renameSync(`${folder}/${number}`, `${folder}/${takenSpare(number)}`)
    return true
  } catch {
    return false
  }
}

/** undefined where this one does not let itself be written over. */
function write(stateDir: string, folder: string, number: string, bytes: Buffer): SpareDel | undefined {
  const [taken, waiting] = [`${folder}/${takenSpare(number)}`, `${folder}/${waitingSpare(number)}`]
  try {
    // What is written over keeps its blocks; a file that was cut would lose them.
    sync(taken, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, file => {
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
    })
    renameSync(taken, waiting)
    sync(folder, constants.O_RDONLY)
  } catch {
    // Why the queue itself could not be written is what is told, if no other one does.
    return undefined
  }
  // A daemon that runs, and could not serve this DEL, watches the folder of the queue.
  try {
    const now = Date.now() / 1000
    utimesSync(`${stateDir}/${stateFolders.deferredDels}`, now, now)
  } catch {
    // It looks there when it starts.
  }
  return {
    withdraw: () => {
      try {
        renameSync(waiting, `${folder}/${numberOfSpare(number)}`)
      } catch {
        // Carried out by the daemon meanwhile.
      }
    },
  }
}

function sync(path: string, flags: number, use: (file: number) => void = () => undefined): void {
  const file = openSync(path, flags)
  try {
    use(file)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
