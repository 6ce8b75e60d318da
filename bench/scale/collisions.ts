import type { Interval } from '../../ipkeeper-server/ipam/pools/pool.ts'
import { inOrderOf } from '../../ipkeeper-server/ipam/pools/block-affinity.ts'
import { mostAttempts } from '../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { AddressTable } from './address-table.ts'
import { choosers, type Chooser, type ChooserName } from './choosers.ts'
import { EventQueue } from './event-queue.ts'
import { SeededRandom } from '../../test/rigs/seeded-random.ts'

/**
 * How often two nodes ask for the same address. Every node sees the network as it was `delayMs` ago, but for what it asked
 * for itself; the engine gives an address to whoever comes first, and tells the other, who chooses again. Moments in
 * milliseconds.
 */

/** Of an ADD that nobody was quicker than: from the choice to the engine's answer. */
const commitMs = 5
/** What a daemon does after a conflict: it reads what was in its way, one by one, and plans anew. */
const settleMs = 10
const nodes = 1_000
/** 10.22.0.0/16 without network, gateway and broadcast address. */
const pool: Interval = { first: 0x0a160002n, last: 0x0a16fffen }
const poolSize = Number(pool.last - pool.first) + 1

export const fills = [0.1, 0.5, 0.9, 0.99] as const
export const delays = [10, 100, 1_000] as const

/** ADDs of the whole cluster, spread evenly over its nodes. */
export interface Load {
  readonly name: 'churn' | 'rollout'
  readonly perSecond: number
  readonly adds: number
}

export const loads: readonly Load[] = [
  { name: 'churn', perSecond: 17, adds: 1_000 },
  { name: 'rollout', perSecond: 1_000, adds: 1_000 },
]

export interface Meeting {
  readonly chooser: string
  readonly fill: number
  readonly delayMs: number
  readonly load: Load['name']
  /** Refused commits for each ADD, mean. */
  readonly conflicts: number
  /** Share of the ADDs that were refused at least once. */
  readonly refused: number
  /** Share of the ADDs that gave up. */
  readonly failed: number
}

export interface Routes {
  readonly chooser: ChooserName
  readonly fill: number
  readonly stripes: number
  readonly strays: number
}

const nobody: ReadonlySet<number> = new Set()

/** A network in use for long: filled, and then every pod replaced once, by views that are up to date. */
function inUse(choose: Chooser, fill: number): AddressTable {
  const random = new SeededRandom(7)
  const table = new AddressTable(pool)
  const pods: number[] = []
  const count = Math.floor(poolSize * fill)
  const add = (): void => {
    const node = Math.floor(random.next() * nodes)
    const address = choose(table, node, nobody)
    table.take(address, node)
    pods.push(address)
  }
  for (let pod = 0; pod < count; pod++) add()
  for (let pod = 0; pod < count; pod++) {
    const index = Math.floor(random.next() * pods.length)
    table.free(pods[index] ?? -1)
    pods[index] = pods.at(-1) ?? -1
    pods.pop()
    add()
  }
  return table
}

/** What nodes choose from: as the engine has it, and as the nodes see it. */
interface Choices {
  /** What a node sees as free that has asked for these just now; -1: nothing. */
  choose(node: number, asked: ReadonlySet<number>): number
  isTaken(choice: number): boolean
  take(choice: number, node: number): void
  /** The nodes hear of it. */
  show(choice: number, node: number): void
}

interface Step {
  readonly kind: 'choose' | 'commit' | 'show'
  readonly node: number
  readonly choice: number
  readonly refused: number
}

