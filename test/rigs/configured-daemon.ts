/** A packaged daemon with a configuration file of its own, which can be changed, and the daemon restarted. */
import { renameSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { startDaemon, type Daemon } from './daemon.ts'
import { until } from './poll.ts'
import { testedPlugin } from './requirements.ts'
import { runPlugin } from './run-plugin.ts'
import { tempFolder, type TempFolder } from './temp-folder.ts'

export interface ConfiguredDaemon {
  readonly folder: TempFolder
  /** Of the configuration. */
  readonly path: string
  readonly stateDir: string
  /** The one that runs; after `restart` another one. */
  readonly daemon: Daemon
  /** Puts another file in the place of the configuration. */
  readonly write: (text: string) => void
  /** Ends the daemon and starts it again. Rejects, with its log, where it does not serve. */
  readonly restart: (meanwhile?: () => void) => Promise<void>
  /** The addresses a pod got, or the code of its error. */
  readonly add: (pod: string, pool?: string) => Promise<string | number>
  readonly del: (pod: string) => Promise<void>
  readonly status: () => Promise<StatusReply['config']>
  /** The first line of the log with these words, after so many characters of it. */
  readonly logged: (what: string, from?: number) => Promise<Record<string, unknown>>
}

/** @param args further arguments of `serve` */
export async function configuredDaemon(
  t: Test,
  text: string,
  args: readonly string[] = [],
): Promise<ConfiguredDaemon> {
  const folder = tempFolder(t)
  const path = folder.file('config.yaml')
  writeFileSync(path, text)
  const socket = folder.file('s')
  const stateDir = folder.file('state')
  const start = (): Promise<Daemon> => startDaemon({ socket, stateDir, config: path, args })
  let daemon = await start()
  t.teardown(() => daemon.stop('SIGKILL'))
  const call = (command: 'ADD' | 'DEL', pod: string, pool?: string) =>
    runPlugin({
      ...{ plugin: testedPlugin, command, containerId: pod, ifname: 'eth0' },
      ...{ netns: `/run/netns/${pod}`, path: '/opt/cni/bin' },
      args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_UID=u-${pod}`,
      config: {
        ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge' },
        ipam: { type: 'ipkeeper', socket, stateDir },
        runtimeConfig: {
          'io.kubernetes.cri.pod-annotations': pool === undefined ? {} : { 'ipkeeper.io/pool': pool },
        },
      },
    })
  return {
    ...{ folder, path, stateDir },
    get daemon() {
      return daemon
    },
    write: next => {
      writeFileSync(`${path}.new`, next)
      renameSync(`${path}.new`, path)
    },
    restart: async (meanwhile = () => undefined) => {
      await daemon.stop()
      meanwhile()
      daemon = await start()
    },
    add: async (pod, pool) => {
      const { exit, stdout } = await call('ADD', pod, pool)
      const reply = JSON.parse(stdout) as { code: number; ips: { address: string }[] }
      return exit === 0 ? reply.ips.map(({ address }) => address).join() : reply.code
    },
    del: async pod => {
      const { exit, stdout } = await call('DEL', pod)
      if (exit !== 0) throw new Error(stdout)
    },
    status: async () => (JSON.parse((await daemon.ask('GET', '/v1/status')).body) as StatusReply).config,
    logged: async (what, from = 0) => {
      const find = (): string | undefined =>
        daemon
          .log()
          .slice(from)
          .split('\n')
          .slice(0, -1)
          .find(each => each.includes(what))
      await until(`a log line with "${what}"`, () => find() !== undefined)
      return JSON.parse(find() ?? '') as Record<string, unknown>
    },
  }
}
