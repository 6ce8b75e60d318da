import { addAttachment } from '../../../ipkeeper-server/leases/verbs/add.ts'
import { undoAdd } from '../../../ipkeeper-server/leases/verbs/undo-add.ts'
import { commitPlan } from '../../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { delAttachment } from '../../../ipkeeper-server/leases/verbs/del.ts'
import { collectGarbage } from '../../../ipkeeper-server/leases/verbs/gc.ts'
import { Ledger } from '../../../ipkeeper-server/leases/ledger/ledger.ts'
import { reserve, unreserve } from '../../../ipkeeper-server/leases/verbs/reserve.ts'
import type { AddRequest } from '../../../ipkeeper-server/ipam/request/add-request.ts'
import { isTimeOver, leaseKey, type Began } from '../../../ipkeeper-server/ipam/records/records.ts'
import { formatRetention } from '../../../ipkeeper-server/ipam/records/retention.ts'
import { usageOf } from '../../../ipkeeper-server/ipam/pools/usage.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { assertSound } from '../../ipkeeper-server/leases/ledger/sound-ledger.ts'
import { askingOf, keyOf, networkNames, parsed, prefixes, type Applicant, type Asking } from './asking.ts'
import {
  allRecords,
  difference,
  holderId,
  holdsIn,
  sandboxId,
  spellHold,
  undosIn,
  undosOf,
} from './ledger-view.ts'
import { NodeCluster } from './node-cluster.ts'
import { namespaces, nodes, pods } from './pods.ts'
import { addressAt, configuredShapes, inlineShapes, poolOfWords, type PoolWords } from './pool-shapes.ts'
import { ReferenceModel, type Verdict } from './reference-model.ts'
import { brokenRule, type Deed, type Holds } from './rules.ts'
import type {
  AddStep,
  DelStep,
  GcStep,
  History,
  ReloadStep,
  ReserveStep,
  Step,
  WorldChange,
} from './steps.ts'
import { isDead, show, type Sandbox, type Seen } from './world-state.ts'

/** How often each thing came about in the histories that were played. */
export type Tally = Map<string, number>

/** What is wrong with a step. */
class Fault extends Error {}

/** One step that was carried out. */
interface Told {
  readonly words: string
  readonly deed: Deed
}

const nothing: Deed = { kind: 'nothing' }

/** An interface that was added, and the answers that may turn out never to have arrived. */
interface Known {
  applicant: Applicant
  readonly answers: {
    readonly request: AddRequest
    readonly generation: number
    readonly answer: number
    readonly of: Sandbox | undefined
  }[]
}

const idOf = (applicant: Applicant): string => sandboxId(keyOf(applicant))

/** Holders whose names a controller made up. */
const generated = new Set(
  networkNames.flatMap(network =>
    namespaces.flatMap(namespace =>
      pods
        .filter(pod => pod.generated)
        .flatMap(pod => ['eth0', 'net1'].map(ifname => `${network} ${namespace.name}/${pod.name} ${ifname}`)),
    ),
  ),
)

/** Runs what may be refused. */
async function outcome(run: () => Promise<unknown>): Promise<Seen> {
  try {
    await run()
    return { places: [] }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { code: error.code }
  }
}

const refusedByStore = (seen: Seen): boolean => 'code' in seen && seen.code === 'IPK_STORE_FAILED'

class Player {
  readonly #tally: Tally
  readonly #cluster: NodeCluster
  #model: ReferenceModel
  readonly #known: Known[] = []
  readonly story: string[] = []
  #containers = 0
  #uids = 0
  #runs = 0
  #namespaces = 0
  /** Whether the store refuses changes during the present step. */
  #refusing = false

