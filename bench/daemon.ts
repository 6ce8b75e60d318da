import { setTimeout as delay } from 'node:timers/promises'
import { makeTempFolder } from '../test/rigs/temp-folder.ts'
import { freshAttachment, runPair } from './attachment-requests.ts'
import { HostLocal } from './host-local.ts'
import { KeepAliveClient } from './keep-alive-client.ts'
import { cooledDownMs, makeDaemonHome, residentMebibytes, type DaemonHome } from './measured-daemon.ts'
import type { DaemonPlan } from './plan.ts'
import { median, rounded, summarize, type Summary } from './statistics.ts'
import { freshAddress, networkConfig, withAnnotation } from './workload.ts'

/** How a request chooses: "dynamic" leaves it to the pool, "by name" asks by annotation. */
const sorts = ['dynamic', 'by name'] as const
export type Sort = (typeof sorts)[number]

export interface DaemonLevel {
  readonly leases: number
  readonly latencies: readonly SortLatency[]
  /** After the measurement at this level. */
  readonly residentMebibytes: number
  /** Median of whole processes of host-local with as many leases, milliseconds; null where it is not installed. */
  readonly hostLocalAdd: number | null
}

export interface SortLatency {
  readonly sort: Sort
  readonly add: Summary
  readonly del: Summary
  /** ADD p50 of a daemon without leases, asked in turns with this one. */
  readonly emptyAddP50: number
  /** ADD p50 here / there. */
  readonly toEmpty: number
}

export interface DaemonFigures {
  readonly levels: readonly DaemonLevel[]
  readonly filling: { readonly leases: number; readonly clients: number; readonly addsPerSecond: number }
  readonly start: {
    readonly leases: number
    /** Median of the starts, and each of them; milliseconds from spawn to the first 200 of /v1/health. */
    readonly readyMs: number
    readonly each: readonly number[]
    readonly residentMebibytes: number
  }
}

const fillClients = 16

/** What both kinds of request say besides the pod. */
function configFor(home: DaemonHome): object {
  return networkConfig('ipkeeper', { socket: home.socket, stateDir: home.stateDir, dataDir: '' })
}

/** Real ADDs of pods that stay. */
async function fill(home: DaemonHome, count: number): Promise<void> {
  const config = configFor(home)
  let left = count
  const work = async (): Promise<void> => {
    const client = await KeepAliveClient.connect(home.socket)
    while (left-- > 0) await client.post('/v1/cni/add', freshAttachment(config).add)
    client.close()
  }
  await Promise.all(Array.from({ length: fillClients }, work))
}

async function warmUp(home: DaemonHome, pairs: number): Promise<void> {
  const client = await KeepAliveClient.connect(home.socket)
  for (let pair = 0; pair < pairs; pair++) {
    const config = configFor(home)
    await runPair(client, pair % 2 === 0 ? config : withAnnotation(config, freshAddress()))
  }
  client.close()
}

/**
 * One request at a time, the filled and the empty daemon in turns: the disk and the other users of the machine change
 * within minutes, and a ratio of two figures that were taken minutes apart would be a ratio of that.
 */
async function measureLatency(
  filled: DaemonHome,
  empty: DaemonHome,
  samples: number,
): Promise<readonly SortLatency[]> {
  const homes = [filled, empty] as const
  const clients = await Promise.all(homes.map(home => KeepAliveClient.connect(home.socket)))
  const latencies: SortLatency[] = []
  for (const sort of sorts) {
    const add: [number[], number[]] = [[], []]
    const del: [number[], number[]] = [[], []]
    for (let sample = 0; sample < samples; sample++) {
      for (const side of sample % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const client = clients[side]
        if (!client) continue
        const config = configFor(homes[side])
        const asked = sort === 'dynamic' ? config : withAnnotation(config, freshAddress())
        const { addMs, delMs } = await runPair(client, asked)
        add[side].push(addMs)
        del[side].push(delMs)
      }
    }
    latencies.push({
      sort,
      add: summarize(add[0]),
      del: summarize(del[0]),
      emptyAddP50: rounded(median(add[1])),
      toEmpty: rounded(median(add[0]) / median(add[1])),
    })
  }
  for (const client of clients) client.close()
  return latencies
}

/** Latency by number of leases, memory, and the time to start with many. */
export async function measureDaemon(
  plan: DaemonPlan,
  progress: (line: string) => void,
): Promise<DaemonFigures> {
  const folder = makeTempFolder()
  const filled = makeDaemonHome(folder, 'f')
  const empty = makeDaemonHome(folder, 'e')
  const daemon = await filled.start()
  const other = await empty.start()
  const hostLocal = HostLocal.find(folder.file('host-local'))
  await warmUp(filled, plan.warmUp)
  await warmUp(empty, plan.warmUp)

  const levels: DaemonLevel[] = []
  let leases = 0
  let fillMs = 0
  const fillTo = async (count: number): Promise<void> => {
    const begun = performance.now()
    await fill(filled, count - leases)
    fillMs += performance.now() - begun
    leases = count
    await delay(cooledDownMs)
  }
  for (const level of plan.levels) {
    progress(`daemon: ${level} leases`)
    await fillTo(level)
    const latencies = await measureLatency(filled, empty, plan.samples)
    const resident = residentMebibytes(daemon.pid)
    hostLocal?.fillTo(level)
    const hostLocalAdd = (await hostLocal?.medianAdd(plan.hostLocalSamples)) ?? null
    levels.push({ leases: level, latencies, residentMebibytes: resident, hostLocalAdd })
  }
  await other.stop()

  progress(`daemon: ${plan.starts} starts with ${plan.startWith} leases`)
  await fillTo(plan.startWith)
  await daemon.stop()
  const each: number[] = []
  let resident = 0
  for (let start = 0; start < plan.starts; start++) {
    const again = await filled.start()
    each.push(rounded(again.readyMs))
    resident = residentMebibytes(again.pid)
    await again.stop()
  }
  folder.remove()
  return {
    levels,
    filling: { leases, clients: fillClients, addsPerSecond: Math.round(leases / (fillMs / 1e3)) },
    start: { leases, readyMs: rounded(median(each)), each, residentMebibytes: resident },
  }
}
