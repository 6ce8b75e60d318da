import t, { type Test } from 'tap'
import { Problem } from '../../../shared/problem/problem.ts'
import type { AttachmentRecord } from '../../../ipkeeper-server/ipam/records/records.ts'
import type { VethSeen } from '../../../ipkeeper-server/reconcile/plan-links.ts'
import { StrayLinks, type StrayLinksOptions } from '../../../ipkeeper-server/reconcile/stray-links.ts'
import { until } from '../../rigs/poll.ts'

const link = (name: string, index = 7): VethSeen => ({
  index,
  name,
  alias: 'ipkeeper net c1 eth0',
  carrier: false,
})
const [first, second, named] = [
  link('ipk000000000001'),
  link('ipk000000000002', 8),
  link('ipkaaaaaaaaaaaa', 9),
]

const record = (name: string | undefined) =>
  ({
    wiring: name === undefined ? undefined : { hostLink: { name, mac: '' } },
  }) as unknown as AttachmentRecord

/** Strays of a host whose links are what the test says at each look. */
function makeStrays(
  t: Test,
  looks: readonly (readonly VethSeen[] | Error)[],
  more: Partial<StrayLinksOptions> = {},
) {
  const [removed, errors]: [string[], unknown[]] = [[], []]
  let looked = 0
  const strays = new StrayLinks({
    look: async () => {
      const seen = await Promise.resolve(looks[looked++] ?? [])
      if (seen instanceof Error) throw seen
      return seen
    },
    remove: () => Promise.resolve(true),
    attachments: () => [record(undefined), record(named.name)],
    monotonic: () => 0,
    onRemoved: ({ name }) => removed.push(name),
    onError: error => errors.push(error),
    times: { again: 20, end: 1000 },
    ...more,
  })
  t.teardown(() => strays.stop())
  return { strays, removed, errors, looked: () => looked }
}

t.test('one look at once, one later, and no more', async t => {
  const { strays, removed, errors, looked } = makeStrays(t, [[first, named], [second, named], [first]])
  strays.start()
  await until('both', () => removed.length === 2)
  await strays.stop()
  t.strictSame([removed, errors, looked()], [[first.name, second.name], [], 2])
})

t.test('the record of an ADD under way is read after the look', async t => {
  const records: AttachmentRecord[] = []
  const { strays, removed, looked } = makeStrays(t, [], {
    look: () => {
      // The link of an ADD whose record came after the look began.
      records.push(record(first.name))
      return Promise.resolve([first])
    },
    attachments: () => records,
  })
  strays.start()
  await until('both looks', () => records.length === 2)
  await strays.stop()
  t.strictSame([removed, looked()], [[], 0])
})

t.test('one that has gone by itself is not told', async t => {
  const { strays, removed, looked } = makeStrays(t, [[first]], { remove: () => Promise.resolve(false) })
  strays.start()
  await until('both', () => looked() === 2)
  t.strictSame(removed, [])
})

t.test('a look that fails is told, and the next one made', async t => {
  const refused = new Problem('IPK_WIRING_FAILED', 'ip: refused')
  const { strays, removed, errors } = makeStrays(t, [refused, [second]])
  strays.start()
  await until('the second', () => removed.length === 1)
  t.strictSame([removed, errors], [[second.name], [refused]])
})

t.test('where there is no ip, nothing is told', async t => {
  const missing = new Problem('IPK_TOOL_MISSING', 'ip is not installed')
  const { strays, errors, looked } = makeStrays(t, [missing, missing])
  strays.start()
  await until('both', () => looked() === 2)
  await strays.stop()
  t.strictSame(errors, [])
})

t.test('nothing is removed when the time is over', async t => {
  let now = 0
  const { strays, removed, looked } = makeStrays(t, [[first], [second]], {
    monotonic: () => now,
    remove: () => Promise.resolve((now += 1000) > 0),
  })
  strays.start()
  await until('both', () => looked() === 2)
  await strays.stop()
  t.strictSame(removed, [first.name])
})

t.test('an end of the daemon ends it', async t => {
  let stopped: Promise<void> | undefined
  const { strays, removed, looked } = makeStrays(t, [[first], [second]], {
    // Asked for after the look, and before anything is removed.
    attachments: () => {
      stopped = strays.stop()
      return []
    },
    times: { again: 0, end: 1e9 },
  })
  strays.start()
  await until('the first', () => stopped !== undefined)
  await stopped
  strays.start()
  t.strictSame([removed, looked()], [[], 1], 'also before its first look is over')
})
