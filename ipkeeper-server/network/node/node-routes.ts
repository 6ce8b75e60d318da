import { BackgroundTask } from '../../host/background-task.ts'
import { performance } from 'node:perf_hooks'
import { withoutPrefix } from '../../../shared/net/address-text.ts'
import { toProblem } from '../../../shared/problem/problem.ts'
import { enableForwarding } from './kernel-settings.ts'
import { listLinks } from '../ip-show.ts'
import { CommandRefused, runCommands, ipJson } from '../ip-commands.ts'
import { answerOnBridges } from './answer-on-bridges.ts'
import type { Command } from '../plan/command.ts'
import {
  planNodeRoutes,
  type NodeRoute,
  type NodeRoutesView,
  type Unreached,
  routeMetric,
  routeProtocol,
} from '../plan/plan-node-routes.ts'
import type { RunTool } from '../run-tool.ts'

/** Milliseconds: changes that come together are done together. */
const gatherFor = 50
/** How much longer than a pass the pause after it is, so that many changes cost little more than one; and at most. */
const pausePerPass = 2
const longestPause = 500
/** Links and routes change without a word to us. */
const lookEvery = 30_000

interface NodeRoutesOptions {
  readonly run: RunTool
  /** off: no routes between nodes are wanted. unknown: what other nodes have was not heard yet, so that all stays as it is. */
  readonly view: () => Omit<NodeRoutesView, 'links'> | 'off' | 'unknown'
  /** Pods of this node whose links are ports of the bridge forget who had the addresses: they were on it before. */
  readonly forgetNeighbours: (bridge: string, addresses: readonly string[]) => Promise<void>
  /** Told when it changes. */
  readonly onUnreached: (unreached: readonly Unreached[]) => void
  readonly onProblem: (error: unknown) => void
}

/** Addresses of own pods that are remembered, to know which of them moved away. */
const rememberedLimit = 10_000

interface RouteJson {
  readonly dst?: string
  readonly gateway?: string
  readonly dev?: string
  readonly metric?: number
}

/**
 * Keeps the routes to other nodes' pods as planNodeRoutes wants them. They bear a protocol number and a metric of their
 * own: no other route is ever touched, and those of an earlier daemon are known again. They stay when the daemon ends.
 */
export class NodeRoutes {
  readonly #options: NodeRoutesOptions
  readonly #ownBefore = new Set<string>()
  /** Bridges on which this node answers; undefined before the first pass. */
  #answered: ReadonlySet<string> | undefined
  #told = ''
  readonly #task: BackgroundTask

  constructor(options: NodeRoutesOptions) {
    this.#options = options
    this.#task = new BackgroundTask({ round: () => this.#pass() })
  }

  /** Something of what routes depend on has changed. */
  wake(): void {
    this.#task.wake(gatherFor)
  }

