import { mkdirSync } from 'node:fs'
import { Problem } from '../../shared/problem/problem.ts'
import { claimNames, nameNode } from '../../ipkeeper-server/daemon/name-node.ts'
import { Clock } from '../../ipkeeper-server/host/clock.ts'
import type { Logger } from '../../ipkeeper-server/host/logger.ts'
import type { MachineMarks } from '../../ipkeeper-server/identity/plan/judge-machine.ts'
import { NodeIdentity } from '../../ipkeeper-server/identity/node-identity.ts'
import { releasedLease, tidiesUp } from '../../ipkeeper-server/ipam/plan/plan-release.ts'
import type { PoolBook } from '../../ipkeeper-server/ipam/pools/pool-settings.ts'
import type { NetnsState } from '../../ipkeeper-server/ipam/records/standing.ts'
import type { DeathMarks } from '../../ipkeeper-server/ipam/records/attachment-outline.ts'
import { Ledger } from '../../ipkeeper-server/leases/ledger/ledger.ts'
import { ExpiryLoop } from '../../ipkeeper-server/leases/tasks/expire-leases.ts'
import type { NameClaims } from '../../ipkeeper-server/leases/tasks/name-claims.ts'
import { NodePresence } from '../../ipkeeper-server/leases/tasks/node-presence.ts'
import { TimeWriter } from '../../ipkeeper-server/leases/tasks/write-times.ts'
import { applyPools } from '../../ipkeeper-server/leases/verbs/apply-pools.ts'
import { delAttachment, endStrays } from '../../ipkeeper-server/leases/verbs/del.ts'
import { RecentAnswers, Tombstones } from '../../ipkeeper-server/leases/verbs/recent-verbs.ts'
import type { LeaseService } from '../../ipkeeper-server/leases/verbs/service.ts'
import { Serial } from '../../ipkeeper-server/leases/verbs/turns.ts'
import {
  AdoptUnrecorded,
  livingUnrecorded,
  unrecordedOf,
  type UnrecordedOptions,
} from '../../ipkeeper-server/reconcile/adopt-unrecorded.ts'
import { AskedYields } from '../../ipkeeper-server/reconcile/asked-yields.ts'
import { Reconciler } from '../../ipkeeper-server/reconcile/reconciler.ts'
import { SettleAnswers } from '../../ipkeeper-server/reconcile/settle-answers.ts'
import { YieldAddresses } from '../../ipkeeper-server/reconcile/yield-addresses.ts'
import type { KeptResult } from '../../ipkeeper-server/migrate/plan/unrecorded-results.ts'
import type { RuntimeAnswer } from '../../ipkeeper-server/runtime/sandboxes.ts'
import { SharedStore } from '../../ipkeeper-server/store/shared/shared-store.ts'
import { attachmentLiveness, deathOf } from '../../ipkeeper-server/network/pod/attachment-liveness.ts'
import { usualTerms } from '../ipkeeper-server/reconcile/snapshot-words.ts'
import { settingsOf, type PoolForm } from './pools.ts'
import { podNetworkDouble } from '../rigs/pod-network-double.ts'
import type { EngineDouble, EngineSwitches, NodeEngine } from '../rigs/engine-double.ts'
import { leftAloneFor } from './judge.ts'
import { Disk, DiskJournal, DiskMarks } from './disk.ts'
import { Life } from './life.ts'
import type { StoreStatus } from '../../ipkeeper-server/store/lease-store.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface Surroundings {
  readonly time: VirtualTime
  /** From 0 to below 1, for a machine by its number; the same ones in each run of a history. */
  readonly random: (machine: number) => number
  /** undefined: each machine has its ledger to itself. */
  readonly engine: EngineDouble | undefined
  /** Whether the engine writes record by record, as without transactions. */
  readonly piecewise: boolean
  /** Milliseconds for which an address rests. */
  readonly cooldown: number
  /** A sandbox can answer for its addresses no more, since somebody else has them. */
  readonly onCut: (container: string) => void
  /** What a sandbox has is on record again, with what the pool says of its retention. */
  readonly onAdopted: (container: string) => void
  /** What it has cannot be recorded: somebody else has it by the ledger. */
  readonly onNotAdopted: (container: string) => void
  /** Whether machines have a configuration; else they have defaults. */
  readonly configured: boolean
  /** Whether disks are copied and put back: daemons then take up what lives and is not on record, and hardware can be told apart. */
  readonly copies: boolean
  /** What happened within a daemon, for a reader of the story. */
  readonly note: (text: string) => void
}

