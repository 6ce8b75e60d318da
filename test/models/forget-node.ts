/**
 * An operator says that node n3 is gone for good, as leases/verbs/forget-node.ts, ask-claimant.ts and tasks/name-claims.ts of
 * ipkeeper-server do it: nodes n1 and n2 ask for two operators, n3 loses its power or its way to the engine, and comes back in any
 * moment. Pod x of n3 has the only address; x1 is its next pod on n1, y2 another pod on n2.
 *
 * Time is not counted: that of a question is over only when n3 cannot answer, which is what its 5 s are for. Not in it: the API's
 * word, takeover by time, several addresses.
 */
import { chance, itself, type Model, type Step } from './checker.ts'

export const forgetNodeRules = [
  'the claimant is asked first',
  'a question has its time',
  'a claimant that lives answers',
  'the mark compares the question',
  'a question makes way for a machine that starts',
  'who finds a question waits for its answer',
  'a question that nobody asks any more is replaced',
  'who comes back takes the mark away',
  'the mark is a proof for the next pod',
  'nothing else is a proof',
  'only the next pod goes by it',
  'a takeover leaves a trace',
  'what was taken is cut off',
  'an answer to somebody who asked later counts',
] as const
export type ForgetNodeRule = (typeof forgetNodeRules)[number]

/** What the product does not do yet. */
export const forgetNodeProposals = [
  'a name that nobody claims is asked for as well',
  'a takeover compares the record of the node',
] as const
export type ForgetNodeProposal = (typeof forgetNodeProposals)[number]

type Operator = 'o1' | 'o2'
/** n3 before and after it lost its power. */
type Session = 's1' | 's2'
type Pod = 'x3' | 'x1' | 'y2'

const operators: readonly Operator[] = ['o1', 'o2']

interface State {
  /** Of n3, in the engine. */
  record: {
    claim: Session | null
    question: Operator | Session | null
    refused: Operator | Session | null
    gone: boolean
  }
  n3: { on: boolean; reaches: boolean; session: Session; serves: boolean; copy: boolean }
  /** isOver: the time of the question is. silent: n3 could not be heard when that was so. */
  operators: Record<
    Operator,
    {
      is: 'idle' | 'asks' | 'expects' | 'gone' | 'lives' | 'killed'
      hasAsked: boolean
      isOver: boolean
      silent: boolean
    }
  >
  lease: Pod | null
  /** What the engine tells n3 of its lease that others have ended. */
  trace: boolean
  pods: Record<Pod, 'none' | 'waits' | 'planned' | 'live' | 'cut' | 'ended'>
  /** Outside the product. */
  seen: { wasGone: boolean; marksAlive: boolean; robs: boolean; findsLoss: boolean }
  accidents: number
}

export interface ForgetNodeBound {
  /** Times that n3 loses its power, its way to the engine, or a daemon that asks is killed. */
  readonly accidents: number
  /** The engine has lost the record of n3, and another node has written it again. */
  readonly isUnclaimed?: boolean
}

export interface ForgetNodeChoice {
  readonly without?: ReadonlySet<ForgetNodeRule>
  readonly proposed?: ReadonlySet<ForgetNodeProposal>
  /** Also what the product does not keep. */
  readonly isStrict?: boolean
}

/** Broken by the product: see docs/contributing/models.md. */
export const robbed = 'what nobody has taken when the node is back stays its'
export const declared = 'a node that can answer is not declared gone'

export class ForgetNode implements Model<State> {
  readonly initial: State
  readonly always: Model<State>['always']
  readonly #without: ReadonlySet<ForgetNodeRule>
  readonly #proposed: ReadonlySet<ForgetNodeProposal>
  readonly #bound: ForgetNodeBound

  constructor(bound: ForgetNodeBound, { without, proposed, isStrict }: ForgetNodeChoice = {}) {
    this.#bound = bound
    this.#without = without ?? new Set()
    this.#proposed = proposed ?? new Set()
    const operator = { is: 'idle', hasAsked: false, isOver: false, silent: true } as const
    this.initial = {
      record: { claim: bound.isUnclaimed ? null : 's1', question: null, refused: null, gone: false },
      n3: { on: true, reaches: true, session: 's1', serves: true, copy: true },
      operators: { o1: { ...operator }, o2: { ...operator } },
      lease: 'x3',
      trace: false,
      pods: { x3: 'live', x1: 'none', y2: 'none' },
      seen: { wasGone: false, marksAlive: false, robs: false, findsLoss: false },
      accidents: 0,
    }
    this.always = {
      'an address is taken only from a node that was declared gone': ({ lease, seen, pods }) =>
        lease === 'x3' || pods.x3 === 'ended' || seen.wasGone,
      'an address goes from a pod of a gone node to its next pod': ({ pods }) =>
        pods.y2 !== 'live' || pods.x1 === 'ended' || pods.x3 === 'ended',
      'what is ended on purpose is not taken for a loss': ({ seen }) => !seen.findsLoss,
      ...((isStrict || !bound.isUnclaimed) && { [declared]: ({ seen }: State) => !seen.marksAlive }),
      ...(isStrict && { [robbed]: ({ seen }: State) => !seen.robs }),
    }
  }

