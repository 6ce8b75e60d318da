import { setImmediate as breathe } from 'node:timers/promises'
import type { HistoryCheck } from '../../../shared/api/address.schema.ts'
import { isoTime } from '../../ipam/records/times.ts'
import { ChainCheck } from '../../store/history-chain.ts'
import type { LeaseService } from '../verbs/service.ts'

/** Entries between two turns of the event loop: some milliseconds. */
const atOnce = 200

/** Whether the history of this node is as it was written: reads all of it, and compares the links of its entries. */
export async function checkHistory({
  ledger,
  node,
}: Pick<LeaseService, 'ledger' | 'node'>): Promise<HistoryCheck> {
  const check = new ChainCheck()
  for (let after = 0; ;) {
    const entries = await ledger.history({ after, limit: atOnce })
    for (const entry of entries) check.add(entry)
    const last = entries.at(-1)
    if (!last || entries.length < atOnce) break
    after = last.id
    await breathe()
  }
  const { begins, last, faults, ...counts } = check.report()
  return {
    ...{ node, ...counts },
    begins: begins.map(({ id, at }) => ({ id, at: isoTime(at) })),
    last: last ? { id: last.id, at: isoTime(last.at), link: last.link ?? null } : null,
    faults: faults.map(({ at, ...fault }) => ({ ...fault, at: isoTime(at) })),
  }
}
