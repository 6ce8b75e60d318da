/** Two nodes share a ledger; the first counted as lost, and what it had was taken over on the second. */
import t, { type Test } from 'tap'
import { YieldAddresses } from '../../../ipkeeper-server/reconcile/yield-addresses.ts'
import { delAttachment } from '../../../ipkeeper-server/leases/verbs/del.ts'
import { leaseKey } from '../../../ipkeeper-server/ipam/records/records.ts'
import { EngineDouble, type NodeEngine } from '../../rigs/engine-double.ts'
import { until } from '../../rigs/poll.ts'
import { openSharedLeases } from '../../rigs/shared-store.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'
import type { TestService, PodWords } from '../leases/test-service.ts'

const old: PodWords = { pod: 'api-6d4cf56db6-x2x5z', container: 'c1', ip: '10.22.0.50' }
const next: PodWords = { pod: 'api-6d4cf56db6-b4d5f', container: 'c2', ip: '10.22.0.50' }

async function openNodes(t: Test) {
  const folder = tempFolder(t)
  const engine = new EngineDouble()
  const open = (node: string, connection = engine.connect()): Promise<TestService> =>
    openSharedLeases(t, connection, folder.file(`${node}.db`), { node })
  const two = await open('n2')
  two.dead.add('c1')
  /** A daemon of the first node, with what it cut off and what went wrong. */
  const start = async (): Promise<{
    readonly one: TestService
    readonly connection: NodeEngine
    readonly yielding: YieldAddresses
    readonly cut: readonly string[]
    readonly errors: readonly unknown[]
  }> => {
    const connection = engine.connect()
    const one = await open('n1', connection)
    const [cut, errors]: [string[], unknown[]] = [[], []]
    const yielding = new YieldAddresses({
      service: one.service,
      onCut: ({ containerId }, { address }) => cut.push(`${containerId} had ${address}`),
      onError: error => errors.push(error),
    })
    one.service.ledger.subscribe({
      takenAway: had => {
        yielding.lost(had)
      },
    })
    t.teardown(() => yielding.stop())
    return { one, connection, yielding, cut, errors }
  }
  const heardBy = (story: TestService, line: string): Promise<void> =>
    until(`${story.service.node} hears: ${line}`, () => story.leases().includes(line))
  return { engine, two, start, heardBy }
}

const oldLine = '10.22.0.50 bound shop/api-6d4cf56db6-x2x5z c1'
const nextLine = '10.22.0.50 bound shop/api-6d4cf56db6-b4d5f c2'

t.test('a daemon that runs cuts the sandbox off as soon as it hears', async t => {
  const { two, start, heardBy } = await openNodes(t)
  const { one, cut } = await start()
  await one.add(old)
  await one.add({ pod: 'other', container: 'c9' })
  await heardBy(two, oldLine)
  t.equal(await two.add(next), '10.22.0.50')
  await until('it is cut off', () => cut.length > 0)
  t.strictSame(cut, ['c1 had 10.22.0.50'])
  t.strictSame(one.network.calls, ['cut off c1'])
  await one.del('c1')
  t.ok(one.leases().includes(nextLine), 'its DEL touches nothing')
})

t.test('each of several sandboxes that have lost one address', async t => {
  const { two, start, heardBy } = await openNodes(t)
  const { one, yielding, cut } = await start()
  one.service.ledger.subscribe({
    // A machine with this node's name had given it to one of its own.
    takenAway: had => {
      yielding.lost({ ...had, attachment: { network: 'net', containerId: 'c8', ifname: 'eth0' } })
    },
  })
  await one.add(old)
  await heardBy(two, oldLine)
  t.equal(await two.add(next), '10.22.0.50')
  await until('it is cut off', () => cut.length > 0)
  t.strictSame(cut, ['c1 had 10.22.0.50'])
})

t.test('one that is started does before it serves', async t => {
  const { two, start, heardBy } = await openNodes(t)
  const before = await start()
  await before.one.add(old)
  await before.one.add({ pod: 'other', container: 'c9' })
  await heardBy(two, oldLine)
  await before.one.store.close()
  t.equal(await two.add(next), '10.22.0.50')
  const { one, yielding, cut } = await start()
  await yielding.begin()
  t.strictSame(cut, ['c1 had 10.22.0.50'])
  await one.store.close()
  const again = await start()
  again.one.network.cutOff = () => Promise.resolve(false)
  await again.yielding.begin()
  t.strictSame(again.cut, [], 'of what cannot answer any more nothing is told')
})

