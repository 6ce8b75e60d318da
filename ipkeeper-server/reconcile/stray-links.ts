import { Problem } from '../../shared/problem/problem.ts'
import { BackgroundTask } from '../host/background-task.ts'
import type { AttachmentRecord } from '../ipam/records/records.ts'
import { strayLinks, type VethSeen } from './plan-links.ts'

/** Milliseconds. */
export interface StrayLinkTimes {
  /** From the first look to the second one. */
  readonly again: number
  /** From the first look on: later on nothing is removed. */
  readonly end: number
}

const standardTimes: StrayLinkTimes = { again: 10_000, end: 15_000 }

export interface StrayLinksOptions {
  /** The veths of the host. */
  readonly look: () => Promise<readonly VethSeen[]>
  /** Removes that very link, and none that has its name by now. Resolves to whether it was still there. */
  readonly remove: (link: VethSeen) => Promise<boolean>
  /** Those with a wiring record, of every node and boot. */
  readonly attachments: () => Iterable<AttachmentRecord>
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic: () => number
  readonly onRemoved: (link: VethSeen) => void
  readonly onError: (error: unknown) => void
  readonly times?: StrayLinkTimes
}

/**
 * Removes what programs of an earlier daemon made after it had been killed, too late for the undo at the start: it looks
 * once then, and once more when whatever was under way has ended. No record tells of such a link, so nobody else would.
 */
export class StrayLinks {
  readonly #options: StrayLinksOptions
  readonly #task: BackgroundTask
  #until = -Infinity
  #looks = 0

  constructor(options: StrayLinksOptions) {
    this.#options = options
    this.#task = new BackgroundTask({ round: () => this.#look() })
  }

  /** To be called when the ADDs of an earlier daemon were settled. */
  start(): void {
    this.#until = this.#options.monotonic() + (this.#options.times ?? standardTimes).end
    this.#task.wake()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #look(): Promise<number | undefined> {
    await this.#removeStrays(this.#until)
    return ++this.#looks === 1 ? (this.#options.times ?? standardTimes).again : undefined
  }

  async #removeStrays(until: number): Promise<void> {
    const { look, remove, attachments, monotonic, onRemoved, onError } = this.#options
    try {
      const seen = await look()
      // After the look: the record of an ADD is there before its link.
      const named = new Set<string>()
      for (const { wiring } of attachments()) if (wiring?.hostLink) named.add(wiring.hostLink.name)
      for (const link of strayLinks(seen, named)) {
        if (monotonic() >= until || this.#task.isStopped) return
        if (await remove(link)) onRemoved(link)
      }
    } catch (error) {
      // Where there is no ip, nothing was ever wired.
      if (!(error instanceof Problem) || error.code !== 'IPK_TOOL_MISSING') onError(error)
    }
  }
}
