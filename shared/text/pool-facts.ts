import type { PoolDescription, RangeDescription } from '../api/pool-description.schema.ts'

/** One thing that is known of a pool, in as many lines as it takes. */
export interface PoolFact {
  readonly name: string
  readonly lines: readonly string[]
}

const origins: Readonly<Record<PoolDescription['origin'], string>> = {
  network: 'the ranges of a network',
  config: "the daemon's file",
  api: 'an IPPool object',
}

const rangeLines = ({
  first,
  last,
  subnet,
  size,
  capacity,
  never,
  draining,
}: RangeDescription): readonly string[] => [
  `${first}-${last} of ${subnet}: ${
    draining ? 'draining, no new pod gets an address' : `${capacity} of ${size} addresses can be assigned`
  }`,
  ...never.map(run => `not ${run.first === run.last ? run.first : `${run.first}-${run.last}`}: ${run.why}`),
]

/** What a pool is, but for the addresses of it that are free: the command line and the page say the same. */
export function poolFacts({ origin, ranges, rules, ...rest }: PoolDescription): readonly PoolFact[] {
  return [
    ...ranges.map(range => ({ name: 'range', lines: rangeLines(range) })),
    { name: 'from', lines: [origins[origin]] },
    { name: 'rules', lines: rules.length === 0 ? ['none: every pod may use it'] : rules },
    { name: 'retention', lines: [rest.retention] },
    {
      name: 'cool-down',
      lines: [`${rest.cooldown}; ${rest.preferFor} for an address that was asked for by name`],
    },
    { name: 'strategy', lines: [rest.strategy] },
  ]
}
