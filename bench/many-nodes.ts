import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inParallel } from '../test/rigs/in-parallel.ts'
import { distFolder } from '../test/rigs/requirements.ts'
import { makeTempFolder, type TempFolder } from '../test/rigs/temp-folder.ts'
import { freshAttachment } from './attachment-requests.ts'
import { engines, type EngineName } from './engines.ts'
import { KeepAliveClient } from './keep-alive-client.ts'
import { cooledDownMs, makeDaemonHome, type DaemonHome } from './measured-daemon.ts'
import type { ManyNodesPlan } from './plan.ts'
import { startPluginRunner, type PluginRun, type PluginRunner } from './plugin-runner.ts'
import { apiRequests, since, total, type RequestCounts } from './request-counts.ts'
import { startEngine, type SharedEngine } from './shared-engine.ts'
import { summarize, type Summary } from './statistics.ts'
import {
  fillWhereabouts,
  hasWhereabouts,
  installWhereabouts,
  whereaboutsResources,
  whereaboutsRun,
  writeWhereaboutsConfig,
} from './whereabouts.ts'
import { whereaboutsVersion } from './whereabouts/module.ts'
import { freshPod, networkConfig, pluginEnvironment, type FreshPod } from './workload.ts'

/** daemon: an ADD as the daemon sees it. plugin: whole processes of the CNI plugin, which ask a daemon. */
export type Contestant = 'daemon' | 'plugin' | 'whereabouts'

/** So many nodes at once add and delete pods of one pool, each one pod at a time. */
export interface ManyNodesLine {
  readonly engine: EngineName
  readonly contestant: Contestant
  readonly nodes: number
  /** Share of the pool that is taken all the time, in hundredths. */
  readonly percentFull: number
  /** ADDs that succeeded. */
  readonly add: Summary
  /** Successful ADDs per second, each followed by its DEL. */
  readonly addsPerSecond: number
  readonly failed: number
  readonly firstFailure?: string
  /** Calls that the engine answered for each ADD and its DEL. */
  readonly callsPerPair: number
}

export interface RoundTrips {
  readonly engine: EngineName
  readonly contestant: Contestant
  readonly percentFull: number
  readonly adds: number
  /** Calls that the engine answered while these ADDs ran alone, by what they are; and for each ADD. */
  readonly calls: RequestCounts
  readonly perAdd: number
}

export interface ManyNodesFigures {
  /** Addresses of the pool. */
  readonly poolSize: number
  readonly whereabouts: string | null
  readonly lines: readonly ManyNodesLine[]
  readonly roundTrips: readonly RoundTrips[]
}

/** Network, gateway and broadcast address are never given. */
const neverGiven = 3

export interface Node {
  readonly home: DaemonHome
  readonly client: KeepAliveClient
  readonly runner: PluginRunner
  stop(): Promise<unknown>
}

/** Runs a pod's ADD and DEL; `failure` tells what the ADD said. The ADD is timed. */
type Pair = (node: number) => Promise<{ readonly ms: number; readonly failure?: string | undefined }>

interface Rig {
  readonly folder: TempFolder
  readonly engine: SharedEngine
  readonly name: EngineName
  readonly subnet: string
  readonly nodes: readonly Node[]
  readonly plan: ManyNodesPlan
}

/** A daemon with the engine as its store. */
export async function startNode(folder: TempFolder, engine: SharedEngine, index: number): Promise<Node> {
  const home = makeDaemonHome(folder, `n${index}`, {
    config: `node: worker-${index + 1}\n${engine.config}`,
    args: ['--store', engine.store],
  })
  const daemon = await home.start()
  const client = await KeepAliveClient.connect(home.socket)
  const runner = startPluginRunner()
  return {
    ...{ home, client, runner },
    stop: async () => {
      client.close()
      await runner.close()
      await daemon.stop()
    },
  }
}

/** The annotations came with the request, and there are none: nobody has to ask the API for them. */
function configFor({ subnet }: Pick<Rig, 'subnet'>, { home }: Pick<Node, 'home'>): object {
  return {
    ...networkConfig('ipkeeper', { socket: home.socket, stateDir: home.stateDir, dataDir: '' }, subnet),
    runtimeConfig: { 'io.kubernetes.cri.pod-annotations': {} },
  }
}

