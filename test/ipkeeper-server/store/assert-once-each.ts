import type { Change } from '../../../ipkeeper-server/ipam/records/records.ts'

/** No change may name a record twice: a store may check and write them one by one. */
export function assertOnceEach(change: Change): void {
  const keys = change.map(({ kind, key }) => `${kind} ${key}`)
  if (new Set(keys).size !== keys.length) throw new Error(`written twice: ${keys.join(', ')}`)
}
