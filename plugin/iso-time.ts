/** What Date's toISOString says, whose first call costs 0.2 ms of a run; from year 1000 to 9999. */
export function isoTime(milliseconds: number): string {
  const date = new Date(milliseconds)
  const two = (value: number): string => (value < 10 ? `0${value}` : String(value))
  const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`
  const rest = date.getUTCMilliseconds()
  return `${day}T${time}.${rest < 100 ? '0' : ''}${two(rest)}Z`
}
