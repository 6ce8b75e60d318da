import { readFile, writeFile } from 'node:fs/promises'
import { Problem } from '../../shared/problem/problem.ts'
import { settingFile } from './kernel-settings.ts'

/** Settings of a link that the kernel has for IPv6. */
export type Ipv6Setting = 'accept_ra' | 'disable_ipv6' | 'proxy_ndp'

const keyOf = (link: string, setting: Ipv6Setting): string => `ipv6/conf/${link}/${setting}`

/** Of a link in the namespace of this process; undefined where it has no IPv6: a small MTU, or a kernel without it. */
export async function readIpv6Setting(link: string, setting: Ipv6Setting): Promise<string | undefined> {
  try {
    return (await readFile(`/proc/sys/net/${keyOf(link, setting)}`, 'utf8')).trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failed('read', link, setting, cause)
  }
}

/** Writes only what is not so already: /proc/sys may be mounted read-only. Throws IPK_WIRING_FAILED. */
export async function writeIpv6Setting(link: string, setting: Ipv6Setting, value: string): Promise<void> {
  if ((await readIpv6Setting(link, setting)) === value) return
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
