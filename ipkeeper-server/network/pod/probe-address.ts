import { setTimeout as delay } from 'node:timers/promises'
import { isIpv6, withoutPrefix } from '../../../shared/net/address-text.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { parseMac } from '../../../shared/net/mac.ts'
import { runCommands, ipJson } from '../ip-commands.ts'
import { type RunTool, type ToolEnd, whenAllEnded } from '../run-tool.ts'

/** An address that somebody else on the link has. */
export interface Duplicate {
  /** Without prefix. */
  readonly address: string
  /** Of the one who answered; undefined where it could not be learnt, which happens in IPv6 only. */
  readonly mac: string | undefined
}

/** Where is asked: a link that is up and has its carrier, and none of the addresses yet. */
export interface ProbedLink {
  readonly run: RunTool
  /** File descriptor of the pod's namespace. */
  readonly fd: number
  readonly ifname: string
}

/** Probes go out at these times; arping can wait a second or more between two, so each has a process of its own. */
const laterProbesMs = [250, 500]
const answerWithinMs = 1000

const macOfAnswer = /\[([0-9A-F:]{17})\]/i

/**
 * Those of the addresses that somebody else has; see probeIpv4 and settleIpv6. Nothing is under way in the namespace any
 * more when it resolves or rejects.
 *
 * @param cidrs of both families, in CIDR notation
 * @throws IPK_WIRING_FAILED, IPK_TOOL_MISSING
 */
export async function findDuplicates(link: ProbedLink, cidrs: readonly string[]): Promise<Duplicate[]> {
  const found = await whenAllEnded([
    probeIpv4(link, cidrs.filter(cidr => !isIpv6(cidr)).map(withoutPrefix)),
    settleIpv6(link, cidrs.filter(isIpv6)),
  ])
  return found.flat()
}

/**
 * Asks whether anybody has these IPv4 addresses (RFC 5227, with three probes in a second instead of in four to seven). All
 * are asked for at once. It takes 1.0 s when nobody answers, some milliseconds when somebody does.
 *
 * The link must not have the pod's final MAC yet: arping takes an answer from its own MAC for an echo, and a bridge would
 * not deliver it, so another pod that derived its MAC from the same address would not be noticed. A link made without one
 * has a random MAC, which serves.
 *
 * @param addresses without prefix
 * @throws IPK_WIRING_FAILED when arping cannot ask, such as on a link that is down; IPK_TOOL_MISSING
 */
export async function probeIpv4(link: ProbedLink, addresses: readonly string[]): Promise<Duplicate[]> {
  const found = await whenAllEnded(addresses.map(address => probeOne(link, address)))
  return found.filter(duplicate => duplicate !== undefined)
}

