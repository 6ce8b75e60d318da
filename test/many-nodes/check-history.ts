/**
 * Whether a history can be: was there an order of all that was carried out, each between its begin and its end, in which
 * no address ever had two holders? Pure.
 *
 * An address is a register, "free" or "of a container". An acknowledged ADD took it at a moment between its begin and its
 * end, and had it at least until somebody gave cause to let it go: a DEL or a GC that means it was sent, the sandbox died,
 * or the same pod's next sandbox was added. What has no answer may have happened, or not: as an ADD it proves nothing, as
 * a cause it counts.
 */
import { at, describe, familyOf, holdsOf, isOf, isTakenBack, sentOf, type Hold } from './holds.ts'
import type { AddEvent, CheckEvent, LossEvent, NodeEvent } from './history.ts'

export interface Rules {
  /** Families of which each pod gets one address. */
  readonly families: readonly (4 | 6)[]
  /** What an ADD may be refused with. */
  readonly refusals: ReadonlySet<string>
}

/** Something that cannot be. */
export interface Fault {
  /** When it was so for certain; Infinity: at the end. */
  readonly at: number
  readonly text: string
}

/** A span in which an address was of one container for certain; the ends belong to nobody. */
interface Span {
  readonly hold: Hold
  readonly from: number
  readonly to: number
}

/** What is wrong with the history; none: it is linear. */
export function faultsOfHistory(events: readonly NodeEvent[], rules: Rules): readonly Fault[] {
  const holds = holdsOf(events)
  const adds = events.filter(isOf('add'))
  const faults = [
    ...repeatedAdds(adds),
    ...adds.flatMap(add => faultsOfAnswer(add, rules)),
    ...adds.flatMap(add => faultsOfOrder(add, events)),
    ...[...Map.groupBy(holds, ({ address }) => address).values()].flatMap(faultsOfAddress),
    ...[...Map.groupBy(holds, ({ add, address }) => `${add.holder} ${familyOf(address)}`).values()].flatMap(
      faultsOfHolder,
    ),
    ...faultsOfKeeping(holds, events.filter(isOf('loss'))),
    ...events.filter(isOf('check')).flatMap(check => faultsOfCheck(check, holds, events)),
  ]
  return faults.sort((a, b) => a.at - b.at)
}

function repeatedAdds(adds: readonly AddEvent[]): readonly Fault[] {
  return [...Map.groupBy(adds, ({ container }) => container)]
    .filter(([, runs]) => runs.length > 1)
    .map(([container]) => ({ at: 0, text: `the history itself is wrong: ${container} was added twice` }))
}

// ---- What an ADD was told

function faultsOfAnswer(add: AddEvent, rules: Rules): readonly Fault[] {
  const { outcome, asked, container, ended, wrong } = add
  const fault = (text: string): Fault => ({ at: ended, text })
  if (outcome.kind === 'unknown') return []
  if (outcome.kind === 'refused')
    return wrong || rules.refusals.has(outcome.code)
      ? []
      : [fault(`${container} was refused with ${outcome.code}`)]
  if (wrong) return [fault(`${container} was given what cannot be`)]
  const families = outcome.addresses.map(familyOf).sort()
  const given = outcome.addresses.join(', ')
  const faults: Fault[] = []
  if (families.join() !== [...rules.families].sort().join())
    faults.push(fault(`${container} was given ${given || 'nothing'}: not one of each family`))
  const missed = asked.filter(address => !outcome.addresses.includes(address))
  if (missed.length > 0)
    faults.push(fault(`${container} asked for ${missed.join(', ')} and was given ${given}`))
  return faults
}

/** An ADD that began before a DEL comes too late after it, unless the daemon was started between the two. */
function faultsOfOrder(add: AddEvent, events: readonly NodeEvent[]): readonly Fault[] {
  if (add.outcome.kind !== 'given') return []
  const starts = events.filter(isOf('start')).filter(({ node }) => node === add.node)
  return events
    .filter(isOf('del'))
    .filter(
      del =>
        del.container === add.container &&
        del.outcome === 'done' &&
        del.began > add.began &&
        del.ended <= sentOf(add) &&
        !starts.some(start => start.at >= del.ended && start.at <= add.ended),
    )
    .map(del => ({ at: add.ended, text: `${add.container} was given after its DEL of ${at(del.began)}` }))
}

// ---- One address: no two containers at once

/** Spans are certain; a hold that was let go while its ADD was under way needs but one free moment of it. */
function faultsOfAddress(holds: readonly Hold[]): readonly Fault[] {
  const spans = spansOf(holds)
  const faults = clashes(spans, () => true).map(([one, two]) => ({
    at: two.add.ended,
    text: `two holders: ${describe(one)}, and ${describe(two)}`,
  }))
  for (const hold of holds.filter(isBrief)) {
    const from = Math.max(hold.add.began, hold.released)
    const others = spans.filter(span => span.hold !== hold)
    if (!hasGap(others, from, hold.add.ended))
      faults.push({ at: hold.add.ended, text: `there is no moment in which it was ${describe(hold)}` })
  }
  return faults
}

