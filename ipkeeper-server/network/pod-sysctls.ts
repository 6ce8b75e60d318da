import { Problem } from '../../shared/problem/problem.ts'
import type { Sysctl } from './plan/main-config.ts'
import type { RunTool } from './run-tool.ts'

/**
 * Sets kernel settings in a pod's namespace: one process for all that get the same value. `key` is a path below
 * /proc/sys/net, checked when it was read.
 *
 * @throws IPK_WIRING_FAILED
 */
export async function setSysctls(run: RunTool, fd: number, sysctls: readonly Sysctl[]): Promise<void> {
  for (const [value, group] of Map.groupBy(sysctls, sysctl => sysctl.value)) {
    const paths = group.map(({ key }) => `/proc/sys/${key}`)
    const ended = await run({ tool: 'tee', args: ['--', ...paths], input: value, inside: fd })
    if (ended.exit === 0) continue
    const names = group.map(({ key }) => key).join(', ')
    throw new Problem('IPK_WIRING_FAILED', `cannot set ${names} to ${value}: ${ended.stderr.trim()}`)
  }
}

/** What an interface needs before it takes IPv6 addresses: IPv6 itself, and none that routers announce beside ours. */
export function ipv6Sysctls(ifname: string): Sysctl[] {
  return ['disable_ipv6', 'accept_ra'].map(name => ({ key: `net/ipv6/conf/${ifname}/${name}`, value: '0' }))
}
