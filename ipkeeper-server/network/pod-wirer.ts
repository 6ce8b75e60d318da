import { Problem } from '../../shared/problem/problem.ts'
import type { AttachmentKey, AttachmentRecord, LeaseRecord, WiringRecord } from '../ipam/records.ts'
import type { PreviousInterface } from '../ipam/network-config.ts'
import type { PodNetwork, WiringOrder } from '../leases/pod-network.ts'
import { enableForwarding } from './host-forwarding.ts'
import { HostLinkRemoval } from './host-link-removal.ts'
import { findLink, type LinkState } from './host-links.ts'
import type { HostView } from './host-view.ts'
import { CommandRefused, isTaken, runCommands } from './ip-commands.ts'
import { linkNames } from './link-names.ts'
import { Masquerade } from './masquerade.ts'
import { masqueradedPods } from './masqueraded-pods.ts'
import { compareWiring, type SeenLink, type SeenWiring } from './plan/compare-wiring.ts'
import type { MasqueradedPods } from './plan/masquerade.ts'
import type { MainConfig } from './plan/main-config.ts'
import { checkBridge, unwiringCommands, wiringCommands } from './plan/plan-wiring.ts'
import { sysctlsOf } from './plan/read-sysctls.ts'
import type { Survey } from './plan/survey.ts'
import type { WiringJob } from './plan/wiring-job.ts'
import { openPodNamespace, reopenPodNamespace } from './pod-namespace.ts'
import { ipv6Sysctls, setSysctls } from './pod-sysctls.ts'
import type { RunTool } from './run-tool.ts'
import { seeRoutes } from './seen-routes.ts'

export interface PodWirerOptions {
  readonly run: RunTool
  readonly host: HostView
  readonly node: string
  readonly bootId: string
  /** Whether an address is the gateway of a pool that is known. */
  readonly isGateway: (address: string) => boolean
  /** Subnets of a pool, in CIDR notation. */
  readonly subnetsOf: (pool: string) => readonly string[]
  /** Attachments with their leases, of every node and boot. */
  readonly attachments: () => Iterable<readonly [AttachmentRecord, readonly LeaseRecord[]]>
}

const seenLink = ({ addresses, ...link }: LinkState): SeenLink => ({
  ...link,
  addresses: addresses.map(({ address }) => address),
})

/** Waits for all, also when one fails: who undoes what they did must not meet them at it. Then throws the first fault. */
async function allOf(steps: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(steps))
    if (outcome.status === 'rejected') throw outcome.reason
}

/** Wires pods by the tools of the host; the rules are in plan/. */
export class PodWirer implements PodNetwork {
  readonly #options: PodWirerOptions
  readonly #removal: HostLinkRemoval
  readonly #masquerade: Masquerade

  constructor(options: PodWirerOptions) {
    this.#options = options
    this.#removal = new HostLinkRemoval(options.run)
    this.#masquerade = new Masquerade({ run: options.run, everybody: () => this.#everybodyMasqueraded() })
  }

  async survey(config: MainConfig, key: AttachmentKey, netns: string): Promise<Survey> {
    openPodNamespace(netns).close()
    const { host } = this.#options
    const hasBridge = config.mode === 'bridge' || config.mode === 'underlay'
    const uplink = config.uplink === undefined ? undefined : await host.uplink(config.uplink, 'uplink')
    return {
      names: linkNames(key),
      mtu: config.mtu ?? uplink?.mtu ?? (await host.outsideMtu()),
      uplink: uplink?.name,
      bridge: hasBridge ? await host.bridge(config.bridge) : undefined,
      nodeAddresses: [],
    }
  }

