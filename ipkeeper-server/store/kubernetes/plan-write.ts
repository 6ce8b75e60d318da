import { Problem } from '../../../shared/problem/problem.ts'
import { leaseKey, type RecordTypes } from '../../ipam/records/records.ts'
import { StoreConflict } from '../lease-store.ts'
import type { RecordWrite } from '../shared/engine.ts'
import { holderSpec } from './holder-object.ts'
import { leaseSpec } from './lease-object.ts'
import { nodeSpec } from './node-object.ts'
import { kinds, objectNameOf, objectNames, type KeptKind } from './object-entry.ts'
import { leaseObjectName } from './object-name.ts'
import type { ObjectWrite } from './object-writer.ts'
import { poolSpec } from './pool-object.ts'
import type { ReservationBook } from './reservation-book.ts'
import { reservationNamespace, reservationSpec } from './reservation-object.ts'

/** What the engine knows of its objects. */
export interface PresentObjects {
  readonly reservations: ReservationBook
  /** Names of IPPools that people made. */
  readonly madeByPeople: ReadonlySet<string>
  /** Namespace of reservations whose owner is no pod. */
  readonly externalNamespace: string
}

const parse = <K extends KeptKind>(_: K, text: string): RecordTypes[K] => JSON.parse(text) as RecordTypes[K]

/**
 * The write of an object that a write of a record comes to.
 *
 * @throws StoreConflict, or a Problem for an object that is not ours to change
 */
export function planWrite(kind: KeptKind, write: RecordWrite, present: PresentObjects): ObjectWrite {
  const { key, base, text } = write
  if (kind === 'reservation') return planReservation(write, present)
  const object = { name: objectNames[kind](key) }
  const one = { write, kind: kinds[kind], object, base }
  switch (kind) {
    case 'lease':
      return { ...one, spec: text === null ? null : leaseSpec(parse(kind, text)) }
    case 'holder':
      return { ...one, spec: text === null ? null : holderSpec(parse(kind, text)) }
    case 'pool':
      expectOurs(object.name, present)
      return { ...one, spec: text === null ? null : poolSpec(parse(kind, text)) }
    case 'node':
      return { ...one, spec: text === null ? null : nodeSpec(parse(kind, text)) }
  }
}

function expectOurs(pool: string, { madeByPeople }: PresentObjects): void {
  if (!madeByPeople.has(pool)) return
  throw new Problem(
    'IPK_STORE_FAILED',
    `IPPool ${pool} was created by another program or person, and ipkeeper does not change it`,
    { hint: `give the other pool another name, or: kubectl delete ippool ${pool}` },
  )
}

function planReservation(
  write: RecordWrite,
  { reservations, externalNamespace }: PresentObjects,
): ObjectWrite {
  const { kind, key, base, text } = write
  const present = reservations.get(key)
  if ((present?.revision ?? null) !== base) throw new StoreConflict(kind, key)
  const record = text === null ? null : parse('reservation', text)
  if (!present) {
    const namespace = reservationNamespace(record ?? { namespace: '' }, externalNamespace)
    const object = { namespace, name: leaseObjectName(key) }
    return { write, kind: 'IPReservation', object, base: null, spec: record && reservationSpec([record]) }
  }
  const { name, object } = present
  const others = object.records.filter(one => leaseKey(one) !== key)
  // What one object holds has one owner and one note.
  const records = record ? [record, ...others] : others
  return {
    write,
    kind: 'IPReservation',
    object: objectNameOf(name),
    base: object.revision,
    spec: records.length === 0 ? null : reservationSpec(records),
  }
}
