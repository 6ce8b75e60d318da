/** One episode: a stage, pods and trouble by a seed, all well again, and a verdict on every moment of it. */
import { setTimeout as delay } from 'node:timers/promises'
import { catalogue } from '../../shared/problem/catalogue.ts'
import { standing } from '../many-nodes/check-end.ts'
import type { Fault } from '../many-nodes/check-history.ts'
import { daemonMishaps, engineMishaps } from '../many-nodes/common-mishaps.ts'
import type { FinalState } from '../many-nodes/history.ts'
import { Mishaps, type Mishap } from '../many-nodes/mishaps.ts'
import { PodCalls } from '../many-nodes/pod-calls.ts'
import { SeededRandom } from '../rigs/seeded-random.ts'
import { settled } from '../many-nodes/settle.ts'
import { inParallel } from '../rigs/in-parallel.ts'
import { pluginOf } from '../rigs/requirements.ts'
import { Teardown } from '../rigs/teardown.ts'
import type { PluginRun } from './check-plugin-runs.ts'
import { engineLosses } from './engine-loss.ts'
import { faultKinds, planEpisode, type EpisodePlan, type PlanOptions } from './fault-kinds.ts'
import { Heartbeat } from './heartbeat.ts'
import { countedFrom, judge, type Evidence, type Laws } from './judge.ts'
import { Kubelets } from './kubelets.ts'
import { ledgerMishaps } from './ledger-mishaps.ts'
import { isKept, lives, type Life } from './lives.ts'
import { machineMishaps } from './machine-mishaps.ts'
import { roomSeen } from './room-seen.ts'
import { Runtime } from './runtime.ts'
import { machineOf, pluginTimeout, poolSize, startStage, type Stage } from './stage.ts'
import { Watchman } from './watchman.ts'

export interface EpisodeOptions extends PlanOptions {
  readonly seed: number
  /** Folder with the executables. */
  readonly dist: string
}

export interface Verdict {
  readonly seed: number
  readonly plan: EpisodePlan
  /** What was wrong, the first first; none: all promises were kept. */
  readonly faults: readonly Fault[]
  readonly evidence: Evidence
  /** How often each kind of life and of mishap was, and each code of a refusal. */
  readonly lives: ReadonlyMap<string, number>
  readonly mishaps: ReadonlyMap<string, number>
  readonly refusals: ReadonlyMap<string, number>
  /** By machine. */
  readonly logs: ReadonlyMap<string, string>
  /** Milliseconds; every moment counts from its begin. */
  readonly took: number
}

/** Milliseconds in which trouble is made, at least and at most; and in which all is to be well again after it. */
const [leastPlay, longestPlay, patience] = [7_000, 60_000, 90_000]

/** A refusal has to be one that waiting can help against, or name who has the address, or the DEL that came first. */
const refusals = Object.entries(catalogue).flatMap(([code, { retryable }]) => (retryable ? [code] : []))

/** Milliseconds beyond what is granted: a busy machine starts a program late. */
const slack = 4_000
const granted = pluginTimeout * 1000

const laws: Laws = {
  rules: { families: [4], refusals: new Set([...refusals, 'IPK_ADDRESS_HELD', 'IPK_DEL_OVERTOOK']) },
  limits: {
    ...{ ADD: granted + slack, DEL: granted + slack, CHECK: granted + slack },
    ...{ GC: 15_000 + slack, STATUS: 2_000 + slack },
  },
  rests: ({ state, holder }) => state !== 'bound' && !(state === 'held' && isKept(holder)),
  refusesDels: new Set(faultKinds.flatMap(({ kind, refusesDels }) => (refusesDels ? [kind] : []))),
}

