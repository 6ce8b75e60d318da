import { setTimeout as delay } from 'node:timers/promises'
import { setSysctl, type PrivateHost } from './private-host.ts'

interface Link {
  readonly ifname: string
  readonly link_type: string
  readonly flags: readonly string[]
  readonly inet6_addr_gen_mode?: string
}

/**
 * Lets the kernel use addresses of links that are made from now on at once, without asking first who else has them, which takes
 * 1 s to 2 s. For tests that are not about that.
 */
export async function skipDuplicateDetection(host: PrivateHost): Promise<void> {
  await setSysctl(host, 'net/ipv6/conf/default/accept_dad', '0')
}

/**
 * Resolves when the kernel has given the links of a host the addresses that it gives by itself, some time after they come up,
 * and has no doubts about any (duplicate address detection takes 1 s to 2 s).
 */
export async function settledAddresses(host: PrivateHost): Promise<void> {
  const deadline = performance.now() + 10_000
  for (;;) {
    const waitedFor = await unsettledLinks(host)
    if (waitedFor.length === 0) return
    if (performance.now() > deadline)
      throw new Error(`no settled address after 10 s: ${waitedFor.join(', ')}`)
    await delay(50)
  }
}

async function unsettledLinks(host: PrivateHost): Promise<readonly string[]> {
  const json = async <Item>(...words: readonly string[]): Promise<readonly Item[]> =>
    JSON.parse(await host.must('ip', ['-json', '-details', ...words])) as readonly Item[]
  // Of a link that has none some versions of ip show an empty object.
  const tentative = await json<Partial<Link>>('-6', 'address', 'show', 'tentative')
  const links = await json<Link>('link', 'show')
  const local = await json<{ dst: string; dev: string }>(
    '-6',
    'route',
    'show',
    'table',
    'local',
    'type',
    'local',
  )
  const mute = links.filter(
    ({ ifname, link_type, flags, inet6_addr_gen_mode }) =>
      link_type === 'ether' &&
      ['UP', 'LOWER_UP'].every(flag => flags.includes(flag)) &&
      inet6_addr_gen_mode !== 'none' &&
      !local.some(({ dst, dev }) => dev === ifname && dst.startsWith('fe80:')),
  )
  return [...tentative, ...mute].flatMap(({ ifname }) => ifname ?? [])
}

/**
 * Addresses and routes of a host as `ip` tells them, line by line, apart from how many seconds they have left, and from
 * what the kernel has of the pods' links.
 */
export async function hostAddressing(host: PrivateHost): Promise<readonly string[]> {
  const show = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await host.must('ip', ['-details', '-oneline', ...words])).trim().split('\n')
  const lines = [
    ...(await show('address', 'show')),
    ...(await show('-4', 'route', 'show', 'table', 'all')),
    ...(await show('-6', 'route', 'show', 'table', 'all')),
  ]
  const ofPods = /\bipk[0-9a-f]{12}\b/
  return (
    lines
      .filter(line => !ofPods.test(line))
      .map(line =>
        line
          .replace(/^\d+: |(@if|@)\S+/g, '')
          .replace(/\b\d+sec\b/g, 'some sec')
          .trimEnd(),
      )
      // The kernel lists equal routes of several links in the order in which these came up.
      .sort()
  )
}
