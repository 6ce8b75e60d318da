/**
 * An engine that loses its records, or goes back to a snapshot, and nodes that tell it again what they hold: as
 * ipkeeper-server/store/shared does it (engine-memory.ts, engine-losses.ts, after-loss.ts, reclaim.ts, resolver.ts, pending-write.ts;
 * docs/adr/0023-an-engine-that-forgets.md).
 *
 * Machines A, B and C are nodes 1, 2 and 3; C may get the name 4, and D is another machine, with an empty journal, that is started
 * under the name 3. Sets are texts of one letter for each member. A lease is the node and the machine that it is bound on, since a
 * machine knows its own sandboxes by its journal.
 *
 * News of a node's record is heard at once where the record is known. Every answer shows a loss: other cluster, or revision that
 * went back. Not in it: holders, kept and reserved addresses, takeovers and their traces, losses that nothing but a missing record
 * shows, engines without transactions.
 */
import { chance, itself, type Model, type Step } from './checker.ts'

export const reclaimRules = [
  'a loss is noticed by what the journal remembers of the engine',
  'a later epoch of another node is a loss',
  'what is bound here is told again',
  'what the journal does not know has ended',
  'what is in use on a node that has not told is waited for',
  'what waits for a node that is gone is written',
  'what is pending stands in the journal',
  'a DEL is noted before the engine hears of it',
  'what was written before a loss is written again',
  'who says that it has told has told',
  'who waits for another node says that it owes',
  'who owes takes that back in the end',
  'nothing is given while a node is waited for',
  'nothing is given out of other data',
  'a node that is gone is not waited for',
  'a node that the engine has lost is written back',
  'who was not the first to write it back asks for it',
  'a node tells for its former names',
  'who has not told again says no epoch',
  'what stands under a name belongs to whoever has claimed it',
  'the name of a node that is waited for is not taken',
] as const
export type ReclaimRule = (typeof reclaimRules)[number]

/** What the product does not do yet. */
export const reclaimProposals = [
  'machines are waited for, not names',
  'a machine knows its own leases by its ID',
] as const
export type ReclaimProposal = (typeof reclaimProposals)[number]

type Address = 'x' | 'y'
type Machine = 'A' | 'B' | 'C' | 'D'
type NodeName = '1' | '2' | '3' | '4'

/** Of a node, in the engine. */
interface NodeRecord {
  epoch: number
  /** Who has said that it owes. */
  owing: string
  gone: boolean
  claim: Machine | ''
  /** As proposed: in which epoch each machine that has had the name has told, 0 for the others; and those that are gone. */
  machines: Record<Machine, number>
  goners: string
}

interface Data {
  leases: Record<Address, string>
  nodes: Record<NodeName, NodeRecord | null>
}

interface Pending {
  wants: 'mine' | 'free'
  again: boolean
}

interface MachineState {
  is: 'never' | 'up' | 'down' | 'off' | 'gone'
  name: NodeName
  /** Outside the product: the addresses of pods that run. */
  live: string
  // In its journal.
  names: string
  /** It has claimed one of them. */
  taken: boolean
  isNew: boolean
  position: number
  epoch: number
  roster: string[]
  copies: string
  pending: Record<Address, Pending | null>
  // In the memory of its daemon.
  heard: boolean
  reported: number
  owes: boolean
  knows: string
  /** A write after a loss that is not closed yet; late: another loss was found since. */
  resolving: Address | ''
  late: boolean
  giving: Address | ''
  ending: Address | ''
  /** It knows that the name is its. */
  claimed: boolean
}

interface State {
  engine: Data
  snapshot: Data | null
  /** Times that it lost its data. */
  life: number
  faults: number
  machines: Record<Machine, MachineState>
}

export interface ReclaimBound {
  /** Those that run at the start: A, B and C, or some of them. */
  readonly machines: string
  readonly addresses: readonly Address[]
  readonly losses: number
  /** Daemons that end, and machines that lose their power. */
  readonly faults: number
  readonly hasSnapshot?: boolean
  readonly hasOperator?: boolean
  /** C gets another name. */
  readonly renames?: boolean
  /** D is started under the name of C: after the last loss, or at any time. */
  readonly hasOther?: 'late' | 'any time'
  /** Machines that have accidents; all unless set. */
  readonly fragile?: string
  /** Machines on which pods begin, and end; all unless set. */
  readonly busy?: string
}

