/** Why a system call failed: its code, such as "ENOENT"; else what the error says. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

/** Whether a system call failed for one of these reasons. */
export const failedBy = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))