async function ended(work: Promise<unknown>): Promise<string | undefined> {
  return await work.then(
    () => undefined,
    (error: unknown) => String(error),
  )
}

function daemonPair(rig: Rig): Pair {
  return async index => {
    const node = rig.nodes[index]
    if (!node) throw new Error(`no node ${index}`)
    const { add, del } = freshAttachment(configFor(rig, node))
    const begun = performance.now()
    const failure = await ended(node.client.post('/v1/cni/add', add))
    const ms = performance.now() - begun
    await node.client.post('/v1/cni/del', del)
    return { ms, failure }
  }
}

function processPair(rig: Rig, run: (node: number, verb: 'ADD' | 'DEL', pod: FreshPod) => PluginRun): Pair {
  return async index => {
    const runner = rig.nodes[index]?.runner
    if (!runner) throw new Error(`no node ${index}`)
    const pod = freshPod()
    const call = (verb: 'ADD' | 'DEL'): PluginRun => run(index, verb, pod)
    const { each } = await runner.attempt({ runs: [call('ADD')], atOnce: 1 })
    await runner.attempt({ runs: [call('DEL')], atOnce: 1 })
    return each[0] ?? { ms: NaN }
  }
}

function pluginPair(rig: Rig): Pair {
  return processPair(rig, (index, verb, pod) => {
    const node = rig.nodes[index]
    if (!node) throw new Error(`no node ${index}`)
    return {
      program: join(distFolder, 'ipkeeper'),
      env: pluginEnvironment(verb, pod),
      input: JSON.stringify(configFor(rig, node)),
    }
  })
}

/** So many nodes run pairs for a while. */
async function crowd(
  rig: Rig,
  contestant: Contestant,
  pair: Pair,
  shape: { readonly nodes: number; readonly percentFull: number; readonly measureMs: number },
  requests: () => Promise<RequestCounts> = () => rig.engine.requests(),
): Promise<ManyNodesLine> {
  const { nodes, percentFull, measureMs } = shape
  const times: number[] = []
  const failures: string[] = []
  const before = await requests()
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: nodes }, async (_, node) => {
      while (performance.now() - begun < measureMs) {
        const { ms, failure } = await pair(node)
        if (failure === undefined) times.push(ms)
        else failures.push(failure)
      }
    }),
  )
  const seconds = (performance.now() - begun) / 1e3
  const calls = total(since(before, await requests()))
  return {
    ...{ engine: rig.name, contestant, nodes, percentFull },
    add: summarize(times),
    addsPerSecond: Math.round((times.length / seconds) * 100) / 100,
    failed: failures.length,
    ...(failures[0] !== undefined && { firstFailure: failures[0] }),
    callsPerPair: Math.round((calls / (times.length + failures.length)) * 100) / 100,
  }
}

/** ADDs one after the other, of one node, and nothing else meanwhile. */
async function countRoundTrips(rig: Rig, percentFull: number): Promise<RoundTrips> {
  const [node] = rig.nodes
  if (!node) throw new Error('no node')
  const adds = rig.plan.countedAdds
  const pods = Array.from({ length: adds }, () => freshAttachment(configFor(rig, node)))
  // What the last ones left is tidied up.
  await delay(cooledDownMs)
  const before = await rig.engine.requests()
  for (const { add } of pods) await node.client.post('/v1/cni/add', add)
  const calls = since(before, await rig.engine.requests())
  for (const { del } of pods) await node.client.post('/v1/cni/del', del)
  await delay(cooledDownMs)
  const perAdd = Math.round((total(calls) / adds) * 100) / 100
  return { engine: rig.name, contestant: 'daemon', percentFull, adds, calls, perAdd }
}

