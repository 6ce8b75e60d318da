import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import type { Salvage } from './salvage.ts'

/** Addresses that a message names; all are in what rescue writes. */
const mostNamed = 24
/** SQLite's result codes for a file that is not as it wrote it (sqlite.org/rescode.html). */
const ioFailure = 10
const corrupt = 11
const notADatabase = 26

const resultCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const isDamage = (error: unknown): boolean => [corrupt, notADatabase].includes(resultCode(error))

/** The disk did not read or write; SQLITE_FULL is none of these. */
export const isIoFailure = (error: unknown): boolean => resultCode(error) === ioFailure

/** Its first bytes are not those of any database: the wrong file, or one that was overwritten. */
export const isNoDatabase = (error: unknown): boolean => resultCode(error) === notADatabase

function few(words: readonly string[], most: number): string {
  const shown = words.slice(0, most).join(', ')
  return words.length > most ? `${shown} and ${words.length - most} more` : shown
}

/** What to do while no daemon runs. */
export const rescueHint = (path: string): string =>
  `restore a backup, or save what can be read: ipkeeperctl rescue --store ${shellWord(`sqlite:${path}`)}; see docs/operations/rescue.md`

/**
 * @param what is wrong, in one line
 * @param addresses that may not be given before it is repaired
 */
export function damaged(
  path: string,
  what: string,
  addresses: readonly string[] = [],
  hint = rescueHint(path),
): Problem {
  return new Problem('IPK_STORE_DAMAGED', `store ${path} is damaged: ${what}`, {
    ...(addresses.length > 0 && { details: `addresses concerned: ${few(addresses, mostNamed)}` }),
    hint,
  })
}

export function noDatabase(path: string, cause: unknown): Problem {
  return new Problem('IPK_STORE_FAILED', `store ${path}: file is not a database`, {
    cause,
    hint: `where it was the ledger: ${rescueHint(path)}; else name the right file with --store`,
  })
}

/** What of a database is wrong, as far as its own rows tell. */
export function damagedRows(path: string, { faults, concerned }: Salvage, otherwise: string): Problem {
  return damaged(path, faults.length > 0 ? few(faults, 3) : otherwise, concerned)
}
