/**
 * The container runtime of one machine, as far as the network goes: which sandboxes it has, and its calls, some over the
 * socket, some by the plugin. While its machine is down it does nothing.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { statePulse } from '../../shared/state-pulse.ts'
import type { DelEvent } from '../many-nodes/history.ts'
import { overSocket, type AddOptions, type PodCalls, type Way } from '../many-nodes/pod-calls.ts'
import type { SeededRandom } from '../rigs/seeded-random.ts'
import type { Invocation, Reply, Sandbox } from '../rigs/shared-node.ts'
import type { PluginRun } from './check-plugin-runs.ts'
import type { Heartbeat } from './heartbeat.ts'
import { byPlugin, type Meddling, type PluginWay, type RunningPlugin } from './plugin-way.ts'
import type { Machine } from './stage.ts'

export interface RuntimeOptions {
  readonly machine: Machine
  readonly calls: PodCalls
  readonly runs: PluginRun[]
  readonly heartbeat: Heartbeat
  /** Path of the plugin. */
  readonly plugin: string
}

/** Of all calls, so many are made by the plugin: it takes a hundred times as long as a request. */
const pluginShare = 0.2

/** Milliseconds from the freeze of a disk in which a plugin may still go to write there: what it goes by is as old (ADR 22). */
const caughtWithinMs = statePulse.freshForMs + statePulse.saidForMs

export class Runtime {
  readonly machine: Machine
  readonly #options: RuntimeOptions
  /** Of this boot. */
  readonly #sandboxes = new Map<string, Sandbox>()
  /** All that this boot has seen. */
  readonly #seen = new Set<string>()
  #isUp = Promise.resolve()
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #plugins = new Set<RunningPlugin>()

  constructor(options: RuntimeOptions) {
    this.machine = options.machine
    this.#options = options
  }

  get name(): string {
    return this.machine.name
  }

  /** Containers that a GC is to leave alone. */
  get valid(): readonly string[] {
    return [...this.#sandboxes.keys()]
  }

  /** A way that is drawn. */
  way(random: SeededRandom): Way {
    return random.chance(pluginShare) ? this.plugin() : overSocket
  }

  plugin(meddling?: Meddling): PluginWay {
    const begun = (run: RunningPlugin): (() => void) => {
      this.#plugins.add(run)
      return () => this.#plugins.delete(run)
    }
    return byPlugin({ ...this.#options, meddling, begun })
  }

  async add(sandbox: Sandbox, options: AddOptions = {}): Promise<Reply> {
    return await this.#whileUp(async () => {
      this.#seen.add(sandbox.container)
      this.#sandboxes.set(sandbox.container, sandbox)
      const reply = await this.#options.calls.add(this.machine.node, sandbox, options)
      if (reply.kind === 'given') await this.#wire(sandbox, reply.addresses)
      return reply
    })
  }

  /** One DEL, whatever comes of it. */
  async del(
    sandbox: Sandbox,
    options: { way?: Way; invocation?: Invocation } = {},
  ): Promise<DelEvent['outcome']> {
    return await this.#whileUp(async () => {
      this.#sandboxes.delete(sandbox.container)
      const outcome = await this.#options.calls.del(this.machine.node, sandbox, options)
      if (outcome !== 'unknown' && sandbox.netns !== undefined)
        await this.machine.loseNamespaces([sandbox.netns])
      return outcome
    })
  }

  async check(sandbox: Sandbox, addresses: readonly string[], way: Way): Promise<void> {
    await this.#whileUp(() => this.#options.calls.check(this.machine.node, sandbox, addresses, { way }))
  }

  async gc(valid: readonly string[], options: { way?: Way; invocation?: Invocation | null }): Promise<Reply> {
    return await this.#whileUp(() => this.#options.calls.gc(this.machine.node, valid, options))
  }

  /** STATUS, as runtimes ask all the time, by the plugin. */
  async status(): Promise<void> {
    await this.#whileUp(() => this.plugin().status(this.machine.node))
  }

  /** It forgets a sandbox, and never sends its DEL. */
  forget({ container }: Sandbox): void {
    this.#sandboxes.delete(container)
  }

  /** The network namespace of a sandbox goes, without a DEL. */
  async kill(sandbox: Sandbox): Promise<void> {
    await this.#whileUp(async () => {
      this.#sandboxes.delete(sandbox.container)
      if (sandbox.netns === undefined) return
      this.#options.calls.died(sandbox.container)
      await this.machine.loseNamespaces([sandbox.netns])
    })
  }

  /**
   * The machine's disk freezes for a while. A plugin that is in the middle of a write then waits as long as that does: it is one
   * that waits in the kernel soon after, and still does when looked at again.
   */
  async freezeDisk(milliseconds: number): Promise<void> {
    const looking = async (): Promise<void> => {
      await delay(caughtWithinMs)
      const waiting = [...this.#plugins].filter(({ pid }) => waitsInKernel(pid))
      await delay(caughtWithinMs)
      for (const run of waiting) if (waitsInKernel(run.pid)) run.caught()
    }
    let looked: Promise<void> | undefined
    await this.machine.disk.freeze(milliseconds, () => {
      looked = looking()
    })
    await looked
  }

  /** Whether it has the sandbox still: no reboot has come between. */
  has({ container }: Sandbox): boolean {
    return this.#sandboxes.has(container)
  }

  /**
   * The machine loses its power, and comes up in another boot: no sandbox is there any more, and no DEL was sent.
   *
   * @param down how long it is down
   */
  async reboot(down: () => Promise<void>): Promise<void> {
    const { machine, calls } = this.#options
    let up: () => void = () => undefined
    this.#isUp = new Promise(resolve => (up = resolve))
    try {
      const began = performance.now()
      await machine.node.kill('SIGKILL')
      for (const run of this.#plugins) run.end()
      // What was under way fails now, or was answered before.
      await Promise.allSettled([...this.#underWay])
      for (const container of this.#seen) calls.died(container, began)
      this.#seen.clear()
      this.#sandboxes.clear()
      await machine.loseNamespaces()
      machine.nextBoot()
      await down()
      await machine.node.start()
    } finally {
      up()
    }
  }

  /** What the plugin does that delegates to ipkeeper: the pod's interface has its addresses. */
  async #wire({ netns }: Sandbox, addresses: readonly string[]): Promise<void> {
    if (netns === undefined) return
    const lines = [
      'link add eth0 type veth peer name far',
      ...addresses.map(address => `address add ${address}/24 dev eth0`),
      'link set eth0 up',
    ]
    const name = netns.slice(netns.lastIndexOf('/') + 1)
    // A reboot may have taken the namespace away before its pod was begun.
    await this.machine.host.run('ip', ['-n', name, '-batch', '-'], { input: `${lines.join('\n')}\n` })
  }

  async #whileUp<T>(work: () => Promise<T>): Promise<T> {
    for (let up; up !== this.#isUp;) {
      up = this.#isUp
      await up
    }
    const working = work()
    this.#underWay.add(working)
    try {
      return await working
    } finally {
      this.#underWay.delete(working)
    }
  }
}

/** Whether a process is in state D of proc(5). */
function waitsInKernel(pid: number): boolean {
  try {
    return /\) D /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
