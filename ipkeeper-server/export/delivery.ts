/** Lines on their way to a receiver. One that has failed is of no more use. */
export interface Delivery {
  /** Resolves when further lines may come, so that only as many are in memory as are handed in at a time. */
  send(lines: readonly string[]): Promise<void>
  /** Resolves when the receiver has all lines, as far as its protocol lets that be known. */
  finish(): Promise<void>
  /** Gives up at once: whatever waits rejects. */
  readonly abort: () => void
}

/** What a delivery may take, in milliseconds. */
export interface DeliveryLimits {
  readonly connect: number
  /** For a batch to be taken, and for the receiver to close after the last one. */
  readonly answer: number
}

export const usualLimits: DeliveryLimits = { connect: 10_000, answer: 30_000 }

export interface DeliveryTerms {
  /** Default: usualLimits. */
  readonly limits?: DeliveryLimits | undefined
  /** Ends it as `abort` does, also while it begins. */
  readonly signal?: AbortSignal | undefined
}
