import { overlap, setsOf } from './listed-pool.ts'
import { standard, type ConfiguredPool, type PoolWords } from './pool-shapes.ts'
import { decide, Refusal, type Granted } from './reference-add.ts'
import {
  addressOf,
  familyOf,
  isDead,
  isOver,
  show,
  type Asker,
  type Found,
  type Hold,
  type Promised,
  type Sandbox,
  type Seen,
  type WorkloadWords,
  type WorldState,
} from './world-state.ts'

/** An ADD that was right, with the rules by which it got what it got; or what is wrong. */
export type Verdict = { readonly hows: readonly string[] } | { readonly fault: string }

const wrong = (expected: string, seen: Seen): { readonly fault: string } => ({
  fault: `expected ${expected}, got ${show(seen)}`,
})

interface Burial {
  readonly bootId: string
  readonly startedAt: number
  readonly at: number
  /** Another DEL came ten minutes later, by the clock as it was then: this one may be forgotten. */
  readonly forgettable: boolean
}

const fill = <V>(to: Map<string, V>, from: ReadonlyMap<string, V>): void => {
  for (const [key, value] of from) to.set(key, value)
}

/** Held for the same holder, of the same family. */
const isKeptFor =
  ({ holder, place }: Hold) =>
  (other: Hold): boolean =>
    other.state === 'held' && other.holder === holder && familyOf(other.place) === familyOf(place)

/**
 * What ipkeeper promises, in the plainest data there is: maps of addresses, sandboxes and reservations. No indexes, no
 * generations, nothing to undo but a copy of what was there. Told what came of a step, it says whether that is right, and
 * follows it.
 */
export class ReferenceModel implements WorldState {
  now: number
  config: readonly ConfiguredPool[]
  readonly netnsGone = new Set<string>()
  readonly nodesGone = new Set<string>()
  readonly holds = new Map<string, Hold>()
  readonly sandboxes = new Map<string, Sandbox>()
  readonly newest = new Map<string, Sandbox>()
  readonly promises = new Map<string, Promised>()
  readonly known = new Map<string, PoolWords>()
  readonly generated: ReadonlySet<string>
  /** The last answer that was given from a sandbox: whoever undoes an earlier one undoes nothing. */
  readonly answers = new Map<string, number>()
  /** When DELs of sandboxes began: an ADD that began earlier comes too late. */
  readonly #buried = new Map<string, Burial>()
  #answered = 0

  constructor(now: number, config: readonly ConfiguredPool[], generated: ReadonlySet<string>) {
    this.now = now
    this.config = config
    this.generated = generated
  }

