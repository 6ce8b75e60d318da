import { setBy, withinSpan } from '../../ipam/records/times.ts'
import type { LeaseRecord } from '../../ipam/records/records.ts'

/** Of one version of a lease: its generation, `since` and `until` as they were written. */
export type WrittenTimes = string

function withTimes(lease: LeaseRecord, written: WrittenTimes): LeaseRecord {
  const [, since, until] = written.split(' ').map(Number)
  return { ...lease, since: since ?? lease.since, until: until ?? lease.until }
}

const timesOf = ({ generation, since, until }: LeaseRecord): WrittenTimes => `${generation} ${since} ${until}`

/**
 * Leases whose times are others here than in the store: they were written by a clock that was ahead of ours, or ours was set
 * since. Such a lease, announced once more as it was, keeps the times that it was given here; else its end would move on each time.
 */
export class AnnouncedTimes {
  readonly #written = new Map<string, WrittenTimes>()

  /** A lease as written, in our times. `present`: what is kept under its key so far. `now`: milliseconds since the epoch. */
  ours(key: string, written: LeaseRecord, present: LeaseRecord | undefined, now: number): LeaseRecord {
    if (present && this.#written.get(key) === timesOf(written))
      return { ...written, since: present.since, until: present.until }
    const ours = withinSpan(written, now)
    this.restore(key, ours === written ? undefined : timesOf(written))
    return ours
  }

  /**
   * The clock was set by so many milliseconds. What another node wrote, by a clock of its own, may be right as it stands: that is
   * kept for the longer of the two, since an end that comes early gives away what is still kept there.
   *
   * @param now milliseconds since the epoch, of the clock as it was set
   */
  shift(key: string, lease: LeaseRecord, by: number, isOwn: boolean, now: number): LeaseRecord {
    if (lease.until === null) return lease
    const written = this.#written.get(key) ?? timesOf(lease)
    const shifted = setBy(lease, by)
    const asWritten = withinSpan(withTimes(lease, written), now)
    const ours = isOwn || (shifted.until ?? 0) >= (asWritten.until ?? 0) ? shifted : asWritten
    this.restore(key, timesOf(ours) === written ? undefined : written)
    return ours
  }

  /** What the store has of a lease that is to be put back as it is now; undefined where that is the same. */
  of(key: string): WrittenTimes | undefined {
    return this.#written.get(key)
  }

  restore(key: string, written: WrittenTimes | undefined): void {
    if (written === undefined) this.#written.delete(key)
    else this.#written.set(key, written)
  }

  keys(): Iterable<string> {
    return this.#written.keys()
  }
}
