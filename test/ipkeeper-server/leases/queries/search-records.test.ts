import t from 'tap'
import { searchRecords } from '../../../../ipkeeper-server/leases/queries/search-records.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { owned } from '../story.ts'
import { TestService } from '../test-service.ts'

const noTurn = (): Promise<void> => Promise.resolve()

/** Two pods of a StatefulSet, one of which is gone and kept; a container; two reservations. */
async function searchedRecords() {
  const story = await TestService.open()
  const owner = owned('StatefulSet', 'web')
  await story.add({ pod: 'web-0', container: 'abc111', owner, ip: '10.22.0.50' })
  await story.add({ pod: 'web-1', container: 'abc222', owner, ip: '10.22.0.9', retain: '30m' })
  await story.add({ container: 'def333', ip: '10.22.0.3' })
  await story.del('abc222')
  for (const [address, owner, note] of [
    ['10.22.0.60', 'external:printer-3', 'Second floor'],
    ['10.99.0.1', 'shop/db-0', ''],
  ] as const)
    await reserve(story.service, { segment: 'default', address, owner, note })
  return story
}

t.test('what a person remembers', async t => {
  const { service } = await searchedRecords()
  for (const [text, leases, reservations] of [
    ['web-0', ['10.22.0.50'], []],
    ['shop/', ['10.22.0.9', '10.22.0.50'], ['10.99.0.1']],
    ['StatefulSet shop/web', ['10.22.0.9', '10.22.0.50'], []],
    ['  WEB-1 ', ['10.22.0.9'], []],
    ['.0.9', ['10.22.0.9'], []],
    ['.0.5', ['10.22.0.50'], []],
    ['ABC1', ['10.22.0.50'], []],
    ['bc111', [], []],
    ['abc222', [], []],
    ['def', ['10.22.0.3'], []],
    ['printer', [], ['10.22.0.60']],
    ['second', [], ['10.22.0.60']],
    ['nobody', [], []],
  ] as const) {
    const found = await searchRecords(service, { text, limit: 50 }, noTurn)
    const addresses = [found.leases, found.reservations].map(of => of.map(({ address }) => address))
    t.strictSame([...addresses, found.more], [leases, reservations, undefined], text)
  }
})

t.test('of each kind the first ones, and how many more there are', async t => {
  const { service } = await searchedRecords()
  const found = await searchRecords(service, { text: '10.', limit: 1 }, noTurn)
  t.match(found, {
    leases: [{ address: '10.22.0.3' }],
    // The pool of the only network has the one, and no pool that is known the other.
    reservations: [{ address: '10.22.0.60', owner: 'external:printer-3', pool: 'net' }],
    more: 3,
  })
  t.strictSame([found.leases.length, found.reservations.length], [1, 1])
  const last = await searchRecords(service, { text: '10.99.', limit: 1 }, noTurn)
  t.match(last.reservations, [{ address: '10.99.0.1', pool: null }])
})

t.test('what is kept is not found any more when its time is over', async t => {
  const story = await searchedRecords()
  const addresses = async (): Promise<readonly string[]> =>
    (await searchRecords(story.service, { text: 'web', limit: 50 }, noTurn)).leases.map(
      ({ address }) => address,
    )
  t.strictSame(await addresses(), ['10.22.0.9', '10.22.0.50'])
  story.now += 30 * 60_000
  t.strictSame(await addresses(), ['10.22.0.50'])
})
