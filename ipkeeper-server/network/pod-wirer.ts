import { isIpv6, withoutPrefix } from '../../shared/net/address-text.ts'
import { Problem } from '../../shared/problem/problem.ts'
import {
  type AttachmentKey,
  type AttachmentRecord,
  type LeaseRecord,
  type WiringRecord,
} from '../ipam/records/records.ts'
import type { SeenMac } from '../ipam/request/add-request.ts'
import type { PreviousInterface } from '../ipam/request/network-config.ts'
import type { PodNetwork, WiringOrder } from './pod-network.ts'
import { Announcer } from './pod/announce.ts'
import {
  enableForwarding,
  answerNeighbours,
  guardHostLinks,
  runHostCommands,
} from './node/kernel-settings.ts'
import type { BridgeGateways } from './node/bridge-gateways.ts'
import { HostLinkRemoval } from './node/link-removal.ts'
import { findLink, type LinkState, neighboursWithMac, seeRoutes } from './ip-show.ts'
import type { HostView } from './node/host-view.ts'
import { CommandRefused, isTaken, runCommands } from './ip-commands.ts'
import { linkNames } from './link-names.ts'
import { MasqueradeTable } from './node/masquerade-table.ts'
import { masqueradedPods, type MasqueradedPods } from './plan/masquerade-rules.ts'
import type { GatewayFacts } from './plan/bridge-addresses.ts'
import { announcementCommand, announcementSysctls } from './plan/announcement.ts'
import type { Command } from './plan/command.ts'
import { compareWiring, type KernelLink, type SeenWiring } from './plan/compare-wiring.ts'
import { checkHost } from './plan/check-host.ts'
import { guardedLinks, unwiringCommands, wiringCommands } from './plan/plan-wiring.ts'
import { asksFirst, leavesNode, type MainConfig } from '../ipam/request/main-config.ts'
import { podMac } from '../ipam/choose/pod-mac.ts'
import { sysctlsOf } from './plan/read-sysctls.ts'
import type { Survey } from './plan/wiring-job.ts'
import { neededTools } from './plan/tools.ts'
import { removeMacvlan } from './pod/pod-links.ts'
import { openPodNamespace, reopenPodNamespace } from './pod/namespace.ts'
import { routerGuardSysctls, ipv6Sysctls, setSysctls } from './pod/sysctls.ts'
import { DuplicateCheck, mustAsk, type DuplicateCheckOptions } from './pod/duplicate-check.ts'
import { mustFind, whenAllEnded } from './run-tool.ts'
import type { UplinkBridges } from './node/uplink-bridges.ts'

export interface PodWirerOptions extends DuplicateCheckOptions {
  readonly host: HostView
  readonly uplinks: UplinkBridges
  readonly gateways: BridgeGateways
  readonly gatewayFacts: GatewayFacts
  /** Names of the links that have a MAC at this moment; absent: nobody knows. */
  readonly linksWithMac?: (mac: string) => Promise<readonly string[]>
  /** Subnets of a pool, in CIDR notation. */
  readonly subnetsOf: (pool: string) => readonly string[]
  /** A pod was wired: the host may have a bridge or addresses that it had not before. */
  readonly onWired?: () => void
}

const seenLink = ({ addresses, ...link }: LinkState): KernelLink => ({
  ...link,
  addresses: addresses.map(({ address }) => address),
})

/**
 * Whether others have to be told where the addresses are now: other machines always; on the node when the MAC is not the one
 * that the address always has.
 */
function announces(
  config: MainConfig,
  survey: Survey,
  { mac }: WiringRecord,
  cidrs: readonly string[],
): boolean {
  const { mode } = config
  return (
    leavesNode(mode) ||
    asksFirst(config, survey) ||
    (mode === 'bridge' && mac !== podMac(cidrs.map(withoutPrefix)))
  )
}

/** Wires pods by the tools of the host; the rules are in plan/. */
export class PodWirer implements PodNetwork {
  readonly #options: PodWirerOptions
  readonly #removal: HostLinkRemoval
  readonly #masquerade: MasqueradeTable
  readonly #announcer: Announcer
  readonly #duplicates: DuplicateCheck

