import { existsSync } from 'node:fs'

/**
 * The node's settings of networks, for a daemon whose /proc/sys is read-only, as in a container that is not privileged: its
 * manifest mounts them here (deploy/kubernetes/base/daemonset.yaml). Whoever looks at them sees those of the namespace that he is in.
 */
const settingsOfHost = '/run/host/proc/sys/net'

let root: string | undefined

/** The file by which a setting of networks is written. @param key such as "ipv4/ip_forward" */
export function settingFile(key: string): string {
  root ??= existsSync(`${settingsOfHost}/ipv4`) ? settingsOfHost : '/proc/sys/net'
  return `${root}/${key}`
}
