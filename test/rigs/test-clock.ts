import { Clock, systemClocks, type Clocks } from '../../ipkeeper-server/host/clock.ts'

/** The clocks of a machine that the test drives. It was booted 1,000,000 ms ago, in 2026. */
export class TestClock {
  #wall = Date.parse('2026-01-01T00:00:00Z')
  #monotonic = 1_000_000
  #asleep = 0
  #source: Clocks = {
    wall: () => this.#wall,
    monotonic: () => this.#monotonic,
    boot: () => this.#monotonic + this.#asleep,
  }

  /** A daemon that starts now: what it knows of the time. */
  start(): Clock {
    return new Clock({
      wall: () => this.#source.wall(),
      monotonic: () => this.#source.monotonic(),
      boot: () => this.#source.boot(),
    })
  }

  /** From now on that of this machine, and what somebody sets it by. */
  useReal(): void {
    this.#wall = 0
    this.#source = { ...systemClocks, wall: () => systemClocks.wall() + this.#wall }
  }

  /** Milliseconds since the epoch. */
  get wall(): number {
    return this.#source.wall()
  }

  /** Milliseconds since boot. */
  get monotonic(): number {
    return this.#source.monotonic()
  }

  /** Time goes by. */
  pass(milliseconds: number): void {
    this.#wall += milliseconds
    this.#monotonic += milliseconds
  }

  /** Somebody sets the wall clock. */
  set(by: number): void {
    this.#wall += by
  }

  sleep(milliseconds: number): void {
    this.#wall += milliseconds
    this.#asleep += milliseconds
  }
}
