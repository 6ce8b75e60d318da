import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { writeDurably } from '../host/durable-file.ts'
import {
  folderOf,
  joinBytes,
  fileCalls,
  type FileCalls,
  identityOf,
  sameIdentity,
  type FileIdentity,
} from './file-calls.ts'
import { failedBy } from '../../shared/system-code.ts'

/** The file is not what it was when it was judged: whoever changed it is to be left alone. */
export class FileChanged extends Error {
  constructor() {
    super('it changed meanwhile')
  }
}

/** Of files that are being written; libcni gives no such names, and what was left by a crash is known by them. */
export const temporaryName = (): string => `.ipkeeper-${randomBytes(6).toString('hex')}.part`
export const isTemporaryName = (name: string): boolean => /^\.ipkeeper-[0-9a-f]{12}\.part$/.test(name)

/** Throws FileChanged unless the file at the path is in the state in which it was seen. */
export async function expectUnchanged(calls: FileCalls, path: Buffer, seen: FileIdentity): Promise<void> {
  const stats = await calls.lstat(path, { bigint: true }).catch((error: unknown) => {
    if (failedBy(error, 'ENOENT')) throw new FileChanged()
    throw error
  })
  if (!sameIdentity(seen, identityOf(stats))) throw new FileChanged()
}

/**
 * Puts a file with this text in the place of one that was seen, for its owner alone. Whatever fails, and whenever the
 * power does, there is either the old file or the new one, whole.
 *
 * @throws FileChanged when it is no longer as it was seen
 */
export async function replaceUnchanged(
  path: Buffer,
  seen: FileIdentity,
  text: string,
  calls: FileCalls = fileCalls,
): Promise<void> {
  const { uid, gid } = await calls.lstat(path, { bigint: true }).catch(() => ({ uid: 0n, gid: 0n }))
  await writeDurably(path, text, {
    temporary: joinBytes(folderOf(path), temporaryName()),
    ...{ mode: 0o600, owner: { uid: Number(uid), gid: Number(gid) }, exclusive: true },
    // libcni truncates and then writes: between the judgement and now it may have begun.
    check: async () => {
      await expectUnchanged(calls, path, seen)
    },
    calls,
  })
}

/** Removes what a crash of ours left in a folder: files that were being written. Those of the last minute may still be. */
export async function removeTemporaries(
  folder: string,
  now: number,
  calls: FileCalls = fileCalls,
): Promise<void> {
  for (const name of await calls.readdir(folder).catch((): string[] => [])) {
    if (!isTemporaryName(name)) continue
    const path = `${folder}/${name}`
    const written = await calls.lstat(path).catch(() => undefined)
    if (written?.isFile() && Math.abs(now - written.mtimeMs) > 60_000)
      await calls.unlink(path).catch(() => undefined)
  }
}

/**
 * Copies a file to a name that is free, with mode, owner and times, and makes the copy durable; its name is not yet.
 *
 * @throws FileChanged when the source is not, or does not stay, as it was seen
 */
export async function copyUnchanged(
  from: Buffer,
  seen: FileIdentity,
  to: Buffer,
  calls: FileCalls,
): Promise<void> {
  const source = await calls.open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await source.stat({ bigint: true })
    if (!sameIdentity(seen, identityOf(stats))) throw new FileChanged()
    const copy = await calls.open(to, 'wx', 0o600)
    try {
      await copy.writeFile(await source.readFile())
      await copy.chown(Number(stats.uid), Number(stats.gid))
      await copy.chmod(Number(stats.mode & 0o7777n))
      await copy.utimes(Number(stats.atimeNs) / 1e9, Number(stats.mtimeNs) / 1e9)
      await copy.sync()
    } finally {
      await copy.close()
    }
    await expectUnchanged(calls, from, seen)
  } catch (error) {
    // EEXIST: that file is somebody else's.
    if (!failedBy(error, 'EEXIST')) await calls.unlink(to).catch(() => undefined)
    throw error
  } finally {
    await source.close()
  }
}