export interface ReclaimChoice {
  readonly without?: ReadonlySet<ReclaimRule>
  readonly proposed?: ReadonlySet<ReclaimProposal>
}

const machines: readonly Machine[] = ['A', 'B', 'C', 'D']
const firstName: Readonly<Record<Machine, NodeName>> = { A: '1', B: '2', C: '3', D: '3' }
const nodes: readonly NodeName[] = ['1', '2', '3', '4']

const put = (set: string, member: string): string =>
  Array.from(new Set(set + member))
    .sort()
    .join('')
const take = (set: string, member: string): string => set.replace(member, '')
/** Of a lease. */
const nodeOf = (lease: string): NodeName => lease.slice(0, 1) as NodeName
const textOf = (it: MachineState, machine: Machine): string => it.name + machine

export class Reclaim implements Model<State> {
  readonly initial: State
  readonly #bound: ReclaimBound
  readonly #without: ReadonlySet<ReclaimRule>
  readonly #proposed: ReadonlySet<ReclaimProposal>
  /** Machines are waited for, and not names. */
  readonly #byMachine: boolean

  constructor(bound: ReclaimBound, { without, proposed }: ReclaimChoice = {}) {
    this.#bound = bound
    this.#without = without ?? new Set()
    this.#proposed = proposed ?? new Set()
    const byMachine = (this.#byMachine = this.#proposed.has('machines are waited for, not names'))
    const first = (Array.from(bound.machines) as Machine[]).map(one => [one, firstName[one]] as const)
    const roster = first.map(([one, name]) => (byMachine ? name + one : name))
    const machine = (name: NodeName, isUp: boolean): MachineState => ({
      ...{
        is: isUp ? 'up' : 'never',
        name,
        live: '',
        names: name,
        taken: isUp,
        isNew: !isUp,
        position: 0,
        epoch: 1,
      },
      ...{ roster: isUp ? roster : [], copies: '', pending: { x: null, y: null } },
      ...{ heard: isUp, reported: 1, owes: false, knows: isUp ? first.map(([, name]) => name).join('') : '' },
      ...{ resolving: '', late: false, giving: '', ending: '', claimed: isUp },
    })
    const record = (name: NodeName): NodeRecord | null => {
      const claim = first.find(([, its]) => its === name)?.[0]
      if (claim === undefined) return null
      const record = newRecord(claim)
      record.machines[claim] = 1
      return record
    }
    const state = (one: Machine): MachineState => machine(firstName[one], bound.machines.includes(one))
    this.initial = {
      engine: {
        leases: { x: '', y: '' },
        nodes: { 1: record('1'), 2: record('2'), 3: record('3'), 4: null },
      },
      snapshot: null,
      life: 0,
      faults: 0,
      machines: { A: state('A'), B: state('B'), C: state('C'), D: state('D') },
    }
  }

  #has(rule: ReclaimRule): boolean {
    return !this.#without.has(rule)
  }

