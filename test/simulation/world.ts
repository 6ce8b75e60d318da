import type { AttachmentKey } from '../../ipkeeper-server/ipam/records/records.ts'
import { parseRetention } from '../../ipkeeper-server/ipam/records/retention.ts'
import type { AddRequest } from '../../ipkeeper-server/ipam/request/add-request.ts'
import { parseAddressRequest } from '../../ipkeeper-server/ipam/request/parse-addresses.ts'
import { noRequest } from '../../ipkeeper-server/ipam/request/request.ts'
import { addAttachment } from '../../ipkeeper-server/leases/verbs/add.ts'
import { judgePods } from '../../ipkeeper-server/http/webhook/plan/judge-pods.ts'
import { knownPools } from '../../ipkeeper-server/http/webhook/plan/known-pools.ts'
import { checkAttachment } from '../../ipkeeper-server/leases/verbs/check.ts'
import { delAttachment } from '../../ipkeeper-server/leases/verbs/del.ts'
import { forceRelease } from '../../ipkeeper-server/leases/verbs/force-release.ts'
import { forgetNode } from '../../ipkeeper-server/leases/verbs/forget-node.ts'
import { collectGarbage } from '../../ipkeeper-server/leases/verbs/gc.ts'
import { release } from '../../ipkeeper-server/leases/verbs/release.ts'
import { reserve, unreserve } from '../../ipkeeper-server/leases/verbs/reserve.ts'
import type { LeaseService } from '../../ipkeeper-server/leases/verbs/service.ts'
import { checkAvailability } from '../../ipkeeper-server/leases/verbs/status.ts'
import type { KeptResult } from '../../ipkeeper-server/migrate/plan/unrecorded-results.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { EngineDouble, type Snapshot } from '../rigs/engine-double.ts'
import { makeTempFolder } from '../rigs/temp-folder.ts'
import { Copies, emptyFolder } from './copies.ts'
import { Disk } from './disk.ts'
import { answers, Doubts } from './doubts.ts'
import { Draws } from './draws.ts'
import { Judge, type Wish } from './judge.ts'
import { Machine, type Daemon, type Surroundings } from './machine.ts'
import { poolForms, type PoolForm } from './pools.ts'
import { isThere, type Sandbox, type State } from './sandbox.ts'
import { describeStep, machinesOf, wishes, type History, type Step } from './steps.ts'
import type { VirtualTime } from './virtual-time.ts'

const names = ['n0', 'n1', 'n2', 'n3']

const minute = 60_000
/** After which a machine may need some time to be well. */
const disturbing: ReadonlySet<Step['do']> = new Set(['engine', 'restart', 'power', 'put back', 'clone'])
/** Milliseconds that operators wait for a node's answer: less than they do, so that seeds of old play what they played. */
const answerWithin = 5_000
/** Milliseconds of a run of the plugin. */
const pluginRuns = 30_000
/** Refusals before anything was given. */
const certain: ReadonlySet<string> = new Set([
  ...['IPK_ADDRESS_HELD', 'IPK_ADDRESS_KEPT', 'IPK_ADDRESS_RESERVED', 'IPK_HOLDER_LIVE', 'IPK_MAC_TAKEN'],
  ...['IPK_NODE_NAME_TAKEN', 'IPK_POOL_DRAINING', 'IPK_POOL_FULL', 'IPK_STORE_INCOMPLETE'],
])
/** The answer of a daemon that leaves a pod to the fallback. */
const leftToFallback = 'left to the fallback'
/** Two minutes apart: what a sandbox that got no DEL had may be kept for an hour from when that was noticed. */
const tries = 36
/** Whose draws those at the end are: of no machine. */
const atEnd = 100
/** How the line of a story begins that tells of a violation, behind its second. */
export const wrong = 'WRONG: '

/** A few machines with their runtimes, what they share, and the people who work with them. */
export class World {
  readonly judge: Judge
  /** What happened, with its moment. */
  readonly story: string[] = []
  readonly #time: VirtualTime
  readonly #draws: Draws
  readonly #engine: EngineDouble | undefined
  readonly #machines: Machine[]
  readonly #around: Surroundings
  readonly #copies: Copies
  readonly #doubts: Doubts
  readonly #folder = makeTempFolder()
  readonly #sandboxes: Sandbox[] = []
  /** Those whose DEL was asked for. */
  readonly #deleted = new Set<Sandbox>()
  /** What operators have seen that they would release by force. */
  readonly #mayBeReleased = new Set<string>()
  readonly #underWay = new Set<Promise<void>>()
  #numbers = 0
  #snapshot: Snapshot | undefined
  /** Machines that are off, and that an operator has said are gone for good. */
  readonly #lost = new Set<Machine>()
  #restores = 0
  /** The engine has gone back, or may seem to have by the journal of a machine that did, or has a twin. */
  #mayMiss = false
  /** By address, for which pod; also where that could not be said. */
  readonly #moved = new Map<string, string>()
  /** When an address was last taken back from whom it was reserved for. */
  readonly #unreserved = new Map<string, number>()
  /** When something happened last to a machine, its daemon, or its way to the store. */
  readonly #disturbedAt = new Map<Machine, number>()
  /** Whether two machines may have had one name. */
  #namesChanged = false
  /** Of the conflist. */
  readonly #fallback: string | null
  /** Nobody gets another name any more. */
  #isOver = false