/** As the runtime tells of it. */
export interface ListedSandbox {
  readonly pod: string
  readonly uid: string
  readonly createdAt: number
  ready: boolean
}

/** lists: what there is. nothing: an empty list, as after its own restart. fails: no list. */
export type RuntimeMood = 'lists' | 'nothing' | 'fails'

/** What is wrong between a machine and the engine. */
export const moods = {
  well: { away: false, lagMs: 0, deaf: false, fate: () => 'carried out' },
  refuses: { away: 'refuses' },
  silent: { away: 'silent' },
  late: { lagMs: 800 },
  deaf: { deaf: true },
  untold: { fate: () => ({ untold: 99 }) },
  tardy: { fate: () => ({ late: 4_000 }) },
  half: { fate: () => ({ untold: 1 }) },
  most: { fate: ({ length }) => ({ untold: length - 1 }) },
  refused: { fate: () => 'refused' },
} as const satisfies Readonly<Record<string, Partial<EngineSwitches>>>

export type Mood = keyof typeof moods

/** Milliseconds after which a call to the engine is given up, as by the client of etcd. */
const deadlineMs = 3_000
/** Milliseconds, as in the unit of systemd. */
const startAgainAfter = 2_000
const socket = '/run/containerd/containerd.sock'

const terms: Omit<PoolBook['standard'], 'cooldown'> = {
  retention: 'release',
  preferFor: leftAloneFor,
  strategy: 'lowest-free',
}

/** A machine with its disk, its clock, its network namespaces and its container runtime. Its daemon comes and goes. */
export class Machine {
  readonly number: number
  /** Whatever it was called by its configuration, the present name last. */
  readonly names: string[]
  readonly around: Surroundings
  /** A real one, for the file that says which node this is. */
  readonly stateDir: string
  disk = new Disk()
  /** Counts up where the folder is made anew, as a copy of it is. */
  folders = 1
  /** By which hardware and installation are told apart. */
  marks: MachineMarks
  /** What libcni keeps of ADDs, by container. */
  readonly results = new Map<string, KeptResult>()
  /** The inode of each network namespace, by container. */
  readonly namespaces = new Map<string, string>()
  readonly listed = new Map<string, ListedSandbox>()
  runtime: RuntimeMood = 'lists'
  mood: Mood = 'well'
  /** What its configuration says. */
  pool: PoolForm = 'whole'
  isOn = true
  /** Somebody puts an older folder in the place of this one's: nobody starts a daemon meanwhile. */
  isPutBack = false
  #boot = 1
  #bootedAt: number
  /** Milliseconds by which somebody has set its clock. */
  clockIsAhead = 0
  daemon: Daemon | undefined

  constructor(number: number, name: string, around: Surroundings, stateDir: string) {
    this.number = number
    this.names = [name]
    this.around = around
    this.stateDir = stateDir
    this.marks = { machineId: `machine ${number}`, ...(around.copies && { hardware: `board ${number}` }) }
    mkdirSync(stateDir)
    this.#bootedAt = around.time.now() - 1_000_000
  }

  /** As configured. */
  get name(): string {
    return this.names.at(-1) ?? ''
  }

  get bootId(): string {
    return `boot-${this.number}-${this.#boot}`
  }

  readonly clocks = {
    wall: (): number => this.around.time.wall() + this.clockIsAhead,
    monotonic: (): number => this.around.time.now() - this.#bootedAt,
    boot: (): number => this.around.time.now() - this.#bootedAt,
  }

  /** Microseconds since its boot, by which plugins date their runs. */
  get moment(): { readonly bootId: string; readonly startedAt: number } {
    return { bootId: this.bootId, startedAt: Math.floor(this.clocks.monotonic() * 1000) }
  }

