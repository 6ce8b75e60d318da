/** The files of the flight record bear numbers, and the highest is the one that is being written. */

/** "000001.jsonl" */
export function flightFileName(number: number): string {
  return `${String(number).padStart(6, '0')}.jsonl`
}

/** The number of a file, by its name; undefined for what is none of ours. */
export function flightFileNumber(name: string): number | undefined {
  const [, digits] = /^([0-9]{6,9})\.jsonl$/.exec(name) ?? []
  return digits === undefined ? undefined : Number(digits)
}
