import { BackgroundTask } from '../host/background-task.ts'
import {
  attachmentKey,
  leaseKey,
  sameAttachment,
  type AttachmentRecord,
  type LeaseKey,
  type LeaseRecord,
} from '../ipam/records/records.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import { inTurnOfHolder } from '../leases/verbs/turns.ts'

/** Milliseconds until the next try of what could not be cut off. */
const pauseAfterFailure = 5_000

/** An address, and the sandbox of this node that had it. */
type LostAddress = LeaseKey & Pick<LeaseRecord, 'attachment'>

/** Several sandboxes of a node may have lost one address, one after the other. */
const nameOf = (had: LostAddress): string =>
  `${leaseKey(had)} ${had.attachment ? attachmentKey(had.attachment) : ''}`

export interface YieldAddressesOptions {
  readonly service: LeaseService
  /** A sandbox of this node was cut off, which had this address. */
  readonly onCut: (attachment: AttachmentRecord, had: LeaseKey) => void
  /** It could not be; it is tried again. */
  readonly onError: (error: unknown, attachment: AttachmentRecord) => void
}

/**
 * Cuts off sandboxes of this node that have lost an address by somebody else's hand: it was taken over on another node, or
 * ended there. Whoever declared this node lost was to make sure that it is off; where it was not, two would answer for one
 * address from the moment it is back.
 */
export class YieldAddresses {
  readonly #options: YieldAddressesOptions
  readonly #waiting = new Map<string, LostAddress>()
  readonly #task: BackgroundTask

  constructor(options: YieldAddressesOptions) {
    this.#options = options
    this.#task = new BackgroundTask({ round: () => this.#work() })
  }

  /** What was lost while no daemon was here. Resolves when the first try has ended; never rejects. */
  async begin(): Promise<void> {
    for (const had of this.#options.service.ledger.takenAtStart()) this.#waiting.set(nameOf(had), had)
    for (const had of this.#lostBefore()) this.#waiting.set(nameOf(had), had)
    await this.#task.run()
  }

  /**
   * What a daemon had heard of that ended before it could cut the sandbox off, or while it waited for its name: others have all that it
   * was given, or ended it.
   */
  *#lostBefore(): Generator<LostAddress> {
    const { ledger } = this.#options.service
    for (const attachment of ledger.attachmentsWithoutLeases())
      for (const given of ledger.attachment(attachment)?.undo.leases ?? []) {
        const present = ledger.lease(given)
        // What is older than the sandbox is what it was before: an engine went back, and is to be told of it again.
        const isEnded = !present || (present.attachment === null && present.generation > given.wrote)
        const isAnothers = present?.attachment && !ledger.hasAttachment(present.attachment)
        if (isEnded || isAnothers) yield { ...given, attachment }
      }
  }

  /** As the sandbox had it. */
  lost(had: LeaseRecord): void {
    this.#waiting.set(nameOf(had), had)
    void this.#task.run()
  }

  /** Resolves when nothing is done any more. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #work(): Promise<number | undefined> {
    for (const [name, had] of [...this.#waiting]) {
      if (this.#task.isStopped) return undefined
      if ((await this.#cut(had)) && this.#waiting.get(name) === had) this.#waiting.delete(name)
    }
    return this.#waiting.size > 0 ? pauseAfterFailure : undefined
  }

  /** Whether it is done with: the sandbox is cut off, or gone, or has the address again. */
  async #cut(had: LostAddress): Promise<boolean> {
    const { service, onCut, onError } = this.#options
    const { ledger, node, network, serial } = service
    const key = had.attachment
    if (!key) return true
    return await serial.run(attachmentKey(key), async () => {
      const attachment = ledger.attachment(key)
      // Generation 0: nothing is known here of its namespace.
      if (attachment?.node !== node || attachment.generation === 0) return true
      const cut = async (): Promise<boolean> => {
        const isLost = !sameAttachment(ledger.lease(had)?.attachment ?? null, key)
        if (isLost && (await network.cutOff(attachment))) onCut(attachment, had)
        return true
      }
      try {
        return await (attachment.wiring ? inTurnOfHolder(service, attachment.holder, cut) : cut())
      } catch (error) {
        onError(error, attachment)
        return false
      }
    })
  }
}
