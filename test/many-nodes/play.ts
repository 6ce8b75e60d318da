import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { makeNamespaces } from '../rigs/many-namespaces.ts'
import type { SharedNode } from '../rigs/shared-node.ts'
import { faultsOfEnd } from './check-end.ts'
import { faultsOfHistory, type Rules } from './check-history.ts'
import { daemonMishaps, engineMishaps } from './common-mishaps.ts'
import type { EngineSide } from './engine-side.ts'
import type { NodeEvent } from './history.ts'
import { Mishaps } from './mishaps.ts'
import { PodLives } from './pod-lives.ts'
import { SeededRandom } from '../rigs/seeded-random.ts'
import { settled } from './settle.ts'

export interface Play {
  readonly nodes: readonly SharedNode[]
  readonly engine: EngineSide
  /** How many are given addresses, if there is time. */
  readonly pods: number
  /** Pods that live at once. */
  readonly atOnce: number
  /** Mishaps at once; none: how it is when nothing goes wrong. */
  readonly mishaps: number
  /** After so many milliseconds no pod is born any more, however many there were. */
  readonly longest: number
  /** What this engine may refuse an ADD with, beside what every one may. */
  readonly refusals?: readonly string[]
}

/** Of the daemons' configuration: what is let go is soon to be had again. */
export const hastyConfig = {
  cooldown: '1s',
  preferFor: '3s',
  reconcile: { mode: 'repair', interval: '1s', minAge: '1s', minAgeUnproved: '5m', passes: 1 },
} as const

/** One pool for all: what is asked for by name begins at .2, the rest is taken. */
export const playPool = { ranges: [[{ subnet: '10.22.0.0/24' }], [{ subnet: 'fd00:22::/64' }]] } as const

/** Milliseconds that it may take at the end until all is answered. */
const patience = 90_000

const insisting = 24
const wanted = (number: number): readonly string[] => [
  `10.22.0.${2 + number}`,
  `fd00:22::${(2 + number).toString(16)}`,
]

const commonRefusals: readonly string[] = [
  'IPK_ADDRESS_HELD',
  'IPK_ADDRESS_KEPT',
  'IPK_HOLDER_LIVE',
  'IPK_POOL_FULL',
  'IPK_STORE_AWAY',
  'IPK_STORE_CONFLICT',
]

/** Plays lives and mishaps by a seed, waits until all is settled, and checks every moment of it. */
export async function play(
  t: Test,
  { nodes, engine, pods, atOnce, mishaps, longest, refusals = [] }: Play,
): Promise<void> {
  const rules: Rules = { families: [4, 6], refusals: new Set([...commonRefusals, ...refusals]) }
  const seed = Number(process.env['MANY_NODES_SEED'] ?? Date.now() % 2 ** 32)
  t.comment(`MANY_NODES_SEED=${seed}`)
  const random = new SeededRandom(seed)
  const namespaces = new Map<string, string[]>()
  for (const { name, host } of nodes) namespaces.set(name, [...(await makeNamespaces(host, 'pod', 12))])
  const lives = new PodLives({ nodes, random, namespaces, wanted, insisting, pods, longest: 1500 })
  const rows = [...daemonMishaps(nodes), ...engineMishaps(nodes, engine)]
  const trouble = new Mishaps({ rows, random: new SeededRandom(seed + 1), atOnce: mishaps })

  const began = performance.now()
  const living = lives.run(atOnce)
  const troubling = trouble.run()
  await Promise.race([living, delay(longest, undefined, { ref: false })])
  lives.stop()
  // Whoever waits for an answer gets one only when all is well again.
  trouble.stop()
  await inTime(Promise.all([troubling, living]), () => [...trouble.underWay(), ...lives.calls.underWay()])
  const lived = performance.now() - began
  // A slow machine plays less of it in the time that there is; what was played is checked to the end.
  t.ok(lives.served >= pods / 20, `${lives.served} of ${pods} pods in ${(lived / 1000).toFixed(0)} s`)

  const state = await settled({ nodes, engine, events: lives.calls.events })
  t.comment(`settled after ${((performance.now() - began - lived) / 1000).toFixed(1)} s`)
  for (const [what, count] of [...trouble.count, ...lives.calls.refusals].sort())
    t.comment(`${what}: ${count}`)
  t.comment(summary(lives))
  const faults = faultsOfHistory(lives.calls.events, rules).map(({ text }) => text)
  const faultsAtEnd = faultsOfEnd(lives.calls.events, state)
  for (const line of traces([...faults, ...faultsAtEnd], lives.calls.events, nodes)) t.comment(line)
  t.strictSame(faults, [], 'the history is linear')
  t.strictSame(faultsAtEnd, [], 'the engine has what was acknowledged, and nothing else')
  const refusedDels = [...lives.calls.refusals.keys()].filter(what => /^DEL IPK/.test(what))
  t.strictSame(refusedDels, [], 'no DEL was refused')
}

/** Waits for what may take some time, and says what is still under way when it takes too long. */
async function inTime(work: Promise<unknown>, underWay: () => readonly string[]): Promise<void> {
  const late = await Promise.race([work.then(() => false), delay(patience, true, { ref: false })])
  if (late) throw new Error(`still under way after ${patience} ms:\n${underWay().join('\n')}`)
}

/** How long an answer took: half, all but one of a hundred, all. */
function summary({ calls: { waits } }: PodLives): string {
  const times = (kind: string): string => {
    const sorted = waits.flatMap(wait => (wait.kind === kind ? [wait.ms] : [])).sort((a, b) => a - b)
    const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0)
    return `${sorted.length} ${kind}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
  }
  return ['given', 'refused', 'unknown'].map(times).join('; ')
}

/** All that is known of the containers that are named in the first faults. */
function traces(
  faults: readonly string[],
  events: readonly NodeEvent[],
  nodes: readonly SharedNode[],
): readonly string[] {
  const containers = new Set(faults.slice(0, 3).flatMap(fault => fault.match(/\b[0-9a-f]{12}\b/g) ?? []))
  return [...containers].flatMap(container => [
    ...events
      .filter(event => 'container' in event && event.container === container)
      .map(event => JSON.stringify(event)),
    ...nodes.flatMap(node => {
      const lines = node.log().split('\n')
      return lines.filter(line => line.includes(container)).map(line => `${node.name}: ${line}`)
    }),
  ])
}
