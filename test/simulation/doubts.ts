import type { Judge } from './judge.ts'
import type { Machine } from './machine.ts'
import { isThere, type Sandbox } from './sandbox.ts'

const minute = 60_000

/** Milliseconds in which nodes that find nothing missing hear of a loss from others (docs/adr/0023-an-engine-that-forgets.md). */
const noticedWithin = 1000

/** Whether others can hear what a machine has to say. */
export const answers = ({ isOn, mood, daemon }: Machine): boolean =>
  isOn && mood === 'well' && daemon?.service !== undefined

export interface DoubtsOptions {
  readonly judge: Judge
  /** Milliseconds of the history. */
  readonly now: () => number
  readonly sandboxes: readonly Sandbox[]
  /** Whether machines share an engine. */
  readonly isShared: boolean
}

/** What the judge cannot rely on, until machines have had time to hear of it. */
export class Doubts {
  readonly #options: DoubtsOptions
  /** Machines of which that was asked while they were on, and could perhaps not answer; since when they are well again. */
  readonly #doubted = new Map<Machine, number | undefined>()
  /** Machines that may find a loss which nothing else shows, and have had no time to tell it; since when they could. */
  readonly #untold = new Map<Machine, number | undefined>()
  /** Machines whose disk and hardware are those of another one. */
  readonly #twins = new Map<Machine, Machine>()
  /** Machines that operators are declaring gone, by declaration. */
  readonly #declared = new Set<readonly Machine[]>()
  /** Machines whose clock was set. */
  readonly #clocksSet = new Set<Machine>()
  /** Machines whose disk is older than what they did. */
  readonly #wentBack = new Set<Machine>()

  constructor(options: DoubtsOptions) {
    this.#options = options
  }

  /** Others may have what its pods have, or may have had it. */
  has(machine: Machine): boolean {
    return this.#doubted.has(machine)
  }

  get size(): number {
    return this.#doubted.size
  }

  hasGoneBack(machine: Machine): boolean {
    return this.#wentBack.has(machine)
  }

  get someHaveGoneBack(): boolean {
    return this.#wentBack.size > 0
  }

