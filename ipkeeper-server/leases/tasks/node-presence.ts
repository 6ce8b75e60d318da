import { BackgroundTask } from '../../host/background-task.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import {
  judgeContactAge,
  see,
  spellTime,
  versionOf,
  type Sighting,
  type ContactAge,
  type TakeoverTerms,
} from '../../ipam/records/last-contact.ts'
import type { Change, NodeRecord } from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { NameClaims } from './name-claims.ts'
import type { LeaseService } from '../verbs/service.ts'

/** Milliseconds between two looks whether the node's addresses are still the same. */
const lookEvery = 60_000
/** Milliseconds after which it is tried again to tell of this node: until then it may serve no ADD. */
const retryAfter = 1000
/** Renewals within the time after which the node stops: four may be lost. */
const beatsPerGrace = 5

export interface NodePresenceOptions {
  readonly service: Pick<LeaseService, 'ledger' | 'node' | 'now'>
  /** As configured now. */
  readonly terms: () => TakeoverTerms
  /** By which other nodes reach this one. */
  readonly addresses: () => Promise<readonly string[]>
  /** Of this daemon. */
  readonly version: string
  /** Milliseconds of CLOCK_BOOTTIME: time asleep counts. */
  readonly bootClock: () => number
  /** Whose the names are; what is told stands beside that. */
  readonly claims?: Pick<NameClaims, 'mine' | 'mayWrite'>
  readonly onError: (error: unknown) => void
}

/**
 * This node's record in a store that nodes share, and for how long those of others have not changed.
 *
 * Where takeover by time is configured the record is renewed, and while that fails for longer than it promises, no ADD is
 * served here (`refusal`): others may by then have taken over what pods of this node had. Without a word of the engine since
 * the start none is served either: how long the silence has lasted by then, nobody knows.
 */
export class NodePresence {
  readonly #options: NodePresenceOptions
  readonly #sightings = new Map<string, Sighting>()
  /** Of the record that the engine has, as far as is known. */
  #promised: number | undefined
  /** When the last renewal began that succeeded. */
  #contactAt: number | undefined
  /** Custom resources of another version leave the version out: it is told once, and not with each look. */
  #hasToldVersion = false
  readonly #task: BackgroundTask
  /** By which others were last told to reach this node. */
  #told: readonly string[] = []
  #failing = false

  constructor(options: NodePresenceOptions) {
    this.#options = options
    this.#task = new BackgroundTask({ round: () => this.#beat() })
    const { ledger, node } = options.service
    this.#promised = ledger.node(node)?.stopsAfter
  }

  /** Resolves when the first try to tell of this node has ended. */
  async start(): Promise<void> {
    await this.#task.run()
  }