  /** Resolves when nothing is done any more. The routes stay. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #pass(): Promise<number> {
    const startedAt = performance.now()
    try {
      await this.#carryOut()
    } catch (error) {
      this.#options.onProblem(error)
    }
    this.#task.rest(Math.min(longestPause, pausePerPass * (performance.now() - startedAt)))
    return lookEvery
  }

  async #carryOut(): Promise<void> {
    const { run, view, onProblem } = this.#options
    const [present, links] = await Promise.all([presentRoutes(run), listLinks(run, [])])
    const wanted = view()
    if (wanted === 'unknown') return
    const plan =
      wanted === 'off'
        ? { routes: [], answering: [], unreached: [] }
        : planNodeRoutes({
            ...wanted,
            links: links.map(({ name, up, addresses }) => ({
              name,
              up,
              addresses: addresses.filter(({ scope }) => scope !== 'link').map(({ address }) => address),
            })),
          })
    if (plan.routes.length > 0) await enableForwarding(new Set(plan.routes.map(({ family }) => family)), run)
    const problems = await runAll(run, routeCommands(present, plan.routes))
    const bridges = links.filter(({ kind }) => kind === 'bridge').map(({ name }) => name)
    const answering = new Set(plan.answering.map(({ bridge }) => bridge))
    // Where an earlier daemon answered, the first look tells.
    const changed = bridges.filter(name => answering.has(name) || this.#answered?.has(name) !== false)
    this.#answered = answering
    problems.push(...(await answerOnBridges(run, changed, plan.answering)))
    for (const problem of problems) onProblem(problem)
    if (wanted !== 'off') await this.#forgetMoved(wanted, plan.answering)
    this.#tell(plan.unreached)
  }

  /** Pods that spoke with an address while it was on their own bridge would go on looking for it there for some seconds. */
  async #forgetMoved(
    view: Omit<NodeRoutesView, 'links'>,
    answering: readonly { readonly bridge: string }[],
  ): Promise<void> {
    const moved: string[] = []
    for (const { address, node, isRouted } of view.bound) {
      if (!isRouted) continue
      if (node === view.node) this.#ownBefore.add(address)
      else if (this.#ownBefore.delete(address)) moved.push(address)
    }
    for (const address of this.#ownBefore) {
      if (this.#ownBefore.size <= rememberedLimit) break
      this.#ownBefore.delete(address)
    }
    if (moved.length === 0) return
    for (const { bridge } of answering) await this.#options.forgetNeighbours(bridge, moved)
  }

  #tell(unreached: readonly Unreached[]): void {
    // How many pods a node has is no news.
    const text = JSON.stringify(unreached.map(({ node, family, why }) => [node, family, why]))
    if (text === (this.#told === '' ? '[]' : this.#told)) return
    this.#told = text
    this.#options.onUnreached(unreached)
  }
}

/** Routes of ours that the kernel has. */
async function presentRoutes(run: RunTool): Promise<readonly NodeRoute[]> {
  const families = await Promise.all(
    ([4, 6] as const).map(async family => {
      const words = ['-N', `-${family}`, 'route', 'show', 'proto', routeProtocol]
      const routes = (await ipJson(run, words)) as readonly RouteJson[]
      return routes
        .filter(({ metric }) => String(metric) === routeMetric)
        .map(({ dst = '', gateway = '', dev = '' }) => ({
          family,
          dst: dst.includes('/') ? dst : `${dst}/${family === 6 ? '128' : '32'}`,
          via: gateway,
          dev,
        }))
    }),
  )
  return families.flat()
}

/** New ones first, so that no address is without a way in between. */
function routeCommands(present: readonly NodeRoute[], wanted: readonly NodeRoute[]): Command[] {
  const there = new Map(present.map(route => [route.dst, route]))
  const goals = new Set(wanted.map(({ dst }) => dst))
  const marks = ['proto', routeProtocol, 'metric', routeMetric]
  return [
    ...wanted
      .filter(({ dst, via, dev }) => there.get(dst)?.via !== via || there.get(dst)?.dev !== dev)
      .map(({ dst, via, dev }): Command => ({
        place: 'host',
        words: ['route', 'replace', dst, 'via', via, 'dev', dev, ...marks],
        about: `route ${withoutPrefix(dst)} to node address ${via}`,
      })),
    ...present
      .filter(({ dst }) => !goals.has(dst))
      .map(({ dst }): Command => ({
        place: 'host',
        words: ['route', 'delete', dst, ...marks],
        about: `remove the route to ${dst}`,
        missing: 'fine',
      })),
  ]
}

/** All of them, also when the kernel refuses some: resolves to what it said of those. */
async function runAll(run: RunTool, commands: readonly Command[]): Promise<unknown[]> {
  const refused: unknown[] = []
  for (let rest = commands; rest.length > 0;) {
    try {
      await runCommands(run, rest, undefined)
      break
    } catch (error) {
      if (!(error instanceof CommandRefused)) return [...refused, toProblem(error)]
      refused.push(error)
      rest = rest.slice(rest.indexOf(error.command) + 1)
    }
  }
  return refused
}
