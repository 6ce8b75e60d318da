import type { Holder, LeaseRecord } from '../../ipam/records/records.ts'
import type { HolderEntry, IPLeaseSpec } from './ip-lease.schema.ts'
import { objectSchema } from './layout-version.ts'
import { formatMoment, readMoment, readSpec, UnreadableObject, type ApiRecord } from './read-object.ts'
import { readRetain, retainText } from './retain-text.ts'

/** Nothing of a record is left out: a field that is added to it does not compile until it is in the schema. */
type Nothing = Readonly<Record<string, never>>

export function holderEntry(holder: Holder): HolderEntry {
  return { ...holder }
}

export function readHolderEntry(entry: HolderEntry): Holder {
  const { kind, network, namespace, name, containerId, ifname } = entry
  if (kind === 'pod' && namespace !== undefined && name !== undefined)
    return { kind, network, namespace, name, ifname }
  if (kind === 'container' && containerId !== undefined) return { kind, network, containerId, ifname }
  throw new UnreadableObject('its holder is neither a pod nor a container')
}

export function leaseSpec(record: LeaseRecord): IPLeaseSpec {
  const { holder, podUid, workload, attachment, retain, mac, since, until, ...same } = record
  const { generation, segment, address, prefixLength, gateway, state, pool, network, ...more } = same
  const { rangeSet, node, named, source, carried, ownLink, remembered, ...rest } = more
  const nothing: Nothing = rest
  return {
    ...nothing,
    schema: objectSchema,
    ...{ generation, segment, address, prefixLength, gateway, state, pool, network, rangeSet },
    holder: holderEntry(holder),
    ...(podUid !== null && { podUid }),
    ...(workload && { workload: workloadEntry(workload) }),
    ...(attachment && { attachment }),
    ...{ node, named, source },
    retain: retainText(retain),
    ...(mac !== null && { mac }),
    ...(carried && { carried }),
    ...(ownLink && { ownLink }),
    since: formatMoment(since),
    ...(until !== null && { until: formatMoment(until) }),
    ...(remembered && { remembered }),
  }
}

function workloadEntry(workload: NonNullable<LeaseRecord['workload']>): NonNullable<IPLeaseSpec['workload']> {
  const { namespace, kind, name, apiVersion, uid, ...rest } = workload
  const nothing: Nothing = rest
  return {
    ...nothing,
    namespace,
    name,
    ...(kind !== null && { kind }),
    ...(apiVersion !== null && { apiVersion }),
    ...(uid !== null && { uid }),
  }
}

/** Throws UnreadableObject. */
export function readLease(object: ApiRecord): LeaseRecord {
  const spec = readSpec(object) as IPLeaseSpec
  const { generation, segment, address, prefixLength, gateway, state, pool, network, rangeSet } = spec
  const { node, named, source, workload, carried, ownLink, until, remembered } = spec
  return {
    ...{ generation, segment, address, prefixLength, gateway, state, pool, network, rangeSet },
    holder: readHolderEntry(spec.holder),
    podUid: spec.podUid ?? null,
    ...(workload && {
      workload: {
        ...workload,
        kind: workload.kind ?? null,
        apiVersion: workload.apiVersion ?? null,
        uid: workload.uid ?? null,
      },
    }),
    attachment: spec.attachment ?? null,
    ...{ node, named, source },
    retain: readRetain(spec.retain),
    mac: spec.mac ?? null,
    ...(carried && { carried }),
    ...(ownLink && { ownLink }),
    since: readMoment(spec.since),
    until: until === undefined ? null : readMoment(until),
    ...(remembered && { remembered }),
  }
}
