import type { ProblemCode } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { readRegularFileSync } from './regular-file.ts'
import { systemCode } from '../../shared/system-code.ts'

/** Milliseconds for which a file is taken to be what it was: client-go looks at tokens as often. */
const trustedFor = 60_000

/** Bytes: a bundle of all authorities of a distribution has a quarter of it. */
const most = 1024 * 1024

const read = (path: string): string => readRegularFileSync(path, { most }).toString()

/**
 * A file that others replace: tokens and certificates rotate. Nothing watches it, so an idle daemon does nothing; it is
 * read again when somebody asks and the last look is a minute old.
 */
export class FreshFile {
  readonly path: string
  readonly #monotonic: () => number
  #text: string
  #readAt: number

  /**
   * Reads at once. Throws a Problem of the code that names the file and `what`, such as "token".
   *
   * @param monotonic milliseconds of a clock that never jumps
   */
  constructor(path: string, what: string, monotonic: () => number, code: ProblemCode) {
    this.path = path
    this.#monotonic = monotonic
    this.#readAt = monotonic()
    try {
      this.#text = read(path)
    } catch (error) {
      const why = systemCode(error)
      throw new Problem(code, `${path}: the ${what} cannot be read (${why})`, { cause: error })
    }
    if (this.#text.trim() === '') throw new Problem(code, `${path}: the ${what} is empty`)
  }

  /** A text that cannot be read now, or is empty because it is being written, stays as it was. */
  read(again: boolean): string {
    const now = this.#monotonic()
    if (again || now - this.#readAt >= trustedFor) {
      this.#readAt = now
      try {
        this.#text = read(this.path) || this.#text
      } catch {
        return this.#text
      }
    }
    return this.#text
  }
}
