import { setBy, withinSpan } from '../../ipam/records/times.ts'
import type { LeaseRecord } from '../../ipam/records/records.ts'

/** Times as they were written, of one version of a lease. */
export type Told = string

/** With the times that it was told with. */
function withTimes(lease: LeaseRecord, told: Told): LeaseRecord {
  const [, since, until] = told.split(' ').map(Number)
  return { ...lease, since: since ?? lease.since, until: until ?? lease.until }
}

const toldOf = ({ generation, since, until }: LeaseRecord): Told => `${generation} ${since} ${until}`

/**
 * Leases whose times are others here than in the store: they were written by a clock that was ahead of ours, or ours was set
 * since. Such a lease, told once more as it was, keeps the times that it was given here; else its end would move on each time.
 */
export class ToldTimes {
  readonly #told = new Map<string, Told>()

  /** The lease as told, in our times. `present`: what is kept under its key so far. `now`: milliseconds since the epoch. */
  ours(key: string, told: LeaseRecord, present: LeaseRecord | undefined, now: number): LeaseRecord {
    if (present && this.#told.get(key) === toldOf(told))
      return { ...told, since: present.since, until: present.until }
    const ours = withinSpan(told, now)
    this.restore(key, ours === told ? undefined : toldOf(told))
    return ours
  }

  /**
   * The clock was set by so many milliseconds. What another node wrote, by a clock of its own, may be right as it is told: that is
   * kept for the longer of the two, since an end that comes early gives away what somebody else keeps.
   *
   * @param now milliseconds since the epoch, of the clock as it was set
   */
  shift(key: string, lease: LeaseRecord, by: number, isOwn: boolean, now: number): LeaseRecord {
    if (lease.until === null) return lease
    const told = this.#told.get(key) ?? toldOf(lease)
    const shifted = setBy(lease, by)
    const asTold = withinSpan(withTimes(lease, told), now)
    const ours = isOwn || (shifted.until ?? 0) >= (asTold.until ?? 0) ? shifted : asTold
    this.restore(key, toldOf(ours) === told ? undefined : told)
    return ours
  }

  /** What the store has of a lease that is to be put back as it is now; undefined where that is the same. */
  of(key: string): Told | undefined {
    return this.#told.get(key)
  }

  restore(key: string, told: Told | undefined): void {
    if (told === undefined) this.#told.delete(key)
    else this.#told.set(key, told)
  }

  keys(): Iterable<string> {
    return this.#told.keys()
  }
}
