import { constants } from 'node:fs'
import { expectUnchanged, FileChanged } from './replace-file.ts'
import type { FileCalls } from './file-calls.ts'
import { identityOf, sameIdentity, type FileIdentity } from './file-identity.ts'

/**
 * Copies a file to a name that is free, with mode, owner and times, and makes the copy durable; its name is not yet.
 *
 * @throws FileChanged when the source is not, or does not stay, as it was seen
 */
export async function copyFile(
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
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
      await calls.unlink(to).catch(() => undefined)
    throw error
  } finally {
    await source.close()
  }
}
