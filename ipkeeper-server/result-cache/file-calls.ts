import { chown, link, lstat, open, readdir, rename, unlink } from 'node:fs/promises'

/**
 * The calls by which files are changed here. They are named so that a test can let the power fail before any of them.
 */
export const fileCalls = { chown, link, lstat, open, readdir, rename, unlink }

export type FileCalls = typeof fileCalls

/** The code of a system error, such as "EXDEV"; else its text. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error ? String(error.code) : error.message
}
