import t from 'tap'
import type { LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { AnnouncedTimes } from '../../../../ipkeeper-server/leases/ledger/announced-times.ts'
import { lease } from '../../../rigs/records.ts'

const now = 1_000_000
const cooling = (since: number, until: number | null, generation = 1): LeaseRecord =>
  lease('10.0.0.2', generation, { state: 'cooling', attachment: null, since, until })
const span = ({ since, until }: LeaseRecord): (number | null)[] => [
  since - now,
  until === null ? null : until - now,
]

t.test('what was written by a clock that was ahead is kept for as long as it was to, from now on', t => {
  for (const [name, since, until, kept] of [
    ['in our time', now - 10, now + 90, [-10, 90]],
    ['ahead', now + 5_000, now + 5_100, [0, 100]],
    ['without an end', now + 5_000, null, [5_000, null]],
  ] as const) {
    const times = new AnnouncedTimes()
    const ours = times.ours('key', cooling(since, until), undefined, now)
    t.strictSame(span(ours), kept, name)
    t.equal(times.of('key') === undefined, name !== 'ahead', `${name}: what the store has is remembered`)
  }
  t.end()
})

t.test('announced once more as it was, it keeps its times; another version gets new ones', t => {
  const times = new AnnouncedTimes()
  const written = cooling(now + 5_000, now + 5_100)
  const ours = times.ours('key', written, undefined, now)
  t.strictSame(span(times.ours('key', written, ours, now + 40)), [0, 100])
  t.strictSame(span(times.ours('key', cooling(now + 5_000, now + 5_100, 2), ours, now + 40)), [40, 140])
  times.ours('key', cooling(now, now + 10, 3), ours, now + 40)
  t.strictSame([...times.keys()], [], 'the store has the same times again')
  t.end()
})

t.test('the clock is set', t => {
  for (const [name, by, isOwn, kept] of [
    ['back, a lease of this node', -300, true, [-310, -200]],
    ['back, a lease of another node: the later end', -300, false, [-10, 100]],
    ['forward, a lease of another node', 300, false, [290, 400]],
  ] as const) {
    const times = new AnnouncedTimes()
    const lease = cooling(now - 10, now + 100)
    const ours = times.shift('key', lease, by, isOwn, now)
    t.strictSame(span(ours), kept, name)
    t.equal(times.of('key') === undefined, kept[0] === -10, `${name}: what the store has is remembered`)
  }
  const times = new AnnouncedTimes()
  const forever = cooling(now, null)
  t.equal(times.shift('key', forever, 300, true, now), forever, 'what has no end is left alone')
  const moved = times.shift('key', cooling(now, now + 100), 300, true, now)
  t.strictSame(span(times.shift('key', moved, -300, true, now)), [0, 100])
  t.strictSame([...times.keys()], [], 'there and back again')
  t.end()
})
