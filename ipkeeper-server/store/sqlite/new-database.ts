import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { renameDurablySync, syncSync } from '../../host/durable-file.ts'
import { applySteps } from './layout.ts'

/**
 * Makes a database without rows. It is made under another name and gets its own when it is whole and on the disk: so an empty
 * file, or one that is cut, is never a new one.
 */
export function makeDatabase(path: string): void {
  const unfinished = `${path}.unfinished`
  for (const suffix of ['', '-wal', '-journal']) rmSync(unfinished + suffix, { force: true })
  const database = new DatabaseSync(unfinished)
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    applySteps(database, 0)
  } finally {
    database.close()
  }
  syncSync(unfinished)
  renameDurablySync(unfinished, path)
}
