const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** "3 d 4 h", "12 min", "8 s"; of the two largest units the smaller is left away where it is none. */
export function spanText(milliseconds: number): string {
  let seconds = Math.max(0, Math.round(milliseconds / 1000))
  // Minutes are fine enough beside days, seconds beside hours.
  if (seconds >= 86_400) seconds -= seconds % 3_600
  else if (seconds >= 600) seconds -= seconds % 60
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(seconds / size)
    seconds %= size
    return count === 0 ? [] : [`${count} ${unit}`]
  })
  return parts.length === 0 ? '0 s' : parts.slice(0, 2).join(' ')
}

/** "2026-11-22 04:23:39 UTC"; the text itself where it is no time. */
export function timeText(iso: string): string {
  const time = Date.parse(iso)
  if (Number.isNaN(time)) return iso
  return new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.[0-9]{3}Z$/, ' UTC')
}

/** "12 min ago", "in 8 s", "now". */
export function distanceText(iso: string, now: number): string {
  const distance = Date.parse(iso) - now
  if (Number.isNaN(distance)) return iso
  if (Math.abs(distance) < 500) return 'now'
  return distance > 0 ? `in ${spanText(distance)}` : `${spanText(-distance)} ago`
}
