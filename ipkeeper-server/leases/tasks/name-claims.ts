import { stateFiles } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import {
  withReturn,
  describeClaim,
  nextStep,
  withChallenge,
  withClaim,
  withoutClaim,
  withRefusal,
} from '../../ipam/records/node-record.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import type { NodeChallenge, NodeClaim, NodeRecord } from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { amendNode, nodeWrite, writeNode } from '../ledger/write-node.ts'

/** Milliseconds that a claimant has to answer a challenge. It hears of it within one; its engine may elect a leader meanwhile. */
const answerWithin = 5_000
/** Milliseconds after which a name that was lost is asked for again. */
const askAgainAfter = 60_000
/** Milliseconds after which it is tried again where the store did not take it. */
const retryAfter = 1000

/** Claims that are written without that anybody finds them. */
const mostWritten = 5

export interface NameClaimsOptions {
  readonly ledger: Ledger
  /** What this daemon claims names by. */
  readonly mine: NodeClaim
  readonly stateDir: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic: () => number
  /** A name is this session's. Rejects where that cannot be noted; then it is not used yet. */
  readonly onClaimed?: (name: string) => Promise<void>
  /** Somebody else wanted the name, and was refused; or asked for an operator, and was told that this node lives. */
  readonly onChallenge: (name: string, by: NodeChallenge) => void
  /** An operator had said that this node is gone for good; that was taken back. */
  readonly onDeclaredGone?: (name: string, by: string) => void
  /** No machine with a copy of this one's disk has any of its names. Rejects where that cannot be noted; then it is not so yet. */
  readonly onAlone?: () => Promise<void>
  /** Somebody else has the name now; undefined: it is ours again. */
  readonly onLost: (name: string, problem: Problem | undefined) => void
  readonly onError: (error: unknown) => void
  readonly answerWithin?: number
  /** This session has had a name before: no other boot, and no copy, has it. */
  readonly wasClaimed?: boolean
}

/**
 * This node's claims on names in a ledger that nodes share (ipam/records/node-record.ts). What is heard of a name that it has is
 * answered at once; nothing is done while nobody else wants it.
 */
export class NameClaims {
  readonly #options: NameClaimsOptions
  readonly #answerWithin: number
  /** Called when something is heard of a name that is being asked for. */
  readonly #waiting = new Map<string, () => void>()
  #held: string | undefined
  #lost: Problem | undefined
  /** Whether the engine has said since this daemon began that the name is ours. */
  #isConfirmed = false
  /** The same of each name that this identity has claimed. */
  #isAlone = false
  /** Who has refused us, until it is asked again; nobody where a machine is waited for whose claim was lost. */
  #refusedBy: { readonly session: string | undefined } | undefined
  #timer: NodeJS.Timeout | undefined
  #atWork: Promise<void> | undefined
  /** Whether something was heard of the name while an answer was under way. */
  #isNews = false
  /** The store did not take the last try, and the next one waits for its time. */
  #failed = false
  #isFailing = false
  readonly #stopping = new AbortController()

  constructor(options: NameClaimsOptions) {
    this.#options = options
    this.#answerWithin = options.answerWithin ?? answerWithin
  }

  get mine(): NodeClaim {
    return this.#options.mine
  }

  /** Whether the record of a name may be written by this node. */
  mayWrite(record: NodeRecord | undefined): boolean {
    return record?.claim === undefined || record.claim.session === this.mine.session
  }

