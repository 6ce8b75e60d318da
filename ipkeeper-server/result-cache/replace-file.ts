import { randomBytes } from 'node:crypto'
import { writeDurably } from '../host/durable-file.ts'
import { folderOf, joinBytes } from './byte-path.ts'
import { fileCalls, type FileCalls } from './file-calls.ts'
import { identityOf, sameIdentity, type FileIdentity } from './file-identity.ts'

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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') throw new FileChanged()
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
export async function replaceFile(
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