  /** Resolves when the daemon serves, or was ended before. One that cannot begin is started again, as by systemd. */
  async start(): Promise<void> {
    while (this.isOn && !this.isPutBack && !this.daemon) {
      const daemon = new Daemon(this)
      this.daemon = daemon
      try {
        await Promise.race([daemon.start(), daemon.life.over])
        return
      } catch (error) {
        if (this.daemon !== daemon || !(error instanceof Problem)) throw error
        this.around.note(`${this.name}: cannot begin: ${error.code}`)
        this.kill()
        await this.around.time.pass(startAgainAfter)
      }
    }
  }

  /** As by SIGKILL. */
  kill(): void {
    this.daemon?.end()
    this.daemon = undefined
  }

  /** As by SIGTERM. */
  async stop(): Promise<void> {
    const { daemon } = this
    await daemon?.stop()
    if (this.daemon === daemon) this.kill()
  }

  /** Everything on it ends; what is on its disk stays. */
  powerOff(): void {
    this.kill()
    this.isOn = false
    this.namespaces.clear()
    this.listed.clear()
    // Results of another boot tell nothing.
    this.results.clear()
  }

  powerOn(): void {
    if (this.isOn) return
    this.isOn = true
    this.#boot++
    this.#bootedAt = this.around.time.now()
  }

  turn(mood: Mood): void {
    this.mood = mood
    this.daemon?.connection?.turn({ ...moods.well, ...moods[mood] })
  }
}

const silent = (): void => undefined
const quiet = { info: silent, warn: silent, error: silent, fatal: silent } as unknown as Logger

/** One process of the daemon: the parts of the real one, on simulated edges. */
export class Daemon {
  readonly life = new Life()
  readonly connection: NodeEngine | undefined
  readonly #machine: Machine
  readonly #stopped = Promise.withResolvers<undefined>()
  #service: LeaseService | undefined
  #answers: SettleAnswers | undefined
  #store: SharedStore | DiskJournal | undefined
  #stops: (() => unknown)[] = []
  #book: PoolBook = { pools: [], standard: { ...terms, cooldown: 0 } }
  /** What of the configuration is in force, and since which millisecond. */
  goesBy: { readonly pool: PoolForm; readonly since: number } = { pool: 'whole', since: 0 }
  #configuring: Promise<unknown> = Promise.resolve()
  /** The store has not heard of the pool in force. */
  #owesPools = false
  /** Why everybody is refused while nothing is served. */
  refuses: (() => Error) | undefined
  #serves = false

  constructor(machine: Machine) {
    this.#machine = machine
    const { engine, piecewise, random } = machine.around
    this.connection = engine?.connect({ deadlineMs, piecewise })
    this.connection?.turn({
      slowMs: () => Math.floor(random(machine.number) * 8),
      ...moods[machine.mood],
    })
  }

  /** undefined until it serves. */
  get service(): LeaseService | undefined {
    return this.#serves ? this.#service : undefined
  }

  get answers(): SettleAnswers | undefined {
    return this.#answers
  }

  get status(): StoreStatus | undefined {
    return this.#store instanceof SharedStore ? this.#store.shared.status() : undefined
  }

  end(): void {
    this.life.end()
    this.#serves = false
    void this.connection?.stop()
    this.#stopped.resolve(undefined)
  }

