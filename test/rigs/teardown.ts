/** What a test gives to rigs so that they end with it, for programs that are no test. */
export class Teardown {
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
