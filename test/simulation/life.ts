/**
 * The life of a process. Where it meets the world (store, engine, marks, kernel) it asks `edge`: what comes after its end never
 * comes back to it, as after a SIGKILL, so that nothing that it still had in mind is done.
 */
export class Life {
  #isOver = false
  readonly #end = Promise.withResolvers<undefined>()

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when it is over. */
  get over(): Promise<undefined> {
    return this.#end.promise
  }

  end(): void {
    this.#isOver = true
    this.#end.resolve(undefined)
  }

  async edge<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await work
      if (this.#isOver) return await never()
      return result
    } catch (error) {
      if (this.#isOver) return await never()
      throw error
    }
  }
}

const never = <T>(): Promise<T> => new Promise(() => undefined)