  async stop(): Promise<void> {
    this.#serves = false
    this.#stopped.resolve(undefined)
    await this.#service?.serial.idle()
    for (const stop of this.#stops.toReversed()) await this.life.edge(Promise.resolve(stop()))
    await this.life.edge(Promise.resolve(this.#store?.close()))
  }

  /** In the order of daemon/serve.ts. */
  async start(): Promise<void> {
    const machine = this.#machine
    const { life, connection } = this
    const { disk, stateDir, name, bootId, around } = machine
    const clock = new Clock(machine.clocks)
    const identity = NodeIdentity.open({
      ...{ stateDir, name, now: clock.now, wasInUse: false },
      sight: { marks: machine.marks, bootId, folder: `${stateDir} ${machine.folders}` },
    })
    // As daemon/name-node.ts puts the journal aside.
    if (identity.origin === 'other' && connection) disk.forgetJournal()
    identity.take()
    identity.opened()
    const latency = (): Promise<void> => around.time.pass(Math.floor(around.random(machine.number) * 3))
    const journal = new DiskJournal({
      ...{ disk, life, latency },
      onIndeterminate: what => {
        around.note(`${name}: notes that its write of ${what} may still come`)
      },
    })
    this.#goBy(disk.pool)
    const pools = (): PoolBook => this.#book
    let lost: (had: Parameters<YieldAddresses['lost']>[0]) => void = had => lostEarly.push(had)
    const lostEarly: Parameters<YieldAddresses['lost']>[0][] = []
    /** Set when there are any; the store may speak before. */
    const named: { claims: NameClaims | undefined } = { claims: undefined }
    const store = (this.#store =
      connection === undefined
        ? journal
        : new SharedStore({
            engine: this.#mortal(connection),
            journal,
            names: () => identity.names(),
            claim: identity.lastClaim,
            now: clock.now,
            monotonic: clock.monotonic,
            bootId,
            onStatus: ({ state, reason }) => {
              around.note(`${name}: store ${state}${reason === undefined ? '' : ` (${reason})`}`)
              if (state !== 'ready') return
              named.claims?.askAgain()
              void this.configure()
            },
            onLost: had => {
              lost(had)
            },
            refusesClaims: () => named.claims?.claimRefusal(),
            isSure: () => named.claims?.isAlone() ?? identity.wasSure,
            released: lease => releasedLease(lease, { pools: pools(), now: clock.now() }),
            isOlder: identity.mayBeOlder,
            takesUp: around.copies,
          }))
    const ledger = await Ledger.open(store, clock.now, name, (kind, key) => {
      around.note(`${name}: record ${kind} ${key} is passed over`)
    })
    ledger.subscribe({
      takenAway: had => {
        lost(had)
      },
    })
    const openedAt = clock.monotonic()
    const claims = (named.claims = claimNames({
      identity,
      ledger,
      stateDir,
      logger: quiet,
      onChallenge: () => {
        around.note(`${name}: refuses its name to another machine`)
      },
    }))
    void this.#stopped.promise.then(() => claims?.stop())
    const see = (path: string): NetnsState => {
      const inode = machine.namespaces.get(path.replace(/.*\//, ''))
      return inode === undefined ? { kind: 'absent' } : { kind: 'namespace', inode }
    }
    const here = await nameNode({
      ...{ identity, ledger, claims, logger: quiet, stopped: this.#stopped.promise },
      unrecorded: async () => {
        if (!around.copies) return 'nothing'
        const looked = await livingUnrecorded(
          { ledger, tombstones: new Tombstones() },
          this.#unrecordedBy(see),
        )
        return unrecordedOf(ledger, looked)
      },
      refuse: reason => {
        this.refuses = reason
        return Promise.resolve(async () => {
          this.refuses = undefined
          return Promise.resolve()
        })
      },
    })
    if (here === undefined) return
    const network = podNetworkDouble()
    network.cutOff = async ({ containerId }) => {
      await life.edge(around.time.pass(5))
      around.onCut(containerId)
      return true
    }
    const presence =
      connection &&
      new NodePresence({
        service: { ledger, node: here, now: clock.now },
        ...(claims && { claims }),
        terms: () => ({ byTime: undefined, offlineGrace: 300_000 }),
        addresses: () => Promise.resolve([`192.0.2.${machine.number + 1}`]),
        version: '1.2.3',
        bootClock: clock.boot,
        onError: silent,
      })
    const isForgotten = (other: string): boolean => ledger.node(other)?.gone !== undefined
    const service: LeaseService = {
      ...{ ledger, node: here, bootId, network, openedAt, isForgotten },
      now: clock.now,
      monotonic: clock.monotonic,
      pools,
      serial: new Serial(),
      tombstones: new Tombstones(),
      answers: new RecentAnswers(),
      wasAnswered: attachment => answers.wasAnswered(attachment),
      isOurs: () => claims?.isSure() !== false,
      ...(presence && { contactAgeOf: other => presence.contactAgeOf(other) }),
      refusal: () => claims?.refusal() ?? presence?.refusal(),
      liveness: attachment => attachmentLiveness(attachment, here, bootId, () => 'unknown', isForgotten, see),
      lostNode: null,
      ownerOf: () => undefined,
    }
    const answers = new SettleAnswers({
      service,
      marks: new DiskMarks(disk, life),
      ...(around.copies && {
        hasResult: ({ containerId }) => life.edge(Promise.resolve(machine.results.has(containerId))),
      }),
      monotonic: clock.monotonic,
      onUndone: ({ containerId }) => {
        around.note(`${here}: undid the ADD of ${containerId}`)
      },
      onError: silent,
    })
    this.#service = service
    this.#answers = answers
    const times = new TimeWriter(service, silent)
    clock.onJump = ({ by }) => {
      around.note(`${here}: sees that its clock was set`)
      ledger.shiftTimes(by)
      times.wake()
    }
    const expiry = new ExpiryLoop(service, silent, lease => {
      around.note(`${here}: ${lease.address} is kept no longer`)
      const duties = { node: here, elected: undefined, isGone: () => false }
      return !ledger.isShared || tidiesUp(duties, lease, clock.now())
    })
    ledger.subscribe({
      kept: () => {
        expiry.wake()
      },
    })
    expiry.wake()
    const yielding = new YieldAddresses({ service, onCut: silent, onError: silent })
    const askedYields = new AskedYields({ service, onDone: silent, onError: silent })
    await this.#drain()
    await answers.begin()
    ledger.subscribe({
      stray: key => {
        around.note(`${here}: has a lease of ${key.containerId}, of which it knows nothing else`)
      },
      unanswered: () => {
        answers.wake()
      },
    })
    endStrays(service, silent)
    lost = had => {
      yielding.lost(had)
    }
    lostEarly.forEach(lost)
    await yielding.begin()
    await askedYields.begin()
    const unrecorded = (this.#unrecorded = around.copies ? this.#adoptUnrecorded(service, see) : undefined)
    await unrecorded?.begin()
    if (around.configured) await this.#beginPools(service)
    await presence?.start()
    const death = (attachment: DeathMarks): ReturnType<typeof deathOf> =>
      deathOf(attachment, here, bootId, see)
    const reconciler = new Reconciler({
      service,
      settings: () => usualTerms,
      death,
      reach: () => Promise.resolve(),
      runtimes: {
        list: () => Promise.resolve(this.#list()),
        addressesOf: () => Promise.resolve([]),
        conditions: () => Promise.resolve([]),
        close: silent,
      },
      links: () => Promise.resolve([]),
      removeLink: () => Promise.resolve(false),
      kernelAddresses: () => Promise.resolve(undefined),
      pods: undefined,
      otherLooks: () => [],
      onFound: silent,
      onRepaired: ({ says }) => {
        around.note(`${here}: repaired: ${says}`)
      },
      onError: silent,
    })
    this.#stops = [
      () => claims?.stop(),
      () => unrecorded?.stop(),
      () => askedYields.stop(),
      () => yielding.stop(),
      () => presence?.stop(),
      () => expiry.stop(),
      () => times.stop(),
      () => answers.stop(),
      () => reconciler.stop(),
    ]
    this.#serves = !life.isOver
    answers.start()
    reconciler.start()
    times.wake()
    around.note(`${here}: serves`)
    void this.#keepDraining()
  }

  #unrecorded: AdoptUnrecorded | undefined

  #unrecordedBy(namespaceAt: (path: string) => NetnsState): UnrecordedOptions {
    return {
      facts: { namespaceAt, reachNetns: () => Promise.resolve() },
      results: () => this.life.edge(Promise.resolve([...this.#machine.results.values()])),
    }
  }

  /** As daemon/assemble-repairs.ts. */
  #adoptUnrecorded(service: LeaseService, namespaceAt: (path: string) => NetnsState): AdoptUnrecorded {
    const { around, name } = this.#machine
    return new AdoptUnrecorded({
      service,
      ...this.#unrecordedBy(namespaceAt),
      onAdopted: ({ address, containerId }) => {
        around.note(`${name}: records ${address} of ${containerId ?? 'nobody'} again`)
        around.onAdopted(containerId ?? '')
      },
      onRefused: ({ segment, address, containerId, verdict }) => {
        around.note(`${name}: cannot record ${address} of ${containerId ?? 'nobody'} again: ${verdict}`)
        const isOthers = service.ledger.lease({ segment, address }) !== undefined
        if (verdict !== 'unfit' && isOthers) around.onNotAdopted(containerId ?? '')
      },
      onError: silent,
    })
  }

  #goBy(pool: PoolForm): void {
    const { around } = this.#machine
    const standard = { ...terms, cooldown: around.cooldown }
    this.#book = { pools: around.configured ? [settingsOf(pool, standard)] : [], standard }
    this.goesBy = { pool, since: around.time.now() }
  }

  /** As daemon/follow-config.ts does before anybody is served. */
  async #beginPools(service: LeaseService): Promise<void> {
    if ((await this.#putInForce(service)) === 'applied') return
    try {
      await this.#publish(service)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'IPK_STORE_AWAY') throw error
      this.#owesPools = true
    }
  }

  async #publish(service: LeaseService): Promise<void> {
    await this.life.edge(applyPools(service, this.#book.pools, silent))
    this.#owesPools = false
  }

  /** What the configuration says is put in force; what is refused leaves what was. To be called after each change of it. */
  async configure(): Promise<void> {
    const service = this.#serves ? this.#service : undefined
    if (!service || !this.#machine.around.configured) return
    await this.#putInForce(service)
    const isLost = this.#book.pools.some(({ pool }) => service.ledger.pool(pool.name) === undefined)
    if (this.#owesPools || isLost) await this.#publish(service).catch(silent)
  }

  async #putInForce(service: LeaseService): Promise<'applied' | 'refused' | 'unchanged'> {
    const machine = this.#machine
    const turn = this.#configuring.then(async () => {
      const [next, previous] = [machine.pool, this.goesBy.pool]
      if (next === previous) return 'unchanged'
      try {
        const settings = [settingsOf(next, this.#book.standard)]
        const putInForce = (): void => {
          this.#goBy(next)
        }
        await this.life.edge(applyPools(service, settings, putInForce, this.#book.pools))
        machine.disk.pool = next
        machine.around.note(`${machine.name}: goes by the pool ${next}`)
        await this.#unrecorded?.poolsChanged()
        return 'applied'
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        this.#goBy(previous)
        machine.around.note(`${machine.name}: refuses the pool ${next}: ${error.code}`)
        return 'refused'
      }
    })
    this.#configuring = turn.catch(silent)
    return await turn
  }

  #list(): readonly RuntimeAnswer[] {
    const { runtime, listed } = this.#machine
    if (runtime === 'fails') return [{ socket, state: 'failed', reason: 'it does not answer' }]
    const sandboxes =
      runtime === 'nothing'
        ? []
        : Array.from(listed, ([id, { pod, ...rest }]) => ({ id, namespace: 'shop', name: pod, ...rest }))
    return [{ socket, state: 'listed', sandboxes }]
  }

  /** Carries out the DELs that plugins queued; what cannot be done now stays. */
  async #drain(): Promise<void> {
    const { disk } = this.#machine
    for (const queued of [...disk.queue]) {
      try {
        if (!this.#service) return
        await this.life.edge(delAttachment(this.#service, queued.key, queued.began))
        disk.queue = disk.queue.filter(one => one !== queued)
        this.#machine.around.note(`the queued DEL of ${queued.key.containerId} is carried out`)
      } catch {
        // It is tried again.
      }
    }
  }

  async #keepDraining(): Promise<void> {
    for (;;) {
      await this.life.edge(this.#machine.around.time.pass(5_000))
      if (!this.#serves) return
      if (this.#machine.disk.queue.length > 0) await this.#drain()
    }
  }

  /** The engine, as a process sees it that may be killed. */
  #mortal(engine: NodeEngine): NodeEngine {
    const { life } = this
    return {
      kind: engine.kind,
      location: engine.location,
      ignores: engine.ignores,
      fences: engine.fences,
      turn: switches => {
        engine.turn(switches)
      },
      commits: () => engine.commits(),
      start: feed => {
        engine.start({
          replace: (...news) => {
            if (!life.isOver) feed.replace(...news)
          },
          broke: reason => {
            if (!life.isOver) feed.broke(reason)
          },
          put: record => {
            if (!life.isOver) feed.put(record)
          },
          remove: (kind, key) => {
            if (!life.isOver) feed.remove(kind, key)
          },
          trouble: reason => {
            if (!life.isOver) feed.trouble(reason)
          },
        })
      },
      read: (kind, key) => life.edge(engine.read(kind, key)),
      commit: writes => life.edge(engine.commit(writes)),
      probe: () => life.edge(engine.probe()),
      fence: () => life.edge(engine.fence()),
      stop: () => engine.stop(),
    }
  }
}
