/**
 * Pods that come and go on many nodes, as kubelets and runtimes would have them: some ask for an address by name, some are
 * wanted on two nodes at once, some get a new sandbox, some die without a DEL. All of it is written down.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { loseNamespaces } from '../rigs/many-namespaces.ts'
import { newInvocation, type Reply, type Sandbox, type SharedNode } from '../rigs/shared-node.ts'
import type { AddEvent, NodeEvent } from './history.ts'
import type { SeededRandom } from './seeded-random.ts'

export interface PodLivesOptions {
  readonly nodes: readonly SharedNode[]
  readonly random: SeededRandom
  /** By node: network namespaces whose loss kills a sandbox; each is used once. */
  readonly namespaces: ReadonlyMap<string, string[]>
  /** What each pod that insists asks for, by its number. */
  readonly wanted: (number: number) => readonly string[]
  /** How many pods insist on an address. */
  readonly insisting: number
  /** How many sandboxes are given addresses until all ends; some stay to be found then. */
  readonly pods: number
  /** Longest life of a sandbox, in milliseconds. */
  readonly longest: number
}

/** A sandbox that was given its addresses. */
interface Running {
  readonly node: SharedNode
  readonly sandbox: Sandbox
  readonly addresses: readonly string[]
}

export class PodLives {
  readonly events: NodeEvent[] = []
  /** How often an ADD, DEL or CHECK was refused, by verb and code. */
  readonly refusals = new Map<string, number>()
  /** Milliseconds that each ADD took until it was answered. */
  readonly waits: { readonly ms: number; readonly kind: Reply['kind'] }[] = []
  readonly #options: PodLivesOptions
  /** Since when, by what: "ADD 3f2a on host-3". */
  readonly #calls = new Map<string, number>()
  #begun = 0
  #served = 0
  #stopping = false

  constructor(options: PodLivesOptions) {
    this.#options = options
  }

  /** Sandboxes that were given addresses so far. */
  get served(): number {
    return this.#served
  }

