import type { NodeRecord, LeaseRecord } from './records.ts'
import { type MainConfig, leavesNode } from './main-config.ts'

/**
 * How long another node has been silent: by a clock of this node alone (CLOCK_BOOTTIME, milliseconds), from when it last
 * saw that node's record change. No time that was written down by anybody is looked at.
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

/** A generation alone may come again: when a renewal that nobody knows the outcome of is taken back. */
export const versionOf = ({ generation, since, renewedAt }: Versions): string =>
  JSON.stringify([generation, since, renewedAt])

/** What is known of the record at a moment; a version that is not the one seen before begins anew. */
export function see(before: Sighting | undefined, record: Versions, at: number): Sighting {
  const version = versionOf(record)
  if (before?.version !== version) return { version, seenAt: at, unchangedUntil: at }
  return { ...before, unchangedUntil: Math.max(before.unchangedUntil, at) }
}

/** From what on an address may be taken from a node that says nothing. Milliseconds. */
export interface TakeoverTerms {
  /** undefined: never. */
  readonly byTime: number | undefined
  readonly offlineGrace: number
}

/**
 * off: no silence of any node means anything here. unpromised: the node's record does not say that it stops. Else for how
 * long it has been silent, and how long it has to be; over: long enough.
 */
export type Silence =
  | { readonly kind: 'off' | 'unpromised' }
  | { readonly kind: 'counting' | 'over'; readonly silentFor: number; readonly needed: number }

/**
 * Whether a node has been silent for long enough. It has stopped serving ADDs `stopsAfter` after its last word; twice that
 * leaves as much again for what was under way, and for clocks that do not run alike.
 */
export function judgeSilence(
  { byTime, offlineGrace }: TakeoverTerms,
  record: Pick<NodeRecord, 'stopsAfter'> | undefined,
  sighting: Sighting | undefined,
): Silence {
  if (byTime === undefined) return { kind: 'off' }
  if (record?.stopsAfter === undefined) return { kind: 'unpromised' }
  const needed = Math.max(byTime, 2 * offlineGrace, 2 * record.stopsAfter)
  const silentFor = sighting ? sighting.unchangedUntil - sighting.seenAt : 0
  return { kind: silentFor >= needed ? 'over' : 'counting', silentFor, needed }
}

/** "3 min 20 s", "45 s": of milliseconds. */
export function spellTime(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  const minutes = Math.floor(seconds / 60)
  const rest = seconds % 60
  if (minutes === 0) return `${rest} s`
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`
}

/**
 * Whether an ADD may take addresses from a sandbox of another node that says nothing: where they stand on a link that both
 * nodes have, so that somebody who still has one can answer, and where this ADD asks before it uses them.
 */
export interface TakeoverByTime {
  readonly allowed: boolean
  /** For people: how it stands; undefined where takeover by time is no matter here. */
  readonly says: string | undefined
}

const noMatter: TakeoverByTime = { allowed: false, says: undefined }

/**
 * @param leases what the sandbox has
 * @param main of the ADD; undefined in the IPAM role
 * @param silence of the sandbox's node
 */
export function judgeTakeover(
  node: string,
  leases: readonly Pick<LeaseRecord, 'carried'>[],
  main: Pick<MainConfig, 'mode' | 'duplicateProbe'> | undefined,
  silence: Silence,
): TakeoverByTime {
  if (silence.kind === 'off') return noMatter
  const onLink = leases.length > 0 && leases.every(({ carried }) => carried === 'link')
  if (!onLink || main === undefined || !leavesNode(main.mode)) {
    const says = 'takeover by time is for modes underlay and macvlan only'
    return { allowed: false, says }
  }
  if (!main.duplicateProbe)
    return {
      allowed: false,
      says: 'no takeover by time: "duplicateProbe" is false in the network\'s configuration',
    }
  return { allowed: silence.kind === 'over', says: describeSilence(node, silence) }
}

/** "node n1 has been silent for 4 min; takeover by time in 6 min", and the like; undefined where nothing is counted. */
export function describeSilence(node: string, silence: Silence): string | undefined {
  switch (silence.kind) {
    case 'off':
      return undefined
    case 'unpromised':
      return `no takeover by time: node ${node} does not tell that it lives ("takeover.byTime" is off there)`
    case 'counting':
      return (
        `node ${node} has been silent for ${spellTime(silence.silentFor)}; ` +
        `takeover by time in ${spellTime(silence.needed - silence.silentFor)} unless it is heard of`
      )
    case 'over':
      return `node ${node} has been silent for ${spellTime(silence.silentFor)}, long enough for a takeover by time`
  }
}
