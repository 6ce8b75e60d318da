import t from 'tap'
import { searchRecords } from '../../../../ipkeeper-server/leases/queries/search-records.ts'
import { selectLeases } from '../../../../ipkeeper-server/leases/queries/select-listed.ts'
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
    ['held web', ['10.22.0.9'], []],
    ['web  shop', ['10.22.0.9', '10.22.0.50'], []],
    ['reserved floor', [], ['10.22.0.60']],
    ['web-0 web-1', [], []],
  ] as const) {
    const found = await searchRecords(service, { text, limit: 50 }, noTurn)
    const addresses = [found.leases, found.reservations].map(of => of.map(({ address }) => address))
    t.strictSame([...addresses, found.more], [leases, reservations, undefined], text)
  }
})

t.test('filters together, as those of listings, and words with them', async t => {
  const { service } = await searchedRecords()
  for (const [filters, text, leases, reservations] of [
    [{ namespace: 'shop' }, undefined, ['10.22.0.9', '10.22.0.50'], ['10.99.0.1']],
    [{ namespace: 'shop', state: 'held' }, undefined, ['10.22.0.9'], []],
    [{ namespace: 'shop', state: 'held' }, 'web-0', [], []],
    [{ namespace: 'shop', state: 'bound,held', pool: 'net' }, 'web', ['10.22.0.9', '10.22.0.50'], []],
    [{ state: 'bound,reserved', pool: 'net' }, undefined, ['10.22.0.3', '10.22.0.50'], ['10.22.0.60']],
    [{ state: 'reserved' }, 'db', [], ['10.99.0.1']],
    [{ owner: 'sts/web', node: 'n1' }, '.50', ['10.22.0.50'], []],
    [{ pod: 'shop/web-1' }, undefined, ['10.22.0.9'], []],
    [{ node: 'n2' }, undefined, [], []],
  ] as const) {
    const found = await searchRecords(service, { text, filters, limit: 50 }, noTurn)
    const addresses = [found.leases, found.reservations].map(of => of.map(({ address }) => address))
    t.strictSame(addresses, [leases, reservations], JSON.stringify([filters, text]))
    const listed = selectLeases(service, filters).leases.map(({ address }) => address)
    if (text === undefined) t.strictSame(leases, listed, 'a listing finds the same')
  }
  const cluster: Parameters<typeof selectLeases>[2] = {
    pod: ({ name }) => ({ uid: 'u', annotations: {}, labels: { app: name }, owner: null }),
  }
  const labelled = await searchRecords(
    service,
    { filters: { selector: 'app=web-0' }, limit: 50, cluster },
    noTurn,
  )
  t.match(labelled.leases, [{ address: '10.22.0.50' }])
  for (const [filters, message] of [
    [{}, /nothing to search for/],
    [{ pool: 'nett' }, /there is no pool nett; did you mean net\?/],
    [{ selector: 'app=web' }, /knows no labels of pods/],
    [{ namespace: 'shop', pod: 'ops/web-0' }, /pod ops\/web-0 is not in namespace shop/],
  ] as const)
    await t.rejects(searchRecords(service, { filters, limit: 50 }, noTurn), {
      ...{ code: 'IPK_REQUEST_INVALID', message },
    })
})

t.test('a reservation stands as its address does', async t => {
  const { service } = await searchedRecords()
  const printer = { segment: 'default', owner: 'external:printer-4', note: 'cellar' }
  await reserve(service, { ...printer, address: '10.22.0.61' })
  await reserve(service, { ...printer, address: '10.22.0.50', owner: 'shop/web-0' })
  const search = async (terms: object) =>
    (await searchRecords(service, { ...terms, limit: 50 }, noTurn)).reservations.map(
      ({ address, state }) => `${address} ${state}`,
    )
  t.strictSame(await search({ text: 'cellar' }), ['10.22.0.50 bound', '10.22.0.61 reserved'])
  t.strictSame(await search({ text: 'cellar reserved' }), ['10.22.0.61 reserved'])
  t.strictSame(await search({ text: 'cellar leased' }), ['10.22.0.50 bound'])
  t.strictSame(await search({ text: 'cellar', filters: { state: 'reserved' } }), ['10.22.0.61 reserved'])
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
