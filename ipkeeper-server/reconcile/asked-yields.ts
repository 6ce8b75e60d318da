import { BackgroundTask } from '../host/background-task.ts'
import { withoutYield } from '../ipam/records/node-record.ts'
import type { AskedYield } from '../ipam/records/records.ts'
import { amendNode } from '../leases/ledger/write-node.ts'
import { delAttachment } from '../leases/verbs/del.ts'
import type { LeaseService } from '../leases/verbs/service.ts'

/** Milliseconds until the next try of what could not be cut off. */
const pauseAfterFailure = 5_000

export interface AskedYieldsOptions {
  readonly service: LeaseService
  /** A sandbox of this node was cut off, or was gone already, and has no address any more. */
  readonly onDone: (asked: AskedYield) => void
  /** It could not be; it is tried again. */
  readonly onError: (error: unknown, asked: AskedYield) => void
}

/**
 * Cuts off sandboxes of this node whose addresses an operator on another node has released by force. What was asked stands in this
 * node's record in the store, so that it is known after however long an absence, and is taken out when it is done.
 */
export class AskedYields {
  readonly #options: AskedYieldsOptions
  readonly #task: BackgroundTask

  constructor(options: AskedYieldsOptions) {
    this.#options = options
    this.#task = new BackgroundTask({ round: () => this.#work() })
    const { ledger, node } = options.service
    ledger.subscribe({
      changed: ({ kind, record }) => {
        if (kind === 'node' && record.name === node && record.yields) this.#task.wake()
      },
    })
  }

  /** What was asked while no daemon was here. Resolves when the first try has ended; never rejects. */
  async begin(): Promise<void> {
    await this.#task.run()
  }

  /** Resolves when nothing is done any more. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #work(): Promise<number | undefined> {
    const { service, onDone, onError } = this.#options
    const { ledger, node } = service
    let failed = false
    for (const asked of ledger.node(node)?.yields ?? []) {
      if (this.#task.isStopped) return undefined
      const { network, containerId, ifname, segment, address } = asked
      const key = { network, containerId, ifname }
      try {
        await delAttachment(service, key, undefined, { released: { segment, address } })
        await amendNode(ledger, node, record => withoutYield(record, asked))
        onDone(asked)
      } catch (error) {
        failed = true
        onError(error, asked)
      }
    }
    if (!failed) return undefined
    // A write that was refused brings news of the record, which would begin the next try at once.
    this.#task.rest(pauseAfterFailure)
    return pauseAfterFailure
  }
}
