import t from 'tap'
import {
  selectAttachments,
  selectLeases,
  selectPools,
  selectReservations,
} from '../../../../ipkeeper-server/leases/queries/select-listed.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { poolFrom, TestService } from '../test-service.ts'

/** Two pools; pods of two namespaces, of which one is gone; a container without a pod; three reservations. */
async function listedRecords() {
  const story = await TestService.open()
  const add = async (pod: string, more: object): Promise<void> => {
    story.now += 1_000
    await story.add({ pod, container: pod, ...more })
  }
  story.pool = poolFrom('lab', ['10.23.0.0/29'], ['fd00:23::/64'])
  await add('db-0', { namespace: 'lab' })
  story.pool = poolFrom('net', ['10.22.0.0/24'])
  await add('web-1', { namespace: 'shop', ip: '10.22.0.9', retain: '30m' })
  await add('web-0', { namespace: 'shop' })
  await story.add({ container: 'alone' })
  await story.del('web-1')
  for (const [address, owner] of [
    ['10.22.0.50', 'shop/db-0'],
    ['10.22.0.51', 'shop/sts/web'],
    ['10.99.0.1', 'external:printer-3'],
  ] as const)
    await reserve(story.service, { segment: 'default', address, owner, note: '' })
  return story
}

const five = ['10.22.0.2', '10.22.0.3', '10.22.0.9', '10.23.0.2', 'fd00:23::2']

t.test('leases: chosen, sorted, cut, and how many are left', async t => {
  const { service } = await listedRecords()
  for (const [query, addresses, more] of [
    [{}, five],
    [{ limit: '2' }, five.slice(0, 2), 3],
    [{ limit: '5' }, five],
    [{ sort: 'pool' }, ['10.23.0.2', 'fd00:23::2', '10.22.0.2', '10.22.0.3', '10.22.0.9']],
    [{ sort: 'state' }, ['10.22.0.2', '10.22.0.3', '10.23.0.2', 'fd00:23::2', '10.22.0.9']],
    [{ sort: 'until', limit: '1' }, ['10.22.0.9'], 4],
    [{ sort: 'pod', limit: '4' }, ['10.23.0.2', 'fd00:23::2', '10.22.0.2', '10.22.0.9'], 1],
    [{ sort: 'since', namespace: 'shop' }, ['10.22.0.2', '10.22.0.9']],
    [{ namespace: 'shop', state: 'held' }, ['10.22.0.9']],
    [{ owner: 'web' }, ['10.22.0.2', '10.22.0.9']],
    [{ pod: 'lab/db-0' }, ['10.23.0.2', 'fd00:23::2']],
    [{ pod: 'lab/db-0', limit: '1' }, ['10.23.0.2'], 1],
    [{ node: 'n2' }, []],
    [{ pool: 'lab', state: 'held' }, []],
  ] as const) {
    const reply = selectLeases(service, query)
    t.strictSame(
      [reply.leases.map(({ address }) => address), reply.more],
      [addresses, more],
      JSON.stringify(query),
    )
  }
})

t.test('by labels, as far as the daemon knows them', async t => {
  const { service } = await listedRecords()
  const cluster: Parameters<typeof selectLeases>[2] = {
    pod: ({ namespace }) =>
      namespace === 'shop' ? { uid: 'u', annotations: {}, labels: { app: 'web' }, owner: null } : undefined,
  }
  const found = (selector: string): readonly string[] =>
    selectLeases(service, { selector }, cluster).leases.map(({ address }) => address)
  t.strictSame(found('app=web'), ['10.22.0.2', '10.22.0.9'])
  t.strictSame(found('!app'), [], 'a pod that is not known has no labels, and none that it lacks')
  t.strictSame(
    selectAttachments(service, { selector: 'app in (web)' }, cluster).attachments.map(
      item => item.containerId,
    ),
    ['web-0'],
  )
  t.throws(() => selectLeases(service, { selector: 'app=web' }), {
    ...{ code: 'IPK_REQUEST_INVALID', message: /knows no labels of pods: it asks no Kubernetes API/ },
  })
})

t.test('attachments and reservations by the same rules', async t => {
  const { service } = await listedRecords()
  for (const [query, containers, more] of [
    [{}, ['db-0', 'web-0', 'alone']],
    [{ sort: 'pod' }, ['db-0', 'web-0', 'alone']],
    [{ namespace: 'shop' }, ['web-0']],
    [{ node: 'n1', limit: '1' }, ['db-0'], 2],
  ] as const) {
    const reply = selectAttachments(service, query)
    t.strictSame([reply.attachments.map(item => item.containerId), reply.more], [containers, more])
  }
  for (const [query, owners, more] of [
    [{}, ['shop/db-0', 'shop/statefulset/web', 'external:printer-3']],
    [{ sort: 'owner', limit: '1' }, ['external:printer-3'], 2],
    [{ namespace: 'shop' }, ['shop/db-0', 'shop/statefulset/web']],
    [{ pod: 'shop/db-0' }, ['shop/db-0']],
    [{ owner: 'sts/web' }, ['shop/statefulset/web']],
    [{ owner: 'external:printer-3' }, ['external:printer-3']],
    [{ pool: 'net' }, ['shop/db-0', 'shop/statefulset/web']],
    [{ pool: 'lab' }, []],
  ] as const) {
    const reply = selectReservations(service, query)
    t.strictSame([reply.reservations.map(({ owner }) => owner), reply.more], [owners, more])
  }
})

t.test('pools: the one that is full first comes first, by its fullest family', async t => {
  const { service } = await listedRecords()
  for (const [query, names, more] of [
    [{}, ['lab', 'net']],
    [{ pool: 'net' }, ['net']],
    [{ sort: 'free' }, ['lab', 'net']],
    [{ sort: 'used' }, ['lab', 'net']],
    [{ sort: 'free', limit: '1' }, ['lab'], 1],
  ] as const) {
    const reply = await selectPools(service, query, () => Promise.resolve())
    t.strictSame([reply.pools.map(({ name }) => name), reply.more], [names, more], JSON.stringify(query))
  }
})

t.test('a pool that there is not: which one was meant', async t => {
  const { service } = await listedRecords()
  const expected = { code: 'IPK_REQUEST_INVALID', message: 'there is no pool nett; did you mean net?' }
  t.throws(() => selectLeases(service, { pool: 'nett' }), expected)
  t.throws(() => selectReservations(service, { pool: 'nett' }), expected)
  await t.rejects(
    selectPools(service, { pool: 'nett' }, () => Promise.resolve()),
    expected,
  )
})
