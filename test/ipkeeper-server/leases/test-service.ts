import { addAttachment, type Caller } from '../../../ipkeeper-server/leases/verbs/add.ts'
import { delAttachment } from '../../../ipkeeper-server/leases/verbs/del.ts'
import { Ledger } from '../../../ipkeeper-server/leases/ledger/ledger.ts'
import { RecentAnswers, Tombstones } from '../../../ipkeeper-server/leases/verbs/recent-verbs.ts'
import { Serial } from '../../../ipkeeper-server/leases/verbs/turns.ts'
import type { LeaseService } from '../../../ipkeeper-server/leases/verbs/service.ts'
import { listLeases } from '../../../ipkeeper-server/leases/queries/listing.ts'
import type { OwnAddresses } from '../../../ipkeeper-server/ipam/pools/own-addresses.ts'
import type { Owner, StringMap } from '../../../ipkeeper-server/ipam/records/pod-facts.ts'
import type { PoolBook } from '../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import type { Began, RecordKind } from '../../../ipkeeper-server/ipam/records/records.ts'
import type { Clock } from '../../../ipkeeper-server/host/clock.ts'
import { podNetworkDouble } from '../../rigs/pod-network-double.ts'
import { TestClock } from '../../rigs/test-clock.ts'
import type { MainConfig } from '../../../ipkeeper-server/ipam/request/main-config.ts'
import type { AddRequest } from '../../../ipkeeper-server/ipam/request/add-request.ts'
import { parseAddressRequest } from '../../../ipkeeper-server/ipam/request/parse-addresses.ts'
import type { AddAnswer } from '../../../ipkeeper-server/ipam/plan/plan-add.ts'
import { canonicalPool, type Pool } from '../../../ipkeeper-server/ipam/pools/pool.ts'
import { noRequest, type CandidateList } from '../../../ipkeeper-server/ipam/request/request.ts'
import { parseRetention, type Retention } from '../../../ipkeeper-server/ipam/records/retention.ts'
import type { LeaseStore } from '../../../ipkeeper-server/store/lease-store.ts'
import { MemoryStore } from '../../../ipkeeper-server/store/memory/memory-store.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'

/** A pod as a story names it; everything else has a default. */
export interface PodWords {
  readonly pod?: string
  readonly namespace?: string
  readonly uid?: string | null
  readonly container: string
  readonly ifname?: string
  /** "10.22.0.50" or with prefix, comma-separated: by annotation. */
  readonly ip?: string
  /** Candidates by annotation: "10.22.0.50-10.22.0.52,10.22.0.60/24,fd00:22::50". */
  readonly ips?: string
  /** Pools by annotation. */
  readonly pools?: readonly string[]
  /** What a dialect's annotation says the gateway is. */
  readonly gateway?: string
  /** The same by runtimeConfig.ips. */
  readonly cniIp?: string
  readonly retain?: string
  readonly mac?: string
  readonly invocation?: string
  /** The plugin leaves a mark when it answers. */
  readonly confirms?: boolean
  /** Microseconds since boot at which the ADD's run began. */
  readonly startedAt?: number
  readonly bootId?: string
  readonly pool?: Pool
  /** Type of ipam.fallback. */
  readonly fallback?: string
  /** What it gave, in CIDR notation. */
  readonly given?: readonly string[]
  readonly network?: string
  /** Names pools of the configuration in place of own ranges; empty: whichever allows the pod. */
  readonly configured?: readonly string[]
  readonly main?: MainConfig | undefined
  readonly namespaceLabels?: StringMap
  readonly nodeLabels?: StringMap
  readonly sharedWithOtherNodes?: boolean
  readonly owner?: Owner | null
  /** Where the pod runs; "n1" unless said. */
  readonly node?: string
  readonly netns?: string
  readonly netnsInode?: string | null
}

/** web-0 asks for 10.22.0.50 by annotation. */
export const web = (container: string, uid: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'web-0',
  container,
  uid,
  ip: '10.22.0.50',
  ...patch,
})

/** Lists of candidates, one per family. */
export function candidatesFrom(text: string, source: string): CandidateList[] {
  const runs = text.split(',').map(item => {
    const [from = '', to = from] = item.split('-')
    const [first, last] = [from, to].map(end => parseAddressRequest(end, source, 'annotation'))
    if (!first || !last) throw new Error(item)
    const { prefixLength } = first
    return {
      family: first.address.family,
      run: {
        first: first.address.value,
        last: last.address.value,
        ...(prefixLength !== undefined && { prefixLength }),
      },
    }
  })
  return [...Map.groupBy(runs, ({ family }) => family)].map(([family, own]) => ({
    family,
    runs: own.map(({ run }) => run),
    source,
  }))
}

export function poolFrom(name: string, ...sets: readonly (readonly string[])[]): Pool {
  return canonicalPool(
    name,
    'default',
    sets.map(set =>
      set.map(text => {
        const subnet = parseCidr(text)
        if (!subnet) throw new Error(text)
        return { subnet }
      }),
    ),
  )
}

/** "10.22.0.2", or "left to host-local". */
export function spell(answer: AddAnswer): string {
  return answer.kind === 'delegate'
    ? `left to ${answer.type}`
    : answer.result.ips.map(ip => ip.address.replace(/\/.*/, '')).join(',')
}

/** A whole lease service on a memory store, with a clock and a list of dead containers that the test owns. */
export class TestService {
  readonly service: LeaseService
  readonly store: LeaseStore
  readonly dead = new Set<string>()
  /** Runs of the plugin that have left their mark, though the record does not say so. */
  readonly marks = new Set<string>()
  readonly network = podNetworkDouble()
  readonly time: TestClock
  readonly clock: Clock
  pool = poolFrom('net', ['10.22.0.0/24'])
  /** The pools of the daemon's configuration. */
  book: PoolBook