  get twins(): readonly Machine[] {
    return [...this.#twins.keys()]
  }

  /** An engine has gone back, and shows nothing of it. */
  unseenLoss(machines: readonly Machine[]): void {
    for (const machine of machines) this.#untold.set(machine, undefined)
    this.doubtUntold()
  }

  clockWasSet(machine: Machine): void {
    this.#clocksSet.add(machine)
  }

  /** A machine has the disk and the hardware of another one. */
  twin(twin: Machine, original: Machine): void {
    this.#twins.set(twin, original)
    this.#wentBack.add(original)
    this.#doubted.set(twin, undefined)
    this.doubtTwins()
  }

  /** An operator has begun it anew. */
  noTwin(twin: Machine): void {
    this.#twins.delete(twin)
  }

  /** From here on others may have what its pods have, until it hears of that. */
  doubt(machine: Machine): void {
    this.#doubted.set(machine, undefined)
    for (const sandbox of this.#options.sandboxes) {
      if (sandbox.machine !== machine || !this.#options.judge.owns(sandbox.container)) continue
      sandbox.isDisowned = true
      this.#options.judge.ended(sandbox.container)
    }
  }

  /** An operator declares these gone, and was to make sure that they are off. Returns what ends that. */
  declaring(machines: readonly Machine[]): () => void {
    this.#declared.add(machines)
    this.doubtDeclared()
    return () => this.#declared.delete(machines)
  }

  /** What runs and cannot answer while it is being declared gone, others may be given. */
  doubtDeclared(): void {
    for (const machine of [...this.#declared].flat())
      if (machine.isOn && !answers(machine)) this.doubt(machine)
  }

  /**
   * A ledger of one machine has forgotten what was kept and reserved since; of one that nodes share nothing is lost.
   *
   * @param hasEngineLost the engine that nodes share has gone back before
   */
  goneBack(machine: Machine, hasEngineLost: boolean): void {
    const { judge, sandboxes, isShared } = this.#options
    this.#wentBack.add(machine)
    if (isShared) {
      if (hasEngineLost) this.#keepsNothing(machine)
      return
    }
    for (const sandbox of sandboxes) {
      if (sandbox.state === 'refused' || sandbox.state === 'gone') continue
      sandbox.isKeptForNobody = true
      if (sandbox.state === 'asked' || !this.#clocksSet.has(machine)) continue
      // Of two sandboxes it is by a clock that the later one is known.
      sandbox.isDisowned = true
      this.#options.judge.ended(sandbox.container)
    }
    judge.unreservedAll()
    for (const { given } of sandboxes) if (given) judge.keptNoMore(given.address)
  }

  /** What neither the engine nor the journal has, nobody knows how long to keep. */
  engineLost(): void {
    for (const machine of this.#wentBack) this.#keepsNothing(machine)
  }

  #keepsNothing(machine: Machine): void {
    for (const sandbox of this.#options.sandboxes)
      if (sandbox.machine === machine) sandbox.isKeptForNobody = true
  }

  /** What a living sandbox has is on record again, but not what its pod had asked for. */
  adopted(sandbox: Sandbox): void {
    sandbox.isKeptForNobody = true
    this.#options.judge.keepsNothing(sandbox.container)
    if (sandbox.isUnrecorded !== true) return
    sandbox.isUnrecorded = false
    if (this.#doubted.has(sandbox.machine)) return
    sandbox.isDisowned = false
    if (sandbox.given && sandbox.state === 'running' && isThere(sandbox))
      this.#options.judge.returned(sandbox.given)
  }

  /**
   * Whoever has the disk and the hardware of a machine that cannot contradict is taken for it, and ends what that runs.
   *
   * @param machine something happens to it that may keep it from contradicting
   */
  doubtTwins(machine?: Machine): void {
    for (const [twin, original] of this.#twins)
      if (twin.isOn && (original === machine || !answers(original))) this.doubt(original)
  }

  /** What nobody could tell yet that has found it missing, others may be given. */
  doubtUntold(): void {
    const now = this.#options.now()
    for (const [machine, since] of this.#untold) {
      // An ADD that is under way may be answered with what the engine has lost already.
      const has = this.#options.sandboxes.some(
        one => one.machine === machine && (one.state === 'asked' || this.#options.judge.owns(one.container)),
      )
      if (!has || (since !== undefined && now - since >= noticedWithin)) this.#untold.delete(machine)
      else this.#untold.set(machine, answers(machine) ? (since ?? now) : undefined)
    }
    if (this.#untold.size > 0) this.#options.judge.doubt(1)
  }

  noLongerWell(machine: Machine): void {
    if (this.#doubted.has(machine)) this.#doubted.set(machine, undefined)
  }

  /** Machines that are well for a while have heard what their pods have lost, and have cut them off. */
  believeAgain(): void {
    for (const [machine, since] of this.#doubted) {
      const isWell =
        answers(machine) && machine.daemon?.status?.state === 'ready' && !this.#twins.has(machine)
      if (!isWell || since === undefined) this.#doubted.set(machine, isWell ? this.#options.now() : undefined)
      else if (this.#options.now() - since >= 3 * minute) this.#believe(machine)
    }
  }

  #believe(machine: Machine): void {
    this.#doubted.delete(machine)
    for (const sandbox of this.#options.sandboxes)
      if (
        sandbox.state === 'running' &&
        sandbox.machine === machine &&
        sandbox.isDisowned === true &&
        sandbox.isUnrecorded !== true &&
        isThere(sandbox)
      ) {
        sandbox.isDisowned = false
        if (sandbox.given) this.#options.judge.returned(sandbox.given)
      }
  }

  /** In the end, when all have had the time for it. */
  believeAll(): void {
    for (const machine of this.#doubted.keys()) this.#believe(machine)
  }
}
