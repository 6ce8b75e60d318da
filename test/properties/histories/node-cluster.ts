import { podNetworkDouble } from '../../rigs/pod-network-double.ts'
import { Clock, type Clocks } from '../../../ipkeeper-server/host/clock.ts'
import { commitPlan } from '../../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { Ledger } from '../../../ipkeeper-server/leases/ledger/ledger.ts'
import { RecentAnswers, Tombstones } from '../../../ipkeeper-server/leases/verbs/recent-verbs.ts'
import { Serial } from '../../../ipkeeper-server/leases/verbs/turns.ts'
import type { LeaseService } from '../../../ipkeeper-server/leases/verbs/service.ts'
import { writeTimes } from '../../../ipkeeper-server/leases/tasks/write-times.ts'
import { planExpiry } from '../../../ipkeeper-server/ipam/plan/plan-release.ts'
import type { Owner } from '../../../ipkeeper-server/ipam/records/pod-facts.ts'
import type { PoolBook } from '../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import type { AttachmentRecord, Change } from '../../../ipkeeper-server/ipam/records/records.ts'
import { assertOnceEach } from '../../ipkeeper-server/store/assert-once-each.ts'
import { FragileStore } from '../../ipkeeper-server/store/fragile-store.ts'
import { nodes, podNamed, type PodWords } from './pods.ts'
import {
  bookOf,
  configuredShapes,
  inlineShapes,
  standard,
  type ConfiguredPool,
  type PoolWords,
} from './pool-shapes.ts'
import type { WorkloadWords } from './world-state.ts'

class WatchedStore extends FragileStore {
  /** How many changes it was asked to make. */
  asked = 0

  override async commit(change: Change): Promise<void> {
    assertOnceEach(change)
    this.asked++
    await super.commit(change)
  }
}

/** What the daemons see of the world. */
export interface Surroundings {
  readonly clocks: Clocks
  readonly isDead: (attachment: AttachmentRecord, seenFrom: string) => boolean
}

/**
 * The daemons of a few nodes: a LeaseService for each, all of them on one ledger, as a store that nodes share will have it.
 * A restart opens the ledger anew, for all of them.
 */
export class NodeCluster {
  readonly store = new WatchedStore()
  readonly #world: Surroundings
  #ledger!: Ledger
  /** Of all nodes. */
  clock!: Clock
  #services: readonly LeaseService[] = []
  readonly #boots: number[] = nodes.map(() => 1)
  #config: readonly ConfiguredPool[] = Object.values(configuredShapes).flatMap(([words]) =>
    words ? [{ ...standard, words, ...(words.name === 'lab' && { namespaces: ['team-*'] }) }] : [],
  )
  #book: PoolBook = bookOf(this.#config)
  /** Own ranges of networks. */
  readonly inline = new Map<string, PoolWords>(
    Object.entries(inlineShapes).flatMap(([name, [words]]) => (words ? [[name, words]] : [])),
  )
  apiIsUp = false
  /** Runs of the plugin that have left their mark, though the record does not say so. */
  readonly marks = new Set<string>()
  /** How often the workloads were made anew. */
  age = 1

  constructor(world: Surroundings) {
    this.#world = world
  }

  get ledger(): Ledger {
    return this.#ledger
  }

  get config(): readonly ConfiguredPool[] {
    return this.#config
  }

  get book(): PoolBook {
    return this.#book
  }

  service(node: number): LeaseService {
    const service = this.#services[node]
    if (!service) throw new Error(`there is no node ${node}`)
    return service
  }

  bootOf(node: number): string {
    return `boot ${this.#boots[node] ?? 0} of ${nodes[node] ?? ''}`
  }

  /** Starts all daemons, on what is in the store. */
  async start(): Promise<void> {
    const clock = new Clock(this.#world.clocks)
    const ledger = await Ledger.open(this.store, clock.now)
    clock.onJump = ({ by }) => {
      ledger.shiftTimes(by)
    }
    this.clock = clock
    this.#ledger = ledger
    this.#services = nodes.map((node, index) => ({
      ledger,
      network: podNetworkDouble(),
      node,
      bootId: this.bootOf(index),
      pools: () => this.#book,
      ownerOf: holder =>
        holder.kind === 'pod' ? this.ownerOf(holder.namespace, podNamed(holder.name)) : undefined,
      serial: new Serial(),
      tombstones: new Tombstones(),
      answers: new RecentAnswers(),
      wasAnswered: ({ unanswered, invocationId }) =>
        Promise.resolve(!unanswered || this.marks.has(invocationId ?? '')),
      now: clock.now,
      monotonic: clock.monotonic,
      openedAt: clock.monotonic(),
      liveness: attachment => (this.#world.isDead(attachment, node) ? 'dead' : 'unknown'),
    }))
  }

  async reboot(node: number): Promise<void> {
    this.#boots[node] = (this.#boots[node] ?? 0) + 1
    await this.start()
  }

  /** As the daemon does when the clock was set, and tries again until the store takes it. */
  async writeTimes(): Promise<void> {
    this.store.fails = () => false
    await writeTimes(this.service(0))
  }

  /** In the order in which the pools were written first. */
  reload(pool: string, settings: ConfiguredPool | undefined): void {
    const order = Object.keys(configuredShapes)
    const others = this.#config.filter(({ words }) => words.name !== pool)
    this.#config = [...others, ...(settings ? [settings] : [])].sort(
      (a, b) => order.indexOf(a.words.name) - order.indexOf(b.words.name),
    )
    this.#book = bookOf(this.#config)
  }

  /** As the daemon does when kept addresses come free (leases/expire-leases.ts), without its timer. */
  async tidy(): Promise<void> {
    const sweep = async (): Promise<PromiseSettledResult<unknown>[]> =>
      await Promise.allSettled(
        this.#ledger.expire(this.clock.now()).map(lease =>
          commitPlan(this.#ledger, () => {
            const present = this.#ledger.lease(lease)
            return {
              change:
                present?.generation === lease.generation ? planExpiry(this.#ledger, present, this.#book) : [],
            }
          }),
        ),
      )
    const outcomes = await sweep()
    if (outcomes.every(({ status }) => status === 'fulfilled')) return
    // The store refused: the daemon tries again in a few seconds.
    this.store.fails = () => false
    for (const outcome of await sweep()) if (outcome.status === 'rejected') throw outcome.reason
  }

  /** What the API tells of a pod's controller. */
  ownerOf(namespace: string, { owner }: PodWords): Owner | null | undefined {
    if (!this.apiIsUp) return undefined
    const uid = `${owner?.kind ?? ''} ${namespace}/${owner?.name ?? ''} ${this.age}`
    return owner && { apiVersion: 'apps/v1', ...owner, uid }
  }

  /** The same, as the model has it. */
  workloadOf(namespace: string, pod: PodWords, uid: string | null): WorkloadWords {
    const owner = this.ownerOf(namespace, pod)
    if (owner === undefined) return { namespace, ...pod.byName, uid: null }
    if (owner === null) return { namespace, kind: 'Pod', name: pod.name, uid }
    return { namespace, kind: owner.kind, name: owner.name, uid: owner.uid }
  }
}
