import {
  isDead,
  isMoved,
  isOver,
  familyOf,
  addressOf,
  countOf,
  sameWorkload,
  type Asker,
  type Hold,
  type WorldState,
} from './world-state.ts'

/**
 * The rules that never bend (DESIGN.md), each checked on what was there before a step and what is there after it,
 * whatever the model says of it.
 */

export type Holds = ReadonlyMap<string, Hold>

export type Deed =
  | { readonly kind: 'add'; readonly asker: Asker; readonly places: readonly string[] }
  | { readonly kind: 'del' | 'undo'; readonly sandbox: string; readonly holder: string }
  /** Nobody was added, deleted or undone: what is refused, restarts, reloads, reservations, crashes, time. */
  | { readonly kind: 'nothing' }

interface Step {
  readonly before: Holds
  readonly after: Holds
  readonly deed: Deed
  /** As it was before the step, but for the clock. */
  readonly world: Pick<
    WorldState,
    'now' | 'netnsGone' | 'nodesGone' | 'sandboxes' | 'generated' | 'promises' | 'config'
  >
  readonly newestAfter: ReadonlyMap<string, { readonly id: string }>
}

const same = (a: Hold | undefined, b: Hold | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Says what is wrong with a step; nothing when the rule is kept. */
type Rule = (step: Step) => Generator<string>

const rules: Readonly<Record<string, Rule>> = {
  'a holder has one address of a family, and what an older sandbox has': function* ({ after, newestAfter }) {
    const counts = new Map<string, number>()
    for (const { holder, state, sandbox, place } of after.values()) {
      if (state === 'cooling') continue
      const where = state === 'held' || sandbox === newestAfter.get(holder)?.id ? 'newest' : (sandbox ?? '')
      const key = `${holder} IPv${familyOf(place)} (${where})`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      if ((counts.get(key) ?? 0) > 1) yield `${key} has ${place} and another one`
    }
  },

  'what a sandbox has it keeps, unless it is deleted, or gives it up to its own holder or workload':
    function* (step) {
      const { before, after, deed, world } = step
      for (const hold of before.values()) {
        if (hold.state !== 'bound' || same(hold, after.get(hold.place))) continue
        const sandbox = world.sandboxes.get(hold.sandbox ?? '')
        if (deed.kind === 'add' && deed.asker.holder === hold.holder) {
          const { uid, node } = deed.asker
          if (!sandbox || (sandbox.uid !== null && sandbox.uid === uid) || isDead(world, sandbox, node))
            continue
        }
        if (deed.kind === 'add' && sandbox && isDead(world, sandbox, deed.asker.node)) {
          if (isMoved(world, hold) && deed.places.includes(hold.place)) continue
          const inherits =
            world.generated.has(hold.holder) &&
            sameWorkload(hold.workload, deed.asker.pod?.workload ?? null) &&
            deed.places.includes(hold.place)
          if (inherits) continue
        }
        if ((deed.kind === 'del' || deed.kind === 'undo') && deed.sandbox === hold.sandbox) continue
        yield `${hold.place} of ${hold.sandbox ?? ''} was touched`
      }
    },

  'what is kept goes to nobody else before its time': function* ({ before, after, deed, world }) {
    for (const hold of before.values()) {
      // A clock that is set moves its times.
      const present = after.get(hold.place)
      const { since, until } = hold
      if (
        hold.state !== 'held' ||
        isOver(hold, world.now) ||
        same(hold, present && { ...present, since, until })
      )
        continue
      if (deed.kind === 'add') {
        const { holder, pod } = deed.asker
        if (holder === hold.holder) continue
        if (isMoved(world, hold) && deed.places.includes(hold.place)) continue
        const inherits =
          world.generated.has(hold.holder) && sameWorkload(hold.workload, pod?.workload ?? null)
        if (inherits && deed.places.includes(hold.place)) continue
      }
      yield `${hold.place}, kept for ${hold.holder}, was touched`
    }
  },

  'a DEL touches what its sandbox has, and nothing else': function* ({ before, after, deed }) {
    if (deed.kind !== 'del') return
    for (const place of new Set([...before.keys(), ...after.keys()])) {
      const was = before.get(place)
      if (was?.sandbox !== deed.sandbox && !same(was, after.get(place))) yield `${place} was touched`
    }
  },

  'a request by name gets that address, or an error': function* ({ deed }) {
    if (deed.kind !== 'add') return
    const got = deed.places.map(addressOf)
    for (const ip of deed.asker.ips) if (!got.includes(ip)) yield `${ip} was asked for`
    for (const list of deed.asker.lists) {
      if (!got.some(address => list.includes(address))) yield `one of ${list.join()} was asked for`
    }
  },

  'what is reserved goes to nobody else': function* ({ deed, world }) {
    if (deed.kind !== 'add') return
    const { pod } = deed.asker
    for (const place of deed.places) {
      const promise = world.promises.get(place)
      if (!promise) continue
      const name = promise.kind === undefined ? pod?.name : pod?.workload.name
      if (pod?.namespace !== promise.namespace || name !== promise.name)
        yield `${place} is reserved for ${promise.namespace}/${promise.name}`
    }
  },

  'what somebody had asked for by name rests from dynamic choice': function* ({ before, deed, world }) {
    if (deed.kind !== 'add') return
    const { ips, lists } = deed.asker
    for (const place of deed.places) {
      const hold = before.get(place)
      const rests = hold?.state === 'cooling' && hold.named && !isOver(hold, world.now)
      if (rests && ![...ips, ...lists.flat()].includes(addressOf(place)) && !world.promises.has(place))
        yield `${place} was given by choice`
    }
  },

  'no namespace gets beyond its quota': function* ({ before, after, deed, world }) {
    const namespace = deed.kind === 'add' ? deed.asker.pod?.namespace : undefined
    if (namespace === undefined) return
    for (const { words, quota } of world.config) {
      for (const family of [4, 6] as const) {
        const countIn = (holds: Holds): number => countOf(holds, words.name, namespace, family, world.now)
        const count = countIn(after)
        if (quota !== undefined && count > quota && count > countIn(before))
          yield `${namespace} has ${count} IPv${family} addresses of ${words.name}, and may have ${quota}`
      }
    }
  },
}

/** The first rule that a step broke, and how; undefined when it kept all. */
export function brokenRule(step: Step): string | undefined {
  for (const [rule, check] of Object.entries(rules)) {
    const [broken] = check(step)
    if (broken !== undefined) return `${rule}: ${broken}`
  }
  return undefined
}
