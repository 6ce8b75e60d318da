import { utimes } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { statePulse } from '../../shared/state-pulse.ts'

/** Milliseconds that one may take until nobody waits for it any more. */
const patience = 200

/** Whether a file system takes writes, or hangs: shared/state-pulse.ts. Nothing is written while nobody asks. */
export class FolderPulse {
  readonly #path: string
  readonly #monotonic: () => number
  #cameBackAt = -Infinity
  /** One at a time: while the file system hangs it keeps a thread. */
  #underWay: Promise<void> | undefined

  /** @param path of a file there whose times nobody looks at */
  constructor(path: string, monotonic: () => number) {
    this.#path = path
    this.#monotonic = monotonic
  }

  /** Never rejects, and resolves soon. */
  async beats(): Promise<boolean> {
    if (this.#isFresh()) return true
    this.#underWay ??= this.#touch()
    const enough = new AbortController()
    await Promise.race([this.#underWay, delay(patience, undefined, { signal: enough.signal, ref: false })])
    enough.abort()
    return this.#isFresh()
  }

  #isFresh(): boolean {
    return this.#monotonic() - this.#cameBackAt < statePulse.saidForMs
  }

  async #touch(): Promise<void> {
    const now = new Date()
    // A refusal, such as of a disk that is full, is an answer as well.
    await utimes(this.#path, now, now).catch(() => undefined)
    this.#cameBackAt = this.#monotonic()
    this.#underWay = undefined
  }
}
