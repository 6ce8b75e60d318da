import { uptime } from 'node:os'

/** The clocks of a machine, in milliseconds. Handed in, so that a test or a simulation drives them. */
export interface Clocks {
  /** Since the epoch, as somebody has set it. */
  readonly wall: () => number
  /** CLOCK_MONOTONIC: since boot, without the time asleep. Plugins date their runs by it. */
  readonly monotonic: () => number
  /** CLOCK_BOOTTIME: since boot, with the time asleep. */
  readonly boot: () => number
}

export const systemClocks: Clocks = {
  wall: Date.now,
  // Not performance.now(), which begins with this process.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  // libuv reads /proc/uptime, which is CLOCK_BOOTTIME (uv_uptime; linux:fs/proc/uptime.c).
  boot: () => uptime() * 1000,
}

/** The wall clock was set while the daemon ran. */
export interface Jump {
  /** Milliseconds; below 0 where it was set back. */
  readonly by: number
  /** When that was noticed, by the clock as it is now. */
  readonly at: number
}

const units = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** "the clock was set back by 730 days", for people. */
export function describeJump({ by }: Pick<Jump, 'by'>): string {
  const size = Math.abs(by)
  const [unit, length] = units.find(([, milliseconds]) => size >= 2 * milliseconds) ?? ['s', 1000]
  return `the clock was set ${by < 0 ? 'back' : 'forward'} by ${Math.round(size / length)} ${unit}`
}

/** Milliseconds; NTP moves CLOCK_MONOTONIC along with the wall clock where it only makes it faster or slower. */
const leastJump = 1000

/** Milliseconds between two readings after which nobody can say that they were made at the same time. */
const stall = 100

/**
 * What the daemon knows of time. `now` is for people, for records and for other nodes; what has to be in order within a boot,
 * or to last for so long, goes by `monotonic`, which nobody sets.
 *
 * Whoever asks for `now` makes it notice that the wall clock was set, at most once for each time. There is no timer: nothing
 * depends on it until somebody asks. A machine that slept has not had its clock set.
 */
export class Clock {
  readonly #clocks: Clocks
  /** By which the wall clock is ahead of the monotonic one. */
  #ahead: number
  /** By which CLOCK_BOOTTIME is. */
  #slept: number
  #jumps = 0
  #last: Jump | undefined
  /** When the last one was noticed, by the monotonic clock; else when the daemon started, as nobody saw what was before. */
  #steadySince: number
  /** Called before the first `now` after a jump returns; it may ask for `now` itself. */
  onJump: (jump: Jump) => void = () => undefined

  constructor(clocks: Clocks = systemClocks) {
    this.#clocks = clocks
    this.#ahead = this.#look().ahead
    this.#slept = this.#sleep()
    this.#steadySince = clocks.monotonic()
  }

  /** Milliseconds since the epoch. */
  readonly now = (): number => {
    const { wall, ahead } = this.#look()
    if (Math.abs(ahead - this.#ahead) >= leastJump) this.#notice(wall, ahead)
    return wall
  }

  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly monotonic = (): number => this.#clocks.monotonic()

  /** Milliseconds of CLOCK_BOOTTIME. */
  readonly boot = (): number => this.#clocks.boot()

  /** For how many milliseconds it is known that the clock has not been set: at most since the start. */
  readonly steadyFor = (): number => {
    this.now()
    return this.#clocks.monotonic() - this.#steadySince
  }

  /** How often the clock was set since the start, and the last time of that. */
  jumps(): { readonly count: number; readonly last: Jump | undefined } {
    this.now()
    return { count: this.#jumps, last: this.#last }
  }

  /** Both clocks at one moment: a process that is stopped between two readings has seen no jump. */
  #look(): { readonly wall: number; readonly ahead: number } {
    const { wall, monotonic } = this.#clocks
    for (let tries = 1; ; tries++) {
      const before = monotonic()
      const time = wall()
      const after = monotonic()
      if (after - before < stall || tries === 5) return { wall: time, ahead: time - after }
    }
  }

  #sleep(): number {
    return this.#clocks.boot() - this.#clocks.monotonic()
  }

  #notice(wall: number, ahead: number): void {
    const slept = this.#sleep()
    const by = Math.round(ahead - this.#ahead - (slept - this.#slept))
    this.#ahead = ahead
    this.#slept = slept
    if (Math.abs(by) < leastJump) return
    this.#jumps++
    this.#last = { by, at: wall }
    this.#steadySince = this.#clocks.monotonic()
    this.onJump(this.#last)
  }
}
