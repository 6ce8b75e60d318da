/** What kubelets and runtimes ask of nodes, all of it written down: when it went out, and what came of it. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  newInvocation,
  type Invocation,
  type Reply,
  type Sandbox,
  type SharedNode,
} from '../rigs/shared-node.ts'
import type { AddEvent, DelEvent, NodeEvent } from './history.ts'

/** How a call reaches a daemon: over its socket, or by the plugin. */
export interface Way {
  add(node: SharedNode, sandbox: Sandbox, invocation: Invocation): Promise<Reply>
  del(node: SharedNode, sandbox: Sandbox, invocation: Invocation): Promise<Reply>
  check(node: SharedNode, sandbox: Sandbox, addresses: readonly string[]): Promise<Reply>
  gc(node: SharedNode, valid: readonly string[], invocation: Invocation | undefined): Promise<Reply>
  /**
   * Whether it is a program of its own that is asked to do it: it says itself when it began, which is later than it was
   * started; and a DEL that it has accepted may still have to be carried out.
   */
  readonly byProgram?: true
}

export const overSocket: Way = {
  add: (node, sandbox, invocation) => node.add(sandbox, invocation),
  del: (node, sandbox, invocation) => node.del(sandbox, invocation),
  check: (node, sandbox, addresses) => node.check(sandbox, addresses),
  gc: (node, valid, invocation) => node.gc(valid, invocation),
}

export interface CallOptions {
  readonly way?: Way
  /** What the call says of itself. Default: that it begins now. */
  readonly invocation?: Invocation
}

export interface AddOptions extends CallOptions {
  /** After no answer: whether, and after how many milliseconds, it is sent once more. */
  readonly again?: () => number | undefined
  /** Its addresses are kept whatever becomes of the sandbox. */
  readonly keeps?: true
  /** What it asks for cannot be. */
  readonly wrong?: true
}

/** Moment of performance.now() at which an invocation says that it began. */
const beganOf = ({ startedAt }: Invocation): number =>
  startedAt / 1000 - Number(process.hrtime.bigint() / 1000n) / 1000 + performance.now()

export class PodCalls {
  readonly events: NodeEvent[] = []
  /** How often an ADD, DEL or CHECK was refused, by verb and code. */
  readonly refusals = new Map<string, number>()
  /** Milliseconds that each ADD took until it was answered. */
  readonly waits: { readonly ms: number; readonly kind: Reply['kind'] }[] = []
  /** Since when, by what: "ADD 3f2a on host-3". */
  readonly #calls = new Map<string, number>()

  /** "ADD 3f2a on host-3 since 12 s" for each call that is not answered. */
  underWay(): readonly string[] {
    const now = performance.now()
    return [...this.#calls].map(([call, since]) => `${call} since ${((now - since) / 1000).toFixed(0)} s`)
  }

  async add(node: SharedNode, sandbox: Sandbox, options: AddOptions = {}): Promise<Reply> {
    const { way = overSocket, invocation = newInvocation(), again, keeps, wrong } = options
    const { container, pod, uid, asked } = sandbox
    const sent = performance.now()
    const ask = (): Promise<Reply> =>
      this.#counted('ADD', node, container, way.add(node, sandbox, invocation))
    let reply = await ask()
    this.waits.push({ ms: performance.now() - sent, kind: reply.kind })
    const pause = reply.kind === 'unknown' ? again?.() : undefined
    if (pause !== undefined) {
      // The plugin tries a daemon that is not there for some seconds.
      await delay(pause)
      reply = await ask()
    }
    this.events.push({
      ...{ kind: 'add', node: node.name, container, holder: pod, uid, asked },
      ...(keeps && { keeps }),
      ...(wrong && { wrong }),
      ...{ began: beganOf(invocation), sent, ended: performance.now() },
      outcome: outcomeOf(reply, invocation),
    })
    return reply
  }

  async del(node: SharedNode, sandbox: Sandbox, options: CallOptions = {}): Promise<DelEvent['outcome']> {
    const { way = overSocket, invocation = newInvocation() } = options
    const { container } = sandbox
    const sent = performance.now()
    const reply = await this.#counted('DEL', node, container, way.del(node, sandbox, invocation))
    const ended = performance.now()
    const began = way.byProgram ? ended : beganOf(invocation)
    const outcome = reply.kind !== 'given' ? 'unknown' : way.byProgram ? 'accepted' : 'done'
    const refused = reply.kind === 'refused' && { refused: reply.error.code }
    this.events.push({ kind: 'del', node: node.name, container, began, sent, ended, outcome, ...refused })
    return outcome
  }

  /** As a runtime does it: until it is done. */
  async delSurely(node: SharedNode, sandbox: Sandbox, way?: () => Way): Promise<void> {
    for (let pause = 50; ; pause = Math.min(pause * 2, 2000)) {
      const outcome = await this.del(node, sandbox, way ? { way: way() } : {})
      if (outcome !== 'unknown') return
      await delay(pause)
    }
  }

  async check(
    node: SharedNode,
    sandbox: Sandbox,
    addresses: readonly string[],
    { way = overSocket }: Pick<CallOptions, 'way'> = {},
  ): Promise<Reply> {
    const began = performance.now()
    const { container } = sandbox
    const reply = await this.#counted('CHECK', node, container, way.check(node, sandbox, addresses))
    const ended = performance.now()
    const denied = reply.kind === 'refused' && reply.error.code === 'IPK_LEASE_MISSING'
    this.events.push({
      ...{ kind: 'check', node: node.name, container, began, ended },
      outcome: reply.kind === 'given' ? 'stands' : denied ? 'denied' : 'unknown',
    })
    return reply
  }

  /** `invocation` null: it does not say when it began. */
  async gc(
    node: SharedNode,
    valid: readonly string[],
    options: { readonly way?: Way; readonly invocation?: Invocation | null } = {},
  ): Promise<Reply> {
    const { way = overSocket, invocation = newInvocation() } = options
    const sent = performance.now()
    const reply = await this.#counted('GC', node, '', way.gc(node, valid, invocation ?? undefined))
    const ended = performance.now()
    const began = way.byProgram ? ended : invocation ? beganOf(invocation) : undefined
    const outcome = reply.kind === 'given' ? 'done' : 'unknown'
    this.events.push({ kind: 'gc', node: node.name, valid, began, sent, ended, outcome })
    return reply
  }

  /** From now on its own node may attest it. */
  died(container: string, at = performance.now()): void {
    this.events.push({ kind: 'death', container, at })
  }

  async #counted(verb: string, node: SharedNode, container: string, call: Promise<Reply>): Promise<Reply> {
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

function outcomeOf(reply: Reply, { confirms }: Invocation): AddEvent['outcome'] {
  switch (reply.kind) {
    case 'given':
      return { kind: confirms ? 'unconfirmed' : 'given', addresses: reply.addresses }
    case 'refused':
      return { kind: 'refused', code: reply.error.code }
    case 'unknown':
      return { kind: 'unknown' }
  }
}
