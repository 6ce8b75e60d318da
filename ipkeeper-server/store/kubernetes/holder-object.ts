import type { HolderRecord } from '../../ipam/records/records.ts'
import type { IPHolderSpec } from './ip-holder.schema.ts'
import { holderEntry, readHolderEntry } from './lease-object.ts'
import { objectSchema } from './layout-version.ts'
import { formatMoment, readMoment, readSpec, type ApiRecord } from './read-object.ts'

export function holderSpec(record: HolderRecord): IPHolderSpec {
  const { generation, holder, attachment, sandbox, leases, ...rest } = record
  const nothing: Readonly<Record<string, never>> = rest
  return {
    ...nothing,
    schema: objectSchema,
    generation,
    holder: holderEntry(holder),
    ...(attachment && { attachment }),
    ...(sandbox && {
      sandbox: {
        node: sandbox.node,
        ...(sandbox.podUid !== null && { podUid: sandbox.podUid }),
        since: formatMoment(sandbox.since),
      },
    }),
    leases: [...leases],
  }
}

/** Throws UnreadableObject. */
export function readHolder(object: ApiRecord): HolderRecord {
  const { generation, holder, attachment, sandbox, leases } = readSpec(object) as IPHolderSpec
  return {
    generation,
    holder: readHolderEntry(holder),
    attachment: attachment ?? null,
    ...(sandbox && {
      sandbox: {
        node: sandbox.node,
        podUid: sandbox.podUid ?? null,
        since: readMoment(sandbox.since),
      },
    }),
    leases,
  }
}
