import { BackgroundTask } from '../host/background-task.ts'
import { isKnownUnder, mayRunElsewhere, withNotHere, withoutYield } from '../ipam/records/node-record.ts'
import type { AskedYield, AttachmentKey, NodeRecord } from '../ipam/records/records.ts'
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
 * Cuts off sandboxes of this machine whose addresses an operator on another node has released by force. What was asked stands in the record
 * of its node in the store, so that it is known after however long an absence, and is taken out by the machine that has the name when it is
 * done. What is asked of a sandbox that another machine of that name may run stays there for that one, under whatever name it comes back.
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
        if (kind === 'node' && record.yields && (record.name === node || this.#hadItsName(record)))
          this.#task.wake()
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
    const { onError } = this.#options
    let failed = false
    for (const [record, asked] of this.#asked()) {
      if (this.#task.isStopped) return undefined
      try {
        await this.#obey(record, asked)
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

  #asked(): readonly (readonly [NodeRecord, AskedYield])[] {
    const { ledger, node } = this.#options.service
    const records = [...ledger.nodes()].filter(record => record.name === node || this.#hadItsName(record))
    return records.flatMap(record => (record.yields ?? []).map(asked => [record, asked] as const))
  }

  /** Whether this machine had the name before the one that has it now. */
  #hadItsName(record: NodeRecord): boolean {
    const { ledger, node } = this.#options.service
    const id = ledger.node(node)?.claim?.id
    return record.name !== node && id !== undefined && isKnownUnder(record, id)
  }

  async #obey(record: NodeRecord, asked: AskedYield): Promise<void> {
    const { service, onDone } = this.#options
    const { ledger, node } = service
    const { network, containerId, ifname, segment, address } = asked
    const key: AttachmentKey = { network, containerId, ifname }
    const isItsOwn = record.name === node
    if (!ledger.hasAttachment(key)) {
      if (!isItsOwn) return
      if (mayRunElsewhere(record) && !ledger.hasEnded(key)) {
        await amendNode(ledger, node, present => withNotHere(present, asked))
        return
      }
    }
    await delAttachment(service, key, undefined, { released: { segment, address } })
    const taken = amendNode(ledger, record.name, present => withoutYield(present, asked))
    // A policy may leave the record of another node to that one.
    await (isItsOwn ? taken : taken.catch(() => undefined))
    onDone(asked)
  }
}
