import type { RecordKind, RecordTypes, Write } from '../../ipkeeper-server/ipam/records/records.ts'
import { SqliteStore } from '../../ipkeeper-server/store/sqlite/sqlite-store.ts'

/**
 * Changes records of a ledger whose daemon does not run, as a daemon would: with checksums, seal and a new generation.
 *
 * @param change gives the changed record; undefined leaves it as it is
 */
export async function changeRecords<K extends RecordKind>(
  path: string,
  kind: K,
  change: (record: RecordTypes[K]) => RecordTypes[K] | undefined,
): Promise<void> {
  const store = SqliteStore.open(path)
  const writes: Write[] = []
  await store.load(stored => {
    if (stored.kind !== kind) return
    const record = JSON.parse(stored.text) as RecordTypes[K]
    const changed = change(record)
    if (!changed) return
    const generation = record.generation + 1
    const write = { kind, key: stored.key, expect: record.generation, record: { ...changed, generation } }
    writes.push(write as unknown as Write)
  })
  await store.commit(writes)
  await store.close()
}
