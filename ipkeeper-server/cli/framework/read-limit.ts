import { Problem } from '../../../shared/problem/problem.ts'

/** The value of --limit. Throws IPK_USAGE. */
export function readLimit(text: string, most = Infinity): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) {
    const limit = Number(text)
    if (limit <= most) return limit
    throw new Problem('IPK_USAGE', `--limit ${limit} is more than ${most}`)
  }
  throw new Problem('IPK_USAGE', `--limit "${text}" is no whole number above 0`)
}