const isBrief = ({ released, add }: Hold): boolean => released < add.ended

function spansOf(holds: readonly Hold[]): readonly Span[] {
  return holds
    .filter(hold => !isBrief(hold))
    .map(hold => ({ hold, from: hold.add.ended, to: hold.released }))
    .sort((a, b) => a.from - b.from)
}

/** Pairs of spans, sorted by their begin, that overlap and may not. */
function clashes(
  spans: readonly Span[],
  mayNot: (one: Hold, two: Hold) => boolean,
): readonly (readonly [Hold, Hold])[] {
  return spans.flatMap((one, index) =>
    spans
      .slice(index + 1)
      .filter(two => overlap(one, two) && mayNot(one.hold, two.hold))
      .map(two => [one.hold, two.hold] as const),
  )
}

const overlap = (one: Omit<Span, 'hold'>, two: Omit<Span, 'hold'>): boolean =>
  two.from < one.to && two.to > one.from

/** Whether there is a moment, the ends included, in no span. */
function hasGap(spans: readonly Span[], from: number, to: number): boolean {
  let moment = from
  for (const span of spans) {
    if (span.from >= moment) return true
    if (span.to > moment) moment = span.to
    if (moment > to) return false
  }
  return true
}

// ---- One holder: no two addresses of a family at once

/** Only a pod that never insists on an address gets another one while its namesake may live. */
function faultsOfHolder(holds: readonly Hold[]): readonly Fault[] {
  const mayNot = (one: Hold, two: Hold): boolean => {
    const insists = one.add.asked.length > 0 || two.add.asked.length > 0
    return one.address !== two.address && one.add !== two.add && (insists || one.add.uid === two.add.uid)
  }
  return clashes(spansOf(holds), mayNot).map(([one, two]) => ({
    at: two.add.ended,
    text: `two addresses of one holder: ${describe(one)}, and ${describe(two)}`,
  }))
}

// ---- What is kept for its holder

/** An address that is kept goes to nobody else, and its holder comes back to it. */
function faultsOfKeeping(holds: readonly Hold[], losses: readonly LossEvent[]): readonly Fault[] {
  const spans = spansOf(holds)
  return holds
    .filter(({ add }) => add.keeps)
    .flatMap(kept => {
      const span = { from: kept.add.ended, to: keptUntil(kept, losses) }
      const fault = (what: string, { hold }: Span): Fault => ({
        at: hold.add.ended,
        text: `${what}: ${describe(kept)}, and ${describe(hold)}`,
      })
      const others = spans.filter(other => overlap(span, other))
      return [
        ...others
          .filter(({ hold }) => hold.address === kept.address && hold.add.holder !== kept.add.holder)
          .map(other => fault('kept for one holder, given to another', other)),
        ...others
          .filter(
            ({ hold }) =>
              hold.add.holder === kept.add.holder &&
              hold.add.began > kept.add.ended &&
              familyOf(hold.address) === familyOf(kept.address) &&
              hold.address !== kept.address,
          )
          .map(other => fault('came back, and was given another address', other)),
      ]
    })
}

/** What no sandbox has is in the engine alone, and in its snapshots; what one has is its own whatever the engine forgets. */
function keptUntil({ add, released }: Hold, losses: readonly LossEvent[]): number {
  const forgetting = losses.filter(({ to, snapshot = -Infinity }) => to >= released && snapshot <= add.ended)
  return Math.max(released, Math.min(Infinity, ...forgetting.map(({ from }) => from)))
}

// ---- CHECK: what was acknowledged is not lost

function faultsOfCheck(
  check: CheckEvent,
  holds: readonly Hold[],
  events: readonly NodeEvent[],
): readonly Fault[] {
  if (check.outcome !== 'denied') return []
  const stood = holds.filter(
    ({ add, released }) =>
      add.container === check.container && add.ended <= check.began && released >= check.ended,
  )
  return stood
    .filter(({ add }) => !isAway(add, check, events))
    .map(hold => ({ at: check.ended, text: `lost at ${at(check.began)}: ${describe(hold)}` }))
}

/** Whether another sandbox of the pod may have had its addresses then, to give them back later. */
function isAway(
  { holder, uid, container }: AddEvent,
  check: CheckEvent,
  events: readonly NodeEvent[],
): boolean {
  const dels = events.filter(isOf('del'))
  return events
    .filter(isOf('add'))
    .filter(other => other.holder === holder && other.uid === uid && other.container !== container)
    .some(other => {
      const own = dels.filter(del => del.container === other.container)
      const back = Math.max(...own.map(({ ended }) => ended))
      return isTakenBack(other, own) && other.began < check.ended && back > check.began
    })
}
