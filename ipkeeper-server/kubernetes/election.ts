import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import { at } from './kube-object.ts'

/**
 * Which of the daemons that share a store does what one has to do for all: owners of kept addresses, what nodes that are
 * gone have left, figures of pools. Nothing on the way of an ADD depends on it, and nothing breaks when for a moment two
 * take themselves for elected, or nobody does: each change is conditional, whoever makes it.
 */
export interface Election {
  /** Whether this daemon is it, at this very moment. Asked before each single thing that is done. */
  isElected(): boolean
}

/** Where a daemon has its store to itself. */
export const alone: Election = { isElected: () => true }

/** The record by which daemons elect one of them, and the rules of client-go's leader election. */

export const electionApi = 'coordination.k8s.io/v1'

/** A Lease as it was last read or written. */
export interface ElectionRecord {
  /** '' when nobody is elected. */
  readonly holder: string
  /** For how long others have to leave it alone after they have seen it change; milliseconds. */
  readonly duration: number
  readonly acquireTime: string
  readonly transitions: number
  readonly resourceVersion: string
  /** All that it says: by this it is seen to change. */
  readonly text: string
}

/** What became of the Lease lately, as this daemon saw it. */
export interface SeenRecord {
  readonly record: ElectionRecord
  /** When it was first seen to be as it is; milliseconds of this daemon's clock that never jumps. */
  readonly since: number
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0

/** Reads a Lease; undefined for what is none. One that somebody made without a `spec` has no holder. */
export function readElection(object: JsonObject): ElectionRecord | undefined {
  const resourceVersion = at(object, 'metadata', 'resourceVersion')
  if (typeof resourceVersion !== 'string' || resourceVersion === '') return undefined
  const spec = isJsonObject(object['spec']) ? object['spec'] : {}
  return {
    holder: text(spec['holderIdentity']),
    duration: count(spec['leaseDurationSeconds']) * 1000,
    acquireTime: text(spec['acquireTime']),
    transitions: count(spec['leaseTransitions']),
    resourceVersion,
    text: JSON.stringify(spec),
  }
}

/**
 * The same record seen again stays as old as it was. Times in it are other nodes' clocks and count for nothing: what
 * counts is how long this daemon has seen no change.
 */
export function seeRecord(
  before: SeenRecord | undefined,
  record: ElectionRecord,
  monotonic: number,
): SeenRecord {
  return { record, since: before?.record.text === record.text ? before.since : monotonic }
}

/** renew: it is ours. take: nobody has it, or who had it has been silent for too long. wait: somebody has it. */
export type Move = 'renew' | 'take' | 'wait'

export function nextMove(own: string, { record, since }: SeenRecord, monotonic: number): Move {
  if (record.holder === own) return 'renew'
  return record.holder === '' || monotonic - since >= record.duration ? 'take' : 'wait'
}

/** MicroTime of meta/v1: six digits, of which this clock has three. */
const microTime = (now: number): string => new Date(now).toISOString().replace('Z', '000Z')

/**
 * The Lease with this holder, to be written in place of `before`. '' gives it up: whoever looks next may take it.
 *
 * @param now milliseconds since the epoch; written for people
 */
export function writeElection(
  place: { readonly namespace: string; readonly name: string },
  before: ElectionRecord | undefined,
  holder: string,
  duration: number,
  now: number,
): JsonObject {
  const same = before?.holder === holder
  const first = before === undefined || before.holder === holder || holder === ''
  return {
    apiVersion: electionApi,
    kind: 'Lease',
    metadata: { ...place, ...(before && { resourceVersion: before.resourceVersion }) },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: holder === '' ? 1 : Math.max(1, Math.ceil(duration / 1000)),
      acquireTime: same && before.acquireTime !== '' ? before.acquireTime : microTime(now),
      renewTime: microTime(now),
      leaseTransitions: (before?.transitions ?? 0) + (first ? 0 : 1),
    },
  }
}
