/**
 * Who has an address: ADD, DEL, undo, expiry and GC of a ledger that two nodes share, with transactions. As the product's
 * (ipkeeper-server/ipam/plan, ipam/choose/plan-takeover.ts, leases/verbs), each change is planned from what was read and committed
 * only if none of the records that it compares has changed since.
 *
 * Pods p ask for address a by name; pods q get any address and keep it for a while after they have ended. Not in it: reservations,
 * workloads, quotas, several families, ADDs sent twice, engines without transactions.
 */
import { chance, itself, type Model, type Step } from './checker.ts'

/** Each can be taken out of the model. */
export const allocationRules = [
  'an ADD compares the leases that it read',
  'an ADD compares the holder that it read',
  'versions are compared, which never come again',
  'only from a sandbox that is proved dead',
  'only its own node proves a death',
  'a DEL touches what its own attachment has',
  'a DEL leaves a younger attachment alone',
  'an ADD whose DEL came first is refused',
  'a DEL compares the holder that it leaves alone',
  'an undo leaves what has been changed since',
  'an undo gives back what was kept',
  'an undo gives nothing back to what has ended',
  'an undo leaves its own undo to its heirs',
  'a holder that lost its kept address is told',
  'an unanswered ADD is undone',
  'a GC ends what is older than its list',
  'an expiry compares the lease that is over',
  'dynamic choice leaves alone what cools down',
  'what has cooled down is deleted',
] as const
export type AllocationRule = (typeof allocationRules)[number]

type Address = 'a' | 'b'
type Name = 'p' | 'q'
type Sandbox = 'p1' | 'p2' | 'p3' | 'q1' | 'q2' | 'q3'

const nodeOf: Readonly<Record<Sandbox, string>> = {
  ...{ p1: 'n1', p2: 'n2', p3: 'n1' },
  ...{ q1: 'n1', q2: 'n2', q3: 'n1' },
}
const nameOf = (sandbox: Sandbox): Name => sandbox.slice(0, 1) as Name

interface Lease {
  state: 'bound' | 'held' | 'cooling'
  name: Name
  /** With state bound: whose it is. */
  by: Sandbox | null
  /** Of a held or cooling one: its time is over. */
  over: boolean
  generation: number
}

interface Holder {
  by: Sandbox | null
  lease: Address | null
  generation: number
}

type RecordName = Address | Name | Sandbox

/** What is compared and written. `null` deletes. */
interface Plan {
  does: 'add' | 'end' | 'expire'
  compares: { record: RecordName; generation: number | null }[]
  leases: { address: Address; lease: Lease | null }[]
  holders: { name: Name; holder: Holder | null }[]
}

/** A sandbox, what its node has on record of it, and what is under way. */
interface Life {
  is: 'none' | 'up' | 'ended'
  add: 'none' | 'begun' | 'unanswered' | 'lost' | 'answered'
  del: 'none' | 'queued' | 'done'
  /** A DEL that began before the ADD, as nerdctl sends one, is still queued. */
  early: boolean
  attachment: { address: Address; before: Lease | null; from: Sandbox | null } | null
  plan: Plan | null
}

interface State {
  leases: Record<Address, Lease | null>
  holders: Record<Name, Holder | null>
  lives: Partial<Record<Sandbox, Life>>
  expiry: Record<Address, Plan | null>
  /** On node n1: the sandboxes that the runtime listed, and those whose ADD had been answered by then. */
  gc: { listed: Sandbox[]; older: Sandbox[] } | 'none' | 'done'
  /** Outside the product: what is promised to q. */
  kept: Address | null
  /** Outside the product: addresses that a pod q was told of. */
  told: Record<Address, boolean>
  /** Outside the product: something was chosen while it cooled down. */
  hasty: boolean
}

export interface AllocationBound {
  readonly addresses: readonly Address[]
  readonly sandboxes: readonly Sandbox[]
  /** Of one of them a DEL is sent before its ADD. */
  readonly early?: Sandbox
  readonly hasGc?: boolean
}

export class Allocation implements Model<State> {
  readonly initial: State
  readonly #bound: AllocationBound
  readonly #without: ReadonlySet<AllocationRule>

  constructor(bound: AllocationBound, without: ReadonlySet<AllocationRule> = new Set()) {
    this.#bound = bound
    this.#without = without
    const none = { is: 'none', add: 'none', del: 'none', early: false, attachment: null, plan: null } as const
    this.initial = {
      leases: { a: null, b: null },
      holders: { p: null, q: null },
      lives: Object.fromEntries(bound.sandboxes.map(id => [id, { ...none }])),
      expiry: { a: null, b: null },
      gc: bound.hasGc ? 'none' : 'done',
      ...{ kept: null, told: { a: false, b: false }, hasty: false },
    }
  }

