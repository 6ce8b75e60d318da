import { overlap, setsOf } from './listed-pool.ts'
import { standard, type ConfiguredPool, type PoolWords } from './pool-shapes.ts'
import { decide, Refusal, type Granted } from './reference-add.ts'
import {
  addressOf,
  familyOf,
  isDead,
  isMoved,
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
  /** Another DEL came ten minutes later: this one may be forgotten. */
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
  /** Sandboxes of which nobody has the answer. */
  readonly lost = new Set<string>()
  /** Sandboxes whose records do not say that the answer arrived. */
  readonly unconfirmed = new Set<string>()
  /** When each sandbox was last answered for: microseconds since boot. */
  readonly answeredAt = new Map<string, number>()
  /** Sandboxes that the present daemons have answered for. */
  readonly answeredHere = new Set<string>()
  /** Microseconds since boot. */
  micros = 0
  /** Times of holds as the store has them, where the clock was set since they were written. */
  readonly #written: WeakMap<Hold, Pick<Hold, 'since' | 'until'>>
  /** When DELs of sandboxes began: an ADD that began earlier comes too late. */
  readonly #buried = new Map<string, Burial>()
  #answered = 0

  constructor(
    now: number,
    config: readonly ConfiguredPool[],
    generated: ReadonlySet<string>,
    written: WeakMap<Hold, Pick<Hold, 'since' | 'until'>> = new WeakMap(),
  ) {
    this.#written = written
    this.now = now
    this.config = config
    this.generated = generated
  }

  copy(): ReferenceModel {
    const copy = new ReferenceModel(this.now, this.config, this.generated, this.#written)
    for (const netns of this.netnsGone) copy.netnsGone.add(netns)
    for (const node of this.nodesGone) copy.nodesGone.add(node)
    fill(copy.holds, this.holds)
    fill(copy.sandboxes, this.sandboxes)
    fill(copy.newest, this.newest)
    fill(copy.promises, this.promises)
    fill(copy.known, this.known)
    fill(copy.answers, this.answers)
    fill(copy.answeredAt, this.answeredAt)
    for (const sandbox of this.lost) copy.lost.add(sandbox)
    for (const sandbox of this.unconfirmed) copy.unconfirmed.add(sandbox)
    for (const sandbox of this.answeredHere) copy.answeredHere.add(sandbox)
    copy.micros = this.micros
    fill(copy.#buried, this.#buried)
    copy.#answered = this.#answered
    return copy
  }

  /** Time goes by: milliseconds. */
  pass(by: number): void {
    this.now += by
    this.micros += by * 1000
  }

  /** Somebody sets the clock: what is kept or rests goes on for as long as it would have. */
  setClock(by: number): void {
    this.now += by
    for (const hold of [...this.holds.values()]) {
      const { since, until } = hold
      if (until !== null) this.#retime(hold, { since: since + by, until: until + by })
    }
  }

  /** Whether the store has other times of something than the daemon goes by. */
  hasOtherTimes(): boolean {
    return [...this.holds.values()].some(hold => this.#written.has(hold))
  }

  /** The store was told of what is not over. */
  timesWritten(): void {
    for (const hold of this.holds.values()) if (!isOver(hold, this.now)) this.#written.delete(hold)
  }

  #retime(hold: Hold, times: Pick<Hold, 'since' | 'until'>): void {
    if (times.since === hold.since && times.until === hold.until) return
    const { since, until } = this.#written.get(hold) ?? hold
    const again = { ...hold, ...times }
    this.holds.set(hold.place, again)
    if (again.since !== since || again.until !== until) this.#written.set(again, { since, until })
  }

  /** No longer from now on than it was to be in all. */
  #bounded({ since, until }: Pick<Hold, 'since' | 'until'>): Pick<Hold, 'since' | 'until'> {
    return until === null || since <= this.now + 1000
      ? { since, until }
      : { since: this.now, until: this.now + Math.max(until - since, 0) }
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
    this.#noteAnswer(there.id, {
      isLost: asker.isLost && this.lost.has(there.id),
      confirms: asker.confirms && this.unconfirmed.has(there.id),
    })
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
    for (const { before, of } of found.values()) if (before && of) this.#forgetLost(holder, before.holder, of)
    const sandbox: Sandbox = { id, holder, uid, node, bootId, netns, run, startedAt, found, older }
    this.sandboxes.set(id, sandbox)
    this.newest.set(holder, sandbox)
    this.#noteAnswer(id, asker)
    const { inline } = asker.network
    if (!inline || grants.every(({ pool }) => pool !== inline.name)) return
    if (this.known.get(inline.name) === inline) return
    for (const other of [...this.known.values()]) {
      if (other.name !== inline.name && overlap(other, inline)) this.known.delete(other.name)
    }
    this.known.set(inline.name, inline)
  }

  #noteAnswer(id: string, { isLost, confirms }: Pick<Asker, 'isLost' | 'confirms'>): void {
    this.answers.set(id, ++this.#answered)
    this.answeredAt.set(id, this.micros)
    this.answeredHere.add(id)
    if (isLost) this.lost.add(id)
    else this.lost.delete(id)
    if (confirms) this.unconfirmed.add(id)
    else this.unconfirmed.delete(id)
  }

  /** A pod that is lost, and from which the last of its addresses was taken, has no sandbox any more. */
  #forgetLost(asker: string, lost: string, sandbox: Sandbox): void {
    const has = [...this.holds.values()].some(
      hold => hold.holder === lost && (hold.state === 'held' || hold.sandbox === sandbox.id),
    )
    if (lost !== asker && !has && this.newest.get(lost) === sandbox) this.newest.delete(lost)
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
    this.#buried.set(id, { ...began, at: this.micros, forgettable: false })
    for (const [other, stone] of this.#buried) {
      if (stone.at <= this.micros - 600_000_000) this.#buried.set(other, { ...stone, forgettable: true })
    }
  }

  /**
   * Whether a GC may end a sandbox: its list was made before the GC began, and ends nobody who was not answered by then.
   * `bootId`: of the node's present boot. `began`: microseconds since that, where it says so. undefined: either is right.
   */
  isForGc(
    { id, bootId: its, startedAt, node, netns }: Sandbox,
    bootId: string,
    began: number | undefined,
  ): boolean | undefined {
    const answeredAt = its === bootId ? (this.answeredAt.get(id) ?? 0) : 0
    const isDeadForSure = isDead(this, { netns, node }, node)
    if (began === undefined) return isDeadForSure || this.micros - answeredAt >= 300_000_000
    if (its !== bootId) return true
    // No ADD takes ten minutes: that run was dated by another clock.
    const isOneClock = answeredAt - startedAt <= 600_000_000
    const isOlder = startedAt < began && (!isOneClock || answeredAt < began)
    if (!this.unconfirmed.has(id) || startedAt >= began) return isOlder
    // An earlier daemon may have answered it later than its record says.
    if (!this.answeredHere.has(id)) return isDeadForSure
    // A daemon may forget after a minute when it answered.
    const mayForget = this.micros - answeredAt > 60_000_000
    return mayForget && isOlder !== isDeadForSure ? undefined : isOlder
  }

  /**
   * A DEL that the store took; whether it is the undo of an ADD that nobody has the answer of, which is still to be followed.
   * `began`: when its run began, where it says so. `bootId`: of the present boot. `workload`: what is known of the pod's by
   * now.
   */
  del(
    id: string,
    began: { readonly bootId: string; readonly startedAt: number } | undefined,
    bootId: string,
    workload: WorkloadWords | undefined,
  ): boolean {
    const earlier = this.#buried.get(id)
    if (began && !(earlier?.bootId === began.bootId && earlier.startedAt > began.startedAt))
      this.#bury(id, began)
    const sandbox = this.sandboxes.get(id)
    if (!sandbox) return false
    const younger =
      began &&
      (sandbox.bootId === began.bootId ? sandbox.startedAt > began.startedAt : sandbox.bootId === bootId)
    if (younger) return false
    if (this.lost.has(id)) return true
    const isNewest = this.newest.get(sandbox.holder) === sandbox
    for (const hold of this.holdsOf(id)) {
      const known = workload ? { ...hold, workload } : hold
      // What an older sandbox still had is kept for nobody: its holder has other addresses.
      this.holds.set(hold.place, this.#released(isNewest ? known : { ...known, retain: 'release' }))
    }
    if (isNewest) this.newest.delete(sandbox.holder)
    this.sandboxes.delete(id)
    return false
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
      else if (!isReplaced(of)) this.holds.set(place, { ...before, ...this.#bounded(before) })
      // Its sandbox was a dead one of the same ID: that is gone, as by a DEL.
      else
        this.holds.set(place, this.#released(isReplaced(older) ? before : { ...before, retain: 'release' }))
    }
    for (const { before, of } of found.values())
      if (before?.sandbox && of && before.holder !== holder && !this.#hasOthers(before))
        this.newest.set(before.holder, of)
    if (older === undefined || isReplaced(older)) this.newest.delete(holder)
    else this.newest.set(holder, older)
    this.sandboxes.delete(id)
    return true
  }

  /** Whether whoever had an address has a newest sandbox, or keeps another address: then it has moved on. */
  #hasOthers({ holder, place }: Hold): boolean {
    const others = [...this.holds.values()].filter(other => other.holder === holder && other.place !== place)
    return this.newest.has(holder) || others.some(({ state }) => state === 'held')
  }

  /** Follows what came of an undo that it could not tell. `newest`: the newest sandbox of every holder that it concerns. */
  adopt(
    holds: ReadonlyMap<string, Hold>,
    undone: Sandbox,
    newest: ReadonlyMap<string, Sandbox | undefined>,
  ): void {
    const mine = new Map(this.holds)
    this.holds.clear()
    for (const [place, hold] of holds) {
      const present = mine.get(place)
      this.holds.set(place, present && JSON.stringify(present) === JSON.stringify(hold) ? present : hold)
    }
    this.sandboxes.delete(undone.id)
    for (const [holder, sandbox] of newest) {
      if (sandbox) this.newest.set(holder, sandbox)
      else this.newest.delete(holder)
    }
  }

  /** Kept addresses whose time is over go, but for those that their pool remembers. */
  tidy(): void {
    for (const hold of [...this.holds.values()]) {
      if (hold.state === 'bound' || !isOver(hold, this.now) || hold.remembered) continue
      if (this.#policyOf(hold.pool).strategy === 'lowest-free') this.holds.delete(hold.place)
      else this.holds.set(hold.place, { ...hold, state: 'cooling', remembered: true })
    }
  }

  /** @param moves whether somebody may have it, who keeps it until he is gone */
  reserve(promised: Promised, seen: Seen, moves: boolean): string | undefined {
    const { place, namespace, name, kind } = promised
    const code = 'code' in seen ? seen.code : ''
    if (code === 'IPK_ADDRESS_UNUSABLE' && !this.#givable(place)) return undefined
    const before = this.promises.get(place)
    const hold = this.holds.get(place)
    const same = before?.namespace === namespace && before.name === name && before.kind === kind
    const isHad = hold !== undefined && hold.state !== 'cooling' && !isOver(hold, this.now)
    const others = hold?.holder.split(' ')[1] !== `${namespace}/${name}`
    // Whoever has it loses his own reservation to the one that it is moved to.
    const isItsOwn = isHad && !isMoved(this, hold)
    const expected =
      before && !same && !(moves && isItsOwn)
        ? 'IPK_ADDRESS_RESERVED'
        : isHad && others && !moves
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

  /** A daemon that starts remembers no DEL, no answer, and nothing of clocks that were set. */
  restarted(): void {
    this.#buried.clear()
    this.answeredHere.clear()
    for (const hold of [...this.holds.values()])
      this.#retime(hold, this.#bounded(this.#written.get(hold) ?? hold))
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
