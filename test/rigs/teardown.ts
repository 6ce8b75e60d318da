/** What rigs end with: a test, or a program that is none. It cleans up the youngest first. */
export interface Scope {
  teardown(clean: () => unknown): unknown
}

/** The scope of a program that is no test. */
export class Teardown implements Scope {
  readonly #cleanings: (() => unknown)[] = []

  teardown(clean: () => unknown): void {
    this.#cleanings.push(clean)
  }

  /** Cleans up, the youngest first; goes on after an error, and fails with the first. */
  async run(): Promise<void> {
    const errors: unknown[] = []
    for (const clean of this.#cleanings.splice(0).reverse()) {
      try {
        await clean()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}
