import type { PendingSpecItem } from '../../../shared/api/listing.schema.ts'
import type { PoolObjectRecord, PoolRecord } from '../records/records.ts'

const nobody =
  'the elected daemon has not judged it yet; there is none, or it does not reach the Kubernetes API'

/** What to type to see what is in the way. */
function nextFor(name: string, { fault, refusal }: NonNullable<PoolObjectRecord['pending']>): string[] {
  if (fault !== undefined) return ['kubectl', 'edit', 'ippool', name]
  switch (refusal?.reason) {
    case 'AddressesInUse':
      return ['ipkeeperctl', 'leases', '--pool', name]
    case 'Overlaps':
      return ['ipkeeperctl', 'pools']
    default:
      return ['kubectl', 'describe', 'ippool', name]
  }
}

/** The newest spec of an IPPool where it is not in force, as people are told of it; undefined where it is. */
export function pendingSpec({ name, object }: PoolRecord): PendingSpecItem | undefined {
  if (!object?.pending) return undefined
  const { pending, generation = 0 } = object
  const why = pending.fault ?? pending.refusal?.message
  return {
    generation,
    refused: why !== undefined,
    says: `IPPool ${name}: generation ${generation} is not in force: ${why ?? nobody}`,
    next: nextFor(name, pending),
  }
}
