import type { LeasesReply } from '../../shared/api/listing.schema.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { startPrivateHost, type PrivateHost } from '../rigs/private-host.ts'
import { testedPlugin } from '../rigs/requirements.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { makeTempFolder, type TempFolder } from '../rigs/temp-folder.ts'

/** One run of the plugin; what is left away is as a runtime would have it for container c1. */
export interface Input {
  /** CNI_COMMAND; ADD by default. */
  readonly verb?: string
  /** Added to the environment; a variable that is undefined is taken out. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** stdin: text and bytes as they are, anything else as JSON. */
  readonly config?: unknown
}

/** How the plugin ended; `document` is what it printed, parsed whole, undefined for nothing. */
export interface Answer extends Finished {
  readonly document: Readonly<Record<string, unknown>> | undefined
}

/** The packaged plugin with a packaged daemon of its own, or of all cases that change nothing. */
export interface Rig {
  readonly plugin: string
  readonly folder: TempFolder
  readonly daemon: Daemon
  /** Where plugin and daemon run; undefined: on this machine itself. */
  readonly host: PrivateHost | undefined
  /** The whole environment of a run. */
  environment(input: Input): Readonly<Record<string, string>>
  run(input: Input): Promise<Answer>
  /** Leases in use, sorted, each as "10.22.0.2 c1/eth0". */
  bound(): Promise<readonly string[]>
  stop(): Promise<void>
}

const defaults = {
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/some/where',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
}

function asStdin(config: unknown): string | Uint8Array {
  return typeof config === 'string' || config instanceof Uint8Array ? config : JSON.stringify(config)
}

/** Starts a daemon on empty state in a folder of its own; `wiresPods`: on a host of its own, too. */
export async function startRig({ wiresPods = false } = {}): Promise<Rig> {
  const folder = makeTempFolder()
  const host = wiresPods ? await startPrivateHost() : undefined
  const daemon = await startDaemon({
    ...{ socket: folder.file('s'), stateDir: folder.file('state') },
    args: ['--store', 'memory:'],
    ...(host && { host }),
  })
  const plugin = testedPlugin
  const environment = ({ verb, env }: Input): Record<string, string> => {
    const all: Record<string, string | undefined> = {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      IPKEEPER_SOCKET: daemon.socket,
      IPKEEPER_STATE_DIR: daemon.stateDir,
      CNI_COMMAND: verb ?? 'ADD',
      ...defaults,
      ...env,
    }
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
  }
  return {
    plugin,
    folder,
    daemon,
    host,
    environment,
    run: async input => {
      const options = { env: environment(input), input: asStdin(input.config ?? '') }
      const [program, args] = host ? host.command(plugin, []) : [plugin, []]
      return withDocument(await runProgram(program, args, options))
    },
    bound: async () => {
      const { body } = await daemon.ask('GET', '/v1/leases')
      const { leases } = JSON.parse(body) as LeasesReply
      const inUse = leases.filter(lease => lease.state === 'bound')
      return inUse.map(lease => `${lease.address} ${lease.containerId ?? ''}/${lease.ifname}`).sort()
    },
    stop: async () => {
      await daemon.stop()
      await host?.close()
      folder.remove()
    },
  }
}

/** Throws when stdout is neither empty nor exactly one JSON document. */
export function withDocument(finished: Finished): Answer {
  const { stdout } = finished
  return { ...finished, document: stdout === '' ? undefined : (JSON.parse(stdout) as Answer['document']) }
}
