import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  describeDiskFault,
  diskHint,
  fileHint,
  isDiskFault,
  lacksRoom,
  type DiskFault,
} from '../../../shared/problem/disk-fault.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { diskFaultOf, fileFaultOf } from './disk-fault-of.ts'
import { Reserve, type ReserveState } from './reserve.ts'
import { systemCode } from '../../../shared/system-code.ts'

export interface RoomOptions {
  /** Whose file system it is about: that of the store, or of the journal. It has to be there. */
  readonly folder: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
  /** From now on no pod is added. */
  readonly onSpent: (refusal: Problem) => void
  /** All is as it should be again. */
  readonly onWhole: () => void
}

export interface RoomState extends ReserveState {
  /** Why no pod is added, and since when (milliseconds since the epoch); undefined while all is well. */
  readonly spent: { readonly fault: DiskFault; readonly since: number } | undefined
}

/** Milliseconds between two tries to make the reserve whole again. While it is whole there is no timer. */
const retryAfter = 3_000
/** Somebody who asks has it tried again after so many. */
const triedLately = 2_000

/**
 * Room for ending pods on a disk that is full: who is to free it deletes pods, and a DEL has to be written down first. A
 * reserve is given up piece by piece for that, and for nothing else: as long as it is not whole again no pod is added.
 */
export class Room {
  readonly #options: RoomOptions
  readonly #reserve: Reserve
  #spent: RoomState['spent']
  #refilling: Promise<void> | undefined
  #triedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: RoomOptions) {
    this.#options = options
    this.#reserve = new Reserve(options.folder)
  }

  get folder(): string {
    return this.#options.folder
  }

  state(): RoomState {
    return { ...this.#reserve.state(), spent: this.#spent }
  }

  /** Why no pod may be added now. */
  refusal(): Problem | undefined {
    if (!this.#spent && this.#reserve.isDiskFull) this.note('ENOSPC')
    if (!this.#spent) return undefined
    void this.#tryAgain()
    return this.#refusal(this.#spent.fault)
  }

  #refusal(fault: DiskFault): Problem {
    const { kept, wanted } = this.#reserve.state()
    const left = `${(kept / 2 ** 20).toFixed(1)} of ${(wanted / 2 ** 20).toFixed(1)} MiB`
    return new Problem(
      'IPK_STORE_FAILED',
      `${describeDiskFault(fault, this.folder)}: pods are deleted, and none is added until there is room again (kept for DELs: ${left})`,
      { hint: diskHint(fault, this.folder) },
    )
  }

  /** Makes the reserve whole, now and whenever it is not. Resolves after the first try; never rejects. */
  async keep(): Promise<void> {
    await this.#refill()
  }

  /** What an error means for the disk; undefined when it has nothing to do with it. */
  faultOf(error: unknown): DiskFault | undefined {
    return diskFaultOf(error, this.folder)
  }

  /** Gives a piece up for what has failed for lack of room. False when nothing is left, or room would not help. */
  giveUp(fault: DiskFault | undefined): boolean {
    if (fault === undefined || !lacksRoom(fault) || !this.#reserve.giveUp()) return false
    this.note(fault)
    return true
  }

  /** Something found no room: from now on no pod is added, until there is more than a little. */
  note(fault: DiskFault): void {
    const before = this.#spent
    // What was given up is for somebody else.
    this.#triedAt = this.#options.monotonic()
    this.#spent = { fault, since: before?.since ?? this.#options.now() }
    if (!before) this.#options.onSpent(this.#refusal(this.#spent.fault))
    this.#tryLater()
  }

  /**
   * Does something that the daemon cannot start without, with what is kept where there is no other room.
   *
   * @param where what is to be written there; it may be on another disk
   */
  async make<T>(where: string, action: () => T | Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await action()
      } catch (error) {
        const isOurs = deviceOf(where) === deviceOf(this.folder)
        const fault = isOurs ? this.faultOf(error) : undefined
        if (!this.giveUp(fault)) throw this.explain(error, fault)
      }
    }
  }

  /** The same error, with what to do about the disk. */
  explain(error: unknown, fault: DiskFault | undefined): unknown {
    if (!(error instanceof Problem)) return error
    const { code, message, details } = error
    if (fault === undefined) {
      if (code !== 'IPK_STORE_FAILED') return error
      const found = fileFaultOf(error, join(this.folder, 'leases.db'))
      if (!found) return error
      const hint = fileHint(found.fault, found.path)
      return new Problem(code, message, { details, cause: error, hint })
    }
    return new Problem(code, `${message}: ${describeDiskFault(fault, this.folder)}`, {
      ...{ details, cause: error },
      hint: diskHint(fault, this.folder),
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#refilling
  }

  #tryLater(): void {
    clearTimeout(this.#timer)
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      void this.#refill()
    }, retryAfter).unref()
  }

  async #tryAgain(): Promise<void> {
    if (this.#options.monotonic() - this.#triedAt >= triedLately) await this.#refill()
  }

  async #refill(): Promise<void> {
    if (this.#closed) return
    this.#triedAt = this.#options.monotonic()
    this.#refilling ??= this.#refillOnce().finally(() => (this.#refilling = undefined))
    await this.#refilling
  }

  async #refillOnce(): Promise<void> {
    try {
      const isWhole = await this.#reserve.refill()
      if (isWhole && (!this.#spent || this.#reserve.hasSpare)) {
        clearTimeout(this.#timer)
        if (this.#spent) this.#options.onWhole()
        this.#spent = undefined
      } else this.note(this.#spent?.fault ?? 'ENOSPC')
    } catch (error) {
      const code = systemCode(error)
      // What else is wrong with the disk every write says by itself.
      if (isDiskFault(code) && lacksRoom(code)) this.note(code)
      else this.#tryLater()
    }
  }
}

/** Of the folder at a path, or of the next one above it that is there. */
function deviceOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats || dirname(path) === path ? (stats?.dev ?? -1) : deviceOf(dirname(path))
}