  /** The terms have changed: what they mean is told now. */
  async wake(): Promise<void> {
    await this.#task.run()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  /**
   * To be called with each change of a node's record, in the middle of it. One that is written again after the engine has lost it says
   * nothing of how this node is reached, for which nobody is to wait until the next look.
   */
  heard({ name, addresses }: NodeRecord): void {
    const isOwn = name === this.#options.service.node
    if (isOwn && addresses.length === 0 && this.#told.length > 0) this.#task.wake()
  }

  /** Why no ADD may be served now: IPK_STORE_AWAY; undefined where one may. */
  refusal(): Problem | undefined {
    const grace = this.#grace()
    if (grace === undefined) return undefined
    if (this.#contactAt === undefined)
      return away(
        'this daemon has not reached the store since it started',
        'with takeover by time, addresses of this node may have been given to other pods in the meantime',
      )
    const silent = this.#options.bootClock() - this.#contactAt
    if (silent <= grace) return undefined
    return away(
      `this node has not reached the store for ${spellTime(silent)}`,
      `after ${spellTime(grace)} ("takeover.offlineGrace") other nodes prepare to take its addresses over`,
    )
  }

  contactAgeOf(node: string): ContactAge {
    const { service, terms } = this.#options
    return judgeContactAge(terms(), service.ledger.node(node), this.#sightings.get(node))
  }

  /** After which silence this node serves no more. What was promised holds until the engine has another word. */
  #grace(): number | undefined {
    const { byTime, offlineGrace } = this.#options.terms()
    if (this.#promised !== undefined) return this.#promised
    return byTime === undefined ? undefined : offlineGrace
  }

  async #beat(): Promise<number> {
    try {
      await this.#tell()
      this.#failing = false
    } catch (error) {
      // It is tried every second, and said once.
      if (!this.#failing) this.#options.onError(error)
      this.#failing = true
    }
    if (!this.#failing) await this.#watchOthers()
    const grace = this.#grace()
    const usual = grace === undefined ? lookEvery : Math.min(lookEvery, grace / beatsPerGrace)
    return this.#failing ? Math.min(retryAfter, usual) : usual
  }

  /** Writes this node's record where it is not as it should be, or has to be renewed. */
  async #tell(): Promise<void> {
    const { service, terms, addresses, bootClock, claims, version } = this.#options
    const { ledger, node, now } = service
    const { byTime, offlineGrace } = terms()
    const stopsAfter = byTime === undefined ? undefined : offlineGrace
    const known = await addresses()
    const beganAt = bootClock()
    const began = performance.now()
    const change = (): Change => {
      const present = ledger.node(node)
      // Another machine has the name: it tells of itself.
      if (claims && !claims.mayWrite(present)) return []
      const { stopsAfter: stopped, ...kept } = withoutRenewal(present) ?? { name: node, since: now() }
      const claim = present?.claim ?? claims?.mine
      const same =
        stopped === stopsAfter &&
        present?.claim === claim &&
        (this.#hasToldVersion || present?.version === version) &&
        JSON.stringify(present?.addresses) === JSON.stringify(known)
      if (same && stopsAfter === undefined) return []
      const record: NodeRecord = {
        ...kept,
        generation: (present?.generation ?? 0) + 1,
        addresses: known,
        version,
        ...(claim && { claim }),
        ...(stopsAfter !== undefined && { stopsAfter, renewedAt: now() }),
      }
      return [{ kind: 'node', key: node, expect: present?.generation ?? null, record }]
    }
    await commitPlan(ledger, () => ({ change: change() }))
    this.#told = known
    this.#hasToldVersion = true
    // An engine that keeps no such records has not been asked.
    const silence = ledger.silence()
    if (silence === undefined || silence > performance.now() - began) return
    this.#promised = stopsAfter
    const last = this.#contactAt
    this.#contactAt = beganAt
    // While this node heard nothing itself, the silence of others proves nothing.
    if (last !== undefined && beganAt - last > (2 * offlineGrace) / beatsPerGrace + 1000)
      this.#sightings.clear()
  }

  /** Those whose records have not changed for longer than they should be are asked for by name: news may be late. */
  async #watchOthers(): Promise<void> {
    const { service, terms, bootClock, onError } = this.#options
    if (terms().byTime === undefined) {
      this.#sightings.clear()
      return
    }
    const { ledger, node: here } = service
    const names = new Set<string>()
    for (const record of [...ledger.nodes()]) {
      const { name, stopsAfter, gone } = record
      if (name === here || stopsAfter === undefined || gone) continue
      names.add(name)
      const before = this.#sightings.get(name)
      const sighting = see(before, record, bootClock())
      if (!before || sighting.seenAt !== before.seenAt) {
        this.#sightings.set(name, sighting)
        continue
      }
      if (bootClock() - before.seenAt < (2 * stopsAfter) / beatsPerGrace) continue
      try {
        const askedAt = bootClock()
        const present = await ledger.readNode(name)
        // Of an engine that is away the store tells what it last heard.
        if (!present || ledger.storeStatus()?.state !== 'ready') continue
        // What is new was written at any time before the answer; what is not had not changed when it was asked for.
        const isNew = versionOf(present) !== before.version
        this.#sightings.set(name, see(before, present, isNew ? bootClock() : askedAt))
      } catch (error) {
        onError(error)
        return
      }
    }
    for (const name of this.#sightings.keys()) if (!names.has(name)) this.#sightings.delete(name)
  }
}

function withoutRenewal(record: NodeRecord | undefined): NodeRecord | undefined {
  const { renewedAt, ...rest } = record ?? {}
  return renewedAt === undefined ? record : (rest as NodeRecord)
}

function away(message: string, details: string): Problem {
  return new Problem('IPK_STORE_AWAY', message, { details })
}
