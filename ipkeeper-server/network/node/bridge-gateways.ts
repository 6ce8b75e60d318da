import { runCommands } from '../ip-commands.ts'
import { judgeAddresses, removeAddresses, type GatewayFacts } from '../plan/bridge-addresses.ts'
import { gatewayCidrs } from '../plan/bridge.ts'
import type { WiringJob } from '../plan/wiring-job.ts'
import type { RunTool } from '../run-tool.ts'
import type { GatewayRecords } from './gateway-records.ts'

interface BridgeGatewaysOptions {
  readonly run: RunTool
  readonly records: GatewayRecords
  readonly facts: GatewayFacts
  /** Which addresses a bridge has at this moment, in CIDR notation. */
  readonly addressesOf: (bridge: string) => Promise<readonly string[]>
  /** Addresses were taken away; what was seen of the bridge is no longer true. */
  readonly onRemoved: (bridge: string, addresses: readonly string[]) => void
  /** That an address is going to be ours could not be written down; it is added, and counts as somebody else's. */
  readonly onProblem: (error: unknown) => void
}

/**
 * Puts gateways on bridges, and takes them away when nobody uses them any more. An address is written down before it is
 * added, and forgotten as soon as the kernel tells that it is gone: whoever adds it again has added one of his own. Who
 * does both while no daemon follows the kernel's news is not seen.
 */
export class BridgeGateways {
  readonly #options: BridgeGatewaysOptions
  /** Bridges that addresses are being taken from: nobody is wired there meanwhile, who may need one of them. */
  readonly #clearing = new Map<string, Promise<unknown>>()

  constructor(options: BridgeGatewaysOptions) {
    this.#options = options
  }

  /** Forgets what is there no more. To be called once the kernel's news are followed. */
  async compare(): Promise<void> {
    const { records, addressesOf } = this.#options
    for (const bridge of records.bridges()) {
      const present = await addressesOf(bridge)
      records.forget(
        bridge,
        records.of(bridge).filter(address => !present.includes(address)),
      )
    }
  }

  /** The kernel tells that an address of a link is gone. */
  gone(link: string, address: string): void {
    this.#options.records.forget(link, [address])
  }

  /** Does the work, which gives a bridge the gateways of the job. The job's leases are in the records by now. */
  async during(job: WiringJob, work: () => Promise<void>): Promise<void> {
    const { config, survey } = job
    if (!config.isGateway || !survey.bridge) {
      await work()
      return
    }
    await this.#clear(job)
    const claimed = await this.#claim(job)
    try {
      await work()
    } catch (error) {
      if (claimed.length > 0) await this.#disclaim(config.bridge, claimed)
      throw error
    }
  }

  async #clear({ config, survey, ips }: WiringJob): Promise<void> {
    const { run, records, facts, onRemoved } = this.#options
    const { bridge, mode } = config
    for (let other = this.#clearing.get(bridge); other; other = this.#clearing.get(bridge)) await other
    // The bridge of an underlay may have addresses of the node.
    if (survey.bridge?.state !== 'bridge' || mode === 'underlay') return
    const ours = survey.bridge.ours.filter(address => records.of(bridge).includes(address))
    const { stale } = judgeAddresses(config, { ...survey.bridge, ours }, gatewayCidrs(ips), facts)
    if (stale.length === 0) return
    const cleared = runCommands(run, removeAddresses(stale, bridge), undefined)
    this.#clearing.set(
      bridge,
      cleared.catch(() => undefined),
    )
    try {
      await cleared
      records.forget(bridge, stale)
      onRemoved(bridge, stale)
    } finally {
      this.#clearing.delete(bridge)
    }
  }

  /** Writes down which addresses are going to be ours; resolves to those. */
  async #claim({ config: { bridge }, survey, ips }: WiringJob): Promise<readonly string[]> {
    const { records, addressesOf, onProblem } = this.#options
    const seen = survey.bridge?.state === 'bridge' ? survey.bridge.addresses : []
    const missing = gatewayCidrs(ips).filter(
      address => !seen.includes(address) && !records.of(bridge).includes(address),
    )
    if (missing.length === 0) return []
    const present = await addressesOf(bridge)
    const claimed = missing.filter(address => !present.includes(address))
    if (claimed.length === 0) return []
    try {
      await records.add(bridge, claimed)
      return claimed
    } catch (error) {
      onProblem(error)
      return []
    }
  }

  /** Of work that failed: what it did not come to. */
  async #disclaim(bridge: string, claimed: readonly string[]): Promise<void> {
    const present = await this.#options.addressesOf(bridge)
    this.#options.records.forget(
      bridge,
      claimed.filter(address => !present.includes(address)),
    )
  }
}
