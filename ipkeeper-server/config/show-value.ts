import { showJson } from '../../shared/json/fold.ts'

/** A value of the file in a message, on one line; what has parts by its kind. */
export function showValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  return value === null ? 'null' : showJson(value)
}