export async function playEpisode({ seed, dist, ...options }: EpisodeOptions): Promise<Verdict> {
  const plan = planEpisode(seed, options)
  const began = performance.now()
  const t = new Teardown()
  const calls = new PodCalls()
  try {
    const stage = await startStage(t, {
      ...{ store: plan.store, dist, clocks: plan.kinds.some(kind => kind.startsWith('clock')) },
      starting: node => calls.events.push({ kind: 'start', node, at: performance.now() }),
    })
    const chosen = livesFor(options)
    const run = new Run(stage, plan, calls, new SeededRandom(seed), chosen, pluginOf(dist))
    const evidence = countedFrom(began, await run.play())
    return {
      ...{ seed, plan, evidence, took: performance.now() - began },
      faults: judge(evidence, laws),
      lives: run.kubelets.count,
      mishaps: run.trouble.count,
      refusals: calls.refusals,
      logs: new Map(stage.machines.map(({ name, node }) => [name, node.log()])),
    }
  } finally {
    await t.run()
  }
}

/** Pods of an episode. */
export const livesFor = ({ pending = false, pods }: PlanOptions): readonly Life[] =>
  lives.filter(life => (pods ? pods.includes(life.kind) : pending || life.pending === undefined))

/** The middle of an episode, from the first daemon to the last look. */
class Run {
  readonly kubelets: Kubelets
  readonly trouble: Mishaps
  readonly #stage: Stage
  readonly #calls: PodCalls
  readonly #runtimes: readonly Runtime[]
  readonly #watchman: Watchman
  readonly #runs: PluginRun[] = []
  readonly #heartbeat = new Heartbeat()

