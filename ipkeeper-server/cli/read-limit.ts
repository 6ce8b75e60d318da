import { Problem } from '../../shared/problem/problem.ts'

/** The value of --limit. Throws IPK_USAGE. */
export function readLimit(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw new Problem('IPK_USAGE', `--limit "${text}" is no whole number above 0`)
}