async function probeOne({ run, fd, ifname }: ProbedLink, address: string): Promise<Duplicate | undefined> {
  const decided = new AbortController()
  const arping = (timeoutMs?: number): Promise<ToolEnd> =>
    run({
      tool: 'arping',
      args: ['-D', '-f', '-c', '1', '-w', '1', '-I', ifname, address],
      inside: fd,
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
  // The first one hears the answers to all, so what becomes of the later ones is nothing new, nor that they are cut off.
  const later = laterProbesMs.map(async at => {
    await delay(at, undefined, { signal: decided.signal })
      .then(() => arping(answerWithinMs - at))
      .catch(() => undefined)
  })
  try {
    const { exit, stdout, stderr } = await arping()
    const mac = parseMac(macOfAnswer.exec(stdout)?.[1] ?? '')
    if (mac !== undefined) return { address, mac }
    if (exit === 0) return undefined
    const why = stderr.trim().split('\n')[0] ?? ''
    throw new Problem('IPK_WIRING_FAILED', `cannot ask on ${ifname} whether ${address} is in use: ${why}`)
  } finally {
    decided.abort()
    await Promise.all(later)
  }
}

/** The kernel's own detection takes 1 to 2 s: a random delay of up to 1 s, then 1 s of waiting for an answer. */
const detectionWithinMs = 3000
const lookEveryMs = 50
/** Its link-local address may be decided as late; only who found a duplicate waits for it. */
const macWithinMs = 4000

interface ShownAddress {
  readonly local: string
  readonly tentative?: boolean
  readonly optimistic?: boolean
  readonly dadfailed?: boolean
}

/**
 * Gives the link its IPv6 addresses and waits until the kernel says of each that nobody else has it (RFC 4862, 5.4), 1 to 2
 * s. Those that nobody has are on the link afterwards, and nobody knows that the others were. An address that is optimistic
 * counts as undecided. The kernel does not tell who has an address, so its owner is asked for then, from the link-local
 * address; where that is not to be had, the MAC stays unknown.
 *
 * @param addresses in CIDR notation
 * @throws IPK_WIRING_FAILED, also when the kernel has not decided within 3 s; IPK_TOOL_MISSING
 */
export async function settleIpv6(link: ProbedLink, addresses: readonly string[]): Promise<Duplicate[]> {
  if (addresses.length === 0) return []
  const { run, fd, ifname } = link
  await runCommands(
    run,
    addresses.map(cidr => ({
      place: 'pod',
      words: ['address', 'add', cidr, 'dev', ifname],
      about: `give ${ifname} its address ${cidr}`,
    })),
    fd,
  )
  const taken = await decision(link, addresses)
  if (taken.length === 0) return []
  await runCommands(
    run,
    taken.map(cidr => ({
      place: 'pod',
      words: ['address', 'delete', cidr, 'dev', ifname],
      about: `take ${cidr} from ${ifname}, since another machine has it`,
    })),
    fd,
  )
  return await whenAllEnded(
    taken.map(async cidr => {
      const address = withoutPrefix(cidr)
      return { address, mac: await ownerOf(link, address) }
    }),
  )
}

/** Those of the addresses that somebody else has, once all are decided. */
async function decision(link: ProbedLink, addresses: readonly string[]): Promise<string[]> {
  const deadline = performance.now() + detectionWithinMs
  for (;;) {
    const shown = new Map((await shownAddresses(link)).map(entry => [entry.local, entry]))
    const undecided = addresses.filter(cidr => {
      const entry = shown.get(withoutPrefix(cidr))
      return !entry || (entry.dadfailed !== true && (entry.tentative === true || entry.optimistic === true))
    })
    if (undecided.length === 0)
      return addresses.filter(cidr => shown.get(withoutPrefix(cidr))?.dadfailed === true)
    if (performance.now() > deadline) {
      throw new Problem(
        'IPK_WIRING_FAILED',
        `${link.ifname}: no end of duplicate address detection of ${undecided.join(', ')} ` +
          `within ${detectionWithinMs / 1000} s`,
        { hint: 'see whether the link has a carrier: ip -6 address' },
      )
    }
    await delay(lookEveryMs)
  }
}

async function shownAddresses({ run, fd, ifname }: ProbedLink): Promise<readonly ShownAddress[]> {
  const links = (await ipJson(run, ['-6', 'address', 'show', 'dev', ifname], fd)) as readonly {
    readonly addr_info?: readonly ShownAddress[]
  }[]
  return links.flatMap(({ addr_info }) => addr_info ?? [])
}

/** Has the kernel solicit an address, and looks who answers. */
async function ownerOf(link: ProbedLink, address: string): Promise<string | undefined> {
  const { run, fd, ifname } = link
  const deadline = performance.now() + macWithinMs
  const solicit = ['neighbour', 'replace', address, 'dev', ifname, 'use']
  const look = ['-6', 'neighbour', 'show', 'to', address, 'dev', ifname]
  while (performance.now() < deadline) {
    // Again and again: while the link-local address is not decided either, the kernel has none to ask from.
    if ((await run({ tool: 'ip', args: solicit, inside: fd })).exit !== 0) return undefined
    await delay(lookEveryMs)
    const neighbours = (await ipJson(run, look, fd)) as readonly { readonly lladdr?: string }[]
    const mac = parseMac(neighbours[0]?.lladdr ?? '')
    if (mac !== undefined) return mac
  }
  return undefined
}
