/** Nodes on an etcd that loses records: pods of which every answer is written down, and what was wrong with the answers. */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { firstEpoch } from '../../ipkeeper-server/ipam/records/node-record.ts'
import { startLan } from '../rigs/lan.ts'
import { until } from '../rigs/poll.ts'
import { makeSharedNode, type Reply, type Sandbox, type SharedNode } from '../rigs/shared-node.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'
import { faultsOfEnd } from './check-end.ts'
import { faultsOfHistory, type Rules } from './check-history.ts'
import { startEtcdSide, type EtcdSide } from './etcd-side.ts'
import { hastyConfig } from './play.ts'
import { PodCalls } from './pod-calls.ts'
import { settled } from './settle.ts'

/** A sandbox that was given an address. */
export interface LivingPod {
  readonly node: SharedNode
  readonly sandbox: Sandbox
  readonly address: string
}

interface Wish {
  readonly pod?: string
  readonly asked?: readonly string[]
  readonly uid?: string
}

/** What `/v1/status` says of a store that nodes share. */
interface SharedStatus {
  readonly state?: string
  readonly reason?: string
  readonly waitsFor?: readonly string[]
  readonly owed?: number
}

/** Milliseconds: until a pod has its address, until daemons have noticed something, and until all is well again. */
const [servedWithin, noticedWithin, wellWithin] = [45_000, 20_000, 30_000]

const rules: Rules = {
  families: [4],
  refusals: new Set([
    ...['IPK_STORE_AWAY', 'IPK_STORE_INCOMPLETE', 'IPK_STORE_CONFLICT', 'IPK_STORE_FAILED'],
    ...['IPK_ADDRESS_HELD', 'IPK_HOLDER_LIVE'],
  ]),
}

/** A pool of every daemon's configuration, from which no pod is given anything. */
export const filePool = 'racks'

const isAway = (reply: Reply): boolean => reply.kind === 'refused' && reply.error.code === 'IPK_STORE_AWAY'

const newId = (): string => randomBytes(6).toString('hex')

export class ForgetfulSite {
  readonly engine: EtcdSide
  /** Their daemons run. */
  readonly nodes: readonly SharedNode[]
  /** It has never been started. */
  readonly spare: SharedNode
  readonly folder: TempFolder
  readonly calls = new PodCalls()
  readonly #living = new Map<string, LivingPod>()
  readonly #told = new Set<string>()
  #pods = 0
  #losses = 0

  constructor(engine: EtcdSide, nodes: readonly SharedNode[], spare: SharedNode, folder: TempFolder) {
    this.engine = engine
    this.nodes = nodes
    this.spare = spare
    this.folder = folder
  }

  node(number: number): SharedNode {
    const node = this.nodes[number - 1]
    if (!node) throw new Error(`there is no node ${number}`)
    return node
  }

  // ---- Pods

