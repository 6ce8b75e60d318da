/** A document and its text as it goes to stdout. */
export interface PrintableDocument {
  readonly value: object
  readonly text: string
}

/** Throws RangeError for a value that nests deeper than the stack: such can be read, not written. */
export function printable(value: object): PrintableDocument {
  return { value, text: `${JSON.stringify(value, null, 4)}\n` }
}
