import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { Problem } from '../../../shared/problem/problem.ts'
import { defaultRouteLinks } from '../ip-show.ts'
import { runTool, type RunTool } from '../run-tool.ts'
import { CommandRefused, runCommands } from '../ip-commands.ts'
import type { Command } from '../plan/command.ts'

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

/** Settings of a link that the kernel has for IPv6. */
type Ipv6Setting = 'accept_ra' | 'disable_ipv6' | 'proxy_ndp'

/**
 * What a setting is now. Not by the pool, where each of five steps waits for a thread: an ADD reads three settings, and the kernel tells
 * them from memory, without a lock.
 */
const readSetting = (key: string): string => readFileSync(`/proc/sys/net/${key}`, 'utf8').trim()

const keyOf = (link: string, setting: Ipv6Setting): string => `ipv6/conf/${link}/${setting}`

/** Of a link in the namespace of this process; undefined where it has no IPv6: a small MTU, or a kernel without it. */
export function readIpv6Setting(link: string, setting: Ipv6Setting): string | undefined {
  try {
    return readSetting(keyOf(link, setting))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failed('read', link, setting, cause)
  }
}

/** Writes only what is not so already: /proc/sys may be mounted read-only. Throws IPK_WIRING_FAILED. */
export async function writeIpv6Setting(link: string, setting: Ipv6Setting, value: string): Promise<void> {
  if (readIpv6Setting(link, setting) === value) return
  try {
    await writeFile(settingFile(keyOf(link, setting)), value)
  } catch (cause) {
    throw failed(`write ${value} to`, link, setting, cause)
  }
}

function failed(verb: string, link: string, setting: Ipv6Setting, cause: unknown): Problem {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new Problem('IPK_WIRING_FAILED', `cannot ${verb} ${setting} of ${link}: ${why}`, { cause })
}

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
      if (readSetting(key) === '1') continue
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
    if (readIpv6Setting(link, 'accept_ra') === '1') await writeIpv6Setting(link, 'accept_ra', '2')
}

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
    if (readIpv6Setting(link, 'accept_ra') !== undefined) await writeIpv6Setting(link, 'accept_ra', '0')
}

/**
 * Has the kernel answer on an uplink for the IPv6 proxies that are added to it: unlike those of IPv4 they need a setting of
 * the link. It stays, since it does nothing without proxies.
 *
 * @throws IPK_WIRING_FAILED, also when the uplink has no IPv6
 */
export async function answerNeighbours(uplink: string): Promise<void> {
  const disabled = readIpv6Setting(uplink, 'disable_ipv6')
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
      if (link === undefined || readIpv6Setting(link, 'disable_ipv6') !== '1') throw error
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
