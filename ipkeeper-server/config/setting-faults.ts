/** Keys and indexes from the top of a document down to a value. */
export type Path = readonly (string | number)[]

/** Something wrong in a configuration; `part` says whether the key or its value is to blame. */
export interface Fault {
  readonly path: Path
  readonly part: 'key' | 'value'
  readonly text: string
}

/** "pools[0].ranges[0][1].subnet"; a key that is no word is put in brackets and quotes. */
export function formatPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
      if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) return `[${JSON.stringify(step)}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}

/** The faults of one document, in the order in which they were found. */
export class SettingFaults {
  readonly #faults: Fault[] = []
  /** Every path with a fault at it or below it. */
  readonly #unsound = new Set<string>()

  add(path: Path, text: string, part: Fault['part'] = 'value'): void {
    this.#faults.push({ path, part, text })
    for (let length = 0; length <= path.length; length++)
      this.#unsound.add(JSON.stringify(path.slice(0, length)))
  }

  /** Whether nothing is wrong with the value at this path, nor with anything in it. */
  isSound(path: Path): boolean {
    return !this.#unsound.has(JSON.stringify(path))
  }

  all(): readonly Fault[] {
    return this.#faults
  }
}
