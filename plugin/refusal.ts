import type { CniFailure } from '../shared/cni/cni-error.ts'

/** Whoever was asked, the daemon or the fallback, understood and refused: what it said is shown as it is. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly failure: CniFailure

  constructor(failure: CniFailure) {
    super(failure.message)
    this.failure = failure
  }
}