  constructor(options: PodWirerOptions) {
    this.#options = options
    this.#removal = new HostLinkRemoval(options.run)
    this.#announcer = new Announcer(options.run)
    this.#duplicates = new DuplicateCheck(options)
    this.#masquerade = new MasqueradeTable({
      run: options.run,
      everybody: () => this.#everybodyMasqueraded(),
      onProblem: options.onProblem,
    })
  }

  checkTools(config: MainConfig): void {
    for (const tool of neededTools(config)) mustFind(tool)
  }

  async survey(config: MainConfig, key: AttachmentKey, netns: string): Promise<Survey> {
    this.checkTools(config)
    const namespace = await openPodNamespace(netns)
    namespace.close()
    const survey = { names: linkNames(key), ...(await this.#options.host.survey(config)) }
    if (asksFirst(config, survey)) mustAsk(config, survey)
    return survey
  }

  async seeMac(mac: string): Promise<SeenMac> {
    const { run, linksWithMac, attachments, node, bootId } = this.#options
    const [links, neighbours] = await Promise.all([linksWithMac?.(mac) ?? [], neighboursWithMac(run, mac)])
    const wired = Array.from(attachments(), ([attachment]) => attachment).filter(
      pod => pod.wiring?.mac === mac && pod.node === node && pod.bootId === bootId,
    )
    return { links, neighbours, attachments: wired }
  }

  async wire(order: WiringOrder): Promise<Survey> {
    const namespace = await openPodNamespace(order.netns)
    try {
      if (order.netnsInode !== null && namespace.inode !== order.netnsInode) {
        const message = `another namespace came to stand at CNI_NETNS ${order.netns} meanwhile`
        throw new Problem('IPK_NETNS_INVALID', message)
      }
      const masquerade = this.#masquerade.add(
        masqueradedPods(order.wiring, order.leases, this.#options.subnetsOf),
      )
      const { survey } = order
      let found = survey
      const wired = this.#wireOnce(order, namespace.fd).catch(async (error: unknown) => {
        found = await this.#secondLook(error, order, namespace.fd)
        await this.#wireOnce({ ...order, survey: found }, namespace.fd)
      })
      // nft waits for the kernel most of its time.
      await whenAllEnded([wired, masquerade])
      // There is one now, which the next ADD need not find out by a refusal.
      if (found.bridge?.state === 'absent') this.#options.host.forget()
      this.#options.onWired?.()
      return found
    } finally {
      namespace.close()
    }
  }

  async unwire(attachment: AttachmentRecord, leases: readonly LeaseRecord[]): Promise<void> {
    const { wiring } = attachment
    // What another boot of the kernel had is gone with it.
    if (!wiring || attachment.bootId !== this.#options.bootId) return
    const addresses = leases.map(({ address }) => address)
    await whenAllEnded([
      runCommands(this.#options.run, unwiringCommands(wiring, addresses), undefined),
      // The pod's side, the port of the bridge and the routes go with it.
      wiring.hostLink ? this.#removal.remove(wiring.hostLink.name) : Promise.resolve(),
      this.#masquerade.remove(addresses.filter(address => wiring.masqueraded.includes(address))),
      this.#cutMacvlan(attachment),
    ])
  }

  async unwireUnknown(key: AttachmentKey, netns: string): Promise<void> {
    await this.#removeHostLink(key)
    const namespace = await reopenPodNamespace(netns)
    await removeMacvlan(this.#options.run, namespace, linkNames(key))
  }

  async #removeHostLink(key: AttachmentKey): Promise<void> {
    const { hostLink } = linkNames(key)
    await this.#removal.remove(hostLink)
  }

  async cutOff(attachment: AttachmentRecord): Promise<boolean> {
    const { run, bootId } = this.#options
    const { wiring, netns, netnsInode, ifname } = attachment
    if (attachment.bootId !== bootId || netnsInode === null) return false
    const namespace = await reopenPodNamespace(netns, netnsInode)
    if (!namespace) return false
    try {
      const link = await findLink(run, ifname, namespace.fd)
      if (!link) return false
      if (wiring) {
        // The pod cannot undo it, whatever it may do in its namespace: the other side of a veth is the host's.
        await this.#cutLinks(attachment)
        await this.#masquerade.remove(wiring.masqueraded)
        return true
      }
      if (!link.up) return false
      const down: Command = {
        place: 'pod',
        words: ['link', 'set', 'dev', ifname, 'down'],
        about: `take ${ifname} down`,
      }
      await runCommands(run, [down], namespace.fd)
      return true
    } finally {
      namespace.close()
    }
  }

  async differences(
    attachment: AttachmentRecord,
    leases: readonly LeaseRecord[],
    previous: PreviousInterface | undefined,
  ): Promise<readonly string[]> {
    const { wiring, ifname, netns, netnsInode } = attachment
    if (!wiring) return []
    const namespace = await reopenPodNamespace(netns, netnsInode)
    if (!namespace) return [`the namespace ${netns} is gone, or is another one than at ADD`]
    try {
      const addresses = leases.map(({ address, prefixLength }) => `${address}/${prefixLength}`)
      const mac = previous?.mac ?? wiring.mac
      const [seen, unmasqueraded] = await Promise.all([
        this.#see(attachment, wiring, namespace.fd),
        this.#masquerade.differences(masqueradedPods(wiring, leases, this.#options.subnetsOf)),
      ])
      return [...compareWiring({ ifname, wiring, addresses, mac }, seen), ...unmasqueraded]
    } finally {
      namespace.close()
    }
  }

  async #see(
    { ifname }: AttachmentRecord,
    { mode, hostLink }: WiringRecord,
    fd: number,
  ): Promise<SeenWiring> {
    const { run } = this.#options
    const [podLink, podRoutes, ofHost, hostRoutes] = await Promise.all([
      findLink(run, ifname, fd),
      seeRoutes(run, ['table', 'all'], fd),
      hostLink && findLink(run, hostLink.name),
      mode === 'ptp' && hostLink ? seeRoutes(run, ['dev', hostLink.name]) : [],
    ])
    return {
      podLink: podLink && seenLink(podLink),
      podRoutes,
      hostLink: ofHost ? seenLink(ofHost) : undefined,
      hostRoutes,
    }
  }

  /** Resolves when nothing is under way in the background any more. */
  async idle(): Promise<void> {
    await Promise.all([this.#removal.idle(), this.#announcer.close()])
  }

  async #wireOnce(order: WiringOrder, fd: number): Promise<void> {
    const { run, gateways } = this.#options
    const { config, key, wiring, ips } = order
    const commands = wiringCommands(order)
    const cidrs = ips.map(({ address }) => address)
    const ipv6 = cidrs.some(isIpv6)
    const families = new Set(cidrs.map((cidr): 4 | 6 => (isIpv6(cidr) ? 6 : 4)))
    const announced = announces(config, order.survey, wiring, cidrs)
    if (config.mode === 'underlay') await this.#joinUplink(order, fd)
    const forwards = config.mode === 'ptp' || config.isGateway || config.serviceCidrs.length > 0
    if (forwards) await enableForwarding(families, run)
    if (ipv6 && wiring.proxyOn !== null) await answerNeighbours(wiring.proxyOn)
    if (wiring.hostLink) await this.#removal.settled(wiring.hostLink.name)
    await gateways.during(order, () =>
      runHostCommands(run, commands.host, fd, [config.bridge, wiring.hostLink?.name ?? '']),
    )
    // Before the pod's side is up: nothing is heard of the pod until then.
    await guardHostLinks(guardedLinks(config, order.survey, wiring))
    await setSysctls(run, fd, [
      ...(ipv6 ? ipv6Sysctls(key.ifname) : []),
      ...(!ipv6 && leavesNode(config.mode) ? routerGuardSysctls(key.ifname, wiring.mtu) : []),
      ...(announced ? announcementSysctls(key.ifname, cidrs.map(withoutPrefix)) : []),
      ...sysctlsOf(config.sysctls, key.ifname),
    ])
    await this.#cutSuperseded(order)
    // The kernel announces the addresses of a link whose MAC is set, be it to what it was.
    const announcement = announced ? [announcementCommand(key.ifname, wiring.mac)] : []
    if (!asksFirst(config, order.survey)) {
      const { link, addresses, routes } = commands
      await runCommands(run, [...link, ...addresses, ...routes, ...announcement], fd)
    } else {
      await runCommands(run, commands.link, fd)
      const unheeded = await this.#duplicates.run(order, fd)
      // Those of IPv6 are there already: the kernel asks for them itself.
      const addresses = commands.addresses.filter((_, index) => {
        const cidr = cidrs[index] ?? ''
        return !isIpv6(cidr) || unheeded.includes(withoutPrefix(cidr))
      })
      const settled = {
        ...announcementCommand(key.ifname, wiring.mac),
        about: `give ${key.ifname} MAC ${wiring.mac}`,
      }
      await runCommands(run, [settled, ...addresses, ...commands.routes, ...announcement], fd)
    }
    if (announced) this.#announceAgain(order)
  }

  /**
   * Takes the links of older sandboxes away, as the last thing before the new one is up: two of one MAC would disturb each
   * other, and the old one would answer for the addresses.
   */
  async #cutSuperseded({ superseded }: WiringOrder): Promise<void> {
    for (const former of superseded) if (former.bootId === this.#options.bootId) await this.#cutLinks(former)
  }

  async #cutLinks(attachment: AttachmentRecord): Promise<void> {
    const { wiring } = attachment
    if (wiring?.hostLink) await this.#removal.remove(wiring.hostLink.name)
    await this.#cutMacvlan(attachment)
  }

  /** Once more in the background, in case nobody heard. */
  #announceAgain({ key: { ifname }, wiring: { mac }, ips, netns, netnsInode }: WiringOrder): void {
    const addresses = ips.map(({ address }) => withoutPrefix(address))
    this.#announcer.repeat({ ifname, mac, addresses }, () => reopenPodNamespace(netns, netnsInode))
  }

  *#everybodyMasqueraded(): Iterable<MasqueradedPods> {
    const { attachments, bootId, node, subnetsOf } = this.#options
    for (const [{ wiring, bootId: itsBoot, node: itsNode }, leases] of attachments()) {
      if (wiring && itsBoot === bootId && itsNode === node) yield* masqueradedPods(wiring, leases, subnetsOf)
    }
  }

  /** Makes the uplink of an underlay ready, once for all pods; not before it is sure that the pod can be wired. */
  async #joinUplink({ config, key, survey }: WiringOrder, fd: number): Promise<void> {
    const { run, uplinks } = this.#options
    if (survey.uplink?.master === config.bridge && uplinks.isSettled(config.bridge)) return
    if (await findLink(run, key.ifname, fd)) throw interfaceExists(key)
    await uplinks.join(config)
  }

  /** Takes the macvlan of an attachment away, if its namespace is still the one of its ADD. */
  async #cutMacvlan(attachment: AttachmentRecord): Promise<void> {
    const { wiring, netns, netnsInode, bootId } = attachment
    if (wiring?.mode !== 'macvlan' || bootId !== this.#options.bootId || netnsInode === null) return
    const namespace = await reopenPodNamespace(netns, netnsInode)
    await removeMacvlan(this.#options.run, namespace, linkNames(attachment))
  }

  /** After a refusal: what the host is really like, with leftovers of this attachment removed; or the error that says it. */
  async #secondLook(error: unknown, order: WiringOrder, fd: number): Promise<Survey> {
    const { run, host, gatewayFacts } = this.#options
    if (!(error instanceof CommandRefused)) throw error
    const { config, key, survey, ips } = order
    if (isTaken(error) && givesName(error.command) && (await findLink(run, key.ifname, fd))) {
      throw interfaceExists(key, error)
    }
    // What is refused within the pod, the host is not to blame for.
    if (error.command.place === 'pod') throw error
    host.forget()
    await this.#removeHostLink(key)
    if (order.wiring.mode === 'macvlan')
      await removeMacvlan(run, await reopenPodNamespace(order.netns), survey.names)
    const fresh = { ...survey, ...(await host.survey(config)), mtu: survey.mtu }
    checkHost(config, fresh, ips, gatewayFacts)
    return fresh
  }
}

/** Whether a command is one that an interface of the pod gets its name by. */
const givesName = ({ words }: Command): boolean =>
  words[1] === 'add' || (words[1] === 'set' && words.includes('name'))

function interfaceExists({ ifname }: AttachmentKey, cause?: unknown): Problem {
  return new Problem('IPK_INTERFACE_EXISTS', `the pod already has an interface ${ifname}`, { cause })
}
