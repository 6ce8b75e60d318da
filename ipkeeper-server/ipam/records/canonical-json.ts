/** The value with the keys of every object in one order, so that two texts of the same value are equal. */
export function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, ordered(inner)]),
  )
}

export function canonicalJson(value: unknown): string {
  return JSON.stringify(ordered(value))
}