  /**
   * Resolves when the name is claimed, or the engine keeps no records of nodes. Takes seconds where another one had it.
   *
   * @throws IPK_NODE_NAME_TAKEN when its claimant lives; what the store says, such as IPK_STORE_AWAY
   */
  async take(name: string): Promise<void> {
    const { ledger, mine, monotonic } = this.#options
    const signal = this.#stopping.signal
    let written = 0
    /** The generation of the record that has the question. */
    let asked: number | undefined
    /** Since when it has been like this. */
    let since: { readonly what: string; readonly at: number } | undefined
    for (;;) {
      if (!ledger.keeps('node')) {
        await this.#claimed(name)
        return
      }
      if (signal.aborted) return
      const record = await ledger.readNode(name)
      this.#assertNotAwaited(name, record)
      const step = nextStep(record, mine, asked)
      const what = `${step.kind} ${record?.challenge?.session ?? ''}`
      if (since?.what !== what) since = { what, at: monotonic() }
      const left = since.at + this.#answerWithin * (step.kind === 'queue' ? 2 : 1) - monotonic()
      switch (step.kind) {
        case 'mine':
          await this.#claimed(name)
          return
        case 'refused':
          throw this.#taken(name, step.by, record)
        case 'take':
          if (await this.#write(name, record, withClaim)) written++
          // Custom resources of another version leave out what they do not know: names cannot be claimed with them.
          if (written > mostWritten) {
            this.#options.onError(new Error(`the claim on ${name} is not kept`))
            await this.#claimed(name)
            return
          }
          break
        case 'wait':
        case 'queue':
        case 'challenge':
          if (step.kind !== 'challenge' && left > 0) await this.#news(name, left)
          else if (step.kind === 'wait') await this.#write(name, record, withClaim)
          else if (await this.#write(name, record, withChallenge)) asked = (record?.generation ?? 0) + 1
      }
    }
  }

  /**
   * After a loss of the store's records a node tells them again by its journal. Whoever took its name meanwhile would be taken for it,
   * and what runs on it be given to others.
   */
  #assertNotAwaited(name: string, record: NodeRecord | undefined): void {
    const { ledger, mine } = this.#options
    const isAwaited = ledger.storeStatus()?.waitsFor?.includes(name) === true
    if (!isAwaited || record?.claim?.id === mine.id || record?.gone) return
    throw new Problem(
      'IPK_NODE_NAME_TAKEN',
      `node ${name} has not reported what is in use there since the store lost records, and was another machine${record?.claim ? ` (${describeClaim(record.claim)})` : ''}`,
      {
        hint: `start the daemon of that machine; if it is gone for good, on another node: ipkeeperctl forget-node ${shellWord(name)}`,
      },
    )
  }

  async #claimed(name: string): Promise<void> {
    await this.#options.onClaimed?.(name)
  }

  /**
   * As `take`, with each name that this identity has claimed: by one of those somebody may live who has a copy of the disk. Where nobody does,
   * or it has claimed none, that is known even if the name that is wanted is another machine's, or is waited for after a loss: else nobody
   * would tell of a loss that this machine alone has found.
   *
   * @param claimed by whatever run
   */
  async takeAll(wanted: string, claimed: readonly string[]): Promise<void> {
    const own = Promise.all(claimed.map(name => this.take(name))).then(() => this.#foundAlone())
    await Promise.all([own, claimed.includes(wanted) ? own : this.take(wanted)])
    if (!this.isStopped) this.#isConfirmed = true
  }

  async #foundAlone(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    const { ledger, onAlone } = this.#options
    await onAlone?.()
    this.#isAlone = true
    ledger.sure()
  }

  /** From here on the name is held: whoever wants it is refused. */
  hold(name: string): void {
    this.#held = name
    this.heard(name)
  }

  /** Whether the name is claimed by another identity. */
  isOthers(name: string): boolean {
    const claim = this.#options.ledger.node(name)?.claim
    return claim !== undefined && claim.id !== this.mine.id
  }

  /** Names that this identity has claimed, by whatever run. */
  names(): readonly string[] {
    const { ledger, mine } = this.#options
    return [...ledger.nodes()].filter(({ claim }) => claim?.id === mine.id).map(({ name }) => name)
  }

