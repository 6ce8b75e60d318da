import { setTimeout as delay } from 'node:timers/promises'
import { makeTempFolder } from '../test/rigs/temp-folder.ts'
import { runPair } from './attachment-requests.ts'
import { KeepAliveClient } from './keep-alive-client.ts'
import { makeDaemonHome, processorMs } from './measured-daemon.ts'
import type { PairsPlan } from './plan.ts'
import { summarize, type Summary } from './statistics.ts'
import { networkConfig } from './workload.ts'

export interface PairFigures {
  readonly clients: number
  readonly seconds: number
  readonly pairsPerSecond: number
  readonly add: Summary
  readonly del: Summary
  /** Share of one core that each side used: what is near 1 was the limit. */
  readonly daemonCores: number
  readonly loadCores: number
}

/**
 * ADD+DEL pairs per second, every client on a connection of its own and with its own pods. Both answers leave the daemon
 * only after their change is on the disk. The load comes from this process, which does nothing else meanwhile.
 */
export async function measurePairs(plan: PairsPlan, progress: (line: string) => void): Promise<PairFigures> {
  const folder = makeTempFolder()
  const home = makeDaemonHome(folder, 'd')
  const daemon = await home.start()
  const config = networkConfig('ipkeeper', { socket: home.socket, stateDir: home.stateDir, dataDir: '' })
  progress(`pairs: ${plan.clients} clients for ${(plan.warmUpMs + plan.measureMs) / 1e3} s`)

  const clients = await Promise.all(
    Array.from({ length: plan.clients }, () => KeepAliveClient.connect(home.socket)),
  )
  let counting = false
  let running = true
  const add: number[] = []
  const del: number[] = []
  const working = clients.map(async client => {
    while (running) {
      const { addMs, delMs } = await runPair(client, config)
      if (!counting) continue
      add.push(addMs)
      del.push(delMs)
    }
  })
  // A client that fails ends the run at once.
  const wait = (ms: number): Promise<unknown> => Promise.race([delay(ms), Promise.all(working)])

  await wait(plan.warmUpMs)
  counting = true
  const begun = { at: performance.now(), load: process.cpuUsage(), daemonMs: processorMs(daemon.pid) }
  await wait(plan.measureMs)
  counting = false
  const ms = performance.now() - begun.at
  const load = process.cpuUsage(begun.load)
  const daemonMs = processorMs(daemon.pid) - begun.daemonMs
  running = false
  await Promise.all(working)
  for (const client of clients) client.close()
  await daemon.stop()
  folder.remove()

  const share = (usedMs: number): number => Math.round((usedMs / ms) * 100) / 100
  return {
    clients: plan.clients,
    seconds: Math.round(ms / 100) / 10,
    pairsPerSecond: Math.round(add.length / (ms / 1e3)),
    add: summarize(add),
    del: summarize(del),
    daemonCores: share(daemonMs),
    loadCores: share((load.user + load.system) / 1e3),
  }
}
