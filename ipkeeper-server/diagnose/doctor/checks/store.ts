import { accessSync, closeSync, constants, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { freeRoom } from '../../../host/free-room.ts'
import { openRegularFile } from '../../../host/regular-file.ts'
import { migrations } from '../../../store/sqlite/migrations.ts'
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
    file = openRegularFile(path, { most: Infinity })
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
    const { fault, findings = [] } = status?.store.file ?? {}
    if (fault) return fail(String(fault['message']), 'ipkeeperctl', 'rescue')
    const lost = status ? undefined : await node.missingLedger(folder)
    if (lost !== undefined)
      return fail(
        `${lost}: the daemon does not begin anew by itself`,
        ...['journalctl', '-u', 'ipkeeper', '-n', '50'],
      )
    // Of a daemon that runs it is known.
    const layout = status ? undefined : readLayout(join(folder, 'leases.db'))
    if (layout !== undefined && layout > migrations.length)
      return fail(
        `${join(folder, 'leases.db')} is of a newer ipkeeper-server (layout ${layout}, this one knows ${migrations.length}): start that one again, or put back the copy from before the upgrade`,
        ...['ipkeeper-server', '--version'],
      )
    if (status?.disk?.refuses)
      return fail(`${status.disk.refuses.reason}: no pod is added until there is room again`, ...show)
    const { bytes: free, files } = freeRoom(folder)
    const says = `${folder} has ${Math.floor(free / mebibyte)} MiB free`
    if (free < none) return fail(says, ...show)
    if (files < 16) return fail(`${folder} has no free inodes`, 'df', '-i', folder)
    if (free < little) return warn(says, ...show)
    const file = status?.store.file?.path
    if (file !== undefined) {
      const database = statSync(file, { throwIfNoEntry: false })
      if (!database) return fail(`the database ${file} is gone`, 'ipkeeperctl', 'rescue')
      if ((database.mode & 0o022) !== 0)
        return fail(`others than its owner may write to ${file}`, 'chmod', '0600', file)
    }
    if (findings.length > 0)
      return warn(
        `${findings.length} entries of the history in ${file ?? folder} are damaged, and no lease`,
        ...['ipkeeperctl', 'rescue'],
      )
    return ok(`${says}${status ? `; ${status.store.kind}, ${status.store.leases} leases` : ''}`)
  },
}
