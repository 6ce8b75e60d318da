import { readFile, writeFile } from 'node:fs/promises'
import { Problem } from '../../shared/problem/problem.ts'
import { defaultRouteLinks } from './host-links.ts'
import { settingFile } from './kernel-settings.ts'
import { readIpv6Setting, writeIpv6Setting } from './ipv6-settings.ts'
import { runTool, type RunTool } from './run-tool.ts'

/** Settings of the host by which it forwards packets of each family. */
const switches = {
  4: 'ipv4/ip_forward',
  6: 'ipv6/conf/all/forwarding',
} as const

/**
 * Lets the host forward packets of these families; writes only where it does not yet.
 *
 * @throws IPK_WIRING_FAILED, IPK_TOOL_MISSING
 */
export async function enableForwarding(families: Iterable<4 | 6>, run: RunTool = runTool): Promise<void> {
  for (const family of families) {
    const key = switches[family]
    try {
      if ((await readFile(`/proc/sys/net/${key}`, 'utf8')).trim() === '1') continue
      if (family === 6) await keepAnnouncedRoutes(run)
      await writeFile(settingFile(key), '1')
    } catch (cause) {
      if (cause instanceof Problem) throw cause
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new Problem('IPK_WIRING_FAILED', `cannot switch on forwarding of IPv${family}: ${why}`, { cause })
    }
  }
}

/**
 * A kernel that begins to forward IPv6 drops the default routes that routers announced, and hears of no new ones: the node
 * would lose its way out. Links with such a route are told to go on (accept_ra 2; Documentation/networking/ip-sysctl). One
 * with 0 is left alone: a program looks after its routes, as systemd-networkd does, and the kernel does not drop them.
 */
async function keepAnnouncedRoutes(run: RunTool): Promise<void> {
  const links = new Set(await defaultRouteLinks(run, '-6', ['proto', 'ra']))
  for (const link of links)
    if ((await readIpv6Setting(link, 'accept_ra')) === '1') await writeIpv6Setting(link, 'accept_ra', '2')
}
