import type { JsonObject } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { holderKey, leaseKey, type RecordTypes } from '../../ipam/records/records.ts'
import type { SharedKind } from '../shared/engine.ts'
import { readHolder } from './holder-object.ts'
import { readLease } from './lease-object.ts'
import { readNode } from './node-object.ts'
import { holderObjectName, leaseObjectName, namedObjectName } from './object-name.ts'
import type { PoolReader } from './pool-in-force.ts'
import { isMadeByPeople, readPoolObject } from './pool-object.ts'
import { readApiRecord, UnreadableObject, type ApiRecord } from './read-object.ts'
import { readReservations } from './reservation-object.ts'
import { resources, type ObjectName, type ResourceKind } from './resources.ts'

/** The kinds of records that Kubernetes keeps, and what their objects are. */
export const kinds = {
  lease: 'IPLease',
  holder: 'IPHolder',
  reservation: 'IPReservation',
  pool: 'IPPool',
  node: 'IPNode',
} as const satisfies Partial<Record<SharedKind, ResourceKind>>

export type KeptKind = keyof typeof kinds

/** What is made of an object: records, or why it cannot be read. */
export interface ObjectEntry {
  readonly revision: number
  readonly createdAt: number
  readonly records: readonly RecordTypes[KeptKind][]
  /** Of records that are one object each. */
  readonly key: string
  readonly fault: string | undefined
  /** An IPPool that people made. */
  readonly byPeople: ApiRecord | undefined
}

export const isKept = (kind: SharedKind): kind is KeptKind => kind in kinds

/** Of the records that have an object each. */
export const objectNames = {
  lease: leaseObjectName,
  holder: holderObjectName,
  pool: namedObjectName,
  node: namedObjectName,
} as const

export const unreadable = (kind: ResourceKind, name: string, why: string): Problem =>
  new Problem('IPK_STORE_FAILED', `${kind} ${name} is left alone: ${why}`, {
    hint: `see: kubectl get ${resources[kind].singular} ${name} -o yaml`,
  })

export const nameInNamespace = ({ namespace, name }: ObjectName): string =>
  namespace === undefined ? name : `${namespace}/${name}`

export function objectNameOf(text: string): ObjectName {
  const [namespace = '', name] = text.split('/')
  return name === undefined ? { name: namespace } : { namespace, name }
}

/** What is made of an object; undefined for what is no object. */
export function readObjectEntry(
  kind: ResourceKind,
  object: JsonObject,
  readPool: PoolReader,
): ObjectEntry | undefined {
  const record = readApiRecord(object)
  if (!record) return undefined
  const { revision, createdAt } = record
  const byPeople = kind === 'IPPool' && isMadeByPeople(record) ? record : undefined
  const entry = { revision, createdAt, fault: undefined, key: '', byPeople }
  try {
    return { ...entry, ...recordsOf(kind, record, readPool) }
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error
    return { ...entry, records: [], fault: error.message }
  }
}

function recordsOf(
  kind: ResourceKind,
  object: ApiRecord,
  readPool: PoolReader,
): Pick<ObjectEntry, 'records' | 'key'> {
  switch (kind) {
    case 'IPLease': {
      const record = readLease(object)
      return { records: [record], key: leaseKey(record) }
    }
    case 'IPHolder': {
      const record = readHolder(object)
      return { records: [record], key: holderKey(record.holder) }
    }
    case 'IPPool': {
      const record = readPoolObject(object, readPool)
      return { records: [record], key: record.name }
    }
    case 'IPReservation':
      return { records: readReservations(object), key: '' }
    case 'IPNode': {
      const record = readNode(object)
      return { records: [record], key: record.name }
    }
  }
}
