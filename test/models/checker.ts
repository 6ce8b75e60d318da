/**
 * Explores every state that a small model can come to, breadth first: so the trace to a broken invariant is a shortest one. A model
 * is a state of plain data, whose properties keep their order, and what can happen next in it.
 */

export interface Step<S> {
  /** For the trace. */
  readonly says: string
  /**
   * itself: happens sooner or later if nothing else does, as all that the product does. chance: may happen, or never, as faults and
   * what people do.
   */
  readonly by: 'itself' | 'chance'
  /** Changes a copy of the state. */
  readonly change: (copy: S) => void
}

export interface Model<S> {
  readonly initial: S
  readonly steps: (state: S) => Iterable<Step<S>>
  /** What holds in each state, by name. */
  readonly always: Readonly<Record<string, (state: S) => boolean>>
  /** What holds where nothing goes on by itself any more: by it nobody waits for ever. */
  readonly settled: Readonly<Record<string, (state: S) => boolean>>
}

export interface Outcome {
  readonly states: number
  /** Steps of the longest of all shortest ways. */
  readonly depth: number
  /** The first invariant that is broken, and a shortest way there. */
  readonly broken?: { readonly invariant: string; readonly trace: readonly string[] }
}

/** What goes on by itself must come to an end, whatever is first. */
export const endless = 'what goes on by itself comes to an end'

export const itself = <S>(says: string, change: (copy: S) => void): Step<S> => ({
  ...{ says, by: 'itself', change },
})

export const chance = <S>(says: string, change: (copy: S) => void): Step<S> => ({
  ...{ says, by: 'chance', change },
})

/** A step from one state to another that happens by itself. */
type Edge = readonly [from: number, to: number]

/** Seen states, in the order in which they were come to, and how. */
class Explored {
  readonly texts: string[] = []
  readonly depths: number[] = []
  readonly #index = new Map<string, number>()
  readonly #from: number[] = []
  readonly #says: string[] = []

  /** Its number. */
  add(text: string, from: number, says: string): number {
    const seen = this.#index.get(text)
    if (seen !== undefined) return seen
    const number = this.texts.length
    this.#index.set(text, number)
    this.texts.push(text)
    this.#from.push(from)
    this.#says.push(says)
    this.depths.push(from < 0 ? 0 : this.depths[from]! + 1)
    return number
  }

  traceTo(number: number): readonly string[] {
    const trace: string[] = []
    for (let at = number; at > 0; at = this.#from[at]!) trace.unshift(this.#says[at]!)
    return trace
  }
}

/** @throws Error where there are more states than `most`: then nothing is known */
export function explore<S>(model: Model<S>, most: number): Outcome {
  const seen = new Explored()
  const edges: Edge[] = []
  const outcome = (invariant?: string, at = 0): Outcome => ({
    states: seen.texts.length,
    depth: seen.depths.at(-1) ?? 0,
    ...(invariant !== undefined && { broken: { invariant, trace: seen.traceTo(at) } }),
  })
  seen.add(JSON.stringify(model.initial), -1, '')
  for (let at = 0; at < seen.texts.length; at++) {
    const text = seen.texts[at]!
    const state = JSON.parse(text) as S
    const wrong = firstBroken(model.always, state)
    if (wrong !== undefined) return outcome(wrong, at)
    let goesOn = false
    for (const { says, by, change } of model.steps(state)) {
      const copy = JSON.parse(text) as S
      change(copy)
      const next = seen.add(JSON.stringify(copy), at, says)
      if (by === 'chance' || next === at) continue
      goesOn = true
      edges.push([at, next])
    }
    if (seen.texts.length > most) throw new Error(`more than ${most} states`)
    const unsettled = goesOn ? undefined : firstBroken(model.settled, state)
    if (unsettled !== undefined) return outcome(unsettled, at)
  }
  const circle = firstInCircle(edges, seen.texts.length)
  return circle === undefined ? outcome() : outcome(endless, circle)
}

function firstBroken<S>(
  invariants: Readonly<Record<string, (state: S) => boolean>>,
  state: S,
): string | undefined {
  return Object.keys(invariants).find(name => !invariants[name]!(state))
}

/** The first state that lies on a circle of edges, or between two: what is left when all ends are taken away, again and again. */
function firstInCircle(edges: readonly Edge[], size: number): number | undefined {
  const left = new Set<number>(Array.from({ length: size }, (_, number) => number))
  for (const [end, start] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const ways = new Int32Array(size)
    const into = Map.groupBy(edges, edge => edge[start])
    for (const edge of edges) ways[edge[end]]!++
    const ends = Array.from(left).filter(number => ways[number] === 0)
    for (let number = ends.pop(); number !== undefined; number = ends.pop()) {
      left.delete(number)
      for (const edge of into.get(number) ?? []) if (--ways[edge[end]]! === 0) ends.push(edge[end])
    }
  }
  return left.values().next().value
}