  copy(): ReferenceModel {
    const copy = new ReferenceModel(this.now, this.config, this.generated)
    for (const netns of this.netnsGone) copy.netnsGone.add(netns)
    for (const node of this.nodesGone) copy.nodesGone.add(node)
    fill(copy.holds, this.holds)
    fill(copy.sandboxes, this.sandboxes)
    fill(copy.newest, this.newest)
    fill(copy.promises, this.promises)
    fill(copy.known, this.known)
    fill(copy.answers, this.answers)
    fill(copy.#buried, this.#buried)
    copy.#answered = this.#answered
    return copy
  }

  holdsOf(sandbox: string): Hold[] {
    return [...this.holds.values()].filter(hold => hold.sandbox === sandbox)
  }

  add(asker: Asker, seen: Seen): Verdict {
    const code = 'code' in seen ? seen.code : undefined
    const stone = this.#buried.get(asker.sandbox)
    if (stone?.bootId === asker.bootId && stone.startedAt > asker.startedAt) {
      if (code === 'IPK_DEL_OVERTOOK') return { hows: [] }
      if (!stone.forgettable) return wrong('IPK_DEL_OVERTOOK', seen)
    }
    try {
      const there = this.sandboxes.get(asker.sandbox)
      if (there && !isDead(this, there, asker.node)) return this.#again(asker, there, seen)
      const granted = decide(this, asker, 'places' in seen ? seen.places : [])
      const places = granted.grants.map(({ place }) => place).join()
      if (!('places' in seen) || seen.places.join() !== places) return wrong(places, seen)
      this.#carryOut(asker, granted)
      return { hows: granted.grants.map(({ how }) => how) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return code !== undefined && error.codes.includes(code) ? { hows: [] } : wrong(error.message, seen)
    }
  }

  /** An ADD that was sent again gets the same answer; any other one of a sandbox that may live is an error. */
  #again(asker: Asker, there: Sandbox, seen: Seen): Verdict {
    const has = this.holdsOf(there.id).map(({ place }) => addressOf(place))
    if (asker.run !== there.run || has.length === 0) throw new Refusal('IPK_ALREADY_ADDED')
    const answer = 'places' in seen ? seen.places.map(addressOf) : []
    if (answer.sort().join() !== has.sort().join()) return wrong(`${has.join()} again`, seen)
    this.answers.set(there.id, ++this.#answered)
    return { hows: has.map(() => 'answered again') }
  }

  #carryOut(asker: Asker, { grants, left }: Granted): void {
    const older = this.newest.get(asker.holder)
    const found = new Map<string, Found>()
    const write = (hold: Hold): void => {
      const before = this.holds.get(hold.place)
      const sandbox = before?.sandbox ?? undefined
      const of = sandbox === undefined ? undefined : this.sandboxes.get(sandbox)
      found.set(hold.place, { before, of, wrote: hold })
      this.holds.set(hold.place, hold)
    }
    const { sandbox: id, holder, uid, node, bootId, netns, run, startedAt, pod } = asker
    for (const { pool, place, named } of grants) {
      write({
        place,
        state: 'bound',
        pool,
        holder,
        uid,
        workload: pod?.workload ?? null,
        sandbox: id,
        node,
        named,
        retain: asker.retain ?? this.#policyOf(pool).retention,
        since: this.now,
        until: null,
        remembered: false,
      })
    }
    for (const hold of left) write(this.#released({ ...hold, retain: 'release' }))
    const sandbox: Sandbox = { id, holder, uid, node, bootId, netns, run, startedAt, found, older }
    this.sandboxes.set(id, sandbox)
    this.newest.set(holder, sandbox)
    this.answers.set(id, ++this.#answered)
    const { inline } = asker.network
    if (!inline || grants.every(({ pool }) => pool !== inline.name)) return
    if (this.known.get(inline.name) === inline) return
    for (const other of [...this.known.values()]) {
      if (other.name !== inline.name && overlap(other, inline)) this.known.delete(other.name)
    }
    this.known.set(inline.name, inline)
  }

  #policyOf(pool: string): Pick<ConfiguredPool, 'retention' | 'cooldown' | 'preferFor' | 'strategy'> {
    return this.config.find(({ words }) => words.name === pool) ?? standard
  }

  /** Kept for its holder, or resting. */
  #released(hold: Hold): Hold {
    const { cooldown, preferFor, strategy } = this.#policyOf(hold.pool)
    const base = { ...hold, sandbox: null, since: this.now }
    if (hold.retain !== 'release') {
      const until = typeof hold.retain === 'object' ? this.now + hold.retain.milliseconds : null
      return { ...base, state: 'held', until }
    }
    const until = this.now + (hold.named ? preferFor : cooldown)
    return { ...base, state: 'cooling', until, remembered: strategy === 'least-recently-used' }
  }

  #bury(id: string, began: Pick<Burial, 'bootId' | 'startedAt'>): void {
    this.#buried.set(id, { ...began, at: this.now, forgettable: false })
    for (const [other, stone] of this.#buried) {
      if (stone.at <= this.now - 600_000) this.#buried.set(other, { ...stone, forgettable: true })
    }
  }

