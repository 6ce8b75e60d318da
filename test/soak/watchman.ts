/** Looks at daemons all the time, as monitoring does: that they run, and that their pages are answered. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Look } from './judge.ts'
import type { Machine } from './stage.ts'

/** Pages that are answered whatever else goes wrong. */
const pages = ['/v1/status', '/metrics']

/** Of a daemon's log: what never happens in a sound one. */
const bug = /IPK_INTERNAL|"level":"fatal"|unhandledRejection|uncaughtException/

export class Watchman {
  readonly looks: Look[] = []
  readonly #machines: readonly Machine[]
  #ending = false

  constructor(machines: readonly Machine[]) {
    this.#machines = machines
  }

  /** Resolves after `stop`. */
  async run(): Promise<void> {
    await Promise.all(this.#machines.map(machine => this.#watch(machine)))
  }

  stop(): void {
    this.#ending = true
  }

  /** What the daemons' logs say that they should not. */
  readLogs(): void {
    for (const { name, node } of this.#machines) {
      const lines = node
        .log()
        .split('\n')
        .filter(line => bug.test(line))
      for (const line of lines.slice(0, 3))
        this.#saw({ node: name, what: 'the log', wrong: line.slice(0, 1000) })
    }
  }

  #saw(look: Omit<Look, 'at'>): void {
    this.looks.push({ ...look, at: performance.now() })
  }

  async #watch({ name, node }: Machine): Promise<void> {
    let hasEnded = false
    while (!this.#ending) {
      const ended = node.isUp() ? node.endedBy() : undefined
      if (ended !== undefined && !hasEnded)
        this.#saw({ node: name, what: 'the daemon', wrong: `ended by itself: ${ended}` })
      hasEnded = ended !== undefined
      for (const page of pages) {
        if (!node.isUp()) continue
        // One that does not answer is frozen, killed or its disk is: whether it recovers is looked at later.
        const reply = await node
          .daemon()
          .ask('GET', page)
          .catch(() => undefined)
        const wrong = reply && reply.status >= 500 ? `${reply.status} ${reply.body.slice(0, 500)}` : undefined
        if (reply) this.#saw({ node: name, what: page, wrong })
      }
      await delay(500)
    }
  }
}