  constructor(
    time: VirtualTime,
    { kind, seed, configured, copies }: Pick<History, 'kind' | 'seed' | 'configured' | 'copies'>,
    engine: EngineDouble,
  ) {
    this.#time = time
    this.#fallback = configured === true && seed % 4 >= 2 ? 'host-local' : null
    this.#draws = new Draws(seed, time.now)
    this.judge = new Judge(time.now, ({ invariant, says }) => {
      this.#say(`${wrong}${invariant}: ${says}`)
    })
    this.#engine = kind === 'embedded' ? undefined : engine
    this.#doubts = new Doubts({
      ...{ judge: this.judge, now: time.now, sandboxes: this.#sandboxes, isShared: kind !== 'embedded' },
    })
    const around: Surroundings = {
      time,
      random: (number: number) => this.#draws.next(number),
      engine: this.#engine,
      piecewise: kind === 'piecewise',
      configured: configured === true,
      copies: copies === true,
      // What becomes free at once can be given away at once.
      cooldown: seed % 2 === 0 ? minute : 0,
      onCut: (container: string): void => {
        this.#say(`${container} is cut off`)
        this.judge.cutOff(container, this.#restores > 0 || this.#mayBeReleased.has(container))
        for (const sandbox of this.#sandboxes)
          if (sandbox.container === container) Object.assign(sandbox, { isDisowned: false, isCutOff: true })
      },
      onAdopted: (container: string): void => {
        const sandbox = this.#sandboxes.find(one => one.container === container)
        if (sandbox) this.#doubts.adopted(sandbox)
      },
      onNotAdopted: (container: string): void => {
        // An operator is told to delete one of the two.
        const sandbox = this.#sandboxes.find(one => one.container === container)
        if (!sandbox || !(this.judge.owns(container) || sandbox.isDisowned === true)) return
        Object.assign(sandbox, { isDisowned: true, isUnrecorded: true })
        this.judge.ended(container)
      },
      note: (text: string): void => {
        this.#say(text)
        if (text.includes('is passed over')) this.judge.complain('no record is passed over', text)
      },
    }
    this.#around = around
    this.#machines = Array.from({ length: machinesOf(kind) }, (_, number) => this.#makeMachine(number))
    this.#copies = new Copies({
      pass: time.pass,
      switchOff: machine => {
        this.#switchOff(machine)
      },
      switchOn: machine => this.#switchOn(machine),
      rename: (machine, name) => {
        this.#namesChanged = true
        machine.names.push(name)
      },
      addMachine: () => {
        const number = machinesOf(kind)
        if (this.#machines.length > number || this.#isOver) return undefined
        const machine = this.#makeMachine(number)
        machine.isOn = false
        this.#machines.push(machine)
        return machine
      },
      onGoneBack: machine => {
        this.#disturbedAt.set(machine, this.#time.now())
        if (!this.#engine) this.#restores++
        this.#mayMiss = true
        this.#doubts.goneBack(machine, this.#restores > 0)
      },
      onTwin: (twin, original) => {
        this.#mayMiss = true
        this.#doubts.twin(twin, original)
      },
    })
  }

  #makeMachine(number: number): Machine {
    return new Machine(number, names[number] ?? '', this.#around, this.#folder.file(`machine-${number}`))
  }

  async begin(): Promise<void> {
    await Promise.all(this.#machines.map(machine => machine.start()))
    // As of yesterday; it counts only in histories in which something is put back.
    for (const machine of this.#machines) this.#copies.take(machine)
  }

  /** Nothing that was begun is waited for. */
  play(step: Step): void {
    this.#doubts.believeAgain()
    this.#doubts.doubtUntold()
    this.#say(describeStep(step))
    if ('on' in step && step.do !== 'start') this.#doubts.noLongerWell(this.#machine(step.on))
    if (disturbing.has(step.do) && 'on' in step)
      this.#disturbedAt.set(this.#machine(step.on), this.#time.now())
    const work = this.#work(step)
    this.#doubts.doubtTwins(disturbing.has(step.do) && 'on' in step ? this.#machine(step.on) : undefined)
    this.#doubts.doubtDeclared()
    if (!work) return
    const counted = work.finally(() => this.#underWay.delete(counted))
    this.#underWay.add(counted)
  }

  #work(step: Step): Promise<void> | undefined {
    switch (step.do) {
      case 'start':
        return this.#start(step)
      case 'stop': {
        const sandbox = pick(this.#of('running', 'refused'), step.which)
        return sandbox && this.#stop(sandbox, step.dies)
      }
      case 'DEL again': {
        const sandbox = pick(this.#of('gone'), step.which)
        return sandbox?.machine.isOn === true ? this.#del(sandbox) : undefined
      }
      case 'CHECK': {
        const sandbox = pick(this.#of('running'), step.which)
        return sandbox && this.#check(sandbox)
      }
      case 'GC':
        return this.#collect(this.#machine(step.on), step.late)
      case 'engine':
        this.#machine(step.on).turn(step.is)
        return undefined
      case 'runtime':
        this.#machine(step.on).runtime = step.is
        return undefined
      case 'restart':
        this.#namesChanged ||= step.name !== undefined
        return this.#restart(step)
      case 'power':
        return this.#power(this.#machine(step.on), step.away)
      case 'clock':
        this.#setClock(this.#machine(step.on), step.by)
        return undefined
      case 'forget':
        return this.#forget(this.#machine(step.on), step.name)
      case 'reserve':
      case 'unreserve':
        return this.#reserve(step)
      case 'release':
        return this.#ask(this.#machine(step.on), async service => {
          const address = `10.22.0.${step.number}`
          // Whoever could not say that it is done may have done it.
          this.judge.keptNoMore(address)
          await release(service, 'default', address)
          this.judge.keptNoMore(address)
        })
      case 'release --force':
        return this.#force(step)
      case 'move':
        return this.#move(step)
      case 'configure':
        return this.#configure(this.#machine(step.on), step.as)
      case 'review':
        return this.#review(this.#machine(step.on), step.pod)
      case 'STATUS':
        return this.#status(this.#machine(step.on))
      case 'copy':
        this.#copies.take(this.#machine(step.on))
        return undefined
      case 'put back':
        return this.#copies.putBack(this.#machine(step.on), step)
      case 'clone':
        return this.#copies.clone(this.#machine(step.on), step)
      case 'compact':
        this.#engine?.compact()
        return undefined
      case 'snapshot':
        this.#snapshot = this.#engine?.snapshot()
        return undefined
      case 'restore':
        this.#restores++
        this.#mayMiss = true
        for (const machine of this.#machines) this.#disturbedAt.set(machine, this.#time.now())
        if (!step.seen) {
          this.#doubts.unseenLoss(this.#machines)
        }
        this.#engine?.restore(step.wiped ? undefined : this.#snapshot, step.seen)
        this.#doubts.engineLost()
        this.judge.unreservedAll()
        for (const { given } of this.#sandboxes) if (given) this.judge.keptNoMore(given.address)
        return undefined
    }
  }

  // ---- Pods

  async #start({ pod, on, as, killed }: Step & { readonly do: 'start' }): Promise<void> {
    const wish = wishes[pod]
    const machine = this.#machine(on)
    const isOn = (): boolean => machine.isOn
    if (!wish || !isOn()) return
    const former = this.#sandboxes.findLast(sandbox => sandbox.wish === wish)
    // A kubelet does one thing at a time with a pod.
    if (former?.state === 'asked' || former?.state === 'ending') return
    const isRunning =
      former?.state === 'running' && (this.judge.owns(former.container) || former.isDisowned === true)
    if (as === 'same' && former) {
      // It is the kubelet of its machine that starts it again, once its processes have ended.
      if (!former.machine.isOn || former.machine.bootId !== former.bootId) return
      if (isRunning) this.#die(former, false)
      await this.#run(former.machine, wish, former.uid, killed)
      return
    }
    if (former && isRunning && as === 'new' && former.isDisowned !== true) await this.#stop(former)
    if (isOn()) await this.#run(machine, wish, `uid-${++this.#numbers}`, killed)
  }

  /** Resolves when the ADD of a new sandbox has ended, and a failed one has been tidied up. */
  async #run(
    machine: Machine,
    wish: Wish,
    uid: string,
    killed: number | undefined,
  ): Promise<Sandbox | Problem> {
    const container = `c${++this.#numbers}`
    const sandbox: Sandbox = { container, wish, uid, machine, bootId: machine.bootId, state: 'asked' }
    this.#sandboxes.push(sandbox)
    machine.namespaces.set(container, String(this.#numbers))
    machine.listed.set(container, { pod: wish.pod, uid, createdAt: machine.clocks.wall(), ready: true })
    const asked = this.#time.now()
    const answer = await this.#add(sandbox, killed)
    if (!isThere(sandbox)) {
      sandbox.state = 'gone'
      this.judge.mayHaveGot(wish.pod)
      return new Problem('IPK_INTERRUPTED', 'the machine went off')
    }
    if (typeof answer === 'string') {
      this.#doubts.doubtUntold()
      sandbox.state = 'running'
      const byFallback = machine.disk.fallback.get(container) === answer
      sandbox.given = { container, machine: machine.number, wish, address: answer, byFallback }
      machine.results.set(container, this.#resultOf(sandbox, answer))
      if (this.#fallback !== null) this.judge.servedBy(sandbox.given)
      const former = this.#sandboxes.findLast(
        other => other.given?.address === answer && other.wish === wish && other !== sandbox,
      )
      const isTakenOver = former && former.machine !== machine && !this.#deleted.has(former)
      this.#say(
        `${container} of ${wish.pod} on ${machine.name} has ${answer}` +
          (isTakenOver ? `, taken over from ${former.container} on ${former.machine.name}` : '') +
          (this.#moved.get(answer) === wish.pod ? ', which was moved to it' : '') +
          (byFallback ? ' by the fallback' : ''),
      )
      this.#doubts.doubtTwins()
      const { goesBy } = machine.daemon ?? {}
      if (goesBy && goesBy.since < asked && !byFallback)
        this.judge.fromPool(sandbox.given, poolForms[goesBy.pool])
      if (goesBy) this.judge.leftOut(sandbox.given, poolForms[goesBy.pool])
      this.judge.got(sandbox.given)
      if (this.#doubts.has(machine)) {
        sandbox.isDisowned = true
        this.judge.disowned(sandbox.given)
      } else if (sandbox.isCutOff !== true) this.judge.answered(sandbox.given, asked, machine.mood !== 'well')
      return sandbox
    }
    this.#say(`${container} of ${wish.pod} on ${machine.name} is refused: ${answer.code}`)
    this.judge.refusedAdd(container, answer.code, this.#mayMiss)
    if (!certain.has(answer.code)) this.judge.mayHaveGot(wish.pod)
    sandbox.state = 'refused'
    // Some runtimes do not send the DEL of an ADD that failed.
    if (this.#draws.next(machine.number) < 0.8) await this.#del(sandbox)
    this.#vanish(sandbox)
    return answer
  }

  async #stop(sandbox: Sandbox, dies?: 'first' | 'without a DEL'): Promise<void> {
    if (!isThere(sandbox)) return
    if (dies) this.#die(sandbox, true)
    if (dies !== 'without a DEL') await this.#del(sandbox)
    this.#vanish(sandbox)
  }

  /** Its processes have ended, and with them its namespace where nothing else holds that. */
  #die(sandbox: Sandbox, withNamespace: boolean): void {
    const { container, machine } = sandbox
    this.judge.ended(container)
    sandbox.isDisowned = false
    this.#say(`${container} has died`)
    const listed = machine.listed.get(container)
    if (listed) listed.ready = false
    if (withNamespace) machine.namespaces.delete(container)
  }

  /** The runtime has forgotten it. */
  #vanish(sandbox: Sandbox): void {
    const { container, machine } = sandbox
    if (sandbox.state === 'running' || sandbox.state === 'refused' || sandbox.state === 'ending')
      sandbox.state = 'gone'
    this.judge.ended(container)
    machine.namespaces.delete(container)
    machine.listed.delete(container)
    machine.results.delete(container)
  }

  // ---- The plugin

  /** The address, or why there is none. */
  async #add(sandbox: Sandbox, killed: number | undefined): Promise<string | Problem> {
    const { machine } = sandbox
    const run = `run-${++this.#numbers}`
    let request = this.#request(sandbox, run)
    let given = ''
    const began = this.#time.now()
    const ends = Promise.withResolvers<'killed'>()
    let isOver = false
    const isGone = (): boolean => isOver
    if (killed !== undefined)
      setTimeout(() => {
        isOver = true
        ends.resolve('killed')
      }, killed)
    setTimeout(() => {
      isOver = true
      ends.resolve('killed')
    }, pluginRuns)
    await this.#travel(machine)
    for (;;) {
      if (!isThere(sandbox) || isGone()) return new Problem('IPK_INTERRUPTED', 'the plugin ended')
      const { daemon } = machine
      if (daemon?.refuses) return toProblem(daemon.refuses())
      if (!daemon?.service) {
        if (this.#time.now() - began > 10_000) return new Problem('IPK_DAEMON_UNREACHABLE', 'no daemon')
        await this.#time.pass(250)
        continue
      }
      const answer = await Promise.race([
        this.#served(daemon, request, isGone),
        daemon.life.over,
        ends.promise,
      ])
      sandbox.isAnswered = answer !== undefined && answer !== 'killed'
      await this.#travel(machine)
      // The daemon was killed: the same run asks the next one.
      if (answer === undefined) continue
      if (answer === 'killed' || isGone()) return new Problem('IPK_INTERRUPTED', 'the plugin was killed')
      if (answer instanceof Problem) {
        // What it gave may not stand, or nobody knows whether it may.
        if (machine.disk.fallback.delete(sandbox.container)) await this.#del(sandbox)
        return answer
      }
      if (answer === leftToFallback && request.given.length === 0) {
        given = this.#giveByFallback(machine, sandbox.container)
        await this.#travel(machine)
        request = { ...request, given: [`${given}/28`] }
        continue
      }
      if (!isThere(sandbox)) return new Problem('IPK_INTERRUPTED', 'the machine went off')
      const { marks } = machine.disk
      if (marks.has(run)) {
        await this.#del(sandbox)
        return new Problem('IPK_ANSWER_UNMARKED', 'the daemon has undone it')
      }
      marks.set(run, 'plugin')
      return answer === leftToFallback ? given : answer
    }
  }

  async #served(daemon: Daemon, request: AddRequest, gone: () => boolean): Promise<string | Problem> {
    const { service, answers, life } = daemon
    if (!service || !answers) return new Problem('IPK_DAEMON_UNREACHABLE', 'no daemon')
    try {
      await life.edge(answers.askedAgain(request.invocationId ?? undefined))
      const { answer } = await life.edge(
        addAttachment(
          service,
          { ...request, node: service.node, place: { ...request.place, node: service.node } },
          { gone },
        ),
      )
      if (answer.kind !== 'result') return leftToFallback
      return answer.result.ips.map(({ address }) => address.replace(/\/.*/, '')).join()
    } catch (error) {
      return toProblem(error)
    }
  }

  /** As host-local, with a range of its own; now and then of another one, which somebody has set up wrongly. */
  #giveByFallback({ number, disk }: Machine, container: string): string {
    const isWrong = this.#draws.next(number) < 0.1
    const taken = new Set(disk.fallback.values())
    let last = 2
    while (taken.has(`10.23.${number}.${last}`)) last++
    const address = isWrong ? '10.22.0.7' : `10.23.${number}.${last}`
    disk.fallback.set(container, address)
    return address
  }

  /** A DEL succeeds always: where nobody carries it out, it waits on the disk. */
  async #del(sandbox: Sandbox): Promise<void> {
    const { machine, container, given } = sandbox
    this.judge.ended(container)
    this.#deleted.add(sandbox)
    const wasRunning = sandbox.state === 'running'
    const asked = this.#time.now()
    if (sandbox.state !== 'asked' && sandbox.state !== 'gone') sandbox.state = 'ending'
    const began = machine.moment
    await this.#travel(machine)
    if (!isThere(sandbox)) return
    const { daemon } = machine
    const done =
      daemon?.service &&
      (await Promise.race([
        daemon.life.edge(delAttachment(daemon.service, keyOf(sandbox), began)).then(
          ({ delegatedTo }) => {
            if (delegatedTo !== null) machine.disk.fallback.delete(container)
            return true
          },
          () => false,
        ),
        daemon.life.over,
        this.#time.pass(10_000),
      ]))
    if (!isThere(sandbox)) return
    if (done !== true) {
      machine.disk.queue.push({ key: keyOf(sandbox), began })
      machine.disk.fallback.delete(container)
    }
    this.#say(`the DEL of ${container} is ${done === true ? 'done' : 'queued'}`)
    const clocks = new Set(this.#machines.map(({ clockIsAhead }) => clockIsAhead))
    // Who is deaf may still go by what the engine was.
    const mayBeBehind = this.#restores > 0 && machine.mood !== 'well'
    const isSure = clocks.size === 1 && !mayBeBehind && sandbox.isKeptForNobody !== true
    if (given && wasRunning) this.judge.deleted(given, isSure, asked)
  }

  async #check(sandbox: Sandbox): Promise<void> {
    const { container, given, machine } = sandbox
    await this.#ask(machine, async service => {
      if (!this.judge.owns(container) || !given || given.byFallback || this.#isBehind(machine)) return
      try {
        await checkAttachment(service, { key: keyOf(sandbox), expected: [`${given.address}/28`] })
      } catch (error) {
        if (this.judge.owns(container) && toProblem(error).code === 'IPK_LEASE_MISSING')
          this.judge.complain(
            'a node has what it answered',
            `CHECK of ${container}: ${toProblem(error).message}`,
          )
      }
    })
  }

  /** What is not on record any more can be recorded again once the store is there, and all have reported. */
  #isBehind(machine: Machine): boolean {
    const isReady = machine.mood === 'well' && machine.daemon?.status?.state === 'ready'
    return this.#doubts.hasGoneBack(machine) && !isReady
  }

  /** The list is made now, of those whose ADD was answered, and comes to the daemon so many milliseconds later. */
  async #collect(machine: Machine, late: number): Promise<void> {
    const began = machine.moment
    const valid = this.#sandboxes
      .filter(sandbox => sandbox.machine === machine && machine.listed.has(sandbox.container))
      .filter(({ state, isAnswered }) => state !== 'asked' || isAnswered)
      .map(({ container }) => ({ containerId: container, ifname: 'eth0' }))
    await this.#time.pass(late)
    if (machine.bootId !== began.bootId) return
    await this.#ask(machine, async service => {
      await collectGarbage(service, { network: 'net', valid, began }, 5 * minute)
    })
  }

  // ---- Machines and people

  async #restart({ on, killed, away, name }: Step & { readonly do: 'restart' }): Promise<void> {
    const machine = this.#machine(on)
    if (!machine.isOn) return
    if (killed) machine.kill()
    else await machine.stop()
    if (name !== undefined && !this.#isOver) machine.names.push(names[name] ?? machine.name)
    if (away === undefined) return
    await this.#time.pass(away)
    await machine.start()
  }

  async #power(machine: Machine, away: number | undefined): Promise<void> {
    if (!machine.isOn) return
    this.#switchOff(machine)
    if (away === undefined) return
    await this.#time.pass(away)
    await this.#switchOn(machine)
  }

  #switchOff(machine: Machine): void {
    for (const sandbox of this.#sandboxes)
      if (sandbox.machine === machine && sandbox.state !== 'gone') {
        this.judge.ended(sandbox.container)
        if (sandbox.state !== 'asked') sandbox.state = 'gone'
      }
    machine.powerOff()
  }

  async #switchOn(machine: Machine): Promise<void> {
    if (this.#lost.delete(machine)) this.judge.mustGo(this.#containersOn(machine))
    machine.powerOn()
    await machine.start()
  }

  #containersOn(machine: Machine): readonly string[] {
    return this.#sandboxes.filter(sandbox => sandbox.machine === machine).map(({ container }) => container)
  }

  /** A daemon sees it unless it ends first; what is kept by a clock that was set cannot be relied on. */
  #setClock(machine: Machine, by: number): void {
    machine.clockIsAhead += by
    if (by === 0) return
    this.#doubts.clockWasSet(machine)
    for (const { given } of this.#sandboxes) if (given) this.judge.keptNoMore(given.address)
  }

  /** An operator says so of machines that are off, or cannot be reached; where there are none, of another one by mistake. */
  async #forget(machine: Machine, number: number): Promise<void> {
    const silent = this.#machines.filter(other => !answers(other))
    const name = pick(silent, number)?.name ?? names[number] ?? ''
    const gone: Machine[] = []
    const meant = this.#machines.filter(other => other.names.includes(name))
    let endDeclaring: (() => void) | undefined
    await this.#ask(machine, async service => {
      endDeclaring = this.#doubts.declaring(meant)
      await forgetNode(service, name, { answerWithin })
      this.#say(`${name} is declared gone`)
      for (const other of meant)
        if (!other.isOn && other.name === name) {
          this.#lost.add(other)
          this.judge.mayStay(this.#containersOn(other))
        }
      gone.push(...meant.filter(other => !answers(other)))
    })
    endDeclaring?.()
    // Their pods are to run elsewhere.
    for (const [pod, wish] of wishes.entries()) {
      const former = this.#sandboxes.findLast(sandbox => sandbox.wish === wish)
      if (former?.given && gone.includes(former.machine) && !this.judge.hasPod(wish.pod))
        await this.#start({ do: 'start', pod, on: machine.number, as: 'forced' })
    }
  }

  /** As operators do it with a machine that has the disk of another one: docs/operations/node-identity.md. */
  async #beginAnew(twin: Machine): Promise<void> {
    for (const sandbox of this.#of('running', 'refused'))
      if (sandbox.machine === twin) await this.#stop(sandbox)
    twin.kill()
    emptyFolder(twin.stateDir)
    // Another plugin's files are none of its state folder's.
    twin.disk = Object.assign(new Disk(), { fallback: twin.disk.fallback })
    twin.folders++
    this.#doubts.noTwin(twin)
  }

  async #reserve({ do: verb, on, pod }: Step & { readonly do: 'reserve' | 'unreserve' }): Promise<void> {
    const { pod: owner, ip } = wishes[pod] ?? {}
    if (owner === undefined || ip === undefined) return
    await this.#ask(this.#machine(on), async service => {
      if (verb === 'unreserve') {
        // From when it is asked for on, nobody may rely on it.
        this.judge.unreserved(ip)
        // What nobody was told to be done may be done later.
        this.#unreserved.set(ip, Infinity)
        await unreserve(service, 'default', ip)
        this.#unreserved.set(ip, this.#time.now())
      } else await this.#promise(service, ip, { owner, moves: false })
    })
  }

  async #promise(
    service: LeaseService,
    address: string,
    { owner, moves }: { readonly owner: string; readonly moves: boolean },
  ): Promise<void> {
    const [restores, began] = [this.#restores, this.#time.now()]
    // Whoever is killed meanwhile may have done it.
    this.judge.mayBeReserved(address, owner)
    // A reservation of who has it gives way.
    if (moves) this.judge.unreserved(address)
    // Who has it is not known then: that one keeps it, as where it is moved.
    const isUnknown = service.ledger.storeStatus()?.state === 'incomplete'
    await reserve(service, {
      ...{ segment: 'default', address, moves },
      ...{ owner: `shop/${owner}`, note: undefined },
    })
    // Another operator may have taken it back meanwhile, and an engine that went back may have forgotten it.
    const isTakenBack = (this.#unreserved.get(address) ?? -1) >= began
    if (restores === this.#restores && !isTakenBack)
      this.judge.reserved(address, owner, { moves: moves || isUnknown })
  }

  /** As ipkeeperctl does: it looks what would be done, and then does what was agreed on. */
  async #force({ on, which, poweredOff }: Step & { readonly do: 'release --force' }): Promise<void> {
    await this.#ask(this.#machine(on), async service => {
      const inUse = [...service.ledger.leases()].filter(({ state }) => state === 'bound')
      const address = pick(inUse, which)?.address
      if (address === undefined) return
      const terms = { poweredOff, dryRun: true, answerWithin }
      const { plan } = await forceRelease(service, 'default', address, terms)
      if (plan.of.containerId !== null) this.#mayBeReleased.add(plan.of.containerId)
      const sandbox = this.#sandboxes.find(({ container }) => container === plan.of.containerId)
      if (sandbox) sandbox.isKeptForNobody = true
      // Whoever could not say that it is done may have done it.
      this.judge.keptNoMore(address)
      // Of one that runs and cannot answer it was for the operator to make sure that it is off.
      if (plan.warning !== null && sandbox && isThere(sandbox)) this.#doubts.doubt(sandbox.machine)
      const done = await forceRelease(service, 'default', address, { ...terms, dryRun: false, of: plan.of })
      this.judge.keptNoMore(address)
      this.#say(`${address} of ${plan.of.containerId ?? 'nobody'} is released by force: ${done.plan.way}`)
    })
  }

  /** Of the pod as it would be made: whoever has what it asks for here has had it for long enough that the daemon knows. */
  async #review(machine: Machine, pod: number): Promise<void> {
    const wish = wishes[pod]
    const ip = wish?.ip
    if (!wish || ip === undefined) return
    await this.#ask(machine, async service => {
      const other = this.judge.hasHadFor(ip, machine.number, minute)
      const annotations = { 'ipkeeper.io/ip': ip }
      const { refusals, warnings } = judgePods(
        {
          ...{
            uid: 'u',
            operation: 'CREATE',
            apiVersion: 'v1',
            kind: 'Pod',
            subresource: '',
            namespace: 'shop',
          },
          ...{ name: wish.pod, oldObject: undefined },
          object: { metadata: { name: wish.pod, namespace: 'shop', annotations } },
        },
        {
          book: service.ledger,
          pools: knownPools(service.ledger, service.pools(), []),
          complete: true,
          dialects: new Set(),
          namespaceLabels: undefined,
          free: new Map(),
          now: service.now(),
        },
      )
      const says = [
        ...refusals.map(({ code }) => code),
        ...warnings.map(text => text.replace(/.*\[(\w+).*/s, '$1')),
      ]
      this.#say(`the webhook of ${machine.name} on ${wish.pod}: ${says[0] ?? 'admitted'}`)
      // What is promised to it may be about to be its.
      const isExpected = other === undefined || other === wish.pod || this.judge.isPromised(ip, wish.pod)
      const mayNotKnow = this.#doubts.has(machine) || this.#isBehind(machine)
      if (!isExpected && says.length === 0 && !mayNotKnow)
        this.judge.complain(
          'the webhook says who has it',
          `${wish.pod} asks for ${ip}, which ${other} has, and is admitted by ${machine.name}`,
        )
      return Promise.resolve()
    })
  }

  /** The kubelet goes by it. A store that is only away is no reason, since pods of the node would be evicted for it. */
  async #status(machine: Machine): Promise<void> {
    await this.#ask(machine, async service => {
      const code = await statusOf(service)
      this.#say(`STATUS of ${machine.name}: ${code ?? 'ready'}`)
      // A daemon that begins, or whose store was away, asks for its name first, which a store that answers late leaves open.
      const isDisturbed =
        machine.mood !== 'well' || (this.#disturbedAt.get(machine) ?? 0) + 2 * minute > this.#time.now()
      if (code !== undefined && !this.#namesChanged && !isDisturbed)
        this.judge.complain('STATUS says what an ADD gets', `${machine.name} is not ready: ${code}`)
    })
  }

  async #configure(machine: Machine, as: PoolForm): Promise<void> {
    machine.pool = as
    const { daemon } = machine
    if (!daemon) return
    const uses = ({ given, ...sandbox }: Sandbox): boolean =>
      sandbox.machine === machine && given !== undefined && this.judge.owns(given.container)
    const before = this.#sandboxes.filter(uses)
    await Promise.race([daemon.configure(), daemon.life.over])
    if (daemon.goesBy.pool !== as) return
    for (const { given } of before.filter(uses))
      if (given && poolForms[as].no.includes(given.address))
        this.judge.complain(
          'from the pool in force',
          `${given.container} of ${given.wish.pod} has ${given.address}, which the pool of its node leaves out`,
        )
  }

  async #move({ on, which, pod }: Step & { readonly do: 'move' }): Promise<void> {
    const owner = wishes[pod]?.pod
    await this.#ask(this.#machine(on), async service => {
      const address = pick([...service.ledger.leases()], which)?.address
      if (address === undefined || owner === undefined) return
      this.#moved.set(address, owner)
      await this.#promise(service, address, { owner, moves: true })
      this.#say(`${address} is moved to ${owner}`)
    })
  }

  /** Asks a daemon, if there is one, and waits no longer than it lives. */
  async #ask(machine: Machine, question: (service: LeaseService) => Promise<void>): Promise<void> {
    const { daemon } = machine
    if (!daemon?.service) return
    await Promise.race([
      daemon.life.edge(question(daemon.service)).catch((error: unknown) => {
        this.#say(`${machine.name} refuses: ${toProblem(error).code}`)
      }),
      daemon.life.over,
    ])
  }

  // ---- The end

  /** All is well again. Resolves when everything has come to rest, and has been looked at. */
  async settle(): Promise<void> {
    this.#say('all is well again')
    this.#isOver = true
    for (const twin of this.#doubts.twins) await this.#beginAnew(twin)
    for (const [number, machine] of this.#machines.entries()) {
      machine.turn('well')
      machine.runtime = 'lists'
      void this.#configure(machine, 'whole')
      this.#setClock(machine, -machine.clockIsAhead)
      const isNamed = this.#machines.slice(0, number).some(other => other.name === machine.name)
      if (isNamed)
        machine.names.push(
          names.find(name => this.#machines.every(other => other.name !== name)) ?? machine.name,
        )
      // One that could not ask for its name goes on under its former one, until it is started again.
      if (machine.daemon?.service?.node !== machine.name) machine.kill()
    }
    for (const machine of this.#machines)
      if (!this.#lost.has(machine)) void (machine.isOn ? machine.start() : this.#switchOn(machine))
    await Promise.race([Promise.allSettled(this.#underWay), this.#time.pass(10 * minute)])
    for (const machine of this.#machines) if (machine.isOn && !machine.daemon) void machine.start()
    if (this.#doubts.size > 0) {
      await this.#until(5, () => this.#unready().length === 0)
      await this.#time.pass(3 * minute)
      this.#doubts.believeAll()
    }
    // A kubelet ends in the end whatever does not run, or has a newer sandbox.
    const newest = new Map(
      this.#sandboxes.filter(({ given }) => given).map(sandbox => [sandbox.wish.pod, sandbox]),
    )
    for (const sandbox of this.#of('refused', 'ending', 'running'))
      if (!this.judge.owns(sandbox.container) || newest.get(sandbox.wish.pod) !== sandbox)
        await this.#stop(sandbox)
    await this.#until(5, () => this.#differences().length === 0)
    await this.#forgetWhoIsNoMore()
    if (this.#doubts.someHaveGoneBack)
      for (const machine of this.#serving) await this.#endWhatHasNoRecord(machine)
    await this.#until(25, () => this.#differences().length === 0)
    await this.#restartWhoKeptItsName()
    this.#look()
    for (const machine of this.#serving) await this.#untilReady(machine)
    if (this.judge.violations.length > 0) return
    for (const wish of wishes) await this.#startWithWhatWaits(wish)
    await this.#takeMovesBack()
    for (const wish of wishes) await this.#startInTheEnd(wish)
  }

  /** Who could not be renamed when it was started is at the next start, as its daemon has said; two may have each other's names. */
  async #restartWhoKeptItsName(): Promise<void> {
    const kept = this.#serving.filter(({ daemon, name }) => daemon?.service?.node !== name)
    if (kept.length === 0) return
    for (const machine of kept) {
      await machine.stop()
      void machine.start()
    }
    await this.#until(5, () => this.#differences().length === 0)
  }

  /** A name that was contested is asked for again each minute. */
  async #untilReady(machine: Machine): Promise<void> {
    let code: string | undefined
    for (let tried = 0; tried < tries; tried++) {
      await this.#ask(machine, async service => {
        code = await statusOf(service)
      })
      if (code === undefined) return
      await this.#time.pass(minute)
    }
    this.judge.complain('STATUS says what an ADD gets', `${machine.name} is not ready in the end: ${code}`)
  }

  /** Else there may be too few addresses for those that are to be started. */
  async #takeMovesBack(): Promise<void> {
    const [machine] = this.#serving
    for (const address of this.#moved.keys())
      if (machine)
        await this.#ask(machine, async service => {
          if (service.ledger.reservation({ segment: 'default', address }))
            await unreserve(service, 'default', address)
          this.judge.neverReserved(address)
        })
  }

  /**
   * An operator says of names that are waited for, and under which no machine serves, that they are gone; also of one whose new machine is
   * told to wait for it, as its daemon advises.
   */
  async #forgetWhoIsNoMore(): Promise<void> {
    const willing = this.#serving.filter(({ daemon }) => !daemon?.service?.refusal?.())
    const there = new Set(willing.map(({ daemon }) => daemon?.service?.node))
    const waiting = this.#machines.filter(machine => machine.isOn && !machine.daemon?.service)
    const wanted = waiting.filter(({ daemon, name }) => daemon?.status?.waitsFor?.includes(name))
    for (const machine of this.#serving) {
      const awaited = machine.daemon?.status?.waitsFor ?? []
      for (const name of new Set([...awaited, ...wanted.map(({ name }) => name)]))
        if (!there.has(name))
          await this.#ask(machine, async service => {
            await forgetNode(service, name, { answerWithin })
          })
    }
  }

  /** Of what is in use on a node, and of which its older journal knows nothing, people release the addresses, as the audit advises. */
  async #endWhatHasNoRecord(machine: Machine): Promise<void> {
    await this.#ask(machine, async service => {
      const others = new Set(this.#serving.filter(one => one !== machine).map(({ name }) => name))
      for (const { state, attachment: key, address, node } of [...service.ledger.leases()]) {
        if (state !== 'bound' || !key || service.ledger.hasAttachment(key)) continue
        if (others.has(node) || this.judge.owns(key.containerId)) continue
        await forceRelease(service, 'default', address, { poweredOff: true, dryRun: false, answerWithin })
        this.judge.keptNoMore(address)
        this.#say(`${address} of ${key.containerId}, of which there is no record, is released by force`)
      }
    })
  }

  async #until(minutes: number, holds: () => boolean): Promise<void> {
    for (let passed = 0; passed < minutes && !holds(); passed++) await this.#time.pass(minute)
  }

  get #serving(): readonly Machine[] {
    return this.#machines.filter(({ daemon }) => daemon?.service)
  }

  /** What each daemon says is in use, on whichever node. */
  #lists(): ReadonlyMap<string, readonly { readonly address: string; readonly container: string }[]> {
    return new Map(
      this.#serving.map(({ name, daemon }) => [
        name,
        [...(daemon?.service?.ledger.leases() ?? [])]
          .filter(({ state }) => state === 'bound')
          .map(({ address, attachment }) => ({ address, container: attachment?.containerId ?? '' })),
      ]),
    )
  }

  #unready(): readonly string[] {
    const waiting = this.#machines.filter(machine => machine.isOn && !machine.daemon?.service)
    const notReady = this.#serving.filter(({ daemon }) => {
      const status = daemon?.status
      return status && (status.state !== 'ready' || status.owed > 0)
    })
    return [
      ...waiting.map(({ name }) => `${name} does not serve`),
      ...notReady.map(({ name, daemon }) => `the store of ${name}: ${JSON.stringify(daemon?.status)}`),
    ]
  }

  #differences(): readonly string[] {
    return [...this.#unready(), ...this.judge.differences(this.#lists())]
  }

  #look(): void {
    for (const machine of this.#machines)
      if (machine.isOn && !machine.daemon?.service)
        this.judge.complain(
          'each pod can be started',
          `${machine.name} does not serve: ${machine.daemon?.refuses?.().message ?? 'it says nothing'} ${JSON.stringify(machine.daemon?.status)}`,
        )
    for (const { name, daemon } of this.#serving) {
      const status = daemon?.status
      if (status && (status.state !== 'ready' || status.owed > 0))
        this.judge.complain('each pod can be started', `the store of ${name}: ${JSON.stringify(status)}`)
    }
    this.judge.atEnd(this.#lists())
  }

  /** What was reserved for a pod that asks for nothing, and nobody has any more, is what it gets. */
  async #startWithWhatWaits(wish: Wish): Promise<void> {
    const inUse = new Set([...this.#lists().values()].flat().map(({ address }) => address))
    const waits = this.judge.reservedFor(wish.pod).filter(address => !inUse.has(address))
    if (wish.ip !== undefined || waits.length === 0) return
    const started = await this.#startInTheEnd(wish)
    if (started?.given) this.judge.givenAtRest(started.given, waits)
  }

  /** A pod that does not run can be, unless another one has, or is promised, what it asks for. */
  async #startInTheEnd(wish: Wish): Promise<Sandbox | undefined> {
    if (this.judge.hasPod(wish.pod) || this.judge.isSpokenFor(wish)) return undefined
    let last: Problem | undefined
    for (let count = 0; count < tries; count++) {
      const machine = pick(this.#serving, Math.floor(this.#draws.next(atEnd) * 100))
      if (!machine) return undefined
      const answer = await this.#run(machine, wish, `uid-${++this.#numbers}`, undefined)
      if (!(answer instanceof Problem)) return answer
      last = answer
      await this.#time.pass(2 * minute)
    }
    if (await this.#releaseWhatIsLost()) return await this.#startInTheEnd(wish)
    this.judge.complain(
      'each pod can be started',
      `${wish.pod} cannot be: ${last?.message ?? ''} [${last?.code ?? ''}]; ${last?.details ?? ''}`,
    )
    return undefined
  }

  /** What machines had that are off for good others get by an operator's word alone. Resolves to whether there was any such thing. */
  async #releaseWhatIsLost(): Promise<boolean> {
    const lost = new Set([...this.#lost].flatMap(machine => this.#containersOn(machine)))
    const [machine] = this.#serving
    let count = 0
    if (machine)
      await this.#ask(machine, async service => {
        const left = [...service.ledger.leases()].filter(
          ({ attachment }) => attachment && lost.has(attachment.containerId),
        )
        for (const { address } of left) {
          await forceRelease(service, 'default', address, { poweredOff: true, dryRun: false, answerWithin })
          this.judge.keptNoMore(address)
          this.#say(`${address} of a lost machine is released by force`)
          count++
        }
      })
    return count > 0
  }

  stop(): void {
    for (const machine of this.#machines) machine.kill()
    this.#folder.remove()
  }

  // ---- Words

  #machine(number: number): Machine {
    const machine = pick(this.#machines, number)
    if (!machine) throw new Error('no machine')
    return machine
  }

  #of(...states: readonly State[]): readonly Sandbox[] {
    return this.#sandboxes.filter(({ state }) => states.includes(state))
  }

  async #travel({ number }: Machine): Promise<void> {
    await this.#time.pass(Math.floor(this.#draws.next(number) * 4))
  }

  #say(text: string): void {
    this.story.push(`${(this.#time.now() / 1000).toFixed(3)} ${text}`)
  }

  /** As libcni keeps it. */
  #resultOf({ container, wish, uid, machine }: Sandbox, address: string): KeptResult {
    const ipam = { type: 'ipkeeper' }
    return {
      ...{ network: 'net', containerId: container, ifname: 'eth0', addresses: [address] },
      ...{ mac: wish.mac ?? null, netns: `/run/netns/${container}` },
      pod: { namespace: 'shop', name: wish.pod, uid },
      ...{ path: `/var/lib/cni/results/net-${container}-eth0`, modifiedAt: machine.clocks.wall() },
      ...{ beforeBoot: false, stateDirs: [machine.stateDir], configs: [{ type: 'bridge', ipam }] },
    }
  }

  #request({ container, wish, uid, machine }: Sandbox, run: string): AddRequest {
    const { bootId, startedAt } = machine.moment
    const retain = wish.keep === undefined ? undefined : parseRetention(`${wish.keep / minute}m`)
    const asked =
      wish.ip === undefined
        ? undefined
        : parseAddressRequest(wish.ip, 'annotation ipkeeper.io/ip', 'annotation')
    return {
      key: { network: 'net', containerId: container, ifname: 'eth0' },
      holder: { kind: 'pod', network: 'net', namespace: 'shop', name: wish.pod, ifname: 'eth0' },
      podUid: uid,
      owner: undefined,
      node: machine.name,
      bootId,
      netns: `/run/netns/${container}`,
      netnsInode: machine.namespaces.get(container) ?? null,
      invocationId: run,
      startedAt,
      confirms: true,
      inline: machine.around.configured ? undefined : poolForms.whole.pool,
      networkPools: [],
      place: {
        namespace: 'shop',
        namespaceLabels: undefined,
        node: machine.name,
        nodeLabels: undefined,
        sharedWithOtherNodes: false,
      },
      routes: [],
      dns: {},
      fallback: this.#fallback,
      given: [],
      main: undefined,
      pod: {
        ...noRequest,
        ...(asked && { addresses: [asked] }),
        ...(retain !== undefined && { retain }),
        ...(wish.mac !== undefined && { mac: wish.mac }),
      },
    }
  }
}

/** Whether it can answer when it is asked whether it lives. */
const keyOf = ({ container }: Sandbox): AttachmentKey => ({
  network: 'net',
  containerId: container,
  ifname: 'eth0',
})

async function statusOf(service: LeaseService): Promise<string | undefined> {
  try {
    const terms = { inline: undefined, pools: [], statusReportsExhaustion: false, main: undefined }
    await checkAvailability(service, terms)
    return undefined
  } catch (error) {
    return toProblem(error).code
  }
}

const pick = <T>(list: readonly T[], number: number): T | undefined => list[number % Math.max(list.length, 1)]

const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error
  throw error
}
