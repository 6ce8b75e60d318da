import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** The calls that replace a file. They are named so that a test can let the power fail before any of them. */
export type ReplacingCalls = Readonly<{
  open: typeof open
  rename: typeof rename
  unlink: typeof unlink
}>

const realCalls: ReplacingCalls = { open, rename, unlink }

/** Paths may be bytes that are no UTF-8; Latin-1 keeps each of them. */
const textOf = (path: string | Buffer): string => (typeof path === 'string' ? path : path.toString('latin1'))
const likePath = (path: string | Buffer, text: string): string | Buffer =>
  typeof path === 'string' ? text : Buffer.from(text, 'latin1')

const folderOf = (path: string | Buffer): string | Buffer => likePath(path, dirname(textOf(path)))
const hiddenBeside = (path: string | Buffer): string | Buffer =>
  likePath(path, join(dirname(textOf(path)), `.${basename(textOf(path))}`))

export interface DurableWrite {
  /** Path of the file while it is being written, in the same folder; a hidden name of one writer at a time when absent. */
  readonly temporary?: string | Buffer
  /** Permission bits, whatever the umask is. */
  readonly mode: number
}

export interface CheckedWrite extends DurableWrite {
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** Refuse to write where the temporary file exists, which may be another process's; otherwise it is overwritten. */
  readonly exclusive?: true
  /** The last look before the rename, when the temporary file is whole and on disk; whatever it throws, nothing is replaced. */
  readonly check?: () => void | Promise<void>
  readonly calls?: ReplacingCalls
}

/** Write-only; a symbolic link in the temporary file's place is refused rather than followed. */
const overwrite = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
const create = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/**
 * Replaces a file, or creates it: a temporary file, fsync, rename, fsync of the folder. Whoever looks, also after a power cut,
 * finds the old file or the new one, whole. When it rejects before the rename, the old file is untouched and the temporary
 * one is removed; when the folder cannot be synced, the new file is there, but a power cut may bring the old one back.
 */
export async function writeDurably(
  path: string | Buffer,
  content: string | Uint8Array,
  { temporary = hiddenBeside(path), mode, owner, exclusive, check, calls = realCalls }: CheckedWrite,
): Promise<void> {
  const file = await calls.open(temporary, exclusive ? create : overwrite, mode)
  try {
    try {
      await file.writeFile(content)
      // The owner first, since a change of the owner takes set-user-ID bits away.
      if (owner) await file.chown(owner.uid, owner.gid)
      await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    await check?.()
    await calls.rename(temporary, path)
  } catch (error) {
    await calls.unlink(temporary).catch(() => undefined)
    throw error
  }
  await syncFolder(folderOf(path), calls)
}

/** The same for callers that have to be done before the next event, such as a start. */
export function writeDurablySync(
  path: string,
  content: string,
  { temporary = hiddenBeside(path), mode }: DurableWrite,
): void {
  const file = openSync(temporary, overwrite, mode)
  try {
    try {
      writeFileSync(file, content)
      fchmodSync(file, mode)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncSync(dirname(path))
}

/** Renames what is on disk already, durably. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncFolder(dirname(to))
}

/** The same at once. */
export function renameDurablySync(from: string, to: string): void {
  renameSync(from, to)
  syncSync(dirname(to))
}

/** Makes the names in a folder survive a power cut, after files were created, renamed or removed there. */
export async function syncFolder(
  path: string | Buffer,
  { open: openFolder }: Pick<ReplacingCalls, 'open'> = realCalls,
): Promise<void> {
  const folder = await openFolder(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The same at once, of a folder or of a file that another program has written. */
export function syncSync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
