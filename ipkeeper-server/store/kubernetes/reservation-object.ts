import type { ReservationRecord } from '../../ipam/records/records.ts'
import type { IPReservationSpec } from './ip-reservation.schema.ts'
import { objectSchema } from './layout-version.ts'
import { formatMoment, readMoment, readSpec, type ApiRecord } from './read-object.ts'
import { readRetain, retainText } from './retain-text.ts'

type Owner = IPReservationSpec['owner']

/** Kind of the owner in a record that is no pod; it has no namespace of its own. */
const external = 'external'

function ownerEntry({ kind, name }: Pick<ReservationRecord, 'kind' | 'name'>): Owner {
  if (kind === undefined) return { pod: name }
  return kind === external ? { external: name } : { kind: kind as NonNullable<Owner['kind']>, name }
}

function readOwner(owner: Owner, namespace: string): Pick<ReservationRecord, 'namespace' | 'name' | 'kind'> {
  if (owner.external !== undefined) return { namespace: '', name: owner.external, kind: external }
  const { pod, kind, name = '' } = owner
  return kind === undefined ? { namespace, name: pod ?? '' } : { namespace, name, kind }
}

/** The namespace that the object of a reservation is in. */
export function reservationNamespace(
  { namespace }: Pick<ReservationRecord, 'namespace'>,
  otherwise: string,
): string {
  return namespace === '' ? otherwise : namespace
}

/** Of records that have one object, the first of which says whose they are; at least one. */
export function reservationSpec(records: readonly ReservationRecord[]): IPReservationSpec {
  const [first] = records
  if (!first) throw new RangeError('no reservation')
  const { generation, segment, name, kind, note, since, retain } = first
  return {
    schema: objectSchema,
    owner: ownerEntry({ name, ...(kind !== undefined && { kind }) }),
    segment,
    addresses: records.map(record => record.address),
    ...(retain !== undefined && { retain: retainText(retain) }),
    ...(note !== '' && { note }),
    recorded: { generation, since: formatMoment(since) },
  }
}

/** One record for each address. Throws UnreadableObject. */
export function readReservations(object: ApiRecord): readonly ReservationRecord[] {
  const { owner, segment, addresses, retain, note = '', recorded } = readSpec(object) as IPReservationSpec
  return addresses.map(address => ({
    segment,
    address,
    generation: recorded?.generation ?? object.generation,
    ...readOwner(owner, object.namespace ?? ''),
    note,
    ...(retain !== undefined && { retain: readRetain(retain) }),
    since: recorded ? readMoment(recorded.since) : object.createdAt,
  }))
}