  *steps(state: State): Generator<Step<State>> {
    yield* this.#accidents(state)
    for (const machine of machines) {
      yield* this.#power(state, machine)
      yield* this.#saidAgain(state, machine)
      const it = state.machines[machine]
      if (it.is !== 'up') continue
      if (it.heard && it.position === state.life) {
        yield* this.#news(state, machine)
        yield* this.#claim(state, machine)
        for (const address of this.#bound.addresses) yield* this.#resolve(state, machine, address)
        yield* this.#report(state, machine)
      } else
        yield itself(`${machine} hears all that the engine has`, to => {
          this.#hear(to, machine)
        })
      for (const address of this.#bound.addresses) yield* this.#pods(state, machine, address)
    }
  }

  // ---- The engine and the machines

  *#accidents({ life, snapshot, engine }: State): Generator<Step<State>> {
    if (life === this.#bound.losses) return
    yield chance('the engine loses all', to => {
      to.engine = { leases: { x: '', y: '' }, nodes: { 1: null, 2: null, 3: null, 4: null } }
      to.life++
    })
    if (snapshot)
      yield chance('the engine goes back to the snapshot', to => {
        to.engine = structuredClone(snapshot)
        to.life++
      })
    else if (this.#bound.hasSnapshot)
      yield chance('a snapshot is made', to => {
        to.snapshot = structuredClone(engine)
      })
  }

  *#power(state: State, machine: Machine): Generator<Step<State>> {
    const { is, live, name } = state.machines[machine]
    const { faults, hasOther, hasOperator, renames, fragile = 'ABCD' } = this.#bound
    const ends = (to: State, how: 'down' | 'off'): void => {
      const it = to.machines[machine]
      // An ADD that was not acknowledged is taken back.
      for (const address of this.#bound.addresses)
        if (it.giving === address) it.pending[address] = { wants: 'free', again: false }
      if (it.ending !== '' && this.#has('a DEL is noted before the engine hears of it')) {
        it.pending[it.ending] = { wants: 'free', again: false }
        it.copies = take(it.copies, it.ending)
      }
      if (!this.#has('what is pending stands in the journal')) it.pending = { x: null, y: null }
      if (how === 'off') it.live = ''
      Object.assign(it, { is: how, heard: false, reported: 1, owes: false, knows: '' })
      Object.assign(it, { resolving: '', late: false, giving: '', ending: '', claimed: false })
      to.faults++
    }
    if (is === 'up' && state.faults < faults && fragile.includes(machine)) {
      yield chance(`the daemon of ${machine} ends${live === '' ? '' : ', its pods run on'}`, to => {
        ends(to, 'down')
      })
      yield chance(`${machine} loses its power`, to => {
        ends(to, 'off')
      })
    }
    const starts = (to: State): void => {
      to.machines[machine].is = 'up'
    }
    if (is === 'down' || is === 'off') yield chance(`the daemon of ${machine} starts`, starts)
    if ((is === 'down' || is === 'off') && machine === 'C' && renames && name === '3')
      yield chance('C is started under the name 4', to => {
        Object.assign(to.machines.C, { is: 'up', name: '4', names: '34' })
      })
    // Before anybody has told of a loss a new node has nobody's word for it: a known price.
    const isTold = newestOf(state.engine, nodes) > state.life && state.engine.nodes[3] !== null
    const mayStart = hasOther === 'any time' || (hasOther === 'late' && state.life === this.#bound.losses)
    if (is === 'never' && machine === 'D' && mayStart && state.machines.C.is !== 'up' && isTold)
      yield chance('another machine, D, is started under the name 3', to => {
        starts(to)
        this.#hear(to, machine)
      })
    // Where another machine has the name by now, it answers, and the operator is told that the node lives.
    const isOthers = machine === 'C' && state.engine.nodes[3]?.claim === 'D'
    if (is === 'off' && hasOperator && (this.#byMachine || !isOthers))
      yield chance(`an operator says that ${machine} is gone for good`, to => {
        to.machines[machine].is = 'gone'
        this.#forget(to, machine)
      })
  }

  /** What was said may be lost with the rest: whom all wait for is read in the status, and it is said again. */
  *#saidAgain(state: State, machine: Machine): Generator<Step<State>> {
    const { is, names } = state.machines[machine]
    if (is !== 'gone') return
    const isLost = Array.from(names).some(name => {
      const record = state.engine.nodes[name as NodeName]
      if (!record || record.gone) return false
      return this.#isOf(record, machine) || record.machines[machine] > 0
    })
    if (isLost)
      yield itself(`an operator says again that ${machine} is gone`, to => {
        this.#forget(to, machine)
      })
  }

  /** Whether nobody else has the name. */
  #isOf({ claim }: NodeRecord, machine: Machine): boolean {
    return !this.#byMachine && (claim === machine || claim === '')
  }

  /** The operator speaks of all names that the machine had; of the machine alone where that is told apart. */
  #forget(to: State, machine: Machine): void {
    for (const name of to.machines[machine].names) {
      const record = (to.engine.nodes[name as NodeName] ??= newRecord(''))
      if (this.#byMachine) {
        record.machines[machine] = 0
        record.owing = take(record.owing, machine)
        record.goners = put(record.goners, machine)
      }
      record.gone = !this.#byMachine
    }
  }

  // ---- What a node hears

  #hear(to: State, machine: Machine): void {
    const it = to.machines[machine]
    const newest = newestOf(to.engine, nodes)
    const isOther = it.position !== to.life
    const notices = this.#has('a loss is noticed by what the journal remembers of the engine')
    // A daemon that was ended in the midst of it finds the loss once more.
    const isMissing = it.roster.some(one => !to.engine.nodes[nodeOf(one)])
    const isLoss = !it.isNew && (((isOther || isMissing) && notices) || newest > it.epoch)
    if (isLoss) this.#lost(to, machine, newest)
    if (!it.heard) {
      const record = to.engine.nodes[it.name]
      const isOwn = this.#byMachine ? (record?.machines[machine] ?? 0) > 0 : this.#isOwn(to, machine, it.name)
      const own = isOwn ? record : undefined
      it.epoch = Math.max(it.epoch, newest)
      it.reported = own
        ? this.#byMachine
          ? own.machines[machine]
          : own.epoch
        : !isLoss && it.copies === ''
          ? it.epoch
          : 1
      it.owes = own ? own.owing !== '' : false
    }
    Object.assign(it, { heard: true, position: to.life, isNew: false })
    it.knows = nodes.filter(name => to.engine.nodes[name]).join('')
    this.#see(to, it)
  }

  /** What is bound here is to be written again, and what the engine takes for bound here has ended. */
  #lost(to: State, machine: Machine, newest: number): void {
    const it = to.machines[machine]
    it.epoch = newest > it.epoch ? newest : it.epoch + 1
    // What was told before was told to what is lost.
    if (this.#has('who has not told again says no epoch')) Object.assign(it, { reported: 1, owes: false })
    if (it.resolving !== '' && this.#has('what was written before a loss is written again')) it.late = true
    for (const address of this.#bound.addresses) {
      const pending = it.pending[address]
      if (it.resolving === address) continue
      if (it.giving === address) it.pending[address] = { wants: 'free', again: false }
      else if (it.ending === address) it.pending[address] = { wants: 'free', again: true }
      else if (pending) pending.again = true
      else if (it.copies.includes(address)) {
        if (this.#has('what is bound here is told again'))
          it.pending[address] = { wants: 'mine', again: true }
      } else if (this.#isOwnLease(to, machine, to.engine.leases[address]))
        if (this.#has('what the journal does not know has ended'))
          it.pending[address] = { wants: 'free', again: true }
    }
    it.copies = take(it.copies, it.ending)
    Object.assign(it, { giving: '', ending: '' })
  }

  #isOwnLease(state: State, machine: Machine, lease: string): boolean {
    const byId = this.#proposed.has('a machine knows its own leases by its ID')
    return lease !== '' && (byId ? lease.endsWith(machine) : this.#isOwn(state, machine, nodeOf(lease)))
  }

  /** Whether a name is the machine's: it has claimed it, and no other one has since. */
  #isOwn({ engine, machines: all }: State, machine: Machine, name: NodeName): boolean {
    const { names, taken } = all[machine]
    const claim = engine.nodes[name]?.claim ?? ''
    const isClaimants =
      !this.#byMachine && this.#has('what stands under a name belongs to whoever has claimed it')
    return names.includes(name) && (!isClaimants || (taken && (claim === '' || claim === machine)))
  }

  /** Whether a machine of that name has not told again, and is another one. */
  #isAwaited(state: State, machine: Machine, name: NodeName): boolean {
    const { knows, epoch, roster } = state.machines[machine]
    const record = knows.includes(name) ? state.engine.nodes[name] : null
    if (this.#byMachine || this.#isOwn(state, machine, name)) return false
    if (!record) return roster.includes(name) && !this.#hasReported(state, machine)
    return !record.gone && (record.epoch < epoch || record.owing !== '')
  }

  #see(to: State, it: MachineState): void {
    for (const name of it.knows) {
      const record = to.engine.nodes[name as NodeName]
      if (!record) continue
      const had = machines.filter(one => record.machines[one] > 0)
      const those = this.#byMachine ? had.map(one => name + one) : [name]
      const isGone = (one: string): boolean =>
        one.startsWith(name) && (this.#byMachine ? record.goners.includes(one.slice(1)) : record.gone)
      it.roster = [...new Set([...it.roster, ...those])].filter(one => !isGone(one)).sort()
    }
  }

  *#news({ engine, machines: all }: State, machine: Machine): Generator<Step<State>> {
    const it = all[machine]
    for (const name of nodes)
      if (engine.nodes[name] && !it.knows.includes(name))
        yield itself(`${machine} hears of the record of node ${name}`, to => {
          const one = to.machines[machine]
          one.knows = put(one.knows, name)
          this.#see(to, one)
        })
    const newest = newestOf(engine, Array.from(it.knows) as NodeName[])
    if (newest > it.epoch && this.#has('a later epoch of another node is a loss'))
      yield itself(`${machine} hears that another node has found a loss`, to => {
        this.#lost(to, machine, newest)
      })
  }

  /** The name is claimed where nobody answers for it; until then nothing is taken. */
  *#claim(state: State, machine: Machine): Generator<Step<State>> {
    const { engine, machines: all } = state
    const it = all[machine]
    const record = engine.nodes[it.name]
    if (it.claimed && record?.claim === machine) return
    if (record && record.claim !== '' && record.claim !== machine && all[record.claim].is === 'up') return
    const mayTake = !this.#has('the name of a node that is waited for is not taken')
    if (!mayTake && record?.claim !== machine && this.#isAwaited(state, machine, it.name)) return
    yield itself(`${machine} claims the name ${it.name}`, to => {
      const one = to.machines[machine]
      const epoch = it.reported
      const mine = (to.engine.nodes[it.name] ??= { ...newRecord(''), epoch })
      Object.assign(mine, { claim: machine, gone: false })
      Object.assign(one, { claimed: true, taken: true })
      if (!this.#byMachine)
        Object.assign(one, { reported: Math.min(one.reported, mine.epoch), owes: mine.owing !== '' })
      one.knows = put(one.knows, it.name)
      mine.goners = take(mine.goners, machine)
      if (mine.machines[machine] === 0) mine.machines[machine] = epoch
      this.#see(to, one)
      // All who can hear do.
      for (const other of Object.values(to.machines))
        if (other.heard && other.position === to.life && other.knows.includes(it.name)) this.#see(to, other)
    })
  }

  // ---- What it tells

  #judge(
    state: State,
    it: MachineState,
    machine: Machine,
    address: Address,
  ): 'close' | 'write' | 'wait' | 'overruled' {
    const { wants, again } = it.pending[address]!
    const { engine } = state
    const present = engine.leases[address]
    if (present === (wants === 'mine' ? textOf(it, machine) : '')) return 'close'
    // What it has written itself it knows by its revision, but for a loss.
    const isAsWritten = !again && present.endsWith(machine)
    if (present === '' || isAsWritten || this.#isOwnLease(state, machine, present)) return 'write'
    if (!again) return 'overruled'
    const record = engine.nodes[nodeOf(present)]
    const isGone = record?.gone === true || record?.goners.includes(present.slice(1)) === true
    if (isGone && this.#has('what waits for a node that is gone is written')) return 'write'
    const known = it.roster.some(one => one.startsWith(nodeOf(present)))
    const told = this.#byMachine ? record?.machines[present.slice(1) as Machine] : record?.epoch
    const isBehind = told ? told < it.epoch : known
    if (!isBehind) return 'overruled'
    return this.#has('what is in use on a node that has not told is waited for') ? 'wait' : 'write'
  }

  *#resolve(state: State, machine: Machine, address: Address): Generator<Step<State>> {
    const it = state.machines[machine]
    const pending = it.pending[address]
    if (!pending) return
    const close = (to: State): void => {
      const one = to.machines[machine]
      if (one.late) pending.again = true
      one.pending[address] = one.late ? { ...pending } : null
      Object.assign(one, { resolving: '', late: false })
    }
    if (it.resolving === address) {
      yield itself(`${machine} notes that ${address} is written`, close)
      return
    }
    const what = this.#judge(state, it, machine, address)
    if (it.resolving !== '' || what === 'wait') return
    if (what === 'overruled')
      yield itself(`${machine} is overruled: another node has ${address}`, to => {
        const one = to.machines[machine]
        if (pending.wants === 'mine') one.copies = take(one.copies, address)
        one.pending[address] = null
      })
    else
      yield itself(
        `${machine} writes that ${address} is ${pending.wants === 'mine' ? 'its' : 'free'}`,
        to => {
          const one = to.machines[machine]
          to.engine.leases[address] = pending.wants === 'mine' ? textOf(one, machine) : ''
          one.resolving = address
          if (this.#isQuiet(state)) close(to)
        },
      )
  }

  #isWaiting(state: State, machine: Machine): boolean {
    const it = state.machines[machine]
    return this.#bound.addresses.some(address => it.pending[address])
  }

  *#report(state: State, machine: Machine): Generator<Step<State>> {
    const it = state.machines[machine]
    const { engine } = state
    const hasTold = this.#bound.addresses.every(
      address => !it.pending[address] || this.#judge(state, it, machine, address) === 'wait',
    )
    if ((!hasTold || it.resolving !== '') && this.#has('who says that it has told has told')) return
    const owes = this.#isWaiting(state, machine) && this.#has('who waits for another node says that it owes')
    const takesBack = it.owes && !owes && this.#has('who owes takes that back in the end')
    if (!this.#hasReported(state, machine) || (owes && !it.owes) || takesBack) {
      const missing = this.#missing(state, machine)
      if (missing !== undefined) yield this.#writeBack(machine, missing)
      else
        yield itself(`${machine} says that it has told${owes ? ', and owes' : ''}`, to => {
          const one = to.machines[machine]
          if (this.#isOwn(to, machine, one.name)) this.#tell(to, one.name, machine, owes)
          Object.assign(one, { reported: one.epoch, owes })
          one.knows = put(one.knows, one.name)
          this.#see(to, one)
        })
      return
    }
    for (const other of it.names) {
      const record = engine.nodes[other as NodeName]
      const isBehind = record && (record.epoch < it.reported || (record.owing !== '') !== owes)
      const isOwn = other !== it.name && this.#isOwn(state, machine, other as NodeName)
      if (isOwn && isBehind && this.#has('a node tells for its former names'))
        yield itself(`${machine} says so of its former name ${other}`, to => {
          this.#tell(to, other as NodeName, machine, owes)
        })
    }
  }

  #hasReported({ engine, machines: all }: State, machine: Machine): boolean {
    const { reported, epoch, name } = all[machine]
    const told = engine.nodes[name]?.machines[machine] ?? 0
    return reported >= epoch && (!this.#byMachine || told === 0 || told >= epoch)
  }

  /** A node, or machine, that this one remembers and the engine does not have, as far as is known here. */
  #missing(state: State, machine: Machine): string | undefined {
    const { engine, machines: all } = state
    const { roster, knows } = all[machine]
    if (!this.#has('a node that the engine has lost is written back')) return undefined
    return roster.find(one => {
      const [name, who] = [nodeOf(one), one.slice(1)]
      if (this.#byMachine ? who === machine : this.#isOwn(state, machine, name)) return false
      const record = engine.nodes[name]
      if (!record || (this.#byMachine && record.machines[who as Machine] === 0)) return true
      return !knows.includes(name) && this.#has('who was not the first to write it back asks for it')
    })
  }

  #writeBack(machine: Machine, whom: string): Step<State> {
    const name = nodeOf(whom)
    return itself(`${machine} writes the record of node ${name} back`, to => {
      const record = (to.engine.nodes[name] ??= newRecord(''))
      if (this.#byMachine) record.machines[whom.slice(1) as Machine] ||= 1
      const one = to.machines[machine]
      one.knows = put(one.knows, name)
      this.#see(to, one)
    })
  }

  /** What it says of one of its names. As proposed: of itself; the other machines that had the name have to say it, too. */
  #tell(to: State, name: NodeName, machine: Machine, owes: boolean): void {
    const { epoch } = to.machines[machine]
    const record = (to.engine.nodes[name] ??= newRecord(machine))
    if (this.#byMachine) {
      record.machines[machine] = epoch
      record.owing = owes ? put(record.owing, machine) : take(record.owing, machine)
    } else record.owing = owes ? machine : ''
    Object.assign(record, { epoch, gone: false })
  }

  #isWhole(state: State, machine: Machine): boolean {
    const { engine, machines: all } = state
    const { knows } = all[machine]
    if (!this.#hasReported(state, machine)) return false
    const known = (Array.from(knows) as NodeName[]).filter(name => engine.nodes[name])
    const newest = newestOf(engine, known)
    return known.every(name => {
      const { epoch, owing, gone, machines: told } = engine.nodes[name]!
      if (!this.#byMachine && this.#isOwn(state, machine, name)) return true
      if (gone && this.#has('a node that is gone is not waited for')) return true
      const haveTold = this.#byMachine
        ? machines.every(one => told[one] === 0 || told[one] >= newest)
        : epoch >= newest
      return haveTold && take(owing, machine) === ''
    })
  }

  // ---- Pods

  *#pods(state: State, machine: Machine, address: Address): Generator<Step<State>> {
    const it = state.machines[machine]
    const isOfThis = it.position === state.life
    const isBusy = (this.#bound.busy ?? 'ABCD').includes(machine)
    if (it.giving === address)
      yield itself(`a pod on ${machine} is told that it has ${address}`, to => {
        const one = to.machines[machine]
        Object.assign(one, { giving: '', copies: put(one.copies, address), live: put(one.live, address) })
      })
    if (it.ending === address)
      yield itself(`${machine} notes that ${address} is free`, to => {
        const one = to.machines[machine]
        Object.assign(one, { ending: '', copies: take(one.copies, address) })
      })
    if (it.giving !== '' || it.ending !== '' || it.resolving !== '') return
    const mayGive =
      it.heard &&
      it.claimed &&
      (isOfThis || !this.#has('nothing is given out of other data')) &&
      (this.#isWhole(state, machine) || !this.#has('nothing is given while a node is waited for'))
    const isFree = state.engine.leases[address] === '' && !it.pending[address]
    if (isBusy && mayGive && isFree && !it.copies.includes(address))
      yield chance(`${machine} takes ${address} for a pod`, to => {
        to.engine.leases[address] = textOf(it, machine)
        const one = to.machines[machine]
        if (this.#isQuiet(state)) {
          Object.assign(one, { copies: put(one.copies, address), live: put(one.live, address) })
        } else one.giving = address
      })
    if (it.live.includes(address))
      yield chance(`the pod on ${machine} that has ${address} ends`, to => {
        const one = to.machines[machine]
        one.live = take(one.live, address)
      })
    if (!it.heard || !isOfThis || !it.copies.includes(address) || it.live.includes(address)) return
    const pending = it.pending[address]
    if (pending && this.#judge(state, it, machine, address) !== 'wait') return
    yield itself(`${machine} ends ${address}`, to => {
      const one = to.machines[machine]
      if (pending) {
        one.pending[address] = { wants: 'free', again: true }
        one.copies = take(one.copies, address)
        return
      }
      if (to.engine.leases[address].endsWith(machine)) to.engine.leases[address] = ''
      if (this.#isQuiet(state)) one.copies = take(one.copies, address)
      else one.ending = address
    })
  }

  /** No loss and no fault can come any more between two steps of a daemon: they are one. */
  #isQuiet({ life, faults }: State): boolean {
    return life === this.#bound.losses && faults === this.#bound.faults
  }

  // ---- What must hold

  readonly always = {
    'no address is had by two live pods': ({ machines: all }: State): boolean =>
      this.#bound.addresses.every(
        address => machines.filter(one => all[one].live.includes(address)).length < 2,
      ),
    'a live pod is not cut off': ({ machines: all }: State): boolean =>
      machines.every(one => Array.from(all[one].live).every(address => all[one].copies.includes(address))),
  }

  readonly settled = {
    'nobody waits for ever where nobody is down': (state: State): boolean =>
      !this.#isAllWell(state) ||
      machines.every(one => state.machines[one].is !== 'up' || this.#isWhole(state, one)),
    'the engine has what is in use where nobody is down': (state: State): boolean =>
      !this.#isAllWell(state) ||
      this.#bound.addresses.every(address => {
        const { machines: all, engine } = state
        const lease = engine.leases[address]
        const has = machines.find(one => all[one].live.includes(address))
        if (has !== undefined) return lease.endsWith(has) && all[has].names.includes(nodeOf(lease))
        return lease === '' || all[lease.slice(1) as Machine].is === 'gone'
      }),
  }

  /** Every machine runs, has never run, or was said to be gone. */
  #isAllWell({ machines: all }: State): boolean {
    return machines.every(one => ['up', 'never', 'gone'].includes(all[one].is))
  }
}

const newRecord = (claim: Machine | ''): NodeRecord => ({
  ...{ epoch: 1, owing: '', gone: false, claim, machines: { A: 0, B: 0, C: 0, D: 0 }, goners: '' },
})

const newestOf = ({ nodes: records }: Data, names: readonly NodeName[]): number =>
  names.reduce((newest, name) => Math.max(newest, records[name]?.epoch ?? 1), 1)
