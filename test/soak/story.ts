/** An episode as a story: what was asked, answered and done, line by line, and where it first went wrong. Pure. */
import type { Fault } from '../many-nodes/check-history.ts'
import type { NodeEvent } from '../many-nodes/history.ts'
import type { Happened } from '../many-nodes/mishaps.ts'
import { nameIn } from './fault-kinds.ts'
import type { Verdict } from './episode.ts'
import type { Evidence } from './judge.ts'

/** A moment, in milliseconds from the begin, and what happened then. */
interface Line {
  readonly at: number
  readonly text: string
  /** Containers that it is about; undefined: it matters to all. */
  readonly about?: readonly string[]
}

/** Faults of which the story is told; the others are named. */
const told = 4

/**
 * What a person is shown: every fault, and of the first ones all that happened to their containers, with everything that
 * was done to machines and engine.
 */
export function tellStory(verdict: Verdict, replay: string): string {
  const { seed, plan, faults, evidence } = verdict
  const named = new Set(faults.slice(0, told).flatMap(({ text }) => text.match(/\b[0-9a-f]{12}\b/g) ?? []))
  const addresses = addressesOf(named, evidence.events)
  const concerned = new Set([...named, ...containersWith(addresses, evidence.events)])
  const lines = linesOf(evidence).filter(({ about }) => about?.some(one => concerned.has(one)) ?? true)
  return [
    `seed ${seed}: ${plan.kinds.map(kind => nameIn(kind, plan.store)).join(', ')}`,
    ...faults.slice(0, 20).map(({ text }, index) => `  ${index + 1}. ${text}`),
    ...(faults.length > 20 ? [`  and ${faults.length - 20} more`] : []),
    ...render(lines, faults[0]),
    `again: ${replay}`,
  ].join('\n')
}

/** Every line of it, for a file. */
export function wholeStory({ evidence, faults, logs }: Verdict): string {
  return [
    ...render(linesOf(evidence), faults[0]),
    ...[...logs].flatMap(([name, log]) => ['', `---- the log of the daemon on ${name}`, log]),
  ].join('\n')
}

function render(lines: readonly Line[], first: Fault | undefined): readonly string[] {
  const sorted = [...lines].sort((a, b) => a.at - b.at)
  const marked = first && { ...first, text: `FIRST WRONG: ${first.text}` }
  const place = marked ? sorted.findIndex(({ at }) => at > marked.at) : -1
  if (marked) sorted.splice(place === -1 ? sorted.length : place, 0, marked)
  return sorted.map(line => {
    const at = Number.isFinite(line.at) ? (line.at / 1000).toFixed(3).padStart(8) : '  at end'
    return `${line === marked ? '>>' : '  '}${at} s  ${line.text}`
  })
}

function linesOf({ events, happened, looks, runs }: Evidence): readonly Line[] {
  return [
    ...events.map(lineOfEvent),
    ...happened.flatMap(linesOfMishap),
    ...runs.flatMap(({ meddled, verb, container, node, ended }) =>
      meddled
        ? [
            {
              at: ended,
              text: `${node}  the plugin's ${verb} of ${container} was ${meddled}`,
              about: [container],
            },
          ]
        : [],
    ),
    ...looks.flatMap(({ node, at, what, wrong }) =>
      wrong === undefined ? [] : [{ at, text: `${node}  ${what}: ${wrong}` }],
    ),
  ]
}

function lineOfEvent(event: NodeEvent): Line {
  const took = (from: number, to: number): string => `(${(to - from).toFixed(0)} ms)`
  switch (event.kind) {
    case 'add': {
      const {
        node,
        container,
        holder,
        uid,
        asked,
        keeps,
        wrong,
        sent = event.began,
        began,
        ended,
        outcome,
      } = event
      const wish = [
        ...asked.map(address => `asks for ${address}`),
        ...(keeps ? ['kept for ever'] : []),
        ...(wrong ? ['wrongly'] : []),
      ]
      const late = sent - began > 100 ? [`began ${((sent - began) / 1000).toFixed(1)} s before`] : []
      const what = [holder, uid, ...wish, ...late].join(', ')
      const answer =
        outcome.kind === 'refused'
          ? `refused: ${outcome.code}`
          : outcome.kind === 'unknown'
            ? 'no answer'
            : `${outcome.kind} ${outcome.addresses.join(', ')}`
      return {
        at: ended,
        text: `${node}  ADD ${container} (${what}): ${answer} ${took(sent, ended)}`,
        about: [container],
      }
    }
    case 'del': {
      const { node, container, sent = event.began, began, ended, outcome, refused } = event
      const late = sent - began > 100 ? ` (began ${((sent - began) / 1000).toFixed(1)} s before)` : ''
      const answer = refused === undefined ? outcome : `refused: ${refused}`
      return {
        at: ended,
        text: `${node}  DEL ${container}${late}: ${answer} ${took(sent, ended)}`,
        about: [container],
      }
    }
    case 'check': {
      const { node, container, began, ended, outcome } = event
      return {
        at: ended,
        text: `${node}  CHECK ${container}: ${outcome} ${took(began, ended)}`,
        about: [container],
      }
    }
    case 'gc': {
      const { node, valid, began, sent, ended, outcome } = event
      const age =
        began === undefined
          ? 'does not say when it began'
          : sent - began > 100
            ? `began ${((sent - began) / 1000).toFixed(1)} s before`
            : 'at once'
      const list = valid.length === 0 ? 'nothing' : valid.join(' ')
      return { at: ended, text: `${node}  GC (${age}): ${outcome} ${took(sent, ended)}; lives: ${list}` }
    }
    case 'death':
      return { at: event.at, text: `the sandbox ${event.container} is dead`, about: [event.container] }
    case 'start':
      return { at: event.at, text: `${event.node}  the daemon is started` }
    case 'loss':
      return {
        at: event.to,
        text: `all work with the engine again that lost data ${took(event.from, event.to)}`,
      }
  }
}

function linesOfMishap({ kind, to, from, until }: Happened): readonly Line[] {
  const whom = to.join(', ')
  return [
    { at: from, text: `## ${kind}: ${whom}` },
    ...(until === Infinity ? [] : [{ at: until, text: `## over: ${kind}: ${whom}` }]),
  ]
}

/** Addresses that any of the containers was given. */
function addressesOf(containers: ReadonlySet<string>, events: readonly NodeEvent[]): ReadonlySet<string> {
  const given = events.flatMap(event =>
    event.kind === 'add' && containers.has(event.container) && 'addresses' in event.outcome
      ? event.outcome.addresses
      : [],
  )
  return new Set(given)
}

function containersWith(addresses: ReadonlySet<string>, events: readonly NodeEvent[]): readonly string[] {
  return events.flatMap(event =>
    event.kind === 'add' &&
    'addresses' in event.outcome &&
    event.outcome.addresses.some(address => addresses.has(address))
      ? [event.container]
      : [],
  )
}
