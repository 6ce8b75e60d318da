import { setTimeout as delay } from 'node:timers/promises'
import { Problem } from '../../../shared/problem/problem.ts'
import type { NodeRecord, Write } from '../../ipam/records/records.ts'
import { commitPlan } from './commit-plan.ts'
import type { Ledger } from './ledger.ts'

/** The record of a node in place of what was there before. */
export const nodeWrite = (name: string, before: NodeRecord | undefined, record: NodeRecord): Write => ({
  kind: 'node',
  key: name,
  expect: before?.generation ?? null,
  record: { ...record, generation: (before?.generation ?? 0) + 1 },
})

/** The record of a node, where there is one, becomes what `amend` makes of it; nothing is written where that is the same. */
export async function amendNode(
  ledger: Ledger,
  name: string,
  amend: (record: NodeRecord) => NodeRecord,
): Promise<void> {
  await commitPlan(ledger, () => {
    const record = ledger.node(name)
    const amended = record && amend(record)
    return { change: amended === record || !amended ? [] : [nodeWrite(name, record, amended)] }
  })
}

/** Milliseconds. */
const pauseAfterConflict = 20

/**
 * Resolves to false where somebody else was faster, or a change of the record is under way: then nothing is written. Some time has
 * passed, since an engine that is away is not asked, and whoever tries again at once would keep the daemon from everything else.
 */
export async function writeNode(ledger: Ledger, ...write: Parameters<typeof nodeWrite>): Promise<boolean> {
  try {
    await ledger.commit([nodeWrite(...write)])
    return true
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'IPK_STORE_CONFLICT')) throw error
    await delay(pauseAfterConflict)
    return false
  }
}
