import { join } from 'node:path'
import type { CallerSite } from './caller-site.ts'
import { callersFolder } from './callers.ts'
import type { NetworkNamespace } from './netns.ts'
import type { Conflist } from './pod-runtime.ts'
import type { Finished } from './run-program.ts'

export interface CnitoolCall {
  readonly site: CallerSite
  readonly conflist: Conflist
  readonly namespace: NetworkNamespace
  /** CNI_ARGS. */
  readonly args?: string
  /** CAP_ARGS: what capabilities of the conflist become in runtimeConfig. */
  readonly capabilities?: Readonly<Record<string, unknown>>
  /** Folder of reference plugins; the current ones when absent. */
  readonly referencePlugins?: string
}

/** A Result as cnitool prints it. */
export interface PrintedResult {
  readonly cniVersion: string
  readonly ips: readonly { readonly address: string; readonly gateway?: string }[]
}

/** cnitool with one list: each verb of the protocol runs all plugins of it as libcni does, with libcni's cache. */
export function openCnitool(call: CnitoolCall): (verb: string) => Promise<Finished> {
  const { site, conflist, namespace, args, capabilities, referencePlugins } = call
  const env = {
    // Some plugins run tools, such as nft.
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    CNI_PATH: site.pluginFolders(referencePlugins).join(':'),
    NETCONFPATH: site.conflistFolder(conflist),
    ...(args === undefined ? {} : { CNI_ARGS: args }),
    ...(capabilities === undefined ? {} : { CAP_ARGS: JSON.stringify(capabilities) }),
  }
  return verb => site.host.run(join(callersFolder, 'cnitool'), [verb, conflist.name, namespace.path], { env })
}
