import { attachmentByLease } from '../ipam/records/new-records.ts'
import { attachmentKey, type AttachmentRecord, type LeaseRecord } from '../ipam/records/records.ts'
import type { ClusterView } from '../kubernetes/cluster-view.ts'
import type { Election } from '../kubernetes/election.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import { describeContactAge } from '../ipam/records/last-contact.ts'
import type { LostNode } from '../ipam/records/standing.ts'
import { judgeNode } from '../leases/queries/known-nodes.ts'
import type { SeenElsewhere, SeenLostNode } from './plan-snapshot.ts'
import type { LostLeases } from './node-look.ts'

export interface LostNodesOptions {
  readonly service: LeaseService
  readonly election: Election
  /** undefined where no API is configured. */
  readonly cluster: Pick<ClusterView, 'node' | 'ownerExists'> | undefined
  /** Milliseconds for which a node has to be gone before its pods are asked for. */
  readonly askAfter: () => number
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic: () => number
}

/** So many pods are asked for at once. */
const width = 4

/**
 * Looks for what nodes have left that the Kubernetes API does not have. Nothing is looked at but the names of the nodes
 * until one of them is gone, and pods are asked for only when it has been so for a while.
 */
export class LostNodes implements LostLeases {
  readonly #options: LostNodesOptions
  /** Since when each node was found gone in every look. */
  readonly #goneSince = new Map<string, number>()
  /** Nodes that the API was known to have. */
  readonly #known = new Set<string>()
  /** Pods that are gone, by UID: they do not come back. */
  readonly #gonePods = new Set<string>()

  constructor(options: LostNodesOptions) {
    this.#options = options
  }

  mayEnd({ node }: AttachmentRecord): boolean {
    const { election, cluster } = this.#options
    return election.isElected() && cluster?.node(node) === 'gone'
  }

  /**
   * Nodes of which there is only to tell: those out of service or forgotten, and for whoever asks here those that are silent, or that
   * another daemon sees to.
   *
   * @param asked whether somebody did; else only the elected daemon tells
   */
  told(asked: boolean): readonly SeenLostNode[] {
    const { service, election, cluster } = this.#options
    const elected = election.isElected()
    if (!elected && !asked) return []
    const lost = new Map<string, SeenLostNode & { readonly leases: LeaseRecord[] }>()
    for (const node of service.ledger.nodesInUse()) {
      if (node === service.node) continue
      const state = cluster?.node(node)
      const isOut = state === 'out-of-service' || state === 'gone'
      const said = service.isForgotten?.(node) === true ? 'forgotten' : undefined
      const how: LostNode | undefined = isOut ? state : said
      const base = { node, lost: how, hasApi: cluster !== undefined }
      if (how !== undefined) {
        if (how !== 'gone' || !elected) lost.set(node, { standing: { ...base, kind: 'lost' }, leases: [] })
      } else if (asked && judgeNode(service, node).state === 'silent') {
        const silence = describeContactAge(node, service.contactAgeOf?.(node) ?? { kind: 'off' })
        lost.set(node, {
          standing: { ...base, kind: 'elsewhere' },
          leases: [],
          silence: silence ?? `node ${node} is out of contact`,
        })
      }
    }
    if (lost.size === 0) return []
    for (const lease of service.ledger.leases())
      if (lease.state === 'bound') lost.get(lease.node)?.leases.push(lease)
    return [...lost.values()]
  }

  unheard(): readonly string[] {
    const { service, cluster } = this.#options
    if (cluster) return []
    return [...service.ledger.nodesInUse()]
      .filter(node => judgeNode(service, node).state === 'unknown')
      .sort()
  }

  async look(): Promise<readonly SeenElsewhere[]> {
    const { service, election, cluster, monotonic } = this.#options
    if (!cluster) return []
    const now = monotonic()
    const present = new Set(service.ledger.nodesInUse())
    for (const name of this.#goneSince.keys()) if (!present.has(name)) this.#goneSince.delete(name)
    for (const name of present) {
      const state = name === service.node ? 'present' : cluster.node(name)
      if (state === 'gone' && election.isElected())
        this.#goneSince.set(name, this.#goneSince.get(name) ?? now)
      else this.#goneSince.delete(name)
      if (state === 'present' || state === 'out-of-service') this.#known.add(name)
    }
    if (this.#goneSince.size === 0) {
      this.#gonePods.clear()
      return []
    }
    const byAttachment = new Map<string, LeaseRecord[]>()
    for (const lease of service.ledger.leases()) {
      if (!lease.attachment || !this.#goneSince.has(lease.node)) continue
      const key = attachmentKey(lease.attachment)
      const leases = byAttachment.get(key)
      if (leases) leases.push(lease)
      else byAttachment.set(key, [lease])
    }
    const seen: SeenElsewhere[] = []
    const queue = byAttachment.values()
    await Promise.all(
      Array.from({ length: width }, async () => {
        for (const leases of queue) {
          const one = await this.#see(leases, now)
          if (one) seen.push(one)
        }
      }),
    )
    return seen
  }

  async #see(leases: readonly LeaseRecord[], now: number): Promise<SeenElsewhere | undefined> {
    const [lease] = leases
    const record = lease && attachmentByLease(lease)
    if (!record) return undefined
    const goneFor = now - (this.#goneSince.get(record.node) ?? now)
    return {
      ...{ record, leases, goneFor },
      nodeWasThere: this.#known.has(record.node),
      pod: await this.#podOf(record, goneFor),
    }
  }

  async #podOf({ holder, podUid }: AttachmentRecord, goneFor: number): Promise<SeenElsewhere['pod']> {
    if (holder.kind !== 'pod' || podUid === null) return 'none'
    if (this.#gonePods.has(podUid)) return 'gone'
    const { askAfter, cluster } = this.#options
    if (!cluster || goneFor < askAfter()) return 'later'
    const { namespace, name } = holder
    const state = await cluster
      .ownerExists(namespace, { apiVersion: 'v1', kind: 'Pod', name, uid: podUid })
      .catch(() => 'unknown' as const)
    if (state === 'gone') this.#gonePods.add(podUid)
    return state
  }
}
