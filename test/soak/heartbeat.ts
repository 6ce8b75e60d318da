/** When the machine itself was late: a timer of this process that came later than it was set, as all else did meanwhile. */

const beatMs = 100

export interface Stall {
  readonly from: number
  readonly until: number
}

export class Heartbeat {
  readonly stalls: Stall[] = []
  #timer: NodeJS.Timeout | undefined

  start(): void {
    let due = performance.now() + beatMs
    this.#timer = setInterval(() => {
      const now = performance.now()
      if (now - due > beatMs) this.stalls.push({ from: due, until: now })
      due = now + beatMs
    }, beatMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Milliseconds of a span in which the machine was late. */
export function stalledWithin(stalls: readonly Stall[], began: number, ended: number): number {
  const overlaps = stalls.map(({ from, until }) => Math.min(until, ended) - Math.max(from, began))
  return overlaps.reduce((sum, overlap) => sum + Math.max(0, overlap), 0)
}
