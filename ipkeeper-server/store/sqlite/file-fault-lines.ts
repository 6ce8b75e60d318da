/** Lines that are kept, of a file whose every row may be bad. */
const mostKept = 100

/** What is wrong with a file, in one line each: the first lines, and how many more there were. */
export class FileFaultLines {
  readonly #lines: string[] = []
  #more = 0

  add(line: string): void {
    if (this.#lines.length < mostKept) this.#lines.push(line)
    else this.#more++
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  lines(): readonly string[] {
    return this.#more === 0 ? this.#lines : [...this.#lines, `and ${this.#more} more`]
  }
}