  /**
   * A DEL that the store took. `began`: when its run began, where it says so. `bootId`: of the present boot. `workload`:
   * what is known of the pod's by now.
   */
  del(
    id: string,
    began: { readonly bootId: string; readonly startedAt: number } | undefined,
    bootId: string,
    workload: WorkloadWords | undefined,
  ): void {
    const earlier = this.#buried.get(id)
    if (began && !(earlier?.bootId === began.bootId && earlier.startedAt > began.startedAt))
      this.#bury(id, began)
    const sandbox = this.sandboxes.get(id)
    if (!sandbox) return
    const younger =
      began &&
      (sandbox.bootId === began.bootId ? sandbox.startedAt > began.startedAt : sandbox.bootId === bootId)
    if (younger) return
    const isNewest = this.newest.get(sandbox.holder) === sandbox
    for (const hold of this.holdsOf(id)) {
      const known = workload ? { ...hold, workload } : hold
      // What an older sandbox still had is kept for nobody: its holder has other addresses.
      this.holds.set(hold.place, this.#released(isNewest ? known : { ...known, retain: 'release' }))
    }
    if (isNewest) this.newest.delete(sandbox.holder)
    this.sandboxes.delete(id)
  }

  /**
   * Undoes an ADD whose answer never arrived: all is as it was. Returns false when others have changed meanwhile what the
   * ADD had changed; then the model does not know.
   */
  undo(id: string, answer: number): boolean {
    const sandbox = this.sandboxes.get(id)
    if (!sandbox || this.answers.get(id) !== answer) return true
    const { found, older, holder } = sandbox
    const isReplaced = (other: Sandbox | undefined): boolean => other?.id === id
    const stillThere = (other: Sandbox | undefined): boolean =>
      other === undefined || isReplaced(other) || this.sandboxes.get(other.id) === other
    /** Whether the one that an inherited address was kept for has not come back. */
    const stillAway = (before: Hold | undefined): boolean =>
      before?.state !== 'held' ||
      before.holder === holder ||
      (!this.newest.has(before.holder) && ![...this.holds.values()].some(isKeptFor(before)))
    const untouched =
      this.newest.get(holder) === sandbox &&
      stillThere(older) &&
      [...found.values()].every(
        ({ wrote, of, before }) =>
          this.holds.get(wrote.place) === wrote && stillThere(of) && stillAway(before),
      )
    if (!untouched) return false
    for (const [place, { before, of }] of found) {
      if (before === undefined) this.holds.delete(place)
      else if (!isReplaced(of)) this.holds.set(place, { ...before })
      // Its sandbox was a dead one of the same ID: that is gone, as by a DEL.
      else
        this.holds.set(place, this.#released(isReplaced(older) ? before : { ...before, retain: 'release' }))
    }
    if (older === undefined || isReplaced(older)) this.newest.delete(holder)
    else this.newest.set(holder, older)
    this.sandboxes.delete(id)
    return true
  }

  /** Follows what came of an undo that it could not tell. */
  adopt(holds: ReadonlyMap<string, Hold>, undone: Sandbox, newest: Sandbox | undefined): void {
    this.holds.clear()
    fill(this.holds, holds)
    this.sandboxes.delete(undone.id)
    if (newest) this.newest.set(undone.holder, newest)
    else this.newest.delete(undone.holder)
  }

  /** Kept addresses whose time is over go, but for those that their pool remembers. */
  tidy(): void {
    for (const hold of [...this.holds.values()]) {
      if (hold.state === 'bound' || !isOver(hold, this.now) || hold.remembered) continue
      if (this.#policyOf(hold.pool).strategy === 'lowest-free') this.holds.delete(hold.place)
      else this.holds.set(hold.place, { ...hold, state: 'cooling', remembered: true })
    }
  }

  reserve(promised: Promised, seen: Seen): string | undefined {
    const { place, namespace, name, kind } = promised
    const code = 'code' in seen ? seen.code : ''
    if (code === 'IPK_ADDRESS_UNUSABLE' && !this.#givable(place)) return undefined
    const before = this.promises.get(place)
    const hold = this.holds.get(place)
    const same = before?.namespace === namespace && before.name === name && before.kind === kind
    const others = hold?.state !== 'cooling' && hold?.holder.split(' ')[1] !== `${namespace}/${name}`
    const expected =
      before && !same
        ? 'IPK_ADDRESS_RESERVED'
        : hold && others && !isOver(hold, this.now)
          ? 'IPK_ADDRESS_HELD'
          : ''
    if (code !== expected) return wrong(expected === '' ? 'a reservation' : expected, seen).fault
    if (expected === '') this.promises.set(place, promised)
    return undefined
  }

  /** Whether some pool can give it. */
  #givable(place: string): boolean {
    const pools = [...this.known.values(), ...this.config.map(({ words }) => words)]
    return pools.flatMap(setsOf).some(({ usable }) => usable.includes(place))
  }

  unreserve(place: string, seen: Seen): string | undefined {
    const expected = this.promises.delete(place) ? '' : 'IPK_RESERVATION_MISSING'
    const code = 'code' in seen ? seen.code : ''
    return code === expected ? undefined : wrong(expected === '' ? 'success' : expected, seen).fault
  }

  /** A daemon that starts remembers no DEL. */
  restarted(): void {
    this.#buried.clear()
  }

  /** Addresses of a pool, counted one by one. */
  usage(pool: PoolWords): { readonly capacity: number; readonly used: number; readonly held: number } {
    const places = setsOf(pool).flatMap(({ usable }) => usable)
    const present = places.map(place => {
      const hold = this.holds.get(place)
      return { place, hold: hold && !isOver(hold, this.now) ? hold : undefined }
    })
    const used = present.filter(({ hold }) => hold?.state === 'bound')
    const held = present.filter(
      ({ place, hold }) =>
        hold?.state !== 'bound' && (this.promises.has(place) || hold?.state === 'held' || hold?.named),
    )
    return { capacity: places.length, used: used.length, held: held.length }
  }
}
