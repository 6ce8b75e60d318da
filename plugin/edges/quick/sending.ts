import { Buffer } from './buffer.ts'
import { watch } from './event-loop.ts'
import { system } from './system.ts'

/** What is still to be written to a descriptor that does not wait. */
export class Sending {
  readonly #file: number
  readonly #fail: () => void
  #bytes = Buffer.alloc(0)
  /** How many of them are written. */
  #written = 0
  #stop: (() => void) | undefined
  #whenSent: () => void = () => undefined

  /** @param fail called once when it takes no more, in a later turn */
  constructor(file: number, fail: () => void) {
    this.#file = file
    this.#fail = fail
  }

  send(text: string): void {
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#written), Buffer.from(text)])
    this.#written = 0
    this.#write()
  }

  /** Says what to do once all is written. */
  end(act: () => void): void {
    this.#whenSent = act
    this.#write()
  }

  /** Writes no more. */
  drop(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#bytes = Buffer.alloc(0)
    this.#written = 0
    this.#whenSent = () => undefined
  }

  #write(): void {
    while (this.#written < this.#bytes.length) {
      const count = system.write(this.#file, this.#bytes, this.#written)
      if (count < 0 && system.errnoName(-count) === 'EAGAIN') {
        this.#stop ??= watch(this.#file, 'write', () => {
          this.#write()
        })
        return
      }
      if (count < 0) {
        this.drop()
        queueMicrotask(this.#fail)
        return
      }
      this.#written += count
    }
    this.#stop?.()
    this.#stop = undefined
    const act = this.#whenSent
    this.#whenSent = () => undefined
    act()
  }
}
