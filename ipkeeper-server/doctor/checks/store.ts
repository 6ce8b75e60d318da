import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { codeOf, fail, ok, warn, type Check } from '../check.ts'

const mebibyte = 1024 * 1024
/** Below this a burst of pods can fill it. */
const little = 64 * mebibyte
/** Below this the next write may fail. */
const none = 1 * mebibyte

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
