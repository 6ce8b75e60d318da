import { parseDuration } from '../../../shared/text/duration.ts'
import { OptionProblem } from './option-problem.ts'

const written = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/**
 * A moment that an option names, as RFC 3339 in UTC. What names no time zone is a time of this machine, and a day begins at midnight.
 *
 * @param now milliseconds since the epoch, from which "2h" is counted back
 * @throws Problem IPK_USAGE
 */
export function readTimeOption(option: string, text: string, now: number): string {
  const ago = parseDuration(text)
  const moment = ago === undefined ? wallTime(text) : now - ago
  if (moment !== undefined) return new Date(moment).toISOString()
  throw new OptionProblem(
    option,
    `${option} "${text}" is no time; write 2026-11-21T14:00, 2026-11-21T14:00Z, 2026-11-21, or how long ago: 2h, 7d`,
  )
}

function wallTime(text: string): number | undefined {
  if (!written.test(text)) return undefined
  // A date alone would be read as UTC.
  const whole = text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T')
  const moment = Date.parse(whole)
  return Number.isNaN(moment) || !isRealDay(whole) ? undefined : moment
}

/** Of the 31st of February the parser makes the 3rd of March. */
function isRealDay(text: string): boolean {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10))
}