  #has(rule: AllocationRule): boolean {
    return !this.#without.has(rule)
  }

  *steps(state: State): Generator<Step<State>> {
    for (const id of this.#bound.sandboxes) {
      yield* this.#outside(state, id)
      yield* this.#ofDaemon(state, id)
    }
    for (const address of this.#bound.addresses) yield* this.#expiry(state, address)
    yield* this.#gc(state)
  }

  // ---- Runtimes and plugins

  *#outside(state: State, id: Sandbox): Generator<Step<State>> {
    const { is, add, attachment } = state.lives[id]!
    if (is === 'none')
      yield chance(`the ADD of ${id} begins on ${nodeOf[id]}`, to => {
        Object.assign(to.lives[id]!, { is: 'up', add: 'begun', early: this.#bound.early === id })
      })
    if (is === 'up')
      yield chance(`${id} ends, its DEL is queued`, to => {
        Object.assign(to.lives[id]!, { is: 'ended', del: 'queued' })
      })
    if (add !== 'unanswered') return
    const lost = (to: State): void => {
      to.lives[id]!.add = 'lost'
    }
    const answered = (to: State): void => {
      to.lives[id]!.add = 'answered'
      if (nameOf(id) !== 'q' || !attachment) return
      to.kept = null
      to.told[attachment.address] = true
    }
    if (is === 'ended') {
      yield itself(`nobody takes the answer to ${id}`, lost)
      yield chance(`the plugin prints the answer to ${id}, whose runtime has given it up`, answered)
    } else {
      yield itself(`${id} is answered: ${attachment?.address ?? 'nothing'}`, answered)
      yield chance(`the answer to ${id} is lost`, lost)
    }
  }

  // ---- The daemon, in the turn of the attachment

  *#ofDaemon(state: State, id: Sandbox): Generator<Step<State>> {
    const { add, del, early, attachment, plan } = state.lives[id]!
    if (plan) {
      yield itself(`the plan to ${plan.does} ${id} is committed`, to => {
        this.#commit(to, id, to.lives[id]!.plan!)
      })
      return
    }
    const isStopped = del === 'done' && this.#has('an ADD whose DEL came first is refused')
    if (add === 'begun' && !isStopped) yield* this.#planned(`${id} is planned`, id, this.#planAdd(state, id))
    const end = (says: string): Generator<Step<State>> =>
      this.#planned(says, id, add === 'answered' ? this.#planDel(state, id) : this.#planUndo(state, id))
    if (add === 'lost' && attachment && this.#has('an unanswered ADD is undone'))
      yield* end(`an undo of ${id} is planned`)
    if (del === 'queued') {
      if (attachment) yield* end(`the DEL of ${id} is planned`)
      else
        yield itself(`the DEL of ${id} finds nothing`, to => {
          to.lives[id]!.del = 'done'
        })
    }
    if (!early) return
    if (attachment && !this.#has('a DEL leaves a younger attachment alone'))
      yield* end(`the DEL from before ${id} is planned`)
    else
      yield itself(`the DEL from before ${id} finds nothing older`, to => {
        to.lives[id]!.early = false
      })
  }

  *#planned(says: string, id: Sandbox, plan: Plan | undefined): Generator<Step<State>> {
    if (plan)
      yield itself(says, to => {
        to.lives[id]!.plan = plan
      })
  }

  /** undefined: it has to wait. */
  #planAdd({ leases, holders, lives }: State, id: Sandbox): Plan | undefined {
    const name = nameOf(id)
    const present = holders[name]
    const old = present && present.by !== id ? present.by : null
    const isDead = (other: Sandbox): boolean =>
      (lives[other]!.is === 'ended' || nodeOf[other] !== nodeOf[id]) &&
      (nodeOf[other] === nodeOf[id] || !this.#has('only its own node proves a death'))
    const mayLeave = (other: Sandbox): boolean =>
      !this.#has('only from a sandbox that is proved dead') || isDead(other)
    if (old && !mayLeave(old)) return undefined
    const kept = present?.lease ?? null
    const isKept = kept !== null && leases[kept]?.name === name && leases[kept].state !== 'cooling'
    const isFree = (lease: Lease | null): boolean => !lease || lease.state === 'cooling' || lease.over
    const isOwn = (lease: Lease | null): boolean =>
      lease?.name === name && (lease.by === null || mayLeave(lease.by))
    const rests = (lease: Lease | null): boolean =>
      lease !== null &&
      (lease.over || (lease.state === 'cooling' && !this.#has('dynamic choice leaves alone what cools down')))
    const address =
      name === 'p'
        ? this.#bound.addresses.find(one => one === 'a' && (isFree(leases[one]) || isOwn(leases[one])))
        : isKept
          ? kept
          : (this.#bound.addresses.find(one => leases[one] === null) ??
            this.#bound.addresses.find(one => rests(leases[one])))
    if (address === undefined) return undefined
    const before = leases[address]
    const plan = planOf('add')
    if (this.#has('an ADD compares the leases that it read')) compare(plan, address, before)
    if (this.#has('an ADD compares the holder that it read')) compare(plan, name, present)
    writeLease(plan, address, { state: 'bound', name, by: id, over: false, generation: 0 })
    plan.holders.push({ name, holder: { by: id, lease: address, generation: 0 } })
    // A kept address whose time is over goes to whoever asks for it.
    const former = before && before.name !== name && before.state !== 'cooling' ? before.name : undefined
    if (former !== undefined && this.#has('a holder that lost its kept address is told')) {
      compare(plan, former, holders[former])
      const had = holders[former]
      if (had?.lease === address)
        plan.holders.push({ name: former, holder: had.by ? { ...had, lease: null } : null })
    }
    return plan
  }

  /** What becomes of a lease when its attachment has ended: q's is kept where it is the newest sandbox that ends. */
  #released(lease: Lease, isNewest: boolean): Lease {
    return { ...lease, state: isNewest && lease.name === 'q' ? 'held' : 'cooling', by: null, over: false }
  }

  #planDel({ leases, holders }: State, id: Sandbox): Plan {
    const name = nameOf(id)
    const holder = holders[name]
    const isNewest = holder?.by === id
    const plan = planOf('end')
    const isMeant = (lease: Lease | null): lease is Lease =>
      this.#has('a DEL touches what its own attachment has')
        ? lease?.by === id
        : lease?.name === name && lease.state === 'bound'
    for (const address of this.#bound.addresses) {
      const lease = leases[address]
      if (!isMeant(lease)) continue
      compare(plan, address, lease)
      writeLease(plan, address, this.#released(lease, isNewest))
    }
    const held = plan.leases.find(({ lease }) => lease?.state === 'held')
    if (isNewest) {
      compare(plan, name, holder)
      const keeps = held ? { by: null, lease: held.address, generation: 0 } : null
      plan.holders.push({ name, holder: keeps })
    } else if (this.#has('a DEL compares the holder that it leaves alone')) compare(plan, name, holder)
    return plan
  }

  #planUndo({ leases, holders, lives }: State, id: Sandbox): Plan {
    const name = nameOf(id)
    const holder = holders[name]
    const isNewest = holder?.by === id
    const { address, before, from } = lives[id]!.attachment!
    const present = leases[address]
    const plan = planOf('end')
    let restored: Lease | null = null
    const isStillWritten =
      present?.by === id ||
      (present?.state === 'bound' && !this.#has('an undo leaves what has been changed since'))
    if (isStillWritten) {
      compare(plan, address, present)
      restored = before && this.#restored({ lives, holders }, before, { id, isNewest, from })
      writeLease(plan, address, restored)
    }
    const back = from !== null && lives[from]!.attachment !== null ? from : null
    // What is on record of this node changes in its own order.
    for (const other of [from, before?.by ?? null])
      if (other) compare(plan, other, lives[other]!.attachment && { generation: 0 })
    const isBacks =
      restored !== null && (restored.state === 'held' || (back !== null && restored.by === back))
    const own = isBacks && restored?.name === name ? address : null
    if (isNewest) {
      compare(plan, name, holder)
      const was = back !== null || own !== null ? { by: back, lease: own, generation: 0 } : null
      plan.holders.push({ name, holder: was })
    } else if (this.#has('a DEL compares the holder that it leaves alone')) compare(plan, name, holder)
    // What another name had kept is its again.
    if (restored?.state === 'held' && restored.name !== name) {
      const other = holders[restored.name]
      compare(plan, restored.name, other)
      const has = { by: other?.by ?? null, lease: address, generation: 0 }
      plan.holders.push({ name: restored.name, holder: has })
    }
    return plan
  }

  /** What a lease that an ADD wrote over is after its undo. */
  #restored(
    { lives, holders }: Pick<State, 'lives' | 'holders'>,
    before: Lease,
    {
      id,
      isNewest,
      from,
    }: { readonly id: Sandbox; readonly isNewest: boolean; readonly from: Sandbox | null },
  ): Lease {
    if (!this.#has('an undo gives back what was kept')) return this.#released(before, false)
    const isOwn = before.name === nameOf(id)
    const isEnded =
      before.by !== null &&
      lives[before.by]!.attachment === null &&
      this.#has('an undo gives nothing back to what has ended')
    const other = holders[before.name]
    const isTheirsNoMore =
      before.state === 'held' && !(isOwn && isNewest) && (isOwn || (other !== null && other.by !== null))
    if (!isEnded && !isTheirsNoMore) return before
    return this.#released(before, !isTheirsNoMore && isOwn && isNewest && (before.by ?? from) === from)
  }

  // ---- The engine

  #commit(to: State, id: Sandbox | null, plan: Plan): void {
    const isGenerations = !this.#has('versions are compared, which never come again')
    const generationOf = (record: RecordName): number | null => {
      if (record === 'a' || record === 'b') return to.leases[record]?.generation ?? null
      if (record === 'p' || record === 'q') return to.holders[record]?.generation ?? null
      return to.lives[record]!.attachment ? 0 : null
    }
    const life = id && to.lives[id]!
    if (life) life.plan = null
    if (plan.compares.some(({ record, generation }) => generationOf(record) !== generation)) return
    for (const { address, lease } of plan.leases) {
      const before = to.leases[address]
      const isChosen = life && plan.does === 'add' && lease?.name === 'q'
      if (isChosen && before?.state === 'cooling' && !before.over) to.hasty = true
      if (life && plan.does === 'add') {
        const from = to.holders[nameOf(id)]?.by ?? null
        life.attachment = { address, before: before && { ...before, generation: 0 }, from }
      }
      if (id && lease?.state === 'held' && !lease.over && to.told[address]) to.kept = address
      if (lease === null || lease.state === 'cooling') to.told[address] = false
      to.leases[address] = lease && {
        ...lease,
        generation: isGenerations ? (before?.generation ?? 0) + 1 : 0,
      }
      this.#outdate(to, address)
    }
    for (const { name, holder } of plan.holders) {
      const generation = isGenerations ? (to.holders[name]?.generation ?? 0) + 1 : 0
      to.holders[name] = holder && { ...holder, generation }
      this.#outdate(to, name)
    }
    if (!life) return
    if (plan.does === 'add') life.add = 'unanswered'
    else {
      if (life.add !== 'answered') this.#bequeath(to, id)
      life.attachment = null
      this.#outdate(to, id)
      life.early = false
      if (life.del === 'queued') life.del = 'done'
    }
  }

  /** Who took over from an attachment that is undone gives the address, if undone in its turn, to whom that one had it from. */
  #bequeath({ lives }: State, id: Sandbox): void {
    if (!this.#has('an undo leaves its own undo to its heirs')) return
    const { attachment: origin } = lives[id]!
    for (const heir of Object.values(lives)) {
      if (!origin || !heir.attachment || heir.attachment.from !== id) continue
      if (heir.attachment.before?.by === id) heir.attachment.before = origin.before
      heir.attachment.from = origin.from
      heir.plan = null
    }
  }

  /** A plan that compares what has changed since fails at its commit, and is made anew: as good as none. */
  #outdate(to: State, record: RecordName): void {
    if (!this.#has('versions are compared, which never come again')) return
    const isOld = (plan: Plan | null): boolean => plan?.compares.some(one => one.record === record) === true
    for (const life of Object.values(to.lives)) if (isOld(life.plan)) life.plan = null
    for (const address of this.#bound.addresses) if (isOld(to.expiry[address])) to.expiry[address] = null
  }

  // ---- Time and garbage

  *#expiry(state: State, address: Address): Generator<Step<State>> {
    const lease = state.leases[address]
    const plan = state.expiry[address]
    if (lease && lease.state !== 'bound' && !lease.over)
      yield itself(`the time of ${address} is over`, to => {
        to.leases[address]!.over = true
        if (to.kept === address) to.kept = null
      })
    if (plan)
      yield itself(`the end of ${address} is committed`, to => {
        to.expiry[address] = null
        this.#commit(to, null, plan)
      })
    else if (lease?.over && this.#has('what has cooled down is deleted')) {
      const end = planOf('expire')
      if (this.#has('an expiry compares the lease that is over')) compare(end, address, lease)
      writeLease(end, address, null)
      const holder = state.holders[lease.name]
      if (holder?.lease === address && !holder.by) {
        compare(end, lease.name, holder)
        end.holders.push({ name: lease.name, holder: null })
      }
      yield itself(`the end of ${address} is planned`, to => {
        to.expiry[address] = end
      })
    }
  }

  *#gc({ gc, lives }: State): Generator<Step<State>> {
    if (gc === 'done') return
    const here = this.#bound.sandboxes.filter(id => nodeOf[id] === 'n1')
    if (gc === 'none') {
      yield chance('the runtime of n1 lists its sandboxes for a GC', to => {
        // A runtime lists a sandbox when its network is up.
        const listed = here.filter(id => isLive(to, id))
        const older = here.filter(id => ['answered', 'lost'].includes(to.lives[id]!.add))
        to.gc = { listed, older }
      })
      return
    }
    const isOlder = (id: Sandbox): boolean =>
      gc.older.includes(id) || !this.#has('a GC ends what is older than its list')
    const due = here.filter(id => lives[id]!.attachment && !gc.listed.includes(id) && isOlder(id))
    for (const id of due)
      if (!lives[id]!.plan && lives[id]!.add !== 'unanswered')
        yield itself(`the GC ends ${id}`, to => {
          const ends = lives[id]!.add === 'answered' ? this.#planDel(to, id) : this.#planUndo(to, id)
          to.lives[id]!.plan = ends
        })
    if (due.length === 0)
      yield itself('the GC has ended', to => {
        to.gc = 'done'
      })
  }

  // ---- What must hold

  readonly always = {
    'no two live sandboxes have one address': (state: State): boolean => {
      const given = this.#live(state).map(id => state.lives[id]!.attachment?.address)
      return new Set(given).size === given.length
    },
    'a live sandbox keeps its address': (state: State): boolean =>
      this.#live(state).every(id => {
        const { attachment } = state.lives[id]!
        return attachment !== null && state.leases[attachment.address]?.by === id
      }),
    'a pod that keeps its address has no second one': (state: State): boolean =>
      this.#live(state).filter(id => nameOf(id) === 'q').length < 2,
    'what is kept for a pod goes to nobody else': ({ kept, leases }: State): boolean =>
      kept === null || leases[kept]?.name === 'q',
    'nothing is kept that nobody was told of': ({ leases, told }: State): boolean =>
      this.#bound.addresses.every(address => leases[address]?.state !== 'held' || told[address]),
    'nothing is chosen while it cools down': ({ hasty }: State): boolean => !hasty,
  }

  readonly settled = {
    'no address is bound for ever': (state: State): boolean =>
      this.#bound.addresses.every(address => {
        const lease = state.leases[address]
        return !lease || (lease.by !== null && isLive(state, lease.by))
      }),
    'no holder is left': (state: State): boolean =>
      Object.values(state.holders).every(
        holder => !holder || (holder.by !== null && isLive(state, holder.by)),
      ),
    'nobody waits for what nobody has': (state: State): boolean =>
      this.#bound.sandboxes.every(id => {
        const { is, add } = state.lives[id]!
        if (is !== 'up' || add !== 'begun') return true
        const live = this.#live(state)
        const isSame = live.some(other => nameOf(other) === nameOf(id))
        const isTaken = live.some(other => state.lives[other]!.attachment?.address === 'a')
        return isSame || (nameOf(id) === 'p' ? isTaken : live.length === this.#bound.addresses.length)
      }),
  }

  #live(state: State): readonly Sandbox[] {
    return this.#bound.sandboxes.filter(id => isLive(state, id))
  }
}

/** A pod of which the runtime was told its address, and that runs. */
const isLive = ({ lives }: State, id: Sandbox): boolean =>
  lives[id]!.is === 'up' && lives[id]!.add === 'answered'

const planOf = (does: Plan['does']): Plan => ({ does, compares: [], leases: [], holders: [] })

function compare(plan: Plan, record: RecordName, seen: { readonly generation: number } | null): void {
  if (!plan.compares.some(one => one.record === record))
    plan.compares.push({ record, generation: seen?.generation ?? null })
}

function writeLease(plan: Plan, address: Address, lease: Lease | null): void {
  plan.leases.push({ address, lease: lease && { ...lease, generation: 0 } })
}
