import fc from 'fast-check'

/** What has to hold for every case, and how many cases `make test` tries. */
export interface PropertyDefinition<Case> {
  readonly name: string
  readonly runs: number
  readonly cases: fc.Arbitrary<Case>
  /** Throws what is wrong with a case; else says in a word or two how the case ended. */
  readonly check: (given: Case) => string | Promise<string>
  /**
   * How many of a hundred cases have to end so, at least. A generator that drifts away from what it is to reach would
   * leave a property that holds because it is empty.
   */
  readonly shares: Readonly<Record<string, number>>
}

export interface Verdict {
  /** Cases that were checked. */
  readonly cases: number
  /** How they ended, and how many so. */
  readonly outcomes: ReadonlyMap<string, number>
  /** How the property failed, with the smallest case that shows it; undefined when it held. */
  readonly failure: string | undefined
  /** Where in the sequence of the seed the smallest case stands; undefined when there is none. */
  readonly path: string | undefined
}

export interface RunOptions {
  readonly seed: number
  /** As many cases as `make test` has when absent. */
  readonly runs?: number
  /** Only the case at this place. */
  readonly path?: string
}

/** A property whose cases are its own affair. */
export interface Property {
  readonly name: string
  readonly runs: number
  readonly run: (options: RunOptions) => Promise<Verdict>
}

export function property<Case>(definition: PropertyDefinition<Case>): Property {
  const { name, cases, check, shares } = definition
  return {
    name,
    runs: definition.runs,
    run: async ({ seed, runs = definition.runs, path }) => {
      const outcomes = new Map<string, number>()
      let count = 0
      const predicate = async (given: Case): Promise<void> => {
        count++
        const outcome = await check(given)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
      const which = path === undefined ? { numRuns: runs } : { numRuns: 1, path }
      const options = { ...which, seed, includeErrorInReport: true }
      const details = await fc.check(fc.asyncProperty(cases, predicate), options)
      if (details.failed) {
        const failure = await fc.asyncDefaultReportMessage(details)
        return { cases: count, outcomes, failure, path: details.counterexamplePath ?? undefined }
      }
      const thin = Object.entries(shares).filter(
        ([outcome, share]) => ((outcomes.get(outcome) ?? 0) * 100) / count < share,
      )
      const failure =
        path !== undefined || thin.length === 0
          ? undefined
          : `too few cases reach what the property is about: ${thin
              .map(
                ([outcome, share]) =>
                  `"${outcome}" ${outcomes.get(outcome) ?? 0} of ${count}, wanted ${share} %`,
              )
              .join('; ')}; there were ${showOutcomes(outcomes)}`
      return { cases: count, outcomes, failure, path: undefined }
    },
  }
}

/** "accepted 712, refused 288". */
export function showOutcomes(outcomes: ReadonlyMap<string, number>): string {
  return [...outcomes]
    .sort(([, a], [, b]) => b - a)
    .map(([outcome, count]) => `${outcome} ${count}`)
    .join(', ')
}

/** What to type to see a failure again. */
export function replayCommand({ name }: Property, seed: number, { path }: Verdict): string {
  return `FUZZ_SEED=${seed} FUZZ_ONLY='${name}'${path === undefined ? '' : ` FUZZ_PATH=${path}`} make fuzz`
}