function play(
  choices: Choices,
  { perSecond, adds }: Pick<Load, 'perSecond' | 'adds'>,
  delayMs: number,
): Pick<Meeting, 'conflicts' | 'refused' | 'failed'> {
  const random = new SeededRandom(11)
  const queue = new EventQueue<Step>()
  const asked = Array.from({ length: nodes }, () => new Set<number>())
  let moment = 0
  for (let add = 0; add < adds; add++) {
    moment -= (Math.log(1 - random.next()) / perSecond) * 1e3
    queue.add(moment, { kind: 'choose', node: Math.floor(random.next() * nodes), choice: -1, refused: 0 })
  }
  let [conflicts, refused, failed] = [0, 0, 0]
  for (let next = queue.next(); next; next = queue.next()) {
    const { at, event } = next
    const { kind, node } = event
    if (kind === 'choose') {
      const choice = choices.choose(node, asked[node] ?? nobody)
      asked[node]?.add(choice)
      if (choice < 0) failed++
      else queue.add(at + commitMs / 2, { ...event, kind: 'commit', choice })
    } else if (kind === 'show') choices.show(event.choice, node)
    else if (!choices.isTaken(event.choice)) {
      choices.take(event.choice, node)
      queue.add(at + delayMs, { ...event, kind: 'show' })
    } else {
      conflicts++
      if (event.refused === 0) refused++
      if (event.refused + 1 === mostAttempts) failed++
      else queue.add(at + commitMs / 2 + settleMs, { ...event, kind: 'choose', refused: event.refused + 1 })
    }
  }
  return { conflicts: conflicts / adds, refused: refused / adds, failed: failed / adds }
}

/** Every rule at every fill, delay and load. */
export function simulateFree(): {
  readonly meetings: readonly Meeting[]
  readonly routes: readonly Routes[]
} {
  const meetings: Meeting[] = []
  const routes: Routes[] = []
  for (const fill of fills) {
    for (const [name, choose] of Object.entries(choosers) as [ChooserName, Chooser][]) {
      const begin = inUse(choose, fill)
      routes.push({ chooser: name, fill, ...begin.routes() })
      const free = Math.round(poolSize * (1 - fill))
      for (const load of loads) {
        // So that those who come last find some as well.
        const adds = Math.min(load.adds, free >> 1)
        for (const delayMs of delays) {
          const [truth, seen] = [begin.copy(), begin.copy()]
          const met = play(
            {
              choose: (node, asked) => choose(seen, node, asked),
              isTaken: address => truth.isTaken(address),
              take: (address, node) => {
                truth.take(address, node)
              },
              show: (address, node) => {
                seen.take(address, node)
              },
            },
            { ...load, adds },
            delayMs,
          )
          meetings.push({ chooser: name, fill, delayMs, load: load.name, ...met })
        }
      }
    }
  }
  return { meetings, routes }
}

/** So many addresses rest when no other is left. */
const resting = 1_000

const nameOf = (node: number): string => `worker-${node + 1}`

/** Whose each of them was, by chance. */
const gaveUp = (key: number): string => nameOf((key * 7_919) % nodes)

/** When only resting addresses are left: each node takes the longest rested, or by its own order. */
export function simulateResting(): readonly Meeting[] {
  const orders: Readonly<Record<string, (node: number, keys: readonly number[]) => readonly number[]>> = {
    'the longest rested': (_, keys) => keys,
    'own ones, then an own order, among 128': (node, keys) =>
      inOrderOf(
        nameOf(node),
        keys.slice(0, 128).map(key => ({ key: String(key), node: gaveUp(key) })),
        keys.length,
      ).map(Number),
  }
  const meetings: Meeting[] = []
  for (const [chooser, order] of Object.entries(orders)) {
    for (const load of loads) {
      for (const delayMs of delays) {
        const taken = new Set<number>()
        let seen = Array.from({ length: resting }, (_, index) => index)
        const met = play(
          {
            choose: (node, asked) => order(node, seen).find(key => !asked.has(key)) ?? -1,
            isTaken: key => taken.has(key),
            take: key => {
              taken.add(key)
            },
            show: key => {
              seen = seen.filter(other => other !== key)
            },
          },
          { ...load, adds: resting >> 1 },
          delayMs,
        )
        meetings.push({ chooser, fill: 1, delayMs, load: load.name, ...met })
      }
    }
  }
  return meetings
}