  async #ask(node: SharedNode, { pod = `web-${++this.#pods}`, asked = [], uid = newId() }: Wish) {
    const sandbox: Sandbox = { container: newId(), pod, uid, asked }
    const reply = await this.calls.add(node, sandbox)
    const [address] = reply.kind === 'given' ? reply.addresses : []
    const living = address === undefined ? undefined : { node, sandbox, address }
    if (living) this.#living.set(sandbox.container, living)
    return { sandbox, reply, living }
  }

  /** As kubelet does it: in one new sandbox after the other, until it is given an address. */
  async begin(node: SharedNode, wish: Wish = {}): Promise<LivingPod> {
    const named = { pod: `web-${++this.#pods}`, uid: newId(), ...wish }
    let last: Reply | undefined
    const late = performance.now() + servedWithin
    while (performance.now() < late) {
      const { sandbox, reply, living } = await this.#ask(node, named)
      if (living) return living
      last = reply
      await this.calls.delSurely(node, sandbox)
      await delay(50)
    }
    throw new Error(`${named.pod} got no address on ${node.name}: ${JSON.stringify(last)}`)
  }

  /** So many pods on each of these nodes. */
  async populate(each: number, nodes = this.nodes): Promise<readonly LivingPod[]> {
    return await Promise.all(nodes.flatMap(node => Array.from({ length: each }, () => this.begin(node))))
  }

  /** Asks once, and returns what came of it; nothing stays of it unless an address was given. */
  async once(node: SharedNode, wish: Wish = {}): Promise<Reply> {
    const { sandbox, reply, living } = await this.#ask(node, wish)
    if (!living) await this.calls.delSurely(node, sandbox)
    return reply
  }

  async end(pod: LivingPod): Promise<void> {
    this.#living.delete(pod.sandbox.container)
    await this.calls.delSurely(pod.node, pod.sandbox)
  }

  /** Its runtime makes it a new sandbox, and deletes the old one then. */
  async restart(t: Test, pod: LivingPod): Promise<LivingPod> {
    const { reply, living } = await this.#ask(pod.node, pod.sandbox)
    if (!living) throw new Error(`a new sandbox of a living pod was refused: ${JSON.stringify(reply)}`)
    t.equal(living.address, pod.address, 'a new sandbox has what its pod had')
    await this.end(pod)
    return living
  }

  /** It is deleted, and its controller makes it again on another node, where it asks for the address that it had. */
  async move(pod: LivingPod, node: SharedNode): Promise<LivingPod> {
    await this.end(pod)
    return await this.begin(node, { pod: pod.sandbox.pod, asked: [pod.address] })
  }

  async stands(pod: LivingPod): Promise<boolean> {
    return (await this.calls.check(pod.node, pod.sandbox, [pod.address])).kind === 'given'
  }

  /** Nobody counts on it any more: an operator has said so, or it was told that it lost its address. */
  bury(pod: LivingPod): void {
    this.#living.delete(pod.sandbox.container)
    this.calls.died(pod.sandbox.container)
  }

  /** The DEL of every pod that lives. */
  async clear(): Promise<void> {
    await Promise.all([...this.#living.values()].map(pod => this.end(pod)))
  }

  /** Pods come and go on every node while something happens, and until all is well after it. */
  async amidst(happens: () => Promise<unknown>): Promise<void> {
    let over = false
    const work = async (node: SharedNode, stays: number): Promise<void> => {
      for (let count = 0; !over; count++) {
        const { sandbox, living } = await this.#ask(node, {})
        await delay(20)
        if (!living) await this.calls.delSurely(node, sandbox)
        else if (count % 8 >= stays) await this.end(living)
      }
    }
    const working = Promise.all(this.nodes.flatMap(node => [work(node, 1), work(node, 0)]))
    working.catch(() => undefined)
    try {
      await delay(200)
      await happens()
      await this.ready()
      await delay(300)
    } finally {
      over = true
    }
    await working
  }

  // ---- The engine

  /** Its present content in a file. */
  async snapshot(): Promise<string> {
    const file = this.folder.file(`snapshot-${++this.#losses}`)
    await this.engine.save(file)
    return file
  }

  /** A name that no cluster had. */
  newName(): string {
    return `again-${++this.#losses}`
  }

  /** The newest epoch in it. */
  async epoch(): Promise<number> {
    const epochs = [...(await this.engine.nodes()).values()].map(({ epoch = firstEpoch }) => epoch)
    return Math.max(firstEpoch, ...epochs)
  }

  /** It goes on with all that it has as a cluster of another name, which every node has taken for a loss. */
  async beginAnew(name: string): Promise<void> {
    await this.engine.reset(await this.snapshot(), name)
    await this.engine.healthy()
    await this.populate(1)
    await this.ready()
  }

  // ---- Nodes

  async status(node: SharedNode): Promise<SharedStatus> {
    const { store }: { readonly store: SharedStatus } = await node.status()
    return store
  }

  /** All of these wait for the nodes of these names, and for no other. */
  async waits(t: Test, nodes: readonly SharedNode[], names: readonly string[]): Promise<void> {
    for (const node of nodes) {
      let status: SharedStatus = {}
      const isSo = async (): Promise<boolean> => {
        status = await this.status(node)
        return status.state === 'incomplete' && status.waitsFor?.join() === names.join()
      }
      await until('', isSo, noticedWithin).catch(() => undefined)
      t.match(status, { state: 'incomplete', waitsFor: names }, `${node.name} waits for ${names.join()}`)
    }
  }

  /** No new pod gets anything there. */
  async refuses(t: Test, nodes: readonly SharedNode[]): Promise<void> {
    for (const node of nodes) {
      for (const asked of [[], ['10.22.0.250']]) {
        const error = { code: 'IPK_STORE_INCOMPLETE', cniCode: 11, retryable: true }
        let reply = await this.once(node, { asked })
        const late = performance.now() + noticedWithin
        // It may not have heard it out yet.
        while (isAway(reply) && performance.now() < late) reply = await this.once(node, { asked })
        t.match(reply, { kind: 'refused', error }, `${node.name}: a new claim`)
      }
    }
  }

  async ready(nodes = this.#running(), within = wellWithin): Promise<void> {
    for (const node of nodes) {
      let status: SharedStatus = {}
      const isSo = async (): Promise<boolean> => {
        status = await this.status(node)
        return status.state === 'ready' && status.owed === 0
      }
      await until('', isSo, within).catch(() => {
        throw new Error(`${node.name} is not ready in time: ${JSON.stringify(status)}`)
      })
    }
  }

  #running(): readonly SharedNode[] {
    return [...this.nodes, this.spare].filter(node => node.isUp())
  }

  // ---- The verdict

  /** Waits until all is settled, and says what was wrong since the last time; then every pod is deleted. */
  async judge(t: Test): Promise<void> {
    const { events } = this.calls
    await this.ready()
    const state = await settled({
      ...{ nodes: this.#running(), engine: this.engine, events, patience: 10_000 },
      isResting: () => false,
      nameOf: name => name.replace(/-again$/, ''),
    })
    const news = (texts: readonly string[]): readonly string[] => {
      const fresh = texts.filter(text => !this.#told.has(text))
      for (const text of fresh) this.#told.add(text)
      return fresh
    }
    t.strictSame(
      news(faultsOfHistory(events, rules).map(({ text }) => text)),
      [],
      'no address had two living pods',
    )
    t.strictSame(news(faultsOfEnd(events, state)), [], 'the engine has all that live, and nothing else')
    for (const pod of this.#living.values())
      if (!(await this.stands(pod))) t.fail(`${pod.address} of ${pod.sandbox.container} does not stand`)
    await this.clear()
  }
}

/** Starts an etcd of so many members, three nodes on it, and a machine for a fourth one. */
export async function startForgetfulSite(t: Test, members: 1 | 3): Promise<ForgetfulSite> {
  const folder = tempFolder(t)
  const lan = await startLan({ hosts: 4 + members })
  t.teardown(() => lan.close())
  const engine = await startEtcdSide(t, lan.hosts.slice(4), folder)
  const ipam = { ranges: [[{ subnet: '10.22.0.0/24' }]] }
  const config = { ...hastyConfig, pools: [{ name: filePool, ranges: [[{ subnet: '10.23.0.0/24' }]] }] }
  const [spare, ...nodes] = lan.hosts
    .slice(0, 4)
    .reverse()
    .map(host => makeSharedNode(t, { host, ledger: engine.ledger, folder, config, ipam }))
  if (!spare) throw new Error('the site has no spare node')
  nodes.reverse()
  await Promise.all(nodes.map(node => node.start()))
  return new ForgetfulSite(engine, nodes, spare, folder)
}
