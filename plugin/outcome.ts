import type { CniFailure } from '../shared/cni/cni-error.ts'

/** A document and its text as it goes to stdout. */
export interface PrintableDocument {
  readonly value: object
  readonly text: string
}

/** Throws RangeError for a value that nests deeper than the stack: such can be read, not written. */
export function printable(value: object): PrintableDocument {
  return { value, text: `${JSON.stringify(value, null, 4)}\n` }
}

/** How a verb ended well. */
export interface Outcome {
  /** What goes to stdout; nothing when absent. */
  readonly document?: PrintableDocument
  /** The fallback that gave what the document says. */
  readonly delegatedTo?: string
  /** Why the daemon has still to carry out this DEL. */
  readonly queued?: string
  /** Says that the document is printed now. When it throws, nothing may be printed and all is taken back. */
  readonly leaveMark?: () => void | Promise<void>
  /** Takes back what was done, for when the document cannot be delivered. Never rejects. */
  readonly undo?: () => Promise<void>
}

/** Whoever was asked, the daemon or the fallback, understood and refused: what it said is shown as it is. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly failure: CniFailure

  constructor(failure: CniFailure) {
    super(failure.message)
    this.failure = failure
  }
}