  readonly settled = {
    'every operator is told': (state: State): boolean =>
      operators.every(one => !['asks', 'expects'].includes(state.operators[one].is)),
    'a node that serves is not gone': ({ n3, record }: State): boolean => !canAnswer(n3) || !record.gone,
    'a node that is back serves': ({ n3 }: State): boolean => !canAnswer(n3) || n3.serves,
    'no two pods have one address where the node is back': ({ n3, pods }: State): boolean =>
      !canAnswer(n3) || Object.values(pods).filter(is => is === 'live').length < 2,
    'the next pod does not wait for a node that is gone': ({ record, pods, lease }: State): boolean =>
      !record.gone || pods.x1 !== 'waits' || lease === 'y2',
    'an address that nobody has can be had': ({ pods, lease }: State): boolean =>
      lease !== null || (pods.x1 !== 'waits' && pods.y2 !== 'waits'),
  }

  #has(rule: ForgetNodeRule): boolean {
    return !this.#without.has(rule)
  }

  *steps(state: State): Generator<Step<State>> {
    for (const one of operators) yield* this.#operator(state, one)
    yield* this.#accidents(state)
    yield* this.#node(state)
    yield* this.#pods(state)
  }

  // ---- Operators, and the daemons that ask for them

  *#operator(state: State, one: Operator): Generator<Step<State>> {
    const { record, n3 } = state
    const { is, isOver, hasAsked } = state.operators[one]
    const countsLater = this.#has('an answer to somebody who asked later counts')
    const told = (says: string, outcome: 'gone' | 'lives'): Step<State> =>
      itself(`${one} is told: ${says}`, to => {
        to.operators[one].is = outcome
        if (to.record.question === one) to.record.question = null
      })
    if (is === 'idle')
      yield chance(`${one} types: forget-node n3`, to => {
        to.operators[one].is = 'asks'
      })
    if (is === 'expects') {
      if (!record.gone) yield told('n3 took it back', 'lives')
      else if (!canAnswer(n3)) yield told('n3 is gone', 'gone')
    }
    if (is !== 'asks') return
    const hasNobodyToAsk =
      record.claim === null && !this.#proposed.has('a name that nobody claims is asked for as well')
    if (record.gone) yield told('n3 is gone already', 'gone')
    else if (hasNobodyToAsk || !this.#has('the claimant is asked first'))
      yield itself(`${one} marks n3 as gone without a question`, to => {
        if (canAnswer(n3)) to.seen.marksAlive = true
        this.#mark(to)
        to.operators[one].is = 'expects'
      })
    else if (record.refused !== null && hasAsked && (countsLater || record.refused === one))
      yield told('n3 lives', 'lives')
    else if (record.question === one || (isOver && !this.#has('the mark compares the question')))
      yield* this.#wait(state, one)
    else if (this.#mayAsk(state, one))
      yield itself(`${one} asks whether n3 lives`, to => {
        Object.assign(to.record, { question: one, refused: null })
        Object.assign(to.operators[one], { hasAsked: true, isOver: false, silent: true })
      })
  }

  *#wait({ n3, record, operators }: State, one: Operator): Generator<Step<State>> {
    const { isOver } = operators[one]
    const speaks = n3.serves
      ? this.#has('a claimant that lives answers')
      : this.#has('a question makes way for a machine that starts')
    const answers = canAnswer(n3) && speaks
    if (!isOver && (!answers || !this.#has('a question has its time')))
      yield itself(`the time of the question of ${one} is over`, to => {
        Object.assign(to.operators[one], { isOver: true, silent: !canAnswer(n3) })
      })
    if (isOver)
      yield itself(
        `${one} marks n3 as gone${record.question === one ? '' : ', although it has answered'}`,
        to => {
          if (!to.operators[one].silent || record.question !== one) to.seen.marksAlive = true
          this.#mark(to)
          to.operators[one].is = 'gone'
        },
      )
  }

  #mark(to: State): void {
    Object.assign(to.record, { question: null, refused: null, gone: true })
    to.seen.wasGone = true
  }

  #mayAsk({ record: { question }, operators, n3 }: State, one: Operator): boolean {
    if (question === null || !this.#has('who finds a question waits for its answer')) return true
    if (!this.#has('a question that nobody asks any more is replaced')) return false
    if (question === 'o1' || question === 'o2') return question === one || operators[question].is !== 'asks'
    return !(canAnswer(n3) && n3.session === question)
  }

  *#accidents({ n3, operators, accidents }: State): Generator<Step<State>> {
    if (!n3.on)
      yield chance('n3 is switched on', to => {
        Object.assign(to.n3, { on: true, reaches: true, session: 's2', serves: false })
      })
    if (n3.on && !n3.reaches)
      yield chance('n3 reaches the engine again', to => {
        to.n3.reaches = true
      })
    if (accidents === this.#bound.accidents) return
    if (n3.on && n3.session === 's1')
      yield chance('n3 loses its power', to => {
        Object.assign(to.n3, { on: false, reaches: false, serves: false })
        if (to.pods.x3 === 'live' || to.pods.x3 === 'cut') to.pods.x3 = 'ended'
        to.accidents++
      })
    if (canAnswer(n3))
      yield chance('n3 is cut off from the engine', to => {
        to.n3.reaches = false
        to.accidents++
      })
    if (operators.o2.is === 'asks')
      yield chance('the daemon that asks for o2 is killed', to => {
        to.operators.o2.is = 'killed'
        to.accidents++
      })
  }

  // ---- n3

  *#node({ record, n3, lease, trace, pods }: State): Generator<Step<State>> {
    if (!canAnswer(n3)) return
    const answers = this.#has('a claimant that lives answers') && record.question !== null
    const contradicts = this.#has('who comes back takes the mark away') && record.gone
    if (record.claim === n3.session && n3.serves && (answers || contradicts))
      yield itself('n3 answers that it lives', to => {
        if (record.question !== null && answers) to.record.refused = record.question
        if (answers) to.record.question = null
        if (contradicts) to.record.gone = false
      })
    yield* this.#claim({ record, n3 })
    if (!n3.copy) return
    if (lease !== 'x3' && (lease !== null || trace))
      yield itself('n3 hears that its address was taken', to => {
        Object.assign(to.n3, { copy: false })
        to.trace = false
        if (to.pods.x3 === 'live' && this.#has('what was taken is cut off')) to.pods.x3 = 'cut'
      })
    else if (lease === null)
      yield itself('n3 misses its lease, and finds that the engine has lost records', to => {
        Object.assign(to.n3, { copy: false })
        to.seen.findsLoss = true
      })
    else if (pods.x3 === 'ended' && n3.serves)
      yield itself('n3 ends x3, which is of another boot', to => {
        to.n3.copy = false
        to.lease = null
      })
  }

  /** A machine that starts claims its name; one that has lost its claim as well. */
  *#claim({ record, n3 }: Pick<State, 'record' | 'n3'>): Generator<Step<State>> {
    const { session } = n3
    const isOperators = record.question === 'o1' || record.question === 'o2'
    const mayAsk =
      record.question === null || (isOperators && this.#has('a question makes way for a machine that starts'))
    if (record.claim === session) {
      if (!n3.serves && !record.gone)
        yield itself('n3 finds its own claim, and serves', to => {
          to.n3.serves = true
        })
    } else if (record.claim === null || record.question === session)
      yield itself('n3 claims its name', to => {
        const isBack = this.#has('who comes back takes the mark away')
        Object.assign(to.record, { claim: session, question: null, refused: null })
        if (isBack) to.record.gone = false
        to.n3.serves = true
      })
    else if (mayAsk)
      yield itself('n3 asks whether somebody has its name', to => {
        Object.assign(to.record, { question: session, refused: null })
      })
  }

  // ---- Pods

  *#pods({ record, lease, pods }: State): Generator<Step<State>> {
    for (const pod of ['x1', 'y2'] as const) {
      if (pods[pod] === 'none')
        yield chance(`${pod} begins`, to => {
          to.pods[pod] = 'waits'
        })
      if (pods[pod] === 'live')
        yield chance(`${pod} ends`, to => {
          Object.assign(to, { lease: null })
          to.pods[pod] = 'ended'
        })
      const mayInherit = pod === 'x1' || !this.#has('only the next pod goes by it')
      const isProved =
        (record.gone && this.#has('the mark is a proof for the next pod')) ||
        !this.#has('nothing else is a proof')
      if (pods[pod] === 'waits' && lease === null)
        yield itself(`${pod} gets the address`, to => {
          to.lease = pod
          to.pods[pod] = 'live'
        })
      if (pods[pod] === 'waits' && lease === 'x3' && mayInherit && isProved)
        yield itself(`the takeover by ${pod} is planned`, to => {
          to.pods[pod] = 'planned'
        })
      if (pods[pod] === 'planned') yield* this.#commit({ record, lease }, pod)
    }
  }

  *#commit({ record, lease }: Pick<State, 'record' | 'lease'>, pod: 'x1' | 'y2'): Generator<Step<State>> {
    const isAsSeen = record.gone || !this.#proposed.has('a takeover compares the record of the node')
    if (lease !== 'x3' || !isAsSeen)
      yield itself(`the takeover by ${pod} conflicts`, to => {
        to.pods[pod] = 'waits'
      })
    else
      yield itself(`the takeover by ${pod} is committed`, to => {
        if (!to.record.gone && canAnswer(to.n3) && to.pods.x3 === 'live') to.seen.robs = true
        to.lease = pod
        to.pods[pod] = 'live'
        to.trace = this.#has('a takeover leaves a trace')
      })
  }
}

const canAnswer = ({ on, reaches }: State['n3']): boolean => on && reaches