  private constructor(
    store: LeaseStore,
    ledger: Ledger,
    retention: Retention,
    node: string,
    time: TestClock,
    clock: Clock,
  ) {
    this.store = store
    this.time = time
    this.clock = clock
    clock.onJump = ({ by }) => {
      ledger.shiftTimes(by)
    }
    this.book = {
      pools: [],
      standard: { retention, cooldown: 60_000, preferFor: 600_000, strategy: 'lowest-free' },
    }
    this.service = {
      ledger,
      network: this.network,
      node,
      bootId: 'boot-1',
      pools: () => this.book,
      ownerOf: () => undefined,
      serial: new Serial(),
      tombstones: new Tombstones(),
      answers: new RecentAnswers(),
      wasAnswered: ({ unanswered, invocationId }) =>
        Promise.resolve(!unanswered || this.marks.has(invocationId ?? '')),
      now: clock.now,
      monotonic: clock.monotonic,
      openedAt: clock.monotonic(),
      liveness: attachment => (this.dead.has(attachment.containerId) ? 'dead' : 'unknown'),
    }
  }

  static async open(
    store: LeaseStore = new MemoryStore(),
    retention: Retention = 'release',
    node = 'n1',
    onUnsound?: (kind: RecordKind, key: string) => void,
    time = new TestClock(),
  ): Promise<TestService> {
    const clock = time.start()
    const ledger = await Ledger.open(store, clock.now, node, onUnsound)
    return new TestService(store, ledger, retention, node, time, clock)
  }

  /** Addresses that the node has itself, from now on. */
  set own(own: OwnAddresses) {
    Object.assign(this.service, { ownAddresses: () => Promise.resolve(own) })
  }

  get now(): number {
    return this.time.wall
  }

  /** A later moment: time goes by. An earlier one: somebody sets the clock back. */
  set now(moment: number) {
    const by = moment - this.time.wall
    if (by < 0) this.time.set(by)
    else this.time.pass(by)
  }

  request(words: PodWords): AddRequest {
    const pool = words.pool ?? this.pool
    const key = {
      network: words.network ?? pool.name,
      containerId: words.container,
      ifname: words.ifname ?? 'eth0',
    }
    const { network, containerId, ifname } = key
    const asked = (text: string | undefined, source: string, channel: 'annotation' | 'cni') =>
      (text?.split(',') ?? []).flatMap(part => parseAddressRequest(part, source, channel) ?? [])
    const retain = words.retain === undefined ? undefined : parseRetention(words.retain)
    return {
      key,
      holder:
        words.pod === undefined
          ? { kind: 'container', network, containerId, ifname }
          : { kind: 'pod', network, namespace: words.namespace ?? 'shop', name: words.pod, ifname },
      podUid: words.uid === undefined ? `uid-of-${words.container}` : words.uid,
      owner: words.owner,
      node: words.node ?? this.service.node,
      bootId: words.bootId ?? 'boot-1',
      netns: words.netns ?? `/run/netns/${words.container}`,
      netnsInode: words.netnsInode === undefined ? '1' : words.netnsInode,
      main: words.main,
      invocationId: words.invocation ?? null,
      startedAt: words.startedAt ?? null,
      confirms: words.confirms ?? false,
      inline: words.configured === undefined ? pool : undefined,
      networkPools: (words.configured ?? []).map(name => ({ name, source: '"ipam.pool"' })),
      place: {
        namespace: words.pod === undefined ? undefined : (words.namespace ?? 'shop'),
        namespaceLabels: words.namespaceLabels,
        node: words.node ?? this.service.node,
        nodeLabels: words.nodeLabels,
        sharedWithOtherNodes: words.sharedWithOtherNodes ?? false,
      },
      routes: [],
      dns: {},
      fallback: words.fallback ?? null,
      given: words.given ?? [],
      pod: {
        ...noRequest,
        addresses: [
          ...asked(words.ip, 'annotation ipkeeper.io/ip', 'annotation'),
          ...asked(words.cniIp, 'runtimeConfig.ips', 'cni'),
        ],
        candidates: words.ips === undefined ? [] : candidatesFrom(words.ips, 'annotation ipkeeper.io/ips'),
        pools: (words.pools ?? []).map(name => ({ name, source: 'annotation ipkeeper.io/pool' })),
        gateways: (words.gateway?.split(',') ?? []).flatMap(text => {
          const address = parseAddress(text)
          return address ? { address, source: 'annotation ipkeeper.generals.space/gateway' } : []
        }),
        ...(retain !== undefined && { retain }),
        ...(words.mac !== undefined && { mac: words.mac }),
      },
    }
  }

  /** Addresses given, or the problem's code. */
  async add(words: PodWords, caller: Caller = { gone: () => false }): Promise<string> {
    try {
      const plan = await addAttachment(this.service, this.request(words), caller)
      return spell(plan.answer)
    } catch (error) {
      if (error instanceof Problem) return error.code
      throw error
    }
  }

  async problem(words: PodWords): Promise<Problem> {
    try {
      await addAttachment(this.service, this.request(words), { gone: () => false })
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
    throw new Error('the ADD succeeded')
  }

  async del(container: string, ifname = 'eth0', network = this.pool.name, began?: Began): Promise<void> {
    await delAttachment(this.service, { network, containerId: container, ifname }, began)
  }

  /** "10.22.0.2 bound shop/web-0 c1" per lease. */
  leases(): string[] {
    return listLeases(this.service).map(lease =>
      [
        lease.address,
        lease.state,
        lease.pod ? `${lease.pod.namespace}/${lease.pod.name}` : '-',
        lease.containerId ?? '-',
      ].join(' '),
    )
  }
}
