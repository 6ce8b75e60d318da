import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { migrations } from '../../ipkeeper-server/store/sqlite/migrations.ts'

/** Tables of a layout, with the columns that they had, before there were checksums. */
const columns = {
  record: 'kind, key, generation, body',
  history: 'id, segment, address, at, ends, body',
  note: 'kind, key, body',
}

/** The tables as a version of that time made them: the first steps compute nothing. */
export function makeOldLayout(database: DatabaseSync, layout: 1 | 2 | 3): void {
  for (const part of migrations.slice(0, layout).flat()) if (typeof part === 'string') database.exec(part)
  database.exec(`PRAGMA user_version = ${layout}`)
}

/** The same ledger as a version of that time would have written it. Nobody may have the file open. */
export function toOldLayout(path: string, layout: 1 | 2 | 3): void {
  const today = `${path}.today`
  rmSync(today, { force: true })
  const present = new DatabaseSync(path)
  present.prepare('VACUUM INTO ?').run(today)
  present.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  const old = new DatabaseSync(path)
  old.exec('PRAGMA journal_mode = WAL')
  makeOldLayout(old, layout)
  old.prepare('ATTACH ? AS today').run(today)
  for (const [table, names] of Object.entries(columns).slice(0, layout))
    old.exec(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM today.${table}`)
  old.close()
  rmSync(today)
}