  constructor(
    stage: Stage,
    { kinds }: EpisodePlan,
    calls: PodCalls,
    random: SeededRandom,
    chosen: readonly Life[],
    plugin: string,
  ) {
    this.#stage = stage
    this.#calls = calls
    this.#runtimes = stage.machines.map(
      machine => new Runtime({ machine, calls, runs: this.#runs, plugin, heartbeat: this.#heartbeat }),
    )
    this.#watchman = new Watchman(stage.machines)
    this.kubelets = new Kubelets({
      ...{ runtimes: this.#runtimes, lives: chosen },
      random: random.derive(1),
      atOnce: stage.machines.length === 1 ? 8 : 4,
    })
    const rows = kinds.map(kind => this.#mishap(kind))
    this.trouble = new Mishaps({
      ...{ rows, first: rows, random: random.derive(2), atOnce: 2, haste: 0.5, pause: [100, 600] },
      failed: (kind, error) => {
        this.#saw(`after "${kind}"`, error instanceof Error ? error.message : String(error))
      },
    })
  }

  async play(): Promise<Evidence> {
    const { machines } = this.#stage
    await Promise.all(machines.map(({ node }) => node.start()))
    const watching = this.#watchman.run()
    this.#heartbeat.start()
    let end: Evidence['end']
    let filled: Evidence['filled']
    try {
      await this.#live()
      const state = await this.#settle()
      end = { state, after: this.#calls.events.length }
      await this.#lookAtSurvivors()
      filled = await this.#fill(state)
      await this.#lookAtAudits()
    } catch (error) {
      this.#saw('what was to be well again', error instanceof Error ? error.message : String(error))
    } finally {
      // Where it broke off they would go on without end.
      this.trouble.stop()
      this.kubelets.leave()
      this.#watchman.stop()
      this.#heartbeat.stop()
      await watching
    }
    await this.#stopDaemons()
    this.#watchman.readLogs()
    const { events } = this.#calls
    const { looks } = this.#watchman
    return { events, runs: this.#runs, happened: this.trouble.happened, looks, end, filled }
  }

  /** Pods live, and things happen to them, until each kind has been; then all is mended. */
  async #live(): Promise<void> {
    const living = this.kubelets.run()
    // There is something to be lost first.
    await delay(1_500)
    const troubling = this.trouble.run()
    // Whoever fails first is heard at the end, not in the middle.
    for (const work of [living, troubling]) work.catch(() => undefined)
    const began = performance.now()
    const goesOn = (): boolean => {
      const played = performance.now() - began
      return played < leastPlay || (played < longestPlay && !this.trouble.allHappened)
    }
    while (goesOn()) {
      if (this.#watchman.looks.some(({ wrong }) => wrong !== undefined)) break
      await delay(50)
    }
    this.trouble.stop()
    await inTime(troubling, () => this.trouble.underWay())
    for (const { node } of this.#stage.machines) await node.start()
    this.kubelets.stop()
    await inTime(living, () => this.#calls.underWay())
  }

  /** What runtimes forgot is collected; what nobody needs is let go. */
  async #settle(): Promise<FinalState> {
    const { machines, engine } = this.#stage
    for (const runtime of this.#runtimes) await runtime.gc(runtime.valid, {})
    await roomSeen(
      machines.map(({ node }) => node),
      slack,
    )
    return await settled({
      ...{ nodes: machines.map(({ node }) => node), engine, events: this.#calls.events },
      isResting: laws.rests,
      ...{ nameOf: machineOf, patience: 20_000 },
    })
  }

  async #lookAtSurvivors(): Promise<void> {
    for (const { add, address } of standing(this.#calls.events)) {
      const runtime = this.#runtimes.find(({ name }) => name === add.node)
      const sandbox = { container: add.container, pod: add.holder, uid: add.uid, asked: add.asked }
      const reply = runtime && (await this.#calls.check(runtime.machine.node, sandbox, [address]))
      if (reply?.kind === 'given') continue
      const why = reply?.kind === 'refused' ? reply.error.message : (reply?.why ?? 'nobody to ask')
      this.#saw(`the CHECK of ${add.container}, which lives`, why, add.node)
    }
  }

  /** Every address that nobody has can be had, and no other. */
  async #fill({ engine }: FinalState): Promise<Evidence['filled']> {
    const taken = engine.leases.filter(lease => !laws.rests(lease)).map(({ address }) => address)
    const free = poolSize - new Set(taken).size
    const pods = Array.from({ length: free + 2 }, (_, index) => index)
    const given = await inParallel(pods, 4, async index => {
      const { node } = this.#runtimes[index % this.#runtimes.length]!.machine
      const container = `f${index.toString(16).padStart(11, '0')}`
      const reply = await this.#calls.add(node, {
        container,
        pod: `fill-${index}`,
        uid: container,
        asked: [],
      })
      if (reply.kind !== 'given' && !(reply.kind === 'refused' && reply.error.code === 'IPK_POOL_FULL'))
        this.#saw('an ADD when all was well again', JSON.stringify(reply), node.name)
      return reply.kind === 'given' ? 1 : 0
    })
    return { free, given: given.reduce<number>((sum, one) => sum + one, 0) }
  }

  async #lookAtAudits(): Promise<void> {
    for (const { name, node } of this.#stage.machines) {
      const { status, body } = await node.daemon().ask('GET', '/v1/audit')
      const { findings = [] } = (status === 200 ? JSON.parse(body) : {}) as { findings?: readonly unknown[] }
      if (status !== 200 || findings.length > 0) this.#saw('the audit', body.slice(0, 1000), name)
    }
  }

  async #stopDaemons(): Promise<void> {
    for (const { name, node } of this.#stage.machines) {
      if (!node.isUp()) continue
      const ending = node.daemon().stop('SIGTERM')
      const exit = await Promise.race([ending, delay(20_000, 'nothing in 20 s' as const, { ref: false })])
      if (exit !== 0) this.#saw('the end of the daemon by SIGTERM', `exit ${String(exit)}`, name)
    }
  }

  #saw(what: string, wrong: string, node = 'the stage'): void {
    this.#watchman.looks.push({ node, at: performance.now(), what, wrong })
  }

  #mishap(kind: string): Mishap {
    const { machines, engine } = this.#stage
    const nodes = machines.map(({ node }) => node)
    const { events } = this.#calls
    const all = [
      ...daemonMishaps(nodes),
      ...machineMishaps(this.#runtimes),
      ...(engine
        ? [...engineMishaps(nodes, engine), ...engineLosses(this.#stage, engine, event => events.push(event))]
        : ledgerMishaps(machines)),
    ]
    const found = all.find(mishap => mishap.kind === kind)
    if (!found) throw new Error(`nobody knows how to make "${kind}"`)
    return found
  }
}

/** Waits, and says what is still under way when it takes too long. */
async function inTime(work: Promise<unknown>, underWay: () => readonly string[]): Promise<void> {
  const late = await Promise.race([work.then(() => false), delay(patience, true, { ref: false })])
  if (late) throw new Error(`still under way after ${patience} ms:\n${underWay().join('\n')}`)
}