  /** Lives until enough were served, so many at once. */
  async run(atOnce: number): Promise<void> {
    await Promise.all(Array.from({ length: atOnce }, () => this.#work()))
  }

  /** No pod is born any more. */
  stop(): void {
    this.#stopping = true
  }

  /** "ADD 3f2a on host-3 since 12 s" for each call that is not answered. */
  underWay(): readonly string[] {
    const now = performance.now()
    return [...this.#calls].map(([call, since]) => `${call} since ${((now - since) / 1000).toFixed(0)} s`)
  }

  async #work(): Promise<void> {
    const { random, insisting, pods } = this.#options
    while (!this.#stopping && this.#served < pods) {
      const kind = random.next()
      if (kind < 0.5) await this.#dynamicLife()
      else if (kind < 0.8) await this.#staticLife(random.between(0, insisting - 1))
      else if (kind < 0.9) await this.#contest(random.between(0, insisting - 1))
      else await this.#theft(random.between(0, insisting - 1))
    }
  }

  /** A pod that takes whatever is free, in one sandbox or more. */
  async #dynamicLife(): Promise<void> {
    const { random } = this.#options
    const pod = `any-${this.#begun}`
    const uid = newId()
    const node = this.#someNode()
    let running = await this.#begin(node, { pod, uid, asked: [] })
    while (running && random.chance(0.25)) {
      await this.#live(running)
      running = await this.#again(running)
    }
    if (running) await this.#finish(running, random.chance(0.02) ? 'stay' : 'del')
  }

  /** A pod of a StatefulSet, say: the same name and address wherever it is. */
  async #staticLife(number: number): Promise<void> {
    const { random } = this.#options
    const node = this.#someNode()
    const netns = random.chance(0.2) ? this.#options.namespaces.get(node.name)?.pop() : undefined
    const running = await this.#begin(node, {
      ...this.#insisting(number),
      ...(netns !== undefined && { netns }),
    })
    if (running) await this.#finish(running, netns === undefined ? 'del' : 'die')
  }

  /** The same pod by its name is started on two nodes at once. */
  async #contest(number: number): Promise<void> {
    const both = [this.#someNode(), this.#someNode()]
    await Promise.all(
      both.map(async node => {
        const running = await this.#begin(node, this.#insisting(number))
        if (running) await this.#finish(running, 'del')
      }),
    )
  }

  /** Another pod asks for the address of one that insists on it. */
  async #theft(number: number): Promise<void> {
    const { wanted } = this.#options
    const running = await this.#begin(this.#someNode(), {
      pod: `thief-${this.#begun}`,
      uid: newId(),
      asked: wanted(number),
    })
    if (running) await this.#finish(running, 'del')
  }

  #insisting(number: number): Pick<Sandbox, 'pod' | 'uid' | 'asked'> {
    return { pod: `web-${number}`, uid: newId(), asked: this.#options.wanted(number) }
  }

  #someNode(): SharedNode {
    return this.#options.random.pick(this.#options.nodes)
  }

  /** An ADD; what was not given is deleted, as a runtime does. */
  async #begin(node: SharedNode, pod: Omit<Sandbox, 'container'>): Promise<Running | undefined> {
    this.#begun++
    const sandbox = { ...pod, container: newId() }
    const reply = await this.#add(node, sandbox)
    if (reply.kind === 'given') {
      this.#served++
      return { node, sandbox, addresses: reply.addresses }
    }
    await this.#del(node, sandbox)
    // A runtime takes longer; but then little would go on at once.
    const longest = reply.kind === 'refused' && reply.error.code === 'IPK_STORE_AWAY' ? 1000 : 200
    if (reply.kind === 'refused') await delay(this.#options.random.between(20, longest))
    return undefined
  }

  /** A new sandbox of the same pod; the old one is deleted late. */
  async #again({ node, sandbox }: Running): Promise<Running | undefined> {
    const next = await this.#begin(node, { pod: sandbox.pod, uid: sandbox.uid, asked: sandbox.asked })
    await this.#del(node, sandbox)
    return next
  }

  async #live({ node, sandbox, addresses }: Running): Promise<void> {
    const { random, longest } = this.#options
    await delay(random.between(0, longest))
    if (random.chance(0.5)) await this.#check(node, sandbox, addresses)
  }

  async #finish(running: Running, how: 'del' | 'die' | 'stay'): Promise<void> {
    const { node, sandbox } = running
    await this.#live(running)
    if (how === 'stay') return
    if (how === 'del' || sandbox.netns === undefined) {
      await this.#del(node, sandbox)
      return
    }
    this.events.push({ kind: 'death', container: sandbox.container, at: performance.now() })
    await loseNamespaces(node.host, [sandbox.netns], false)
  }

  // ---- Calls

  async #add(node: SharedNode, sandbox: Sandbox): Promise<Reply> {
    const { random } = this.#options
    const { container, pod, uid, asked } = sandbox
    const invocation = newInvocation()
    const began = performance.now()
    let reply = await this.#counted('ADD', node, sandbox, node.add(sandbox, invocation))
    this.waits.push({ ms: performance.now() - began, kind: reply.kind })
    if (reply.kind === 'unknown' && random.chance(0.5)) {
      // The plugin tries a daemon that is not there for some seconds.
      await delay(random.between(100, 2000))
      reply = await this.#counted('ADD', node, sandbox, node.add(sandbox, invocation))
    }
    const outcome: AddEvent['outcome'] =
      reply.kind === 'refused' ? { kind: 'refused', code: reply.error.code } : reply
    const ended = performance.now()
    this.events.push({
      ...{ kind: 'add', node: node.name, container, holder: pod, uid, asked, began, ended },
      outcome: outcome.kind === 'unknown' ? { kind: 'unknown' } : outcome,
    })
    return reply
  }

  /** As a runtime does it: until it is done. */
  async #del(node: SharedNode, sandbox: Sandbox): Promise<void> {
    const { container } = sandbox
    for (let pause = 50; ; pause = Math.min(pause * 2, 2000)) {
      const began = performance.now()
      const reply = await this.#counted('DEL', node, sandbox, node.del(sandbox))
      const ended = performance.now()
      const outcome = reply.kind === 'given' ? 'done' : 'unknown'
      this.events.push({ kind: 'del', node: node.name, container, began, ended, outcome })
      if (outcome === 'done') return
      await delay(pause)
    }
  }

  async #check(node: SharedNode, sandbox: Sandbox, addresses: readonly string[]): Promise<void> {
    const began = performance.now()
    const reply = await this.#counted('CHECK', node, sandbox, node.check(sandbox, addresses))
    const ended = performance.now()
    const denied = reply.kind === 'refused' && reply.error.code === 'IPK_LEASE_MISSING'
    this.events.push({
      ...{ kind: 'check', node: node.name, container: sandbox.container, began, ended },
      outcome: reply.kind === 'given' ? 'stands' : denied ? 'denied' : 'unknown',
    })
  }

  async #counted(
    verb: string,
    node: SharedNode,
    { container }: Sandbox,
    call: Promise<Reply>,
  ): Promise<Reply> {
    const name = `${verb} ${container} on ${node.name}`
    this.#calls.set(name, performance.now())
    const reply = await call
    this.#calls.delete(name)
    if (reply.kind !== 'given') {
      const what = `${verb} ${reply.kind === 'refused' ? reply.error.code : 'no answer'}`
      this.refusals.set(what, (this.refusals.get(what) ?? 0) + 1)
    }
    return reply
  }
}

const newId = (): string => randomBytes(6).toString('hex')
