import { BackgroundTask } from '../host/background-task.ts'
import { attachmentKey, incarnationOf, type AttachmentRecord } from '../ipam/records/records.ts'
import { countAsAnswered } from '../leases/verbs/attachment-notes.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import { takeBack } from '../leases/verbs/undo-add.ts'
import { inTurnOfHolder } from '../leases/verbs/turns.ts'
import type { AnsweredMarks, MarkOwner } from './answered-marks.ts'

/** Milliseconds. */
export interface SettlingPauses {
  /** From an ADD until its mark is looked for; longer each time while one does not come. */
  readonly look: number
  readonly longestLook: number
  /** What a plugin that outlived the last daemon has to send its ADD again, or to leave its mark. */
  readonly grace: number
  /** How long a mark stays that belongs to no ADD: a plugin may still come to it. */
  readonly keepMark: number
  /** After a failure. */
  readonly retry: number
}

const standardPauses: SettlingPauses = {
  look: 1_000,
  longestLook: 60_000,
  grace: 3_000,
  keepMark: 60_000,
  retry: 5_000,
}

export interface SettleAnswersOptions {
  readonly service: LeaseService
  readonly marks: AnsweredMarks
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic: () => number
  /** Whether its runtime keeps the result of an ADD, which so was answered; default: that cannot be seen. */
  readonly hasResult?: (attachment: AttachmentRecord) => Promise<boolean>
  /** An ADD of an earlier daemon was never answered, and has been undone. */
  readonly onUndone: (attachment: AttachmentRecord) => void
  /** Something could not be settled yet; it is tried again. */
  readonly onError: (error: unknown) => void
  /** All could be settled that there was. */
  readonly onSettled?: () => void
  readonly pauses?: SettlingPauses
}

/**
 * Finds out which ADDs were answered (docs/adr/0013-a-mark-for-each-answer.md).
 *
 * While the daemon runs, marks of plugins are looked for some time after their ADDs, and taken over into the store. What
 * an earlier daemon of this boot recorded, and nobody is known to have the answer of, is undone after the start, unless
 * the plugin still comes: it may send its ADD again, or leave its mark before the daemon does. Whatever fails in between,
 * an ADD that has its plugin's mark is never undone: the mark goes only after the record says that it was there.
 *
 * Nothing runs while every ADD is known to be answered.
 */
export class SettleAnswers {
  readonly #options: SettleAnswersOptions
  readonly #pauses: SettlingPauses
  /** Recorded by an earlier daemon. */
  #earlier: readonly AttachmentRecord[] = []
  #graceUntil = Infinity
  /** Marks that are the daemon's. */
  readonly #claimed = new Set<string>()
  /** At the start. */
  #folderMissing: boolean
  /** Since when a mark has been seen that belongs to no ADD. */
  readonly #strays = new Map<string, number>()
  #pause: number
  readonly #task: BackgroundTask

