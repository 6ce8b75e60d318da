import { Problem } from '../../shared/problem/problem.ts'
import type { AttachmentKey, AttachmentRecord, LeaseRecord } from '../ipam/records.ts'
import type { PodNetwork, WiringOrder } from '../leases/pod-network.ts'
import { enableForwarding } from './host-forwarding.ts'
import { findLink } from './host-links.ts'
import type { HostView } from './host-view.ts'
import { CommandRefused, isTaken, runCommands } from './ip-commands.ts'
import { linkNames } from './link-names.ts'
import type { MainConfig } from './plan/main-config.ts'
import { checkHost, unwiringCommands, wiringCommands } from './plan/plan-wiring.ts'
import { sysctlsOf } from './plan/read-sysctls.ts'
import type { Survey } from './plan/survey.ts'
import type { WiringJob } from './plan/wiring-job.ts'
import { removeMacvlan } from './pod-macvlan.ts'
import { openPodNamespace, reopenPodNamespace } from './pod-namespace.ts'
import { ipv6Sysctls, setSysctls } from './pod-sysctls.ts'
import type { RunTool } from './run-tool.ts'
import type { UplinkBridges } from './uplink-bridges.ts'

export interface PodWirerOptions {
  readonly run: RunTool
  readonly host: HostView
  readonly uplinks: UplinkBridges
  readonly bootId: string
  /** Whether an address is the gateway of a pool that is known. */
  readonly isGateway: (address: string) => boolean
}

/** Wires pods by the tools of the host; the rules are in plan/. */
export class PodWirer implements PodNetwork {
  readonly #options: PodWirerOptions

  constructor(options: PodWirerOptions) {
    this.#options = options
  }

  async survey(config: MainConfig, key: AttachmentKey, netns: string): Promise<Survey> {
    openPodNamespace(netns).close()
    return { names: linkNames(key), ...(await this.#options.host.survey(config)) }
  }

  async wire(order: WiringOrder): Promise<void> {
    const namespace = openPodNamespace(order.netns)
    try {
      await this.#wireOnce(order, namespace.fd).catch(async (error: unknown) => {
        const survey = await this.#secondLook(error, order, namespace.fd)
        await this.#wireOnce({ ...order, survey }, namespace.fd)
      })
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
    await runCommands(this.#options.run, unwiringCommands(job), undefined)
    if (wiring.mode === 'macvlan') await this.#cutMacvlan(attachment)
  }

  async unwireUnknown(key: AttachmentKey, netns: string): Promise<void> {
    await this.#removeHostLink(key)
    const namespace = reopenPodNamespace(netns)
    await removeMacvlan(this.#options.run, namespace, linkNames(key).alias)
  }

  async #removeHostLink(key: AttachmentKey): Promise<void> {
    const { hostLink } = linkNames(key)
    const removal = {
      place: 'host',
      words: ['link', 'delete', 'dev', hostLink],
      about: `remove ${hostLink}`,
      missing: 'fine',
    } as const
    await runCommands(this.#options.run, [removal], undefined)
  }

  differences(): Promise<readonly string[]> {
    return Promise.resolve([])
  }

  async #wireOnce(order: WiringOrder, fd: number): Promise<void> {
    const { run } = this.#options
    const { config, key } = order
    const superseded = order.superseded.flatMap(({ wiring }) => wiring?.hostLink?.name ?? [])
    const job: WiringJob = { ...order, superseded }
    const commands = wiringCommands(job)
    const ipv6 = order.ips.some(({ address }) => address.includes(':'))
    const families = new Set(order.ips.map(({ address }): 4 | 6 => (address.includes(':') ? 6 : 4)))
    if (config.mode === 'underlay') await this.#joinUplink(order, fd)
    const forwards = config.mode === 'ptp' || config.isGateway || config.serviceCidrs.length > 0
    if (forwards) await enableForwarding(families)
    await runCommands(
      run,
      commands.filter(({ place }) => place === 'host'),
      fd,
    )
    // Two of one MAC on one uplink cannot both be up.
    for (const former of order.superseded) await this.#cutMacvlan(former)
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

  /** Makes the uplink of an underlay ready, once for all pods; not before it is sure that the pod can be wired. */
  async #joinUplink({ config, key, survey }: WiringOrder, fd: number): Promise<void> {
    const { run, uplinks } = this.#options
    if (survey.uplink?.master === config.bridge && uplinks.isSettled(config.bridge)) return
    if (await findLink(run, key.ifname, fd)) throw interfaceExists(key)
    await uplinks.join(config)
  }

  /** Takes the macvlan of an attachment away, if its namespace is still the one of its ADD. */
  async #cutMacvlan(attachment: AttachmentRecord): Promise<void> {
    const { wiring, ifname, netns, netnsInode, bootId } = attachment
    if (wiring?.mode !== 'macvlan' || bootId !== this.#options.bootId || netnsInode === null) return
    const namespace = reopenPodNamespace(netns, netnsInode)
    const wired = { ifname, mac: wiring.mac }
    await removeMacvlan(this.#options.run, namespace, linkNames(attachment).alias, wired)
  }

  /** After a refusal: what the host is really like, with leftovers of this attachment removed; or the error that says it. */
  async #secondLook(error: unknown, order: WiringOrder, fd: number): Promise<Survey> {
    const { run, host, isGateway } = this.#options
    if (!(error instanceof CommandRefused)) throw error
    const { config, key, survey, ips } = order
    host.forget()
    if (isTaken(error) && error.command.words[1] === 'add' && (await findLink(run, key.ifname, fd))) {
      throw interfaceExists(key, error)
    }
    if (order.wiring.hostLink !== null) await this.#removeHostLink(key)
    else {
      const wired = { ifname: key.ifname, mac: order.wiring.mac }
      await removeMacvlan(run, reopenPodNamespace(order.netns), survey.names.alias, wired)
    }
    const fresh = { ...survey, ...(await host.survey(config)), mtu: survey.mtu }
    checkHost(config, fresh, ips, isGateway)
    return fresh
  }
}

function interfaceExists({ ifname }: AttachmentKey, cause?: unknown): Problem {
  return new Problem('IPK_INTERFACE_EXISTS', `the pod already has an interface ${ifname}`, { cause })
}
