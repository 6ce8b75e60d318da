import type { NodeRecord } from './records.ts'

/**
 * How long ago another node was last heard of: by a clock of this node alone (CLOCK_BOOTTIME, milliseconds), from when it
 * last saw that node's record change. No time that is written in a record counts.
 */

/** A version of a node's record, as this node has seen it. */
export interface Sighting {
  readonly version: string
  /** When it was first seen: the node has written it before. */
  readonly seenAt: number
  /** Until when the engine is known to have had no later one. */
  readonly unchangedUntil: number
}

type Versions = Pick<NodeRecord, 'generation' | 'since' | 'renewedAt'>

/** A generation alone may come again: when a renewal of unknown outcome is undone. */
export const versionOf = ({ generation, since, renewedAt }: Versions): string =>
  JSON.stringify([generation, since, renewedAt])

/** What is known of the record at a moment; a version that was not seen before starts over. */
export function see(before: Sighting | undefined, record: Versions, at: number): Sighting {
  const version = versionOf(record)
  if (before?.version !== version) return { version, seenAt: at, unchangedUntil: at }
  return { ...before, unchangedUntil: Math.max(before.unchangedUntil, at) }
}

/** From which contact age on an address may be taken from a node. Milliseconds. */
export interface TakeoverTerms {
  /** undefined: never. */
  readonly byTime: number | undefined
  readonly offlineGrace: number
}

/**
 * off: no contact age means anything here. unpromised: the node's record does not say that it stops. Else the age, and which
 * one is needed; over: old enough.
 */
export type ContactAge =
  | { readonly kind: 'off' | 'unpromised' }
  | { readonly kind: 'counting' | 'over'; readonly age: number; readonly needed: number }

/**
 * Whether the last contact with a node is long enough ago. It has stopped serving ADDs `stopsAfter` after its last contact;
 * twice that leaves as much again for ADDs under way, and for clocks that differ in speed.
 */
export function judgeContactAge(
  { byTime, offlineGrace }: TakeoverTerms,
  record: Pick<NodeRecord, 'stopsAfter'> | undefined,
  sighting: Sighting | undefined,
): ContactAge {
  if (byTime === undefined) return { kind: 'off' }
  if (record?.stopsAfter === undefined) return { kind: 'unpromised' }
  const needed = Math.max(byTime, 2 * offlineGrace, 2 * record.stopsAfter)
  const age = sighting ? sighting.unchangedUntil - sighting.seenAt : 0
  return { kind: age >= needed ? 'over' : 'counting', age, needed }
}

/** "3 min 20 s", "45 s": of milliseconds. */
export function spellTime(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  const minutes = Math.floor(seconds / 60)
  const rest = seconds % 60
  if (minutes === 0) return `${rest} s`
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`
}

/** "node n1: last contact 4 min ago; takeover by time in 6 min", and the like; undefined where nothing is counted. */
export function describeContactAge(node: string, contact: ContactAge): string | undefined {
  switch (contact.kind) {
    case 'off':
      return undefined
    case 'unpromised':
      return `no takeover by time: node ${node} does not renew its record ("takeover.byTime" is off there)`
    case 'counting':
      return (
        `node ${node}: last contact ${spellTime(contact.age)} ago; ` +
        `takeover by time in ${spellTime(contact.needed - contact.age)} without further contact`
      )
    case 'over':
      return `node ${node}: last contact ${spellTime(contact.age)} ago, long enough for a takeover by time`
  }
}
