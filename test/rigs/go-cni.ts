import { join } from 'node:path'
import type { CallerSite } from './caller-site.ts'
import { callersFolder } from './callers.ts'
import type { Conflist } from './pod-runtime.ts'

export interface GoCniPod {
  readonly id: string
  /** Path of the network namespace; '' when the runtime knows of none any more. */
  readonly netns: string
  /** Become CNI_ARGS. */
  readonly labels?: Readonly<Record<string, string>>
  readonly capabilities?: Readonly<Record<string, unknown>>
}

export interface GoCniAnswer {
  /** What the library returned as error. */
  readonly error?: string
  /** The plugin's code, when the error is a plugin's. */
  readonly code?: number
  /** Addresses by interface. */
  readonly interfaces?: Readonly<Record<string, readonly string[]>>
  /** What plugins wrote to stderr: a runtime has it in its log. */
  readonly stderr: string
}

export type GoCniMethod = 'Setup' | 'Check' | 'Remove' | 'Status'

/** go-cni with loopback and the given lists, as containerd's CRI uses it: one interface for each list, eth0 and on. */
export function openGoCni(
  site: CallerSite,
  ...conflists: readonly Conflist[]
): (method: GoCniMethod, pod?: GoCniPod) => Promise<GoCniAnswer> {
  const confDir = site.conflistFolder(...conflists)
  return async (method, pod) => {
    const request = { method, pluginDirs: site.pluginFolders(), confDir, ...pod }
    const { exit, stdout, stderr } = await site.host.run(join(callersFolder, 'go-cni'), [], {
      input: JSON.stringify(request),
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    })
    if (exit !== 0) throw new Error(`go-cni ended with ${String(exit)}: ${stderr}${stdout}`)
    return { ...(JSON.parse(stdout) as Omit<GoCniAnswer, 'stderr'>), stderr }
  }
}
