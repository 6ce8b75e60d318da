const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const isUnit = (text: string): text is keyof typeof units => Object.hasOwn(units, text)

/** A hundred years: a moment so far away can still be written as a date. */
const longest = 36_525 * 86_400_000

/** "3s", "30m", "12h", "7d", positive, at most a hundred years; undefined for anything else. Result in milliseconds. */
export function parseDuration(text: string): number | undefined {
  const unit = text.slice(-1)
  if (!/^[1-9][0-9]{0,9}.$/.test(text) || !isUnit(unit)) return undefined
  const milliseconds = Number(text.slice(0, -1)) * units[unit]
  return milliseconds <= longest ? milliseconds : undefined
}

/** The largest unit that divides it: "90s", "2h". */
export function formatDuration(milliseconds: number): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    const size = units[unit]
    if (milliseconds >= size && milliseconds % size === 0) return `${milliseconds / size}${unit}`
  }
  return `${Math.ceil(milliseconds / 1000)}s`
}
