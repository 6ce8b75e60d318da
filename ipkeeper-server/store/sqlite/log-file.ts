import { statSync } from 'node:fs'
import { readRegularFileSync } from '../../host/regular-file.ts'
import { asideCommand } from '../../host/set-aside.ts'
import { leaseKey, type LeaseKey } from '../../ipam/records/records.ts'
import { damaged } from './damage.ts'
import { databaseImage, openImage } from './database-image.ts'
import { keepsLeases, salvage, type LostLease } from './salvage.ts'
import { judgeWal } from './wal-frames.ts'
import { systemCode } from '../../../shared/system-code.ts'

/**
 * Looks at the log of a database before SQLite opens it, which would end it at the first frame that does not match and say nothing.
 *
 * @param onNote told of what is left out rightly
 * @throws IPK_STORE_DAMAGED
 */
export function judgeLog(path: string, onNote: (text: string) => void): void {
  const log = readLog(path)
  if (!log) return
  const verdict = judgeWal(log)
  if (verdict.state === 'torn')
    onNote(`the log of ${path} ends in a change that was never acknowledged; that is left out`)
  if (verdict.state !== 'damaged') return
  throw damaged(
    path,
    `in its log ${verdict.why}`,
    leasesBehind(path, log).map(({ address }) => address),
  )
}

/**
 * undefined: there is none. A daemon that has the store may be writing to it: then SQLite says so.
 *
 * @throws IPK_STORE_DAMAGED for what is no file
 */
export function readLog(path: string): Buffer | undefined {
  for (let tries = 0; tries < 5; tries++) {
    const before = statSync(`${path}-wal`, { throwIfNoEntry: false })
    if (!before) return undefined
    const bytes = readWhole(path)
    const after = statSync(`${path}-wal`, { throwIfNoEntry: false })
    if (after?.mtimeMs === before.mtimeMs && after.size === bytes.length) return bytes
  }
  return undefined
}

function readWhole(path: string): Buffer {
  const log = `${path}-wal`
  try {
    return readRegularFileSync(log, { most: Number.MAX_SAFE_INTEGER })
  } catch (error) {
    const why = systemCode(error)
    const hint = `put the log back; where it was empty, as after a stop: ${asideCommand(log)}`
    throw damaged(path, `its log ${log} cannot be read (${why})`, [], hint)
  }
}

/** Leases that the frames behind a bad one tell of, and that would be free without them. */
function leasesBehind(path: string, log: Buffer): readonly LostLease[] {
  const keysOf = (chainedAlone: boolean): ReadonlyMap<string, LostLease> => {
    const image = openImage(
      databaseImage(path, log, frame => frame.chained || (!chainedAlone && frame.salts !== 'none')),
    )
    try {
      const { records, lost } = salvage({ database: image, keepsLeases: keepsLeases(path) }, Date.now())
      const leases = records.flatMap(({ kind, key }) => (kind === 'lease' ? [key] : []))
      const known = leases.map(key => [key, { ...leaseOfKey(key), by: 'the log' }] as const)
      return new Map([...known, ...lost.map(lease => [leaseKey(lease), lease] as const)])
    } finally {
      image.close()
    }
  }
  try {
    const before = keysOf(true)
    return [...keysOf(false)].flatMap(([key, lease]) => (before.has(key) ? [] : [lease]))
  } catch {
    return []
  }
}

function leaseOfKey(key: string): LeaseKey {
  const [segment, address] = JSON.parse(key) as [string, string]
  return { segment, address }
}