t.test(
  'a daemon that heard, and ended before it could cut the sandbox off, leaves that to the next one',
  async t => {
    const { two, start, heardBy } = await openNodes(t)
    const before = await start()
    await before.one.add(old)
    await before.one.add({ pod: 'other', container: 'c9' })
    await heardBy(two, oldLine)
    await before.yielding.stop()
    t.equal(await two.add(next), '10.22.0.50')
    await heardBy(before.one, nextLine)
    t.strictSame(before.cut, [])
    await before.one.store.close()
    const { yielding, cut } = await start()
    await yielding.begin()
    t.strictSame(cut, ['c1 had 10.22.0.50'])
  },
)

const key = leaseKey({ segment: 'default', address: '10.22.0.50' })

for (const becomes of ['is given anew', "is nobody's"]) {
  /** On the other node it is taken over and ended; its record is deleted, and generations begin anew with the next one. */
  const passOn = async ({ engine, two }: Awaited<ReturnType<typeof openNodes>>): Promise<void> => {
    t.equal(await two.add(next), '10.22.0.50')
    await two.del('c2')
    engine.put('lease', key, null)
    if (becomes === 'is given anew') {
      await until(
        'its end is heard',
        () => two.service.ledger.lease({ segment: 'default', address: '10.22.0.50' }) === undefined,
      )
      t.equal(await two.add({ pod: 'web-0', container: 'c3', ip: '10.22.0.50' }), '10.22.0.50')
    }
    engine.compact()
  }

  t.test(
    `a daemon that was out of touch while its address was taken over and ended, and ${becomes}`,
    async t => {
      const lan = await openNodes(t)
      const { one, connection, cut } = await lan.start()
      await one.add(old)
      await one.add({ pod: 'other', container: 'c9' })
      await lan.heardBy(lan.two, oldLine)
      connection.turn({ deaf: true })
      await passOn(lan)
      connection.turn({ deaf: false })
      await until('it is cut off', () => cut.length > 0)
      t.strictSame(cut, ['c1 had 10.22.0.50'])
    },
  )

  t.test(`a daemon that was not there meanwhile, and the address ${becomes}`, async t => {
    const lan = await openNodes(t)
    const before = await lan.start()
    await before.one.add(old)
    await before.one.add({ pod: 'other', container: 'c9' })
    await lan.heardBy(lan.two, oldLine)
    await before.one.store.close()
    await passOn(lan)
    const { yielding, cut } = await lan.start()
    await yielding.begin()
    t.strictSame(cut, ['c1 had 10.22.0.50'])
  })
}

t.test('likewise of what another hand has ended', async t => {
  const { two, start, heardBy } = await openNodes(t)
  const { one, cut } = await start()
  await one.add(old)
  await heardBy(two, oldLine)
  const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
  const released = { segment: 'default', address: '10.22.0.50' }
  await delAttachment(two.service, key, undefined, { released })
  await until('it is cut off', () => cut.length > 0)
})

t.test('not what its own daemon has moved or ended', async t => {
  const { two, start, heardBy } = await openNodes(t)
  const { one, yielding, cut } = await start()
  const pod: PodWords = { pod: 'web-0', container: 'c3', uid: 'u', ip: '10.22.0.60' }
  await one.add(pod)
  await one.add({ ...pod, container: 'c4', ip: '10.22.0.61' })
  await one.add({ ...pod, container: 'c5', ip: '10.22.0.61' })
  await one.del('c3')
  await heardBy(two, '10.22.0.60 cooling shop/web-0 -')
  await two.add({ pod: 'stranger', container: 'c6', ip: '10.22.0.60' })
  await heardBy(one, '10.22.0.60 bound shop/stranger c6')
  await yielding.begin()
  t.strictSame([cut, one.network.calls], [[], []])
})

t.test('what cannot be cut off is told, and what has its address again is left alone', async t => {
  const { two, start, heardBy } = await openNodes(t)
  const { one, yielding, cut, errors } = await start()
  await one.add(old)
  await heardBy(two, oldLine)
  const cutOff = one.network.cutOff.bind(one.network)
  one.network.cutOff = () => Promise.reject(new Error('refused'))
  const had = one.service.ledger.lease({ segment: 'default', address: '10.22.0.50' })!
  yielding.lost(had)
  await yielding.begin()
  t.strictSame([cut, errors], [[], []], 'it has it')
  t.equal(await two.add(next), '10.22.0.50')
  await until('it is told', () => errors.length > 0)
  t.match(errors, [{ message: 'refused' }])
  one.network.cutOff = cutOff
  await yielding.begin()
  t.strictSame(cut, ['c1 had 10.22.0.50'])
})