  constructor(options: SettleAnswersOptions) {
    this.#options = options
    this.#pauses = options.pauses ?? standardPauses
    this.#pause = this.#pauses.look
    this.#folderMissing = !options.marks.hasFolder
    this.#task = new BackgroundTask({
      round: () => this.#settle(),
      onError: options.onError,
      retryAfter: this.#pauses.retry,
    })
  }

  /** To be awaited before the first ADD is served, and after queued DELs were carried out. Never rejects. */
  async begin(): Promise<void> {
    this.#earlier = this.#own()
    try {
      const found = await this.#look()
      await this.#replaceFolder()
      for (const [name, owner] of found) if (owner === 'daemon') this.#claimed.add(name)
      await this.#undoEarlier(({ invocationId, wiring }) =>
        // A pod that is wired in part cannot be answered from its record: it is wired afresh, if it is asked for again.
        wiring ? this.#claim(invocationId) : Promise.resolve(found.get(invocationId ?? '')),
      )
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /** The daemon serves: plugins of earlier ADDs can reach it, and have some seconds for that. */
  start(): void {
    this.#graceUntil = this.#options.monotonic() + this.#pauses.grace
    this.#scheduleLook()
  }

  /**
   * A plugin sends its ADD, perhaps once more: then it has no answer yet, and whatever the daemon claimed for that run is
   * settled.
   */
  async askedAgain(name: string | undefined): Promise<void> {
    if (name !== undefined && this.#claimed.delete(name)) await this.#options.marks.remove(name, 'daemon')
  }

  /**
   * Whether the answer of an attachment's ADD has arrived; to be asked in its turn, before it is ended. From then on one that
   * has not cannot be answered any more: the mark is the daemon's. Never rejects: where it cannot be known, it has arrived.
   */
  async wasAnswered(attachment: AttachmentRecord): Promise<boolean> {
    const { service, marks } = this.#options
    const { unanswered, node, bootId, invocationId } = attachment
    if (!unanswered || node !== service.node || bootId !== service.bootId) return true
    if (!unanswered.confirms) return false
    try {
      return (await this.#claim(invocationId)) === 'plugin'
    } catch {
      // Where nobody can make a mark, as on a full disk, the plugin cannot either: what counts is whether it is there.
      return await marks.ownerOf(invocationId ?? '').then(
        owner => owner === 'plugin',
        () => true,
      )
    } finally {
      this.#task.wake(this.#pauses.look)
    }
  }

  /** An ADD was recorded that its plugin has to answer. */
  wake(): void {
    this.#pause = this.#pauses.look
    this.#task.wake(this.#pause)
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #claim(invocationId: string | null): Promise<MarkOwner> {
    const name = invocationId ?? ''
    const owner = await this.#options.marks.claim(name)
    if (owner === 'daemon') this.#claimed.add(name)
    return owner
  }

  async #settle(): Promise<undefined> {
    await this.#look()
    await this.#replaceFolder()
    if (this.#options.monotonic() >= this.#graceUntil)
      await this.#undoEarlier(({ invocationId }) => this.#claim(invocationId))
    this.#options.onSettled?.()
    this.#scheduleLook()
  }

  /**
   * Whoever took the folder away took the marks away: then nobody can say what was not answered. There is no folder until
   * that is durable, so that the next daemon does not take its emptiness for an answer.
   */
  async #replaceFolder(): Promise<void> {
    const { service, marks } = this.#options
    if (!this.#folderMissing) return
    await countAsAnswered(service, this.#earlier.filter(confirms))
    marks.makeFolder()
    this.#folderMissing = false
  }

  /** While an answer is awaited, or a mark lies about. */
  #scheduleLook(): void {
    const now = this.#options.monotonic()
    if (this.#own().length > 0) {
      this.#task.wake(this.#pause)
      this.#pause = Math.min(this.#pause * 2, this.#pauses.longestLook)
    }
    const [oldest] = this.#strays.values()
    const moments = [
      ...(this.#earlier.length > 0 ? [this.#graceUntil] : []),
      ...(oldest === undefined ? [] : [oldest + this.#pauses.keepMark]),
    ]
    for (const moment of moments) this.#task.wake(Math.max(moment - now, 0) + 1)
  }

  /** ADDs that still have to be answered, of this node and boot: of no other can it be said here that nobody will. */
  #own(): readonly AttachmentRecord[] {
    const { ledger, node, bootId } = this.#options.service
    return ledger.unanswered().filter(attachment => attachment.node === node && attachment.bootId === bootId)
  }

  /** Takes the marks of plugins over into the records; resolves to all marks as they were. */
  async #look(): Promise<ReadonlyMap<string, MarkOwner>> {
    const { service, marks } = this.#options
    // A change that the store refused must not make a mark look as if it belonged to no ADD.
    await service.ledger.settle()
    const found = await marks.list()
    const awaited = service.ledger.unanswered().filter(confirms)
    const arrived = awaited.filter(({ invocationId }) => found.get(invocationId ?? '') === 'plugin')
    const names = new Set(arrived.map(({ invocationId }) => invocationId ?? ''))
    await countAsAnswered(service, arrived, ({ invocationId }) => names.has(invocationId ?? ''))
    for (const name of names) await marks.remove(name, 'plugin')
    const known = new Set(awaited.map(({ invocationId }) => invocationId ?? ''))
    await this.#removeStrays(new Map([...found].filter(([name]) => !known.has(name))))
    return found
  }

  /** Of ADDs that were deleted before their mark was seen, and of those that were undone. */
  async #removeStrays(strays: ReadonlyMap<string, MarkOwner>): Promise<void> {
    const { marks, monotonic } = this.#options
    const now = monotonic()
    for (const name of [...this.#strays.keys()]) if (!strays.has(name)) this.#strays.delete(name)
    for (const [name, owner] of strays) {
      const since = this.#strays.get(name) ?? now
      if (now >= since + this.#pauses.keepMark) {
        this.#strays.delete(name)
        this.#claimed.delete(name)
        await marks.remove(name, owner)
      } else this.#strays.set(name, since)
    }
  }

  /**
   * Undoes what an earlier daemon recorded, where the mark is not the plugin's. `ownerOf` says whose it is, undefined while
   * it is nobody's; then, and after a failure, the ADD waits.
   */
  async #undoEarlier(
    ownerOf: (attachment: AttachmentRecord) => Promise<MarkOwner | undefined>,
  ): Promise<void> {
    const waiting = this.#earlier
    const outcomes = await Promise.allSettled(waiting.map(earlier => this.#undoOne(earlier, ownerOf)))
    this.#earlier = waiting.filter((_, index) => {
      const outcome = outcomes[index]
      return outcome?.status !== 'fulfilled' || !outcome.value
    })
    const failed = outcomes.find(outcome => outcome.status === 'rejected')
    if (failed) throw failed.reason
  }

  /** Whether nothing is left to do: it is answered, or undone, or its plugin has sent it again and will see to it. */
  async #undoOne(
    earlier: AttachmentRecord,
    ownerOf: (attachment: AttachmentRecord) => Promise<MarkOwner | undefined>,
  ): Promise<boolean> {
    const { service, onUndone, hasResult } = this.#options
    return await service.serial.run(attachmentKey(earlier), async () => {
      const present = service.ledger.attachment(earlier)
      if (!present?.unanswered || incarnationOf(present) !== incarnationOf(earlier)) return true
      const owner = confirms(present) ? await ownerOf(present) : 'daemon'
      if (owner !== 'daemon') return owner === 'plugin'
      // An older state folder was put back, which has its record and not its mark.
      if ((await hasResult?.(present)) === true) {
        await countAsAnswered(service, [present])
        return true
      }
      const undone = present.wiring
        ? await inTurnOfHolder(service, present.holder, () => takeBack(service, present, present.answered))
        : await takeBack(service, present, present.answered)
      if (undone) onUndone(present)
      return true
    })
  }
}

const confirms = ({ unanswered }: AttachmentRecord): boolean => unanswered?.confirms === true