  constructor(tally: Tally) {
    this.#tally = tally
    this.#cluster = new NodeCluster({
      clocks: {
        wall: () => this.#model.now,
        monotonic: () => this.#model.micros / 1000,
        boot: () => this.#model.micros / 1000,
      },
      isDead: ({ netnsInode, node }, seenFrom) =>
        isDead(this.#model, { netns: netnsInode ?? '', node }, seenFrom),
    })
    this.#model = new ReferenceModel(Date.parse('2026-01-01T00:00:00Z'), this.#cluster.config, generated)
  }

  async begin(): Promise<void> {
    await this.#cluster.start()
  }

  async play({ step, refused }: History[number]): Promise<void> {
    const { store } = this.#cluster
    const before = holdsIn(this.#cluster.ledger)
    const moment = this.#model.now
    const sandboxes = new Map(this.#model.sandboxes)
    const promises = new Map(this.#model.promises)
    let turn = 0
    store.fails = () => refused[turn++] ?? false
    this.#refusing = refused.some(Boolean)
    const told = await this.#step(step)
    store.fails = () => false
    if (!told) return
    this.story.push(told.words + (turn > 0 && this.#refusing ? ', while the store refuses' : ''))
    const after = holdsIn(this.#cluster.ledger)
    this.#compare(after)
    if (step.kind === 'together') return
    const { netnsGone, nodesGone, config, newest } = this.#model
    // What was over before the clock was set back is over.
    const now = Math.max(this.#model.now, moment)
    const world = { now, netnsGone, nodesGone, generated, config, sandboxes, promises }
    const broken = brokenRule({ before, after, deed: told.deed, world, newestAfter: newest })
    if (broken !== undefined) throw new Fault(broken)
  }

  async #step(step: Step): Promise<Told | undefined> {
    switch (step.kind) {
      case 'add':
        return await this.#add(step)
      case 'del':
        return await this.#del(step)
      case 'gc':
        return await this.#gc(step)
      case 'undo':
        return await this.#undo(step.pick)
      case 'together':
        // Refusals in the midst of others are told in ownership.test.ts.
        return this.#refusing ? undefined : await this.#together(step.steps)
      case 'reserve':
      case 'move':
      case 'unreserve':
        return await this.#reserve(step)
      default: {
        const words = await this.#worldChange(step)
        return words === undefined ? undefined : { words, deed: nothing }
      }
    }
  }

  // ---- What happens to the world

  async #worldChange(step: WorldChange): Promise<string | undefined> {
    const model = this.#model
    switch (step.kind) {
      case 'crash': {
        const picked = this.#pick(step.pick)
        if (!picked) return undefined
        const { container } = picked.applicant
        for (const { applicant } of this.#known) {
          const sandbox = model.sandboxes.get(idOf(applicant))
          if (applicant.container === container && sandbox) model.netnsGone.add(sandbox.netns)
        }
        return `the namespace of ${container} is gone`
      }
      case 'restart':
        await this.#cluster.start()
        model.restarted()
        await this.#writeTimes()
        await this.#tidy()
        return 'the daemons are restarted'
      case 'reboot': {
        const node = nodes[step.node] ?? ''
        await this.#cluster.reboot(step.node)
        model.restarted()
        await this.#writeTimes()
        for (const sandbox of model.sandboxes.values()) {
          if (sandbox.node === node) model.netnsGone.add(sandbox.netns)
        }
        model.nodesGone.delete(node)
        await this.#tidy()
        return `node ${node} is rebooted`
      }
      case 'node gone':
        model.nodesGone.add(nodes[step.node] ?? '')
        return `node ${nodes[step.node] ?? ''} is gone`
      case 'clock': {
        if (step.how === 'passes') model.pass(step.by)
        else {
          model.setClock(step.by)
          this.#count(`the clock is set ${step.by < 0 ? 'back' : 'forward'}`)
        }
        this.#cluster.clock.now()
        await this.#writeTimes()
        if (step.noticed) await this.#tidy()
        const what = step.how === 'passes' ? 'time goes by' : 'somebody sets the clock'
        return `${what}: ${step.by / 1000} s${step.noticed ? '' : ', and nobody tidies up'}`
      }
      case 'reload':
        return this.#reload(step)
      case 'conflist': {
        const words = inlineShapes[step.network]?.[step.shape]
        if (!words) return undefined
        this.#cluster.inline.set(step.network, words)
        return `the network has other ranges: ${spellPool(words)}`
      }
      case 'api':
        this.#cluster.apiIsUp = step.up
        return `the API is ${step.up ? 'up' : 'down'}`
      case 'made anew':
        this.#cluster.age++
        return 'all workloads are made anew'
    }
  }

  async #writeTimes(): Promise<void> {
    await this.#cluster.writeTimes()
    this.#model.timesWritten()
  }

  async #tidy(): Promise<void> {
    await this.#cluster.tidy()
    this.#model.tidy()
  }

  #reload({ pool, to }: ReloadStep): string {
    const words = to && configuredShapes[pool]?.[to.shape]
    this.#cluster.reload(pool, words ? { ...to, words } : undefined)
    this.#model.config = this.#cluster.config
    if (!words) return `reload: pool ${pool} is gone`
    const rules = [
      to.namespaces && `namespaces ${to.namespaces.join()}`,
      to.team !== undefined && `team=${to.team}`,
      to.nodes && `nodes ${to.nodes.join()}`,
      to.quota !== undefined && `quota ${to.quota}`,
      `retention ${formatRetention(to.retention)}`,
      `cooldown ${to.cooldown / 1000} s`,
      `preferFor ${to.preferFor / 1000} s`,
      to.strategy,
    ].filter(rule => typeof rule === 'string')
    return `reload: ${spellPool(words)}; ${rules.join(', ')}`
  }

  // ---- ADD

  /** A moment later: microseconds since boot. */
  #tick(): number {
    return ++this.#model.micros
  }

  #pick(index: number): Known | undefined {
    return this.#known.at(-1 - (index % Math.max(this.#known.length, 1)))
  }

  /** Whoever asks in a step, with a container, UID and run of its own where the step does not say otherwise. */
  #applicantOf({ who }: AddStep): Applicant | undefined {
    const old = 'pick' in who ? this.#pick(who.pick)?.applicant : undefined
    if ('pick' in who && !old) return undefined
    const newUid = (): string => `uid ${++this.#uids}`
    const newContainer = (): string => `c${++this.#containers}`
    const run = (node: number): Pick<Applicant, 'run' | 'began' | 'netns'> => ({
      run: `run ${++this.#runs}`,
      began: { bootId: this.#cluster.bootOf(node), startedAt: this.#tick() },
      netns: `netns ${++this.#namespaces}`,
    })
    if (who.kind === 'anybody') {
      const { pod, namespace, node, network, ifname } = who
      const place = { pod: pod === undefined ? undefined : pods[pod], namespace, node, network, ifname }
      return { ...place, container: newContainer(), uid: newUid(), ...run(node) }
    }
    if (!old) return undefined
    switch (who.kind) {
      case 'again': {
        const node = who.node ?? old.node
        const uid = who.uid === 'same' ? old.uid : who.uid === 'new' ? newUid() : null
        return { ...old, node, container: newContainer(), uid, ...run(node) }
      }
      case 'same sandbox': {
        const { run: again, began } = old
        const what = { same: { run: again }, late: { began }, other: {} }[who.run]
        return { ...old, ...run(old.node), ...what }
      }
      case 'other interface': {
        const ifname = old.ifname === 'eth0' ? 'net1' : 'eth0'
        return { ...old, ifname, network: who.network, ...run(old.node) }
      }
    }
  }

  #spokenFor(): readonly string[] {
    return [...new Set([...this.#model.holds.keys(), ...this.#model.promises.keys()])].sort()
  }

  /** Carries an ADD out. `committed`: what it got, also where its client did not learn of it. */
  async #tryAdd(
    { node }: Applicant,
    request: AddRequest,
    gone: boolean,
  ): Promise<{ readonly seen: Seen; readonly committed: Seen | undefined; readonly generation: number }> {
    let committed: Seen | undefined
    // It takes a while, so that there is a moment amid it.
    for (let ticks = 0; ticks < 3; ticks++) this.#tick()
    const caller = {
      gone: (): boolean => {
        const leases = this.#cluster.ledger.leasesOf(request.key)
        committed = { places: leases.map(({ segment, address }) => `${segment}/${address}`) }
        return gone
      },
    }
    try {
      const plan = await addAttachment(this.#cluster.service(node), request, caller)
      if (plan.answer.kind !== 'result') throw new Fault('left to a fallback')
      const answered = plan.answer.result.ips.map(({ address }) => address.replace(/\/.*/, ''))
      // Not what it has by now: another ADD at the same time may have taken it over.
      const wrote = plan.change.flatMap(({ kind, record }) =>
        kind === 'lease' && record?.state === 'bound' ? [`${record.segment}/${record.address}`] : [],
      )
      const places = wrote.length > 0 ? wrote : answered.map(address => `again/${address}`)
      if (answered.join() !== places.map(place => place.replace(/.*\//, '')).join())
        throw new Fault(`answered ${answered.join()}, and wrote ${wrote.join()}`)
      return { seen: { places }, committed: { places }, generation: plan.generation }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return { seen: { code: error.code }, committed, generation: 0 }
    }
  }

  async #add(step: AddStep): Promise<Told | undefined> {
    const applicant = this.#applicantOf(step)
    if (!applicant) return undefined
    const { request, asker, words } = askingOf(this.#cluster, applicant, step, this.#spokenFor())
    const id = asker.sandbox
    const there = this.#model.sandboxes.get(id)
    const unchanged = this.#watchForChanges()
    const { seen, committed, generation } = await this.#tryAdd(applicant, request, step.gone)
    const told = `${words}${step.gone ? ', whose client goes away' : ''}: ${show(seen)}`
    this.#count('code' in seen ? `ADD ${seen.code}` : 'ADD')
    if (!committed) {
      if (!refusedByStore(seen)) this.#judge(told, this.#model.add(asker, seen))
      if (!unchanged()) this.#fail(told, 'an ADD that was refused changed something')
      return { words: told, deed: nothing }
    }
    this.#judge(told, this.#model.add(asker, committed))
    if (step.confirms === 'marked') this.#cluster.marks.add(applicant.run)
    const known = this.#note(applicant)
    const answer = this.#model.answers.get(id) ?? 0
    const places = 'places' in committed ? committed.places : []
    const again = there !== undefined && this.#model.sandboxes.get(id) === there
    const deed: Deed = again ? nothing : { kind: 'add', asker, places }
    if ('places' in seen) {
      known.answers.push({ request, generation, answer, of: this.#model.sandboxes.get(id) })
      return { words: told, deed }
    }
    // The store refused to undo it: the DEL that follows a failed ADD ends it.
    if (refusedByStore(seen)) return { words: told, deed }
    if (seen.code !== 'IPK_INTERRUPTED') this.#fail(told, 'its client had gone')
    this.#followUndo(told, id, answer)
    return { words: told, deed: there ? { kind: 'undo', sandbox: id, holder: asker.holder } : nothing }
  }

  #note(applicant: Applicant): Known {
    const id = idOf(applicant)
    const known = this.#known.find(other => idOf(other.applicant) === id)
    if (known) {
      known.applicant = applicant
      return known
    }
    const fresh: Known = { applicant, answers: [] }
    this.#known.push(fresh)
    return fresh
  }

  // ---- DEL and undo

  #deleting(
    step: DelStep,
  ):
    { readonly applicant: Applicant; readonly began: Began | undefined; readonly words: string } | undefined {
    const applicant = this.#pick(step.pick)?.applicant
    if (!applicant) return undefined
    const { bootId, startedAt } = this.#model.sandboxes.get(idOf(applicant)) ?? applicant.began
    const began = {
      now: { bootId: this.#cluster.bootOf(applicant.node), startedAt: this.#tick() },
      unknown: undefined,
      'before the ADD': { bootId, startedAt: startedAt - 1 },
      'before the boot': { bootId: 'an earlier boot', startedAt: this.#tick() },
    }[step.began]
    const when = step.began === 'now' ? '' : `, begun ${step.began}`
    return { applicant, began, words: `DEL ${applicant.container} ${applicant.ifname}${when}` }
  }

  #tryDel(applicant: Applicant, began: Began | undefined): Promise<Seen> {
    return outcome(() => delAttachment(this.#cluster.service(applicant.node), keyOf(applicant), began))
  }

  /** Whether it is the undo of an ADD that nobody has the answer of, which is still to be followed. */
  #followDel(model: ReferenceModel, applicant: Applicant, began: Began | undefined): boolean {
    const id = idOf(applicant)
    const { pod, namespace, node } = applicant
    const known = pod !== undefined && this.#cluster.apiIsUp
    const uid = model.sandboxes.get(id)?.uid ?? null
    const workload = known ? this.#cluster.workloadOf(namespaces[namespace]?.name ?? '', pod, uid) : undefined
    return model.del(id, began, this.#cluster.bootOf(node), workload)
  }

  async #del(step: DelStep): Promise<Told | undefined> {
    const deleting = this.#deleting(step)
    if (!deleting) return undefined
    const { applicant, began, words } = deleting
    const unchanged = this.#watchForChanges()
    const seen = await this.#tryDel(applicant, began)
    const told = `${words}: ${show(seen)}`
    const sandbox = idOf(applicant)
    const holder = this.#model.sandboxes.get(sandbox)?.holder ?? ''
    this.#count('code' in seen ? `DEL ${seen.code}` : 'DEL')
    if ('places' in seen) return this.#ended(told, applicant, began, holder)
    if (!refusedByStore(seen)) this.#fail(told, 'a DEL failed')
    if (!unchanged()) this.#fail(told, 'a DEL that was refused changed something')
    return { words: told, deed: { kind: 'del', sandbox, holder } }
  }

  /** What a DEL comes to that the store took. */
  #ended(told: string, applicant: Applicant, began: Began | undefined, holder: string): Told {
    const sandbox = idOf(applicant)
    const answer = this.#model.answers.get(sandbox) ?? 0
    const undoes = this.#followDel(this.#model, applicant, began)
    if (undoes) {
      this.#count('DEL of an ADD that nobody has the answer of')
      this.#followUndo(told, sandbox, answer)
    }
    return { words: told, deed: { kind: undoes ? 'undo' : 'del', sandbox, holder } }
  }

  // ---- GC

  async #gc(step: GcStep): Promise<Told | undefined> {
    const applicant = this.#pick(step.pick)?.applicant
    if (!applicant) return undefined
    const sandbox = this.#model.sandboxes.get(idOf(applicant))
    if (!sandbox) return undefined
    const bootId = this.#cluster.bootOf(applicant.node)
    const began = {
      now: this.#tick(),
      unknown: undefined,
      'before the ADD': sandbox.startedAt - 1,
      'amid the ADD': sandbox.startedAt + 1,
    }[step.began]
    const { network, containerId, ifname } = keyOf(applicant)
    // What was answered when the list was made is in it, but for the one.
    const valid = [...this.#cluster.ledger.attachmentsOf(network)].filter(other => {
      const theirs = this.#model.sandboxes.get(sandboxId(other))
      const isEarlier =
        began === undefined || (theirs && this.#model.isForGc(theirs, bootId, began) !== false)
      return theirs !== sandbox && isEarlier
    })
    this.#tick()
    const unchanged = this.#watchForChanges()
    const { ended, problems } = await collectGarbage(
      this.#cluster.service(applicant.node),
      { network, valid, began: began === undefined ? undefined : { bootId, startedAt: began } },
      300_000,
    )
    const words = `GC of ${network} without ${containerId} ${ifname}, begun ${step.began}: ${ended.length} ended`
    // Where either is right, it may have been for what it did.
    const mayEnd = this.#model.isForGc(sandbox, bootId, began) ?? (ended.length > 0 || problems.length > 0)
    this.#count(`GC ${mayEnd ? 'ends one' : 'leaves a younger one'}`)
    if (problems.length > 0) {
      if (!problems.every(({ code }) => code === 'IPK_STORE_FAILED') || !mayEnd)
        this.#fail(words, 'it failed')
      if (!unchanged()) this.#fail(words, 'a GC that was refused changed something')
      return { words, deed: nothing }
    }
    if (ended.some(one => sandboxId(one) !== sandbox.id)) this.#fail(words, 'another one was ended')
    if (ended.length !== Number(mayEnd)) this.#fail(words, `and ought to be ${Number(mayEnd)}`)
    if (!mayEnd) return { words, deed: nothing }
    const { bootId: its, startedAt } = sandbox
    return this.#ended(words, applicant, { bootId: its, startedAt }, sandbox.holder)
  }

  async #undo(index: number): Promise<Told | undefined> {
    const known = this.#pick(index)
    const last = known?.answers.pop()
    if (!known || !last) return undefined
    const { applicant } = known
    const id = idOf(applicant)
    // A DEL waits for an undo that is under way, so none comes after it.
    const present = this.#model.sandboxes.get(id)
    if (!present || present !== last.of) return undefined
    const seen = await outcome(() =>
      undoAdd(this.#cluster.service(applicant.node), last.request, last.generation),
    )
    const run = last.request.invocationId ?? ''
    const told = `the answer to ${run}, ${applicant.container} ${applicant.ifname}, never arrived: ${show(seen)}`
    this.#count('undo')
    if ('places' in seen) this.#followUndo(told, id, last.answer)
    return { words: told, deed: { kind: 'undo', sandbox: id, holder: present.holder } }
  }

  /**
   * Where others have changed meanwhile what an ADD had changed, the model takes over what came of its undo, when it is
   * sound: the sandbox is gone, and nothing has changed but what its ADD had changed.
   */
  #followUndo(told: string, id: string, answer: number): void {
    if (this.#model.undo(id, answer)) return
    this.#count('undo after other changes')
    const { ledger } = this.#cluster
    const undone = this.#model.sandboxes.get(id)
    if (!undone) return
    if ([...ledger.attachments()].some(attachment => sandboxId(attachment) === id))
      this.#fail(told, `${id} is still there`)
    const holds = holdsIn(ledger)
    for (const place of new Set([...holds.keys(), ...this.#model.holds.keys()])) {
      const [is, was] = [holds.get(place), this.#model.holds.get(place)]
      if (spellHold(is) === spellHold(was)) continue
      if (!undone.found.has(place)) this.#fail(told, `${place} is no affair of that ADD, and was touched`)
      if (is?.state === 'bound' && (is.sandbox === id || !this.#model.sandboxes.has(is.sandbox ?? '')))
        this.#fail(told, `${place} is bound to ${is.sandbox ?? ''}, which is gone`)
    }
    // Whoever it took an address from may have that sandbox again.
    const concerned = new Set([
      undone.holder,
      ...[...undone.found.values()].flatMap(({ before }) => before?.holder ?? []),
    ])
    const newest = new Map<string, Sandbox | undefined>([...concerned].map(holder => [holder, undefined]))
    for (const { holder } of ledger.attachments()) {
      const key = concerned.has(holderId(holder)) ? ledger.holder(holder)?.attachment : undefined
      if (key) newest.set(holderId(holder), this.#model.sandboxes.get(sandboxId(key)))
    }
    this.#model.adopt(holds, undone, newest)
  }

  // ---- Several at once

  /** Some order of operations that were carried out at once has to explain every answer, and what is there afterwards. */
  async #together(steps: readonly (AddStep | DelStep)[]): Promise<Told | undefined> {
    interface Task {
      readonly words: string
      readonly run: () => Promise<Seen>
      /** Judges by a model, which follows. */
      readonly judge: (model: ReferenceModel, seen: Seen) => Verdict
      readonly applicant?: Applicant
    }
    const adding = (applicant: Applicant, { request, asker, words }: Asking): Task => ({
      words,
      run: async () => (await this.#tryAdd(applicant, request, false)).seen,
      judge: (model, seen) => model.add(asker, seen),
      applicant,
    })
    const tasks = steps.flatMap((step): readonly Task[] => {
      if (step.kind === 'add') {
        const applicant = this.#applicantOf(step)
        return applicant
          ? [adding(applicant, askingOf(this.#cluster, applicant, step, this.#spokenFor()))]
          : []
      }
      const deleting = this.#deleting(step)
      if (!deleting) return []
      const { applicant, began, words } = deleting
      // What an undo comes to after other changes no order of them can tell: those have steps of their own.
      if (this.#model.lost.has(idOf(applicant))) return []
      const judge = (model: ReferenceModel): Verdict => {
        this.#followDel(model, applicant, began)
        return { hows: [] }
      }
      return [{ words, run: () => this.#tryDel(applicant, began), judge }]
    })
    if (tasks.length < 2) return undefined
    this.#count('at once')
    const done = await Promise.all(tasks.map(async task => ({ task, seen: await task.run() })))
    const told = `at once: ${done.map(({ task, seen }) => `${task.words}: ${show(seen)}`).join(' | ')}`
    const { ledger } = this.#cluster
    const holds = holdsIn(ledger)
    const faults: string[] = []
    const explaining: ReferenceModel[] = []
    for (const order of orders(done)) {
      const model = this.#model.copy()
      const verdicts = order.map(({ task, seen }) => task.judge(model, seen))
      const fault = verdicts.find(verdict => 'fault' in verdict)?.fault
      const wrong = fault ?? difference(ledger, holds, model)
      if (wrong === undefined) explaining.push(model)
      else faults.push(wrong)
    }
    // Of two orders that end alike, an undo tells which it was: of a DEL before the ADD that took over, or after it.
    const model = explaining.find(one => undosIn(one) === undosOf(ledger)) ?? explaining[0]
    if (!model)
      return this.#fail(told, `no order of them explains it; in the order of the list: ${faults[0] ?? ''}`)
    this.#model = model
    for (const { task, seen } of done) if (task.applicant && 'places' in seen) this.#note(task.applicant)
    return { words: told, deed: nothing }
  }

  // ---- Reservations

  async #reserve(step: ReserveStep): Promise<Told | undefined> {
    const { ledger } = this.#cluster
    const service = this.#cluster.service(0)
    const [prefix, anySegment] = (
      [
        ['10.1.0.', 'default'],
        ['10.2.0.', 'default'],
        ['fd00:2::', 'default'],
        ['10.9.0.', 'default'],
        ['10.1.0.', 'lab'],
        ['fd00:6::', 'default'],
      ] as const
    )[step.where] ?? ['10.1.0.', 'default']
    const spokenFor = this.#spokenFor()
    const theirs =
      step.theirs === undefined ? undefined : spokenFor[step.theirs % Math.max(spokenFor.length, 1)]
    const place = theirs ?? `${anySegment}/${addressAt(prefix, step.number)}`
    const [segment = '', address = ''] = place.split('/')
    const key = { segment, address }
    if (step.kind === 'unreserve') {
      const seen = await outcome(() => unreserve(service, segment, address))
      const words = `unreserve ${place}: ${show(seen)}`
      if (!refusedByStore(seen)) this.#check(words, this.#model.unreserve(place, seen))
      return { words, deed: nothing }
    }
    const pod = pods[step.pod]
    if (!pod) return undefined
    const namespace = namespaces[step.namespace]?.name ?? ''
    const kind = step.forWorkload ? pod.owner?.kind : undefined
    const name = (kind === undefined ? undefined : pod.owner?.name) ?? pod.name
    const reserved = { place, namespace, name, kind }
    const whose = `${kind === undefined ? '' : `${kind} `}${namespace}/${name}`
    if (kind === undefined || step.kind === 'move') {
      const moves = step.kind === 'move'
      const owner = kind === undefined ? whose : `${namespace}/${kind}/${name}`
      const had = ledger.lease(key)
      const seen = await outcome(() => reserve(service, { ...key, owner, note: '', moves }))
      const words = `${step.kind} ${place} for ${whose}: ${show(seen)}`
      const verb =
        moves && had !== undefined && had.state !== 'cooling' ? `move what is ${had.state}` : 'reserve'
      this.#count('code' in seen ? `${verb} ${seen.code}` : verb)
      if (!refusedByStore(seen)) this.#check(words, this.#model.reserve(reserved, seen, moves))
      return { words, deed: nothing }
    }
    const lease = ledger.lease(key)
    const taken = lease && lease.state !== 'cooling' && !isTimeOver(lease, this.#model.now)
    if (taken || ledger.reservation(key)) return undefined
    const record = { ...key, generation: 1, namespace, name, kind, note: '', since: this.#model.now }
    const change = [{ kind: 'reservation' as const, key: leaseKey(key), expect: null, record }]
    const seen = await outcome(() => commitPlan(ledger, () => ({ change })))
    this.#count('reserve for a workload')
    if ('places' in seen) this.#model.promises.set(place, reserved)
    return { words: `reserve ${place} for ${whose}: ${show(seen)}`, deed: nothing }
  }

  // ---- Comparing

  /** Whether all records are what they are now. Where the store refuses nothing, it is enough that nothing was asked of it. */
  #watchForChanges(): () => boolean {
    const { ledger, store } = this.#cluster
    if (this.#refusing) {
      const before = allRecords(ledger)
      return () => allRecords(ledger) === before
    }
    const { asked } = store
    return () => store.asked === asked
  }

  #count(what: string): void {
    this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1)
  }

  #fail(told: string, fault: string): never {
    this.story.push(told)
    throw new Fault(fault)
  }

  #check(told: string, fault: string | undefined): void {
    if (fault !== undefined) this.#fail(told, fault)
  }

  #judge(told: string, verdict: Verdict): void {
    if ('fault' in verdict) this.#fail(told, verdict.fault)
    for (const how of verdict.hows) this.#count(`got ${how}`)
  }

  #compare(holds: Holds): void {
    const { ledger, config, inline } = this.#cluster
    const wrong = difference(ledger, holds, this.#model)
    if (wrong !== undefined) throw new Fault(wrong)
    assertSound(ledger, 'afterwards')
    // One pool after the other: to count them all each time would take longer than all the rest.
    const pools = [...config.map(pool => pool.words), ...inline.values()]
    for (const words of pools.filter((_, index) => index === this.story.length % pools.length)) {
      const { capacity, used, held, free } = usageOf(ledger, poolOfWords(words), this.#model.now)
      const ought = this.#model.usage(words)
      const is = { capacity: Number(capacity), used: Number(used), held: Number(held) }
      if (JSON.stringify(is) !== JSON.stringify(ought) || used + held + free !== capacity || free < 0n)
        throw new Fault(
          `usage of ${words.name} is ${JSON.stringify(is)}, and ought to be ${JSON.stringify(ought)}`,
        )
    }
  }

  /** What memory says is what the store says: a fresh ledger lists the same and would choose the same. */
  async compareWithStore(): Promise<void> {
    if (this.#model.hasOtherTimes()) {
      await this.#cluster.start()
      this.#model.restarted()
      this.#compare(holdsIn(this.#cluster.ledger))
      return
    }
    const fresh = await Ledger.open(this.#cluster.store, this.#cluster.clock.now)
    const [inStore, inMemory] = [fresh, this.#cluster.ledger].map(ledger => {
      ledger.expire(this.#model.now)
      const counts = this.#cluster.config.flatMap(({ words }) =>
        namespaces.flatMap(({ name }) =>
          ([4, 6] as const).map(family => ledger.liveIn(words.name, name, family, this.#model.now)),
        ),
      )
      const free = Object.values(prefixes).flatMap(of =>
        ([4, 6] as const).flatMap(family => {
          const prefix = of[family]
          if (prefix === undefined) return []
          return Array.from({ length: 10 }, (_, number) => {
            const first = parsed(addressAt(prefix, number)).value
            return ledger.lowestFree('default', family, { first, last: first }) ? 'free' : 'taken'
          })
        }),
      )
      return `${allRecords(ledger)}\n${counts.join()}\n${free.join()}`
    })
    if (inStore !== inMemory)
      throw new Fault(`the store says\n${inStore ?? ''}\nand memory\n${inMemory ?? ''}`)
  }
}

function* orders<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length <= 1) yield items
  else {
    for (const item of items) {
      for (const rest of orders(items.filter(other => other !== item))) yield [item, ...rest]
    }
  }
}

function spellPool({ name, segment, sets }: PoolWords): string {
  const ranges = sets.flat().map(({ prefix, from, to, gateway, exclude = [] }) => {
    const without = [...(from <= gateway && gateway <= to ? [gateway] : []), ...exclude]
    const text = `${addressAt(prefix, from)}-${addressAt(prefix, to)}`
    return without.length > 0 ? `${text} without ${without.join()}` : text
  })
  return `${name} has ${ranges.join(' and ')}${segment === 'default' ? '' : ` in segment ${segment}`}`
}

/** Throws what is wrong with the last step, and the history up to it. */
export async function playHistory(history: History, tally: Tally): Promise<void> {
  const player = new Player(tally)
  try {
    await player.begin()
    for (const step of history) await player.play(step)
    await player.compareWithStore()
  } catch (error) {
    const fault =
      error instanceof Fault ? error.message : String(error instanceof Error ? error.stack : error)
    const lines = player.story.map((line, index) => `${index + 1}. ${line}`)
    throw new Error(`${fault}\n${lines.join('\n')}`, { cause: error })
  }
}
