import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBareRuntime } from '../../test/rigs/bare-runtime.ts'
import { startContainerdRuntime } from '../../test/rigs/containerd-runtime.ts'
import { startDaemon, type Daemon } from '../../test/rigs/daemon.ts'
import { besideLab, fixedNetwork, labPool, type WiringPlugin } from '../../test/rigs/fixed-network.ts'
import type { Conflist, PodRuntime } from '../../test/rigs/pod-runtime.ts'
import { startPrivateHost } from '../../test/rigs/private-host.ts'
import { distFolder } from '../../test/rigs/requirements.ts'
import { makeTempFolder } from '../../test/rigs/temp-folder.ts'

/** Where the story plays: a node of its own, with a runtime, the daemon and one network. */
export interface Stage {
  readonly runtime: PodRuntime
  readonly conflist: Conflist
  /** Of the daemon. */
  readonly configuration: object
  readonly daemon: () => Daemon
  stopDaemon(): Promise<void>
  startDaemon(): Promise<void>
  /** `ipkeeperctl leases`, as a person sees it. */
  leases(): Promise<string>
  close(): Promise<void>
}

/** Sets the stage in private namespaces; nothing of it outlives this process. */
export async function setStage(kind: 'containerd' | 'namespaces', wiring: WiringPlugin): Promise<Stage> {
  const folder = makeTempFolder()
  const host = await startPrivateHost()
  const socket = folder.file('ipkeeper.sock')
  const stateDir = folder.file('state')
  // A short timeout, so that the step without a daemon does not keep the reader waiting.
  const conflist = fixedNetwork({ wiring, socket, stateDir, timeout: 5, ranges: besideLab })
  const config = folder.file('config.yaml')
  const configuration = { pools: [labPool] }
  writeFileSync(config, JSON.stringify(configuration))
  const begin = (): Promise<Daemon> => startDaemon({ socket, stateDir, host, config })
  let daemon = await begin()
  const plugins = { ipkeeper: join(distFolder, 'ipkeeper') }
  const runtime =
    kind === 'containerd'
      ? await startContainerdRuntime({ host, folder, conflist, plugins })
      : startBareRuntime({ host, folder, conflist, plugins })
  return {
    runtime,
    conflist,
    configuration,
    daemon: () => daemon,
    stopDaemon: async () => {
      await daemon.stop()
    },
    startDaemon: async () => {
      daemon = await begin()
    },
    leases: async () => {
      const { stdout, stderr } = await daemon.control('leases')
      return stdout + stderr
    },
    close: async () => {
      await runtime.close()
      await daemon.stop()
      await host.close()
      folder.remove()
    },
  }
}
