import { existsSync } from 'node:fs'
import { Problem } from '../../../shared/problem/problem.ts'
import { settingFile } from '../node/kernel-settings.ts'
import type { Sysctl } from '../../ipam/request/main-config.ts'
import type { RunTool } from '../run-tool.ts'
import { leastOfIpv6 } from '../plan/mtu-limits.ts'

/**
 * Sets kernel settings in a pod's namespace, in their order: one process for those in a row that get the same value. Each
 * `key` was checked when it was read.
 *
 * @throws IPK_WIRING_FAILED
 */
export async function setSysctls(run: RunTool, fd: number, sysctls: readonly Sysctl[]): Promise<void> {
  let rest = sysctls
  for (let [first] = rest; first; [first] = rest) {
    const { value } = first
    const end = rest.findIndex(sysctl => sysctl.value !== value)
    const group = end < 0 ? rest : rest.slice(0, end)
    rest = rest.slice(group.length)
    const paths = group.map(({ key }) => settingFile(key.replace(/^net\//, '')))
    // With the line's end also an empty value is written.
    const ended = await run({ tool: 'tee', args: ['--', ...paths], input: `${value}\n`, inside: fd })
    if (ended.exit === 0) continue
    const names = group.map(({ key }) => key).join(', ')
    throw new Problem('IPK_WIRING_FAILED', `cannot set ${names} to ${value}: ${ended.stderr.trim()}`)
  }
}

/** What an interface needs before it takes IPv6 addresses: IPv6 itself, and none that routers announce beside ours. */
export function ipv6Sysctls(ifname: string): Sysctl[] {
  return ['disable_ipv6', 'accept_ra'].map(name => ({ key: `net/ipv6/conf/${ifname}/${name}`, value: '0' }))
}

/**
 * What keeps a pod without IPv6 addresses of ours from taking some of a router of its network, and a way out with them.
 * Nothing where the interface has no IPv6 that could be set.
 *
 * @param mtu of the interface, in bytes
 */
export function routerGuardSysctls(ifname: string, mtu: number): Sysctl[] {
  // A kernel has IPv6 in every namespace or in none.
  if (mtu < leastOfIpv6 || !existsSync('/proc/sys/net/ipv6/conf')) return []
  return [{ key: `net/ipv6/conf/${ifname}/accept_ra`, value: '0' }]
}
