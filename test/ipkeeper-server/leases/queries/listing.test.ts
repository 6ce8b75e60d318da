import t from 'tap'
import { listLeases } from '../../../../ipkeeper-server/leases/queries/listing.ts'
import { lease, putLease } from '../../../contract/lease-store-contract.ts'
import { TestService } from '../test-service.ts'

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
