import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { SqliteStore } from '../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { lease, putLease } from './records.ts'

/** The files of a ledger as a killed process leaves them. */
export interface KilledLedger {
  readonly path: string
  readonly database: Buffer
  readonly log: Buffer
  /** Puts them back as they were, or with another log or database; the file of the last change stays as it is. */
  lay(changed?: { readonly log?: Buffer; readonly database?: Buffer }): void
  /** All records, as text; throws what opening and reading throw. */
  read(): Promise<ReadonlyMap<string, string>>
}

export const addressOfLease = (index: number): string => `10.0.0.${index + 2}`

/** Reads all records of a store, and closes it. */
export async function readLedger(path: string): Promise<ReadonlyMap<string, string>> {
  const store = SqliteStore.open(path)
  try {
    const records = new Map<string, string>()
    await store.load(({ kind, key, text }) => records.set(`${kind} ${key}`, text))
    return records
  } finally {
    await store.close()
  }
}

/** So many leases, each in a transaction of its own, all of them still in the log. */
export async function makeKilledLedger(path: string, leases: number): Promise<KilledLedger> {
  const store = SqliteStore.open(path)
  for (let index = 0; index < leases; index++)
    await store.commit([putLease(lease(addressOfLease(index)), null)])
  const [database, log] = [readFileSync(path), readFileSync(`${path}-wal`)]
  await store.close()
  return {
    path,
    database,
    log,
    lay: changed => {
      writeFileSync(path, changed?.database ?? database)
      writeFileSync(`${path}-wal`, changed?.log ?? log)
      if (existsSync(`${path}-shm`)) rmSync(`${path}-shm`)
    },
    read: () => readLedger(path),
  }
}
