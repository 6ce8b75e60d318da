/** The value with the keys of every object in one order, so that two texts of the same record are equal. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, ordered(inner)]),
  )
}

/** Whether two texts are of the same record; null is none. An engine may give keys back in another order. */
export function sameRecord(a: string | null, b: string | null): boolean {
  if (a === b) return true
  if (a === null || b === null) return false
  return JSON.stringify(ordered(JSON.parse(a))) === JSON.stringify(ordered(JSON.parse(b)))
}
