import { canonicalJson } from '../../ipam/records/canonical-json.ts'

/** Whether two texts are of the same record; null is none. An engine may give keys back in another order. */
export function sameRecord(a: string | null, b: string | null): boolean {
  if (a === b) return true
  if (a === null || b === null) return false
  return canonicalJson(JSON.parse(a)) === canonicalJson(JSON.parse(b))
}
