import { runProgram, type Finished } from './run-program.ts'
import type { PrivateHost } from './private-host.ts'
import { makeTempFolder } from './temp-folder.ts'

/** One execution of a CNI plugin, as a runtime would do it. */
export interface PluginCall {
  /** Path of the plugin's executable. */
  readonly plugin: string
  readonly command: string
  readonly containerId?: string
  readonly netns?: string
  readonly ifname?: string
  /** Raw CNI_ARGS. */
  readonly args?: string
  /** CNI_PATH. */
  readonly path?: string
  /** The network configuration for stdin; a string goes as it is. */
  readonly config?: unknown
  /** Further environment; it may overwrite the above. */
  readonly env?: Readonly<Record<string, string>>
  readonly host?: PrivateHost
  /** What is started there becomes the plugin: signals reach it. */
  readonly become?: true
  /** Is given its process id. */
  readonly started?: (pid: number) => void
  readonly timeoutMs?: number
}

let ownFolder: string | undefined

/** State folder of calls that name none: the plugin leaves a flight record, which must not be the machine's. */
export function ownStateDir(): string {
  return (ownFolder ??= makeTempFolder().path)
}

/** Starts the plugin with the environment and stdin of the call, and nothing else of this process but PATH. */
export function runPlugin(call: PluginCall): Promise<Finished> {
  const named = {
    CNI_CONTAINERID: call.containerId,
    CNI_NETNS: call.netns,
    CNI_IFNAME: call.ifname,
    CNI_ARGS: call.args,
    CNI_PATH: call.path,
  }
  const given = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const env = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    CNI_COMMAND: call.command,
    IPKEEPER_STATE_DIR: ownStateDir(),
    ...Object.fromEntries(given),
    ...call.env,
  }
  const input =
    call.config === undefined
      ? ''
      : typeof call.config === 'string'
        ? call.config
        : JSON.stringify(call.config)
  const { plugin, host, become, started, timeoutMs } = call
  const options = {
    ...{ env, input },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(started && { started }),
  }
  if (host === undefined) return runProgram(plugin, [], options)
  return become ? runProgram(...host.become(plugin, []), options) : host.run(plugin, [], options)
}