  async wire(order: WiringOrder): Promise<void> {
    const namespace = openPodNamespace(order.netns)
    try {
      const masquerade = this.#masquerade.add(
        masqueradedPods(order.wiring, order.leases, this.#options.subnetsOf),
      )
      const wired = this.#wireOnce(order, namespace.fd).catch(async (error: unknown) => {
        const survey = await this.#secondLook(error, order, namespace.fd)
        await this.#wireOnce({ ...order, survey }, namespace.fd)
      })
      // nft waits for the kernel most of its time.
      await allOf([wired, masquerade])
    } finally {
      namespace.close()
    }
  }

  async unwire(attachment: AttachmentRecord, leases: readonly LeaseRecord[]): Promise<void> {
    const { wiring } = attachment
    // What another boot of the kernel had is gone with it.
    if (!wiring || attachment.bootId !== this.#options.bootId) return
    const addresses = leases.map(({ address }) => address)
    const job = { key: attachment, names: linkNames(attachment), wiring, addresses }
    await allOf([
      runCommands(this.#options.run, unwiringCommands(job), undefined),
      // The pod's side, the port of the bridge and the routes go with it.
      wiring.hostLink ? this.#removal.remove(wiring.hostLink.name) : Promise.resolve(),
      this.#masquerade.remove(addresses.filter(address => wiring.masqueraded.includes(address))),
    ])
  }

  async unwireUnknown(key: AttachmentKey): Promise<void> {
    const { hostLink } = linkNames(key)
    await this.#removal.remove(hostLink)
  }

  async differences(
    attachment: AttachmentRecord,
    leases: readonly LeaseRecord[],
    previous: PreviousInterface | undefined,
  ): Promise<readonly string[]> {
    const { wiring, ifname, netns, netnsInode } = attachment
    if (!wiring) return []
    const namespace = reopenPodNamespace(netns, netnsInode)
    if (!namespace) return [`the namespace ${netns} is gone, or is another one than at ADD`]
    try {
      const addresses = leases.map(({ address, prefixLength }) => `${address}/${prefixLength}`)
      const { mac = wiring.mac, mtu = wiring.mtu } = previous ?? {}
      const [seen, unmasqueraded] = await Promise.all([
        this.#see(attachment, wiring, namespace.fd),
        this.#masquerade.differences(masqueradedPods(wiring, leases, this.#options.subnetsOf)),
      ])
      return [...compareWiring({ ifname, wiring, addresses, mac, mtu }, seen), ...unmasqueraded]
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
    await this.#removal.idle()
  }

  async #wireOnce(order: WiringOrder, fd: number): Promise<void> {
    const { run } = this.#options
    const { config, key } = order
    const superseded = order.superseded.flatMap(({ wiring }) => wiring?.hostLink?.name ?? [])
    const job: WiringJob = { ...order, superseded }
    const commands = wiringCommands(job)
    const ipv6 = order.ips.some(({ address }) => address.includes(':'))
    const families = new Set(order.ips.map(({ address }): 4 | 6 => (address.includes(':') ? 6 : 4)))
    if (config.mode === 'ptp' || config.isGateway) await enableForwarding(families)
    await runCommands(
      run,
      commands.filter(({ place }) => place === 'host'),
      fd,
    )
    await setSysctls(run, fd, [
      ...(ipv6 ? ipv6Sysctls(key.ifname) : []),
      ...sysctlsOf(config.sysctls, key.ifname),
    ])
    await runCommands(
      run,
      commands.filter(({ place }) => place === 'pod'),
      fd,
    )
  }

  *#everybodyMasqueraded(): Iterable<MasqueradedPods> {
    const { attachments, bootId, node, subnetsOf } = this.#options
    for (const [{ wiring, bootId: itsBoot, node: itsNode }, leases] of attachments()) {
      if (wiring && itsBoot === bootId && itsNode === node) yield* masqueradedPods(wiring, leases, subnetsOf)
    }
  }

  /** After a refusal: what the host is really like, with leftovers of this attachment removed; or the error that says it. */
  async #secondLook(error: unknown, order: WiringOrder, fd: number): Promise<Survey> {
    const { run, host, isGateway } = this.#options
    if (!(error instanceof CommandRefused)) throw error
    const { config, key, survey, ips } = order
    host.forget()
    if (isTaken(error) && error.command.words[1] === 'add' && (await findLink(run, key.ifname, fd))) {
      throw new Problem('IPK_INTERFACE_EXISTS', `the pod already has an interface ${key.ifname}`, {
        cause: error,
      })
    }
    if (order.wiring.hostLink !== null) await this.unwireUnknown(key)
    if (!survey.bridge) return survey
    const bridge = await host.bridge(config.bridge)
    const fresh = { ...survey, bridge }
    checkBridge(config, fresh, ips, isGateway)
    return fresh
  }
}
