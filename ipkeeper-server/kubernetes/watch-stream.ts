/** Bytes of one line: an object of etcd has 1.5 MiB as a rule, and JSON is longer than its encoding there. */
const longestLine = 16 * 1024 * 1024
const lineFeed = 0x0a

/**
 * Cuts a stream of bytes into lines, wherever its chunks begin and end. What follows the last line feed is not given: a
 * line that was cut off is no line.
 */
export class JsonLines {
  readonly #limit: number
  #pieces: Uint8Array[] = []
  #length = 0

  constructor(limit: number = longestLine) {
    this.#limit = limit
  }

  /** The lines that this chunk completes, without empty ones. Throws RangeError for one that is longer than any object. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = []
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      this.#add(chunk.subarray(from, end))
      const line = this.#take()
      if (line.trim() !== '') lines.push(line)
      from = end + 1
    }
    if (from < chunk.length) this.#add(chunk.subarray(from))
    return lines
  }

  #add(piece: Uint8Array): void {
    this.#length += piece.length
    if (this.#length > this.#limit) throw new RangeError(`a line of more than ${this.#limit} bytes`)
    this.#pieces.push(piece)
  }

  #take(): string {
    const text = Buffer.concat(this.#pieces, this.#length).toString('utf8')
    this.#pieces = []
    this.#length = 0
    return text
  }
}

/** Calls back once a stream has delivered nothing for a while. It looks when the limit could be reached, not at each chunk. */
export class IdleTimer {
  readonly #limit: number
  readonly #monotonic: () => number
  readonly #onIdle: () => void
  #touchedAt = 0
  #timer: NodeJS.Timeout | undefined

  /**
   * @param limit milliseconds without a chunk
   * @param monotonic milliseconds of a clock that never jumps
   */
  constructor(limit: number, monotonic: () => number, onIdle: () => void) {
    this.#limit = limit
    this.#monotonic = monotonic
    this.#onIdle = onIdle
  }

  start(): void {
    this.touch()
    this.#check()
  }

  /** A chunk has arrived. */
  touch(): void {
    this.#touchedAt = this.#monotonic()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #check(): void {
    const left = this.#touchedAt + this.#limit - this.#monotonic()
    if (left <= 0) this.#onIdle()
    else
      this.#timer = setTimeout(() => {
        this.#check()
      }, left + 1)
  }
}
