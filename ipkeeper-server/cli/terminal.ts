/** Where a command may write and what it may know of its process. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}
