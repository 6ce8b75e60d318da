/**
 * Pods that come and go on many nodes, as kubelets and runtimes would have them: some ask for an address by name, some are
 * wanted on two nodes at once, some get a new sandbox, some die without a DEL. All of it is written down.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { loseNamespaces } from '../rigs/many-namespaces.ts'
import type { Reply, Sandbox, SharedNode } from '../rigs/shared-node.ts'
import { PodCalls } from './pod-calls.ts'
import type { SeededRandom } from '../rigs/seeded-random.ts'

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
  readonly calls = new PodCalls()
  readonly #options: PodLivesOptions
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
    await this.calls.delSurely(node, sandbox)
    // A runtime takes longer; but then little would go on at once.
    const longest = reply.kind === 'refused' && reply.error.code === 'IPK_STORE_AWAY' ? 1000 : 200
    if (reply.kind === 'refused') await delay(this.#options.random.between(20, longest))
    return undefined
  }

  /** A new sandbox of the same pod; the old one is deleted late. */
  async #again({ node, sandbox }: Running): Promise<Running | undefined> {
    const next = await this.#begin(node, { pod: sandbox.pod, uid: sandbox.uid, asked: sandbox.asked })
    await this.calls.delSurely(node, sandbox)
    return next
  }

  async #live({ node, sandbox, addresses }: Running): Promise<void> {
    const { random, longest } = this.#options
    await delay(random.between(0, longest))
    if (random.chance(0.5)) await this.calls.check(node, sandbox, addresses)
  }

  async #finish(running: Running, how: 'del' | 'die' | 'stay'): Promise<void> {
    const { node, sandbox } = running
    await this.#live(running)
    if (how === 'stay') return
    if (how === 'del' || sandbox.netns === undefined) {
      await this.calls.delSurely(node, sandbox)
      return
    }
    this.calls.died(sandbox.container)
    await loseNamespaces(node.host, [sandbox.netns], false)
  }

  /** An ADD that may be sent again after no answer. */
  #add(node: SharedNode, sandbox: Sandbox): Promise<Reply> {
    const { random } = this.#options
    const again = (): number | undefined => (random.chance(0.5) ? random.between(100, 2000) : undefined)
    return this.calls.add(node, sandbox, { again })
  }
}

const newId = (): string => randomBytes(6).toString('hex')
