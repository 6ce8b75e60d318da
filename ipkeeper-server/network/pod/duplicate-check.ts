import { isIpv6, withoutPrefix } from '../../../shared/net/address-text.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { macProblem } from '../../ipam/choose/plan-mac.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import {
  attachmentKey,
  type AttachmentKey,
  type AttachmentRecord,
  type LeaseRecord,
} from '../../ipam/records/records.ts'
import { stopAnswering } from '../node/answer-on-bridges.ts'
import type { Survey } from '../plan/wiring-job.ts'
import { AddressTaken, type WiringOrder } from '../pod-network.ts'
import { findTool, whenAllEnded, type RunTool } from '../run-tool.ts'
import { AnswerGuard } from './answer-guard.ts'
import { findDuplicates, probeIpv4, type Duplicate } from './probe-address.ts'

/** That a pod answered for what it has not. */
export interface FalseAnswer {
  readonly attachment: AttachmentRecord
  /** Among which it answered for one at least; without prefix. */
  readonly addresses: readonly string[]
  /** Who was to get them. */
  readonly askedFor: AttachmentKey
}

export interface DuplicateCheckOptions {
  readonly run: RunTool
  readonly node: string
  readonly bootId: string
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly monotonic: () => number
  /** Wired attachments with their leases, of every node and boot. */
  readonly attachments: () => Iterable<readonly [AttachmentRecord, readonly LeaseRecord[]]>
  /** Something in the background failed, and is tried again. */
  readonly onProblem: (error: unknown) => void
  /** Pods of this node could not be kept from answering a probe. */
  readonly onUnguarded?: (error: unknown) => void
  /** A pod of this node answered for addresses that are not its own; its answer was ignored. */
  readonly onFalseAnswer?: (answer: FalseAnswer) => void
}

/** Probes whether another machine or pod on the link already has the addresses of a pod. */
export class DuplicateCheck {
  readonly #options: DuplicateCheckOptions
  readonly #guard: AnswerGuard

  constructor(options: DuplicateCheckOptions) {
    this.#options = options
    this.#guard = new AnswerGuard({
      run: options.run,
      monotonic: options.monotonic,
      onProblem: options.onUnguarded ?? options.onProblem,
    })
  }

  /**
   * Asks whether anybody on the link has one of the addresses. Pods of this node are not believed: they have addresses of
   * their own, and one that answered for all would leave nothing to give.
   *
   * @returns addresses that only such pods answered for, without prefix
   * @throws AddressTaken; IPK_MAC_TAKEN, if a gateway answers that has the MAC which the pod has asked for
   */
  async run({ key, wiring, ips, leases, superseded }: WiringOrder, fd: number): Promise<readonly string[]> {
    const { run, onFalseAnswer } = this.#options
    const cidrs = ips.map(({ address }) => address)
    const addresses = cidrs.map(withoutPrefix)
    const asksForMac = leases.some(({ mac }) => mac !== null)
    const gateways = asksForMac
      ? ips.flatMap(({ gateway }) => (gateway === undefined || isIpv6(gateway) ? [] : [gateway]))
      : []
    const others = this.#otherPods(key, superseded)
    const byPort = new Map(
      others.flatMap(pod =>
        pod.wiring?.hostLink && pod.wiring.master === wiring.master ? [[pod.wiring.hostLink.name, pod]] : [],
      ),
    )
    const port = wiring.hostLink?.name
    const ipv6 = addresses.filter(isIpv6)
    if (port !== undefined && wiring.master !== null && ipv6.length > 0)
      await stopAnswering(run, wiring.master, ipv6)
    const link = { run, fd, ifname: key.ifname }
    const ask = (): Promise<readonly Duplicate[][]> =>
      whenAllEnded([findDuplicates(link, cidrs), probeIpv4(link, gateways)])
    const guarded = { others: [...byPort.keys()], addresses: [...addresses, ...gateways] }
    const { result, heard } =
      port === undefined
        ? { result: await ask(), heard: [] }
        : await this.#guard.during({ port, ...guarded }, ask)
    const [duplicates = [], routers = []] = result
    const router = routers.find(({ mac }) => mac === wiring.mac)
    if (router)
      throw macProblem.of({ mac: wiring.mac, source: 'the pod' }, `the gateway ${router.address} has`)
    for (const liar of heard) {
      const attachment = byPort.get(liar)
      if (attachment) onFalseAnswer?.({ attachment, addresses, askedFor: key })
    }
    // Behind no guard a pod is known by its MAC alone, in which nobody hinders it to lie.
    const byMac = new Map(others.flatMap(pod => (pod.wiring ? [[pod.wiring.mac, pod]] : [])))
    const truthful = duplicates.filter(
      ({ mac }) => mac === undefined || mac === wiring.mac || !byMac.has(mac),
    )
    if (truthful.length > 0) throw new AddressTaken(truthful)
    for (const { address, mac } of duplicates) {
      const attachment = byMac.get(mac ?? '')
      if (attachment) onFalseAnswer?.({ attachment, addresses: [address], askedFor: key })
    }
    return duplicates.map(({ address }) => address)
  }

  /** The attachments on this node besides one and those that it replaces. */
  #otherPods(key: AttachmentKey, superseded: readonly AttachmentRecord[]): readonly AttachmentRecord[] {
    const { attachments, bootId, node } = this.#options
    const passedOver = [key, ...superseded].map(attachmentKey)
    return Array.from(attachments(), ([attachment]) => attachment).filter(
      pod => pod.node === node && pod.bootId === bootId && !passedOver.includes(attachmentKey(pod)),
    )
  }
}

/** Throws IPK_TOOL_MISSING where it has to be asked who has an address, and cannot be. */
export function mustAsk({ bridge }: MainConfig, { foreignPorts }: Survey): void {
  if (findTool('arping') !== undefined || foreignPorts.length === 0) return
  throw new Problem(
    'IPK_TOOL_MISSING',
    `arping is not installed where ipkeeper-server runs, and bridge ${bridge} has others than pods: ${foreignPorts.join(', ')}`,
    {
      hint: 'apt-get install iputils-arping (or add it to the image of the daemon); or, where none of them has an address of the range, write "duplicateProbe": false',
    },
  )
}
