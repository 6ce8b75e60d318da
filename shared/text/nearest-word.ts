/** Edit distance with transpositions of neighbours counted as one (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      )
      if (a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforePrevious[column - 2] ?? Infinity) + 1)
      }
      current.push(cost)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length] ?? 0
}

/** The known word that a misspelt one most likely meant, ignoring case; undefined when none is near. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  let best: { word: string; cost: number } | undefined
  for (const candidate of known) {
    const cost = distance(word.toLowerCase().slice(0, 64), candidate.toLowerCase())
    if (!best || cost < best.cost) best = { word: candidate, cost }
  }
  if (!best) return undefined
  const { word: near, cost } = best
  // Of a short word two letters have to be the same: "foo" is no slip of "pod".
  const most = Math.min(Math.max(2, Math.floor(near.length / 2)), Math.max(1, near.length - 2))
  return cost <= most ? near : undefined
}

/** The known word that another is one slip away from, ignoring case; undefined when it is known, or farther off. */
export function misspeltWord(word: string, known: readonly string[]): string | undefined {
  const folded = word.toLowerCase()
  const words = known.map(candidate => candidate.toLowerCase())
  if (words.includes(folded)) return undefined
  return known.find(
    (candidate, index) =>
      candidate.length > 4 &&
      Math.abs(candidate.length - word.length) <= 1 &&
      distance(folded, words[index] ?? '') === 1,
  )
}