  /**
   * The name is given up, unless somebody else has it; to be called when nothing of this node bears it any more.
   *
   * @param by what the node is called now
   * @param isBorne whether something of others does, which are to be found by it
   */
  async giveUp(name: string, by: string, isBorne: () => boolean): Promise<void> {
    const { ledger, mine, now } = this.#options
    await amendNode(ledger, name, record =>
      this.isOthers(name)
        ? record
        : withoutClaim(record, { id: mine.id, isBorne: isBorne(), gone: { since: now(), by } }),
    )
  }

  /** To be called with each change of the record of a name, by whomever. */
  heard(name: string): void {
    this.#waiting.get(name)?.()
    if (name !== this.#held || this.#stopping.signal.aborted) return
    if (this.#atWork || this.#failed) {
      // Of a try that fails one hears as well: there is a timer for the next one.
      this.#isNews = true
      return
    }
    const record = this.#options.ledger.node(name)
    const isMine = record?.claim?.session === this.mine.session
    // Of a name that is not confirmed, what is known may be from before this daemon began.
    const isSettled = isMine && this.#isConfirmed
    if (isSettled && !this.#lost && !record.challenge && !record.gone) return
    // Whoever has it now has said so just now.
    if (this.#refusedBy && record?.claim?.session === this.#refusedBy.session) return
    this.#isNews = false
    this.#atWork = (isSettled ? this.#answer(name) : this.#regain(name))
      .then(
        () => {
          this.#isFailing = false
        },
        (error: unknown) => {
          this.#tryAgain(name, retryAfter)
          // It is tried every second, and said once.
          if (!this.#isFailing) this.#options.onError(error)
          this.#isFailing = true
        },
      )
      .finally(() => {
        this.#atWork = undefined
        if (this.#isNews) this.heard(name)
      })
  }

  /** Why no ADD may be served now: IPK_NODE_NAME_TAKEN; undefined where one may. */
  refusal(): Problem | undefined {
    return this.#lost
  }

  /**
   * Why no address may be taken from the store; undefined where one may. A daemon that began while the store was away goes on
   * with what is bound here; when the store is back, another machine may be found to have the name.
   */
  claimRefusal(): Problem | undefined {
    if (this.#lost || this.#isConfirmed || this.#held === undefined) return this.#lost
    return new Problem(
      'IPK_STORE_AWAY',
      `the store is reachable again, and it is not confirmed yet that this node is the one named ${this.#held}`,
      { hint: 'wait: it is asked every second. See: ipkeeperctl status' },
    )
  }

  /** Whether no machine with a copy of this one's disk has its names, as far as the engine ever said in this boot. */
  isAlone(): boolean {
    return (this.#isAlone || this.#options.wasClaimed === true) && this.#lost === undefined
  }

  /** Whether it is this node alone that has its name and identity, as far as the engine ever said in this boot. */
  isSure(): boolean {
    return (this.#isConfirmed || this.#options.wasClaimed === true) && this.#lost === undefined
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** To be called when the store is back: a name that could not be asked for meanwhile is not put off any longer. */
  askAgain(): void {
    if (this.#held === undefined || this.#isConfirmed) return
    clearTimeout(this.#timer)
    this.#failed = false
    this.#refusedBy = undefined
    this.heard(this.#held)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#timer)
    for (const wake of this.#waiting.values()) wake()
    await this.#atWork
  }

  /** A challenge is refused, and that this node is gone is contradicted; a name that somebody gave back is ours. */
  async #answer(name: string): Promise<void> {
    const { ledger, onChallenge, onDeclaredGone } = this.#options
    this.#setLost(name, undefined)
    const { challenge, gone } = await commitPlan(ledger, () => {
      const record = ledger.node(name)
      if (!record || !this.mayWrite(record)) return { change: [] }
      const lives = withReturn(record)
      const answered = lives.challenge ? withRefusal(lives, lives.challenge) : lives
      return {
        change: answered === record ? [] : [nodeWrite(name, record, answered)],
        challenge: record.challenge,
        gone: record.gone,
      }
    })
    if (challenge) onChallenge(name, challenge)
    if (gone) onDeclaredGone?.(name, gone.by)
  }

  /** The record has gone, or says that somebody else has the name: it is asked for again. */
  async #regain(name: string): Promise<void> {
    clearTimeout(this.#timer)
    const by = this.#options.ledger.node(name)?.claim
    if (by && by.session !== this.mine.session)
      this.#setLost(name, this.#taken(name, by, this.#options.ledger.node(name)))
    try {
      await this.take(name)
      await this.#foundAlone()
      this.#isConfirmed = true
      this.#setLost(name, undefined)
      const record = this.#options.ledger.node(name)
      // Somebody may have wanted it meanwhile.
      if (record?.challenge || record?.gone) this.#isNews = true
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'IPK_NODE_NAME_TAKEN')) throw error
      this.#refusedBy = { session: this.#options.ledger.node(name)?.claim?.session }
      this.#setLost(name, error)
      this.#tryAgain(name, askAgainAfter)
    }
  }

  #tryAgain(name: string, after: number): void {
    clearTimeout(this.#timer)
    this.#failed = after === retryAfter
    this.#timer = setTimeout(() => {
      this.#failed = false
      this.#refusedBy = undefined
      this.heard(name)
    }, after)
    this.#timer.unref()
  }

  #setLost(name: string, problem: Problem | undefined): void {
    const before = this.#lost
    this.#lost = problem
    if ((before === undefined) !== (problem === undefined)) this.#options.onLost(name, problem)
  }

  /** Resolves when the record that was just read is another one, and after so many milliseconds at the latest. */
  async #news(name: string, milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const known = (): number | undefined => this.#options.ledger.node(name)?.generation
    // Not that of the reading: while a change by this node is under way, the ledger is ahead of what the store says.
    const before = known()
    const wake = (): void => {
      // A reading is heard of as well, and says nothing new.
      if (known() !== before || this.#stopping.signal.aborted) resolve(undefined)
    }
    this.#waiting.set(name, wake)
    const timer = setTimeout(resolve, milliseconds, undefined)
    wake()
    await promise
    clearTimeout(timer)
    this.#waiting.delete(name)
  }

  /** Resolves to false where somebody else was faster. */
  async #write(
    name: string,
    before: NodeRecord | undefined,
    change: (record: NodeRecord, mine: NodeClaim) => NodeRecord,
  ): Promise<boolean> {
    const { ledger, mine, now } = this.#options
    const base = before ?? { name, generation: 0, addresses: [], since: now() }
    return await writeNode(ledger, name, before, change(base, mine))
  }

  #taken(name: string, by: NodeClaim, record: NodeRecord | undefined): Problem {
    const { mine, stateDir } = this.#options
    const addresses = record?.addresses ?? []
    const who = `${describeClaim(by)}${addresses.length === 0 ? '' : `, at ${addresses.join(' and ')}`}`
    return by.id === mine.id
      ? new Problem(
          'IPK_NODE_NAME_TAKEN',
          `a machine with a copy of this state folder runs as node ${name} (${who})`,
          {
            hint: `on the machine that is the copy: stop the daemon, ${putAway(stateDir)}, and start it again: it is a node of its own then`,
          },
        )
      : new Problem(
          'IPK_NODE_NAME_TAKEN',
          `node ${name} is another machine that runs (${who}); this one is ${describeClaim(mine)}`,
          {
            hint: 'give this machine a name of its own, by "node" in its configuration, by --node, or by its hostname',
          },
        )
  }
}

/**
 * What is in the folder, and not the folder, which may be a mount point; and the ledger may begin empty then, although the copied
 * disk has results of the other machine's ADDs.
 */
function putAway(stateDir: string): string {
  const [from, to] = [shellWord(stateDir), shellWord(`${stateDir}.copy`)]
  return `mkdir ${to} && mv ${from}/* ${to}/ && touch ${from}/${stateFiles.beginAnew}`
}
