/** A word as a shell takes it for that very word. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** An argument vector as a line to type. */
export function shellLine(argv: readonly string[]): string {
  return argv.map(shellWord).join(' ')
}
