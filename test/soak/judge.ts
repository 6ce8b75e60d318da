/**
 * What was wrong in an episode. It knows what was asked and answered, what was done to whom, and what an operator saw; of
 * how ipkeeper works it knows nothing. Pure.
 */
import { faultsOfEnd } from '../many-nodes/check-end.ts'
import { faultsOfHistory, type Fault, type Rules } from '../many-nodes/check-history.ts'
import type { FinalState, NodeEvent, SeenLease } from '../many-nodes/history.ts'
import { isOf } from '../many-nodes/holds.ts'
import type { Happened } from '../many-nodes/mishaps.ts'
import { faultsOfRuns, type Limits, type PluginRun } from './check-plugin-runs.ts'

/** Something that an operator, or whoever watches for one, looked at. */
export interface Look {
  readonly node: string
  readonly at: number
  readonly what: string
  /** undefined: all is well. */
  readonly wrong: string | undefined
}

export interface Evidence {
  readonly events: readonly NodeEvent[]
  readonly runs: readonly PluginRun[]
  readonly happened: readonly Happened[]
  readonly looks: readonly Look[]
  /** undefined: it never came to an end that could be looked at. `after`: so many events. */
  readonly end: { readonly state: FinalState; readonly after: number } | undefined
  /** Addresses that nobody had or kept at the end, and how many were given when all that are free were asked for. */
  readonly filled: { readonly free: number; readonly given: number } | undefined
}

export interface Laws {
  readonly rules: Rules
  readonly limits: Limits
  /** Whether a lease of nobody should be gone when all is settled. */
  readonly rests: (lease: SeenLease) => boolean
  /** Kinds of mishaps in which a DEL may be refused on the node. */
  readonly refusesDels: ReadonlySet<string>
}

/** The same with all moments counted from one of them. */
export function countedFrom(moment: number, evidence: Evidence): Evidence {
  const shifted = <T extends object>(thing: T): T => {
    const moments = Object.entries(thing).filter(
      ([key, value]) => momentKeys.has(key) && typeof value === 'number',
    ) as [string, number][]
    return { ...thing, ...Object.fromEntries(moments.map(([key, value]) => [key, value - moment])) }
  }
  return {
    ...evidence,
    events: evidence.events.map(shifted),
    runs: evidence.runs.map(shifted),
    happened: evidence.happened.map(shifted),
    looks: evidence.looks.map(shifted),
  }
}

const momentKeys = new Set(['at', 'began', 'sent', 'ended', 'from', 'to', 'until', 'snapshot'])

/** What was wrong, the first first. */
export function judge(evidence: Evidence, laws: Laws): readonly Fault[] {
  const { events, runs, end, filled } = evidence
  const faults = [
    ...faultsOfHistory(events, laws.rules),
    ...faultsOfRuns(runs, laws.limits),
    ...faultsOfDels(evidence, laws),
    ...evidence.looks.flatMap(({ node, at, what, wrong }) =>
      wrong === undefined ? [] : [{ at, text: `${what} on ${node}: ${wrong}` }],
    ),
    ...(end ? faultsAtEnd(events.slice(0, end.after), end.state, laws) : []),
    ...(filled && filled.free !== filled.given
      ? [{ at: Infinity, text: `${filled.free} addresses were free, and ${filled.given} could be had` }]
      : []),
  ]
  return faults.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
}

function faultsAtEnd(events: readonly NodeEvent[], state: FinalState, { rests }: Laws): readonly Fault[] {
  const texts = [
    ...faultsOfEnd(events, state),
    ...state.engine.leases
      .filter(rests)
      .map(({ address, state, holder }) => `${address} of ${holder} is ${state}, and its time is over`),
  ]
  return texts.map(text => ({ at: Infinity, text: `at the end: ${text}` }))
}

/** A DEL may fail to get an answer; refused it must not be, or no pod could be removed. */
function faultsOfDels({ events, happened }: Evidence, { refusesDels }: Laws): readonly Fault[] {
  return events
    .filter(isOf('del'))
    .filter(
      ({ refused, node, sent = 0, ended }) =>
        refused !== undefined &&
        !happened.some(
          mishap =>
            refusesDels.has(mishap.kind) &&
            mishap.to.includes(node) &&
            mishap.from <= ended &&
            mishap.until >= sent,
        ),
    )
    .map(({ container, node, ended, refused }) => ({
      at: ended,
      text: `the DEL of ${container} on ${node} was refused with ${String(refused)}`,
    }))
}
