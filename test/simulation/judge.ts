/**
 * Judges a history by what was seen from outside alone: what pods were answered, when they ran, what operators were told. It
 * knows no ledger and no rule of the product, only what DESIGN promises.
 */

/** What each verdict stands for: promises of DESIGN.md, by number. */
export const invariants = {
  'one owner': [1],
  'what it asked for': [2],
  'one address a pod': [5],
  'kept for its pod': [3],
  'reserved for its owner': [6],
  'left to who named it': [7],
  'a MAC of its own': [24],
  'a node has what it answered': [4, 8, 12, 14, 21, 22, 23, 27],
  'cut off for a reason': [8],
  'nothing is left over': [8, 13, 14],
  'each pod can be started': [8, 23],
  'no record is passed over': [12],
  'from the pool in force': [29],
  'left to the fallback': [19],
  'STATUS says what an ADD gets': [18],
  'the webhook says who has it': [2],
  'refused for what happened': [23],
  // Of whatever is played: they say that the program, or the simulation itself, is wrong.
  'nothing unforeseen is thrown': [],
  'a history ends': [],
} as const satisfies Readonly<Record<string, readonly number[]>>

export type Invariant = keyof typeof invariants

/** What a pod asks of its network. */
export interface Wish {
  readonly pod: string
  /** By name. */
  readonly ip?: string | undefined
  readonly mac?: string | undefined
  /** Milliseconds for which its address is kept after its end. */
  readonly keep?: number | undefined
}

/** Milliseconds for which dynamic choice leaves an address alone that a pod had asked for by name, where nothing keeps it. */
export const leftAloneFor = 600_000

export interface Given {
  readonly container: string
  /** The machine, by number. */
  readonly machine: number
  readonly wish: Wish
  readonly address: string
  /** Given by the fallback of the conflist, whose book it is in. */
  readonly byFallback?: boolean
}

/** By the name of a node: what it says is in use, wherever. */
export type Lists = ReadonlyMap<string, readonly { readonly address: string; readonly container: string }[]>

export interface Violation {
  readonly invariant: Invariant
  readonly at: number
  readonly says: string
}

interface Owned extends Given {
  readonly since: number
}

interface Kept {
  readonly pod: string
  readonly until: number
  /** Machines whose clocks differ do not agree on until when. */
  readonly isSure: boolean
}

interface Promised {
  readonly pod: string
  /** Whoever had it then kept it. */
  readonly moves: boolean
  readonly since: number
}

/** Moments are milliseconds of the history. */
export class Judge {
  readonly violations: Violation[] = []
  /** By container: those that were answered, and may use what they got. */
  readonly #owners = new Map<string, Owned>()
  /** By address, as their retention promises. */
  readonly #kept = new Map<string, Kept>()
  /** By address, until when dynamic choice leaves it alone. */
  readonly #leftAlone = new Map<string, number>()
  /** By address. What was moved its former pod may have got from an ADD that began before. */
  readonly #reserved = new Map<string, Promised>()
  /** By address, for whom that was asked for: an engine that goes back may have it again, and nobody may rely on that. */
  readonly #everReserved = new Map<string, Set<string>>()
  /** By address, when it was last given back by people. */
  readonly #givenBack = new Map<string, number>()
  /** By address: who got it last. */
  readonly #last = new Map<string, Given>()
  /** By pod, what it was given. */
  readonly #had = new Map<string, Set<string> | 'anything'>()
  /** By pod: its newest sandbox that was answered. */
  readonly #newest = new Map<string, string>()
  /** Containers of machines that were declared gone: their addresses are for the next ones of their pods alone. */
  readonly #mayStay = new Set<string>()
  #doubtUntil = 0
  readonly #now: () => number
  readonly #onViolation: (violation: Violation) => void

  constructor(now: () => number, onViolation: (violation: Violation) => void = () => undefined) {
    this.#now = now
    this.#onViolation = onViolation
  }

