import { accessSync, closeSync, constants, openSync, readSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../store/sqlite/migrations.ts'
import { codeOf, fail, ok, warn, type Check } from '../check.ts'

const mebibyte = 1024 * 1024
/** Below this a burst of pods can fill it. */
const little = 64 * mebibyte
/** Below this the next write may fail. */
const none = 1 * mebibyte

/** Where a SQLite file says how many steps made its layout: PRAGMA user_version (sqlite.org, file format, 1.3). */
const layoutOffset = 60

/** undefined where there is no such file, or nothing in it yet. */
function readLayout(path: string): number | undefined {
  let file
  try {
    file = openSync(path, 'r')
    const bytes = Buffer.alloc(4)
    return readSync(file, bytes, 0, 4, layoutOffset) === 4 ? bytes.readUInt32BE() : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

export const storeCheck: Check = {
  id: 'store',
  title: 'the state folder takes what is written',
  why: 'Nothing is answered before it is on disk: with a full or read-only disk every ADD and DEL fails.',
  run: async node => {
    const status = await node.status()
    const folder = status?.stateDir ?? node.stateDir
    const show = ['df', '-h', folder]
    let stats
    try {
      stats = statSync(folder)
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT')
        return fail(`there is no state folder ${folder}`, 'systemctl', 'restart', 'ipkeeper')
      if (code === 'EROFS')
        return fail(`${folder} is on a file system that is read-only`, 'findmnt', '-T', folder)
      return fail(`${folder} cannot be written to (${code})`, 'ls', '-ld', folder)
    }
    if ((stats.mode & 0o022) !== 0)
      return fail(`others than its owner may write to ${folder}`, 'chmod', '0700', folder)
    // Of a daemon that runs it is known.
    const layout = status ? undefined : readLayout(join(folder, 'leases.db'))
    if (layout !== undefined && layout > migrations.length)
      return fail(
        `${join(folder, 'leases.db')} is of a newer ipkeeper-server (layout ${layout}, this one knows ${migrations.length}): start that one again, or put back the copy from before the upgrade`,
        ...['ipkeeper-server', '--version'],
      )
    const { bavail, bsize, ffree, files } = statfsSync(folder)
    const free = bavail * bsize
    const says = `${folder} has ${Math.floor(free / mebibyte)} MiB free`
    if (free < none) return fail(says, ...show)
    // File systems that have no fixed number of inodes tell none.
    if (files > 0 && ffree < 16) return fail(`${folder} has no free inodes`, 'df', '-i', folder)
    if (free < little) return warn(says, ...show)
    if (status?.store.kind === 'sqlite') {
      const database = statSync(status.store.location, { throwIfNoEntry: false })
      if (!database)
        return fail(`the database ${status.store.location} is gone`, 'systemctl', 'restart', 'ipkeeper')
      if ((database.mode & 0o022) !== 0)
        return fail(
          `others than its owner may write to ${status.store.location}`,
          ...['chmod', '0600', status.store.location],
        )
    }
    return ok(`${says}${status ? `; ${status.store.kind}, ${status.store.leases} leases` : ''}`)
  },
}
