import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { callersFolder } from './callers.ts'
import { startDaemon, type Daemon } from './daemon.ts'
import type { Conflist } from './pod-runtime.ts'
import { startPrivateHost, type PrivateHost } from './private-host.ts'
import { pluginFolder } from './requirements.ts'
import { tempFolder, type TempFolder } from './temp-folder.ts'
import { hangMs } from './poll.ts'

/** A node for callers of plugins: a private host, the packaged daemon, and a folder of conflists. */
export interface CallerSite {
  readonly host: PrivateHost
  readonly folder: TempFolder
  /** The daemon that runs now; another one after a restart. */
  daemon(): Daemon
  startDaemon(): Promise<void>
  /** Folders where a runtime looks for plugins: ours, then reference plugins. */
  pluginFolders(referencePlugins?: string): readonly string[]
  /** The `ipam` section of a conflist. */
  ipam(settings?: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** The same for a daemon that has never been there. */
  ipamWithoutDaemon(): Readonly<Record<string, unknown>>
  /** Puts these lists, and no others, into a new configuration folder, in this order. */
  conflistFolder(...lists: readonly Conflist[]): string
  /**
   * Names of the host's links, without the bridges that plugins leave for the next pod.
   *
   * @param expected wait until they are these, but not for ever: the kernel takes the links of a deleted namespace away
   * when it finds time
   */
  links(expected?: readonly string[]): Promise<readonly string[]>
}

/** Capability by which containerd hands on the annotations of a pod. */
export const annotationsCapability = 'io.kubernetes.cri.pod-annotations'

/** A link of every site to a network outside: what macvlan wants for its master. */
export const lan = 'lan0'

/** IPv4 range set that every site may give addresses of. */
const ipv4Ranges = [{ subnet: '10.22.0.0/16' }]

/**
 * Made for one test, and gone when it ends.
 *
 * @param configure the daemon's configuration; none when absent
 */
export async function makeCallerSite(
  t: Test,
  configure?: (folder: TempFolder) => Readonly<Record<string, unknown>>,
): Promise<CallerSite> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const socket = folder.file('ipkeeper.sock')
  const stateDir = folder.file('state')
  const config = folder.file('config.yaml')
  if (configure) writeFileSync(config, JSON.stringify(configure(folder)))
  const start = (): Promise<Daemon> => startDaemon({ socket, stateDir, host, ...(configure && { config }) })
  await host.must('ip', ['link', 'add', lan, 'type', 'veth', 'peer', 'name', 'lan1'])
  for (const end of [lan, 'lan1']) await host.must('ip', ['link', 'set', end, 'up'])
  let daemon = await start()
  let folders = 0
  t.teardown(async () => {
    await daemon.stop()
    await host.close()
  })
  const ipam: CallerSite['ipam'] = settings => ({
    ...{ type: 'ipkeeper', socket, stateDir, ranges: [ipv4Ranges] },
    ...settings,
  })
  return {
    host,
    folder,
    daemon: () => daemon,
    startDaemon: async () => {
      daemon = await start()
    },
    pluginFolders: (referencePlugins = callersFolder) => [pluginFolder, referencePlugins],
    ipam,
    ipamWithoutDaemon: () =>
      ipam({ socket: folder.file('nobody.sock'), stateDir: folder.file('nobody'), timeout: 1 }),
    conflistFolder: (...lists) => {
      const path = folder.file(`conf-${folders++}`)
      mkdirSync(path)
      for (const [index, list] of lists.entries())
        writeFileSync(join(path, `${index}0-${list.name}.conflist`), JSON.stringify(list))
      return path
    },
    links: async expected => {
      const deadline = performance.now() + hangMs
      for (;;) {
        const links = JSON.parse(await host.must('ip', ['-json', 'link'])) as readonly { ifname: string }[]
        const names = links.map(link => link.ifname).filter(name => !name.startsWith('cni'))
        const asExpected = expected === undefined || names.join() === expected.join()
        if (asExpected || performance.now() > deadline) return names
        await delay(20)
      }
    },
  }
}
