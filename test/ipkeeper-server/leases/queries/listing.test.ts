import t from 'tap'
import { listLeases, listPools } from '../../../../ipkeeper-server/leases/queries/listing.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { poolFrom, TestService } from '../test-service.ts'

t.test('a part of the leases is the beginning of all of them', async t => {
  const story = await TestService.open()
  const { ledger } = story.service
  // In no order, in two segments and families, and every third one is over.
  const records = Array.from({ length: 90 }, (_, index) => {
    const place = (index * 37) % 90
    return lease(place % 2 === 0 ? `10.0.${place % 7}.${place}` : `fd00::${place.toString(16)}`, 1, {
      segment: place % 5 === 0 ? 'blue' : 'default',
      ...(place % 3 === 0 && { state: 'held', attachment: null, until: story.now }),
    })
  })
  await ledger.commit(records.map(record => putLease(record, null)))
  const all = listLeases(story.service)
  t.equal(all.length, 60)
  for (const limit of [1, 2, 3, 7, 30, 59, 60, 61, 89, 90, 1000])
    t.strictSame(listLeases(story.service, limit), all.slice(0, limit), `${limit}`)
})

t.test('only leases that are listed are looked up where they come in order', async t => {
  const story = await TestService.open()
  const { ledger } = story.service
  const records = Array.from({ length: 200 }, (_, index) => lease(`10.0.0.${index}`))
  await ledger.commit(records.map(record => putLease(record, null)))
  ledger.leases = () => {
    throw new Error('all leases were looked at')
  }
  t.equal(listLeases(story.service, 10).length, 10)
})

t.test('a pool of both families: the figures of each, beside those of all', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/29'], ['fd00:22::/64'], ['10.23.0.0/29'])
  for (const pod of ['a', 'b', 'c', 'd']) await story.add({ pod, container: pod })
  await story.add({ pod: 'e', container: 'e', retain: '30m' })
  await story.del('e')
  const nextFreeAt = new Date(story.now + 30 * 60_000).toISOString()
  t.match(await listPools(story.service, () => Promise.resolve()), [
    {
      ...{
        name: 'net',
        capacity: `${2n ** 64n + 8n}`,
        used: 12,
        held: 3,
        free: `${2n ** 64n - 7n}`,
        nextFreeAt,
      },
      families: [
        {
          ...{ family: 'IPv4', capacity: 10, used: 8, held: 2, free: 0, nextFreeAt },
          ranges: [['10.22.0.1-10.22.0.6'], ['10.23.0.1-10.23.0.6']],
        },
        {
          ...{ family: 'IPv6', capacity: `${2n ** 64n - 2n}`, used: 4, held: 1, free: `${2n ** 64n - 7n}` },
          ...{ nextFreeAt, ranges: [['fd00:22::1-fd00:22::ffff:ffff:ffff:ffff']] },
        },
      ],
    },
  ])
})
