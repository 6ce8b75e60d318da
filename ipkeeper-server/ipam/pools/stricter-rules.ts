import type { PoolRules, PoolSettings } from './pool-settings.ts'

/** Rules that a file which is refused has for a pool, and what is in force does not say. */
function addsTo(wanted: PoolRules, inForce: PoolRules): boolean {
  return Object.entries(wanted).some(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(inForce[key as keyof PoolRules]),
  )
}

/**
 * The pools in force, each with the rules of a refused file for it besides its own: who is to be kept out is kept out, whatever
 * is wrong with the rest of that file. What such a file would allow, it allows nobody.
 *
 * @returns the same array where no rule is added
 */
export function withStricterRules(
  inForce: readonly PoolSettings[],
  refused: readonly PoolSettings[],
): readonly PoolSettings[] {
  const wanted = new Map(refused.map(({ pool, rules }) => [pool.name, rules]))
  const adding = (settings: PoolSettings): PoolRules | undefined => {
    const rules = wanted.get(settings.pool.name)
    return rules && addsTo(rules, settings.rules) ? rules : undefined
  }
  if (!inForce.some(settings => adding(settings) !== undefined)) return inForce
  return inForce.map(settings => {
    const besides = adding(settings)
    return besides ? { ...settings, rules: { ...settings.rules, besides } } : settings
  })
}