  /**
   * An ADD was answered, and its plugin has printed that; `asked`: when it began. `isBehind`: its machine does not reach the store, or
   * hears nothing of it, and goes on with what it knows.
   */
  answered(given: Given, asked = this.#now(), isBehind = false): void {
    const { container, wish, address } = given
    if (wish.ip !== undefined && wish.ip !== address)
      this.complain(
        'what it asked for',
        `${container} of ${wish.pod} asked for ${wish.ip} and got ${address}`,
      )
    for (const other of [...this.#owners.values()]) {
      if (other.container === container) continue
      if (this.#now() < this.#doubtUntil && (other.address === address || other.wish.pod === wish.pod)) {
        // One of both is cut off.
        this.ended(other.container)
        continue
      }
      if (other.address === address)
        this.complain(
          'one owner',
          `${address} has ${other.container} of ${other.wish.pod}, and ${container} of ${wish.pod} got it`,
        )
      if (other.wish.pod === wish.pod && isFixed(other.wish))
        this.complain(
          'one address a pod',
          `${wish.pod} has ${other.address} in ${other.container}, and ${container} got ${address}`,
        )
      if (wish.mac !== undefined && other.wish.mac === wish.mac)
        this.complain('a MAC of its own', `${other.container} and ${container} have ${wish.mac}`)
    }
    const isPromisedToIt = this.isPromised(address, wish.pod)
    const kept = this.#kept.get(address)
    if (!isPromisedToIt && kept?.isSure === true && kept.until > this.#now() && kept.pod !== wish.pod)
      this.complain(
        'kept for its pod',
        `${address} is kept for ${kept.pod}, and ${container} of ${wish.pod} got it`,
      )
    const promised = this.#reserved.get(address)
    // ADR 28: what was moved its former pod may get once more where the move was not heard of.
    const isForgiven = isBehind && promised?.moves === true && this.#last.get(address)?.wish.pod === wish.pod
    if (promised !== undefined && promised.pod !== wish.pod && promised.since <= asked && !isForgiven)
      this.complain(
        'reserved for its owner',
        `${address} is reserved for ${promised.pod}, and ${container} of ${wish.pod} got it`,
      )
    if (!isPromisedToIt && wish.ip === undefined && (this.#leftAlone.get(address) ?? 0) > this.#now())
      this.complain(
        'left to who named it',
        `${address} was asked for by name of late, and ${container} of ${wish.pod} got it`,
      )
    this.#keepsNothingElse(wish.pod, isPromisedToIt)
    this.#kept.delete(address)
    this.#leftAlone.delete(address)
    this.#last.set(address, given)
    this.#newest.set(wish.pod, container)
    this.#owners.set(container, { ...given, since: this.#now() })
  }

  /**
   * To be told before `got`: an ADD that began when this pool was in force on its machine, and was answered while it still was.
   *
   * @param pool `no`: what nobody is given. `noNew`: what nobody is given who did not have it
   */
  fromPool(
    { container, wish, address }: Given,
    { no, noNew }: { readonly no: readonly string[]; readonly noNew: readonly string[] },
  ): void {
    const had = this.#had.get(wish.pod)
    const mayHave = had === 'anything' || had?.has(address) || this.#everReserved.get(address)?.has(wish.pod)
    const isNoneOfIts = noNew.includes(address) && mayHave !== true
    if (no.includes(address) || isNoneOfIts)
      this.complain(
        'from the pool in force',
        `${container} of ${wish.pod} got ${address}, of which the pool gives ${isNoneOfIts ? 'nothing new' : 'nothing'}`,
      )
  }

  /**
   * An ADD was refused.
   *
   * @param hasLost whether records were lost: the store's, or a node's own by an older folder
   */
  refusedAdd(container: string, code: string, hasLost: boolean): void {
    if (code === 'IPK_STORE_INCOMPLETE' && !hasLost)
      this.complain(
        'refused for what happened',
        `${container} is refused for a loss of records that never was`,
      )
  }

  /** Whether or not anybody may rely on it. */
  got({ wish, address }: Given): void {
    const had = this.#had.get(wish.pod)
    if (had !== 'anything') this.#had.set(wish.pod, (had ?? new Set()).add(address))
  }

  /**
   * Where the conflist has a fallback it serves whoever asks for nothing, and nobody else; also what was promised to a pod is no other
   * plugin's.
   */
  servedBy({ container, wish, address, byFallback = false }: Given): void {
    const asks = wish.ip !== undefined || wish.mac !== undefined || wish.keep !== undefined
    const isPromised = [...this.#everReserved.values()].some(pods => pods.has(wish.pod))
    if (byFallback ? asks : !asks && !isPromised)
      this.complain(
        'left to the fallback',
        `${container} of ${wish.pod} got ${address} ${byFallback ? 'of the fallback, and asks for more' : 'and asks for nothing'}`,
      )
  }

  /** Who has had an address on a machine for so many milliseconds. */
  hasHadFor(address: string, machine: number, milliseconds: number): string | undefined {
    const found = [...this.#owners.values()].find(
      owner =>
        owner.address === address && owner.machine === machine && owner.since + milliseconds <= this.#now(),
    )
    return found?.wish.pod
  }

  /** A pod may have got an address without that anybody was answered. */
  mayHaveGot(pod: string): void {
    this.#had.set(pod, 'anything')
    this.#keepsNothingElse(
      pod,
      [...this.#everReserved.values()].some(pods => pods.has(pod)),
    )
  }

  /** What it keeps besides is kept no more once it has what was promised to it, or was moved away from it. */
  #keepsNothingElse(pod: string, hasWhatWasPromised: boolean): void {
    for (const [address, kept] of this.#kept)
      if (kept.pod === pod && (hasWhatWasPromised || this.#isForAnother(address, pod)))
        this.#kept.delete(address)
  }

  /** From here on nothing answers for its address any more, or nobody may rely on that: its DEL was asked for, it died, it was cut off. */
  ended(container: string): void {
    this.#owners.delete(container)
  }

  /** Its daemon has taken its links away. `hasReason`: an operator may have said so, or its records may have been lost. */
  cutOff(container: string, hasReason: boolean): void {
    const owner = this.#owners.get(container)
    if (owner && !hasReason && this.#now() >= this.#doubtUntil)
      this.complain(
        'cut off for a reason',
        `${container} of ${owner.wish.pod} runs, and has lost ${owner.address}`,
      )
    this.ended(container)
  }

  /**
   * A sandbox answers for its address that nobody was to rely on, because an operator had said that its machine is gone; what it
   * has lost meanwhile it has to be cut off from.
   */
  returned(given: Given): void {
    const { container, address, wish } = given
    for (const other of this.#owners.values())
      if (other.address === address && other.container !== container)
        this.complain(
          'one owner',
          `${address} has ${other.container} of ${other.wish.pod}, and ${container} of ${wish.pod} answers for it still`,
        )
    this.#owners.set(container, { ...given, since: this.#now() })
  }

  /** The DEL of a pod that had been answered was acknowledged: from when it was asked for on, its address is kept, or left alone. */
  deleted({ container, wish, address }: Given, isSure: boolean, asked = this.#now()): void {
    // What has moved to a newer sandbox is not let go by an older one; nor is a second address kept for a pod that has another by now.
    const newest = [this.#last.get(address)?.container, this.#newest.get(wish.pod)]
    if (newest.some(other => other !== undefined && other !== container)) return
    // It may have been given back after this DEL had let it go, and before that was acknowledged.
    const wasGivenBack = (this.#givenBack.get(address) ?? -1) >= asked
    // What was moved away from it is let go with its next ADD, which may be under way unheard.
    const isStill = isSure && !wasGivenBack && !this.#isForAnother(address, wish.pod)
    if (wish.keep !== undefined)
      this.#kept.set(address, { pod: wish.pod, until: asked + wish.keep, isSure: isStill })
    else if (wish.ip !== undefined && isStill) this.#leftAlone.set(address, asked + leftAloneFor)
  }

  /** What it has was recorded again without what its pod had asked for: it has it, and nothing is kept for it. */
  keepsNothing(container: string): void {
    const owner = this.#owners.get(container)
    if (owner) this.#owners.set(container, { ...owner, wish: { ...owner.wish, keep: undefined } })
  }

  /** An operator gave a kept address back, or its keeping cannot be relied on any more. */
  keptNoMore(address: string): void {
    const kept = this.#kept.get(address)
    if (kept) this.#kept.set(address, { ...kept, isSure: false })
    this.#givenBack.set(address, this.#now())
    this.#leftAlone.delete(address)
  }

  /** A pod has an address that nobody may rely on: what it keeps besides may be kept no more. */
  disowned({ wish }: Given): void {
    this.#relyOnNothingKept(address => this.#kept.get(address)?.pod === wish.pod)
  }

  /** A pod was given another address where the pool leaves out what it kept: that is released. */
  leftOut({ wish }: Given, { no }: { readonly no: readonly string[] }): void {
    this.#relyOnNothingKept(address => no.includes(address) && this.#kept.get(address)?.pod === wish.pod)
  }

  #relyOnNothingKept(which: (address: string) => boolean): void {
    for (const [address, kept] of this.#kept)
      if (which(address)) this.#kept.set(address, { ...kept, isSure: false })
  }

  /** Nobody proves that these have ended: nodes may say of them that they are in use. */
  mayStay(containers: Iterable<string>): void {
    for (const container of containers) this.#mayStay.add(container)
  }

  /** Their machine has come back after all. */
  mustGo(containers: Iterable<string>): void {
    for (const container of containers) this.#mayStay.delete(container)
  }

  /** For so many milliseconds nobody has promised that an address is not given twice. */
  doubt(milliseconds: number): void {
    this.#doubtUntil = this.#now() + milliseconds
  }

  /** Whoever has it now keeps it where it `moves`. */
  reserved(address: string, pod: string, { moves = false } = {}): void {
    this.#reserved.set(address, { pod, moves, since: moves ? this.#now() : -Infinity })
  }

  /** That was asked for. */
  mayBeReserved(address: string, pod: string): void {
    this.#everReserved.set(address, (this.#everReserved.get(address) ?? new Set()).add(pod))
  }

  unreserved(address: string): void {
    this.#reserved.delete(address)
  }

  /** An engine has gone back. */
  unreservedAll(): void {
    this.#reserved.clear()
  }

  /** That it is reserved for nobody is certain. */
  neverReserved(address: string): void {
    this.#reserved.delete(address)
    this.#everReserved.delete(address)
  }

  /** What is certain to be. */
  reservedFor(pod: string): readonly string[] {
    return [...this.#reserved].flatMap(([address, { pod: owner }]) => (owner === pod ? [address] : []))
  }

  /** When nothing is under way any more, a pod gets one of those that `wait` for it. */
  givenAtRest({ container, wish, address }: Given, wait: readonly string[]): void {
    // One that may wait for it as well, since nobody knows what became of that.
    if (wait.includes(address) || this.#everReserved.get(address)?.has(wish.pod) === true) return
    this.complain(
      'reserved for its owner',
      `${wait.join(' and ')} waited for ${wish.pod}, and ${container} of it got ${address}`,
    )
  }

  owns(container: string): boolean {
    return this.#owners.has(container)
  }

  hasPod(pod: string): boolean {
    return [...this.#owners.values()].some(({ wish }) => wish.pod === pod)
  }

  /** Whether another pod has, or is promised, what this one asks for. */
  isSpokenFor({ pod, ip, mac, keep }: Wish): boolean {
    const owners = [...this.#owners.values()].filter(({ wish }) => wish.pod !== pod)
    const kept = ip === undefined ? undefined : this.#kept.get(ip)
    const reserved = ip === undefined ? undefined : this.#reserved.get(ip)?.pod
    const ever = ip === undefined ? undefined : this.#everReserved.get(ip)
    const promised = reserved === undefined ? [...(ever ?? [])] : [reserved]
    const last = ip === undefined ? undefined : this.#last.get(ip)
    return (
      (last !== undefined && last.wish.pod !== pod && this.#mayStay.has(last.container)) ||
      owners.some(({ address, wish }) => address === ip || (mac !== undefined && wish.mac === mac)) ||
      (kept !== undefined && kept.pod !== pod) ||
      promised.some(other => other !== pod) ||
      (keep !== undefined && this.#isMovedAway(pod))
    )
  }

  /** Whether what is kept for a pod was moved to another one. */
  #isMovedAway(pod: string): boolean {
    return [...this.#everReserved.keys()].some(
      address =>
        (this.#kept.get(address)?.pod === pod || this.#last.get(address)?.wish.pod === pod) &&
        this.#isForAnother(address, pod),
    )
  }

  /** Whether an address was ever asked to be reserved for a pod, or moved to it. */
  isPromised(address: string, pod: string): boolean {
    return this.#everReserved.get(address)?.has(pod) === true
  }

  #isForAnother(address: string, pod: string): boolean {
    return [...(this.#everReserved.get(address) ?? [])].some(owner => owner !== pod)
  }

  /** How what nodes say is in use differs from who runs. */
  differences(lists: Lists): readonly string[] {
    return [...this.#compare(lists)].map(([, says]) => says)
  }

  /** Each node is asked in the end what is in use. */
  atEnd(lists: Lists): void {
    for (const [invariant, says] of this.#compare(lists)) this.complain(invariant, says)
  }

  *#compare(lists: Lists): Generator<readonly [Invariant, string]> {
    for (const [node, list] of lists) {
      const has = new Set(list.map(({ address, container }) => `${address} ${container}`))
      const owned = new Set<string>()
      for (const { address, container, wish, byFallback } of this.#owners.values()) {
        if (byFallback) continue
        owned.add(`${address} ${container}`)
        if (!has.has(`${address} ${container}`))
          yield [
            'a node has what it answered',
            `${container} of ${wish.pod} runs with ${address}, of which ${node} does not know`,
          ]
      }
      for (const { address, container } of list)
        if (!owned.has(`${address} ${container}`) && !this.#mayStay.has(container))
          yield [
            'nothing is left over',
            `${node} says that ${address} is in use by ${container}, which does not run`,
          ]
    }
  }

  complain(invariant: Invariant, says: string): void {
    const violation = { invariant, at: this.#now(), says }
    this.violations.push(violation)
    this.#onViolation(violation)
  }
}

/** Whether the pod has an address of its own: by name, or kept. */
const isFixed = ({ ip, keep }: Wish): boolean => ip !== undefined || keep !== undefined
