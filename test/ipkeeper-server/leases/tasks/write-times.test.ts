import t from 'tap'
import { leaseKey, type LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { TimeWriter, writeTimes } from '../../../../ipkeeper-server/leases/tasks/write-times.ts'
import { until } from '../../../rigs/poll.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { Site } from '../several-nodes.ts'
import { TestService } from '../test-service.ts'

const [minute, hour] = [60_000, 3_600_000]

/** Leases as the store has them: since and until, in minutes from now. */
async function stored(story: TestService): Promise<string[]> {
  const lines: string[] = []
  await story.store.load(({ kind, text }) => {
    if (kind !== 'lease') return
    const { address, since, until: end } = JSON.parse(text) as LeaseRecord
    const minutes = (time: number | null): number => ((time ?? NaN) - story.now) / minute
    lines.push(`${address} ${minutes(since)} ${minutes(end)}`)
  })
  return lines.sort()
}

t.test('the store is told until when what is not over is kept or rests', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  for (let pod = 0; pod < 150; pod++) await story.add({ pod: `p${pod}`, container: `p${pod}`, retain: '30m' })
  await story.add({ pod: 'short', container: 'short' })
  for (let pod = 0; pod < 150; pod++) await story.del(`p${pod}`)
  await story.del('short')
  story.time.pass(2 * minute)
  story.time.set(hour)
  story.clock.now()
  const before = await story.service.ledger.history({ limit: 1000 })
  let commits = 0
  store.delay = () => {
    commits++
    return Promise.resolve()
  }
  await writeTimes(story.service)
  t.equal(commits, 3, 'in batches')
  const lines = await stored(story)
  t.equal(lines.filter(line => line.endsWith(' -2 28')).length, 150)
  t.equal(lines.filter(line => line.endsWith(' -62 -61')).length, 1, 'what is over goes anyway')
  await writeTimes(story.service)
  t.equal(commits, 3, 'and nothing twice')
  t.strictSame(await story.service.ledger.history({ limit: 1000 }), before, 'to people nothing has changed')
})

t.test('what changes meanwhile is left alone', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  await story.add({ pod: 'a', container: 'a', retain: '30m', ip: '10.22.0.9' })
  await story.del('a')
  story.time.set(-hour)
  story.clock.now()
  const writing = writeTimes(story.service)
  const added = story.add({ pod: 'a', container: 'a2', ip: '10.22.0.9' })
  await writing
  t.equal(await added, '10.22.0.9')
  t.strictSame(story.leases(), ['10.22.0.9 bound shop/a a2'])
})

t.test('a store that refuses is told of, and nothing is lost', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  await story.add({ pod: 'a', container: 'a', retain: '30m' })
  await story.del('a')
  story.time.set(hour)
  story.clock.now()
  const errors: unknown[] = []
  const writer = new TimeWriter(story.service, error => errors.push(error))
  t.teardown(() => writer.stop())
  store.fails = () => true
  writer.wake()
  await until('it is told', () => errors.length > 0)
  t.match(errors, [{ code: 'IPK_STORE_FAILED' }])
  t.match(
    [...story.service.ledger.leases()],
    [{ until: story.now + 30 * minute }],
    'it is kept as it was to be',
  )
  store.fails = () => false
  writer.wake()
  await until('it is written', async () => (await stored(story))[0]?.endsWith(' 0 30') === true)
})

t.test('of a store that nodes share each node tells of its own', async t => {
  const site = new Site()
  const terms = { byTime: undefined, offlineGrace: 5 * minute }
  const one = await site.join(t, 'n1', terms)
  const other = await site.join(t, 'n2', terms)
  for (const { world, name } of [one, other]) {
    await world.add({ pod: name, container: name, node: name, retain: '30m' })
    await world.del(name)
  }
  await until('they know of one another', () =>
    [one, other].every(({ ledger }) => [...ledger.leases()].length === 2),
  )
  one.world.time.set(-hour)
  one.world.clock.now()
  await writeTimes(one.world.service)
  const ends = Object.fromEntries(
    [...one.ledger.leaseKeys()].map(key => {
      const { text = '' } = site.engine.get('lease', leaseKey(key)) ?? {}
      const { node, until: end } = JSON.parse(text) as LeaseRecord
      return [node, ((end ?? NaN) - one.world.now) / minute]
    }),
  )
  t.strictSame(ends, { n1: 30, n2: 90 })
})
