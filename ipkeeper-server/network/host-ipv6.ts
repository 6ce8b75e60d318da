import { Problem } from '../../shared/problem/problem.ts'
import { CommandRefused, runCommands } from './ip-commands.ts'
import { readIpv6Setting, writeIpv6Setting } from './ipv6-settings.ts'
import type { Command } from './plan/command.ts'
import type { RunTool } from './run-tool.ts'

/**
 * Keeps the host from taking routers' announcements from pods, by which a pod could draw the host's traffic to itself
 * (CVE-2020-10749). To be called when the links are made and before the pod's side is up, as nothing is heard of a pod
 * before that. A link without IPv6 hears none.
 *
 * @param links guardedLinks (plan/guarded-links.ts)
 * @throws IPK_WIRING_FAILED
 */
export async function guardHostLinks(links: readonly string[]): Promise<void> {
  for (const link of links)
    if ((await readIpv6Setting(link, 'accept_ra')) !== undefined)
      await writeIpv6Setting(link, 'accept_ra', '0')
}

/**
 * Has the kernel answer on an uplink for the IPv6 proxies that are added to it: unlike those of IPv4 they need a setting of
 * the link. It stays, since it does nothing without proxies.
 *
 * @throws IPK_WIRING_FAILED, also when the uplink has no IPv6
 */
export async function answerNeighbours(uplink: string): Promise<void> {
  const disabled = await readIpv6Setting(uplink, 'disable_ipv6')
  if (disabled !== '0') {
    throw new Problem(
      'IPK_WIRING_FAILED',
      `cannot answer for IPv6 addresses of pods on ${uplink}: it has no IPv6`,
      {
        hint: `sysctl -w net.ipv6.conf.${uplink}.disable_ipv6=0; or take the IPv6 range out of "ipam"`,
      },
    )
  }
  await writeIpv6Setting(uplink, 'proxy_ndp', '1')
}

/**
 * runCommands for the host's part of a wiring. Where new links come without IPv6 (net.ipv6.conf.default.disable_ipv6 = 1),
 * those of ours get it when the kernel refuses one of their addresses or routes: every other ADD stays one batch.
 *
 * @param own links that are ours to change: the bridge, the host's side of the veth
 * @throws CommandRefused; IPK_TOOL_MISSING, IPK_WIRING_FAILED
 */
export async function runHostCommands(
  run: RunTool,
  commands: readonly Command[],
  fd: number | undefined,
  own: readonly string[],
): Promise<void> {
  let rest = commands
  for (;;) {
    try {
      await runCommands(run, rest, fd)
      return
    } catch (error) {
      if (!(error instanceof CommandRefused)) throw error
      const link = own.find(name => namesLink(error.command, name))
      // Not by the words of the refusal, which differ between kernels.
      if (link === undefined || (await readIpv6Setting(link, 'disable_ipv6')) !== '1') throw error
      await writeIpv6Setting(link, 'disable_ipv6', '0')
      rest = rest.slice(rest.indexOf(error.command))
    }
  }
}

/** Whether a command of IPv6 is about a link. */
function namesLink({ place, words }: Command, link: string): boolean {
  const at = words.indexOf('dev')
  return place === 'host' && at >= 0 && words[at + 1] === link && words.slice(0, at).some(isIpv6)
}

const isIpv6 = (word: string): boolean => word.includes('::') || /^[0-9a-f]+(:[0-9a-f]+){7}(\/|$)/i.test(word)