/** Real ADDs of pods that stay, of all nodes in turns, until so many addresses are taken. */
async function fillTo(rig: Rig, taken: number, present: number): Promise<void> {
  const pods = Array.from({ length: Math.max(0, taken - present) }, (_, index) => index)
  const clients = await Promise.all(
    rig.nodes.map(({ home }) =>
      Promise.all(Array.from({ length: 2 }, () => KeepAliveClient.connect(home.socket))),
    ),
  )
  const idle = clients.flatMap((own, node) => own.map(client => ({ client, node: rig.nodes[node] })))
  await inParallel(pods, idle.length, async () => {
    const worker = idle.pop()
    if (!worker?.node) throw new Error('no worker')
    await worker.client.post('/v1/cni/add', freshAttachment(configFor(rig, worker.node)).add)
    idle.push(worker)
  })
  for (const { client } of idle) client.close()
}

async function measureEngine(
  name: EngineName,
  plan: ManyNodesPlan,
  progress: (line: string) => void,
): Promise<Pick<ManyNodesFigures, 'lines' | 'roundTrips'>> {
  const folder = makeTempFolder()
  const engine = await startEngine(name, folder)
  const mostNodes = Math.max(...plan.nodes)
  const subnet = `10.64.0.0/${plan.prefixLength}`
  const poolSize = 2 ** (32 - plan.prefixLength) - neverGiven
  const lines: ManyNodesLine[] = []
  const roundTrips: RoundTrips[] = []
  const nodes: Node[] = []
  const tell = (line: ManyNodesLine): void => {
    lines.push(line)
    progress(`  ${summaryOf(line)}`)
  }
  try {
    for (let index = 0; index < mostNodes; index++) nodes.push(await startNode(folder, engine, index))
    const rig: Rig = { folder, engine, name, subnet, nodes, plan }
    const beside = hasWhereabouts() ? engine.cluster : undefined
    const config = folder.file('whereabouts.conf')
    if (beside) {
      await installWhereabouts(beside)
      writeWhereaboutsConfig(config, beside)
    }
    let present = 0
    for (const percentFull of plan.percentFull) {
      const taken = Math.floor((poolSize * percentFull) / 100)
      progress(`many nodes: ${name}, ${percentFull} % of ${poolSize} addresses`)
      await fillTo(rig, taken, present)
      present = taken
      roundTrips.push(await countRoundTrips(rig, percentFull))
      for (const count of plan.nodes) {
        const shape = { nodes: count, percentFull, measureMs: plan.measureMs }
        tell(await crowd(rig, 'daemon', daemonPair(rig), shape))
        if (name === 'kubernetes' && existsSync(join(distFolder, 'ipkeeper'))) {
          const long = { ...shape, measureMs: plan.processMs }
          tell(await crowd(rig, 'plugin', pluginPair(rig), long))
          if (beside) {
            await fillWhereabouts(beside, subnet, taken)
            const pair = processPair(rig, (_, verb, pod) => whereaboutsRun(config, subnet, verb, pod))
            const requests = (): Promise<RequestCounts> => apiRequests(beside, whereaboutsResources)
            tell(await crowd(rig, 'whereabouts', pair, long, requests))
          }
        }
      }
    }
  } finally {
    for (const node of nodes) await node.stop()
    await engine.stop()
    folder.remove()
  }
  return { lines, roundTrips }
}

const summaryOf = ({ contestant, nodes, add, addsPerSecond, failed }: ManyNodesLine): string =>
  `${contestant}, ${nodes} at once: p50 ${add.p50} ms, p99 ${add.p99} ms, ${addsPerSecond}/s, ${failed} failed`

/** Latency and throughput of nodes that share one pool, by engine; whereabouts beside them on the same API server. */
export async function measureManyNodes(
  plan: ManyNodesPlan,
  progress: (line: string) => void,
): Promise<ManyNodesFigures> {
  const lines: ManyNodesLine[] = []
  const roundTrips: RoundTrips[] = []
  for (const name of engines) {
    const figures = await measureEngine(name, plan, progress)
    lines.push(...figures.lines)
    roundTrips.push(...figures.roundTrips)
  }
  return {
    poolSize: 2 ** (32 - plan.prefixLength) - neverGiven,
    whereabouts: hasWhereabouts() ? whereaboutsVersion() : null,
    lines,
    roundTrips,
  }
}
