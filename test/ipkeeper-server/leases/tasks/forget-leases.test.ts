import t from 'tap'
import { forgetLeases } from '../../../../ipkeeper-server/leases/tasks/forget-leases.ts'
import type { Change } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { Site } from '../several-nodes.ts'
import { TestService } from '../test-service.ts'

async function remembering(count: number) {
  const store = new FragileStore()
  const story = await TestService.open(store)
  const records = Array.from({ length: count }, (_, index) =>
    lease(formatAddress({ family: 4, value: 0x0a000000n + BigInt(index) }), 1, {
      ...{ state: 'cooling', attachment: null, remembered: true, until: 2 },
    }),
  )
  await story.service.ledger.commit(records.map(record => putLease(record, null)))
  const sizes: number[] = []
  const commit = store.commit.bind(store)
  store.commit = (change: Change) => {
    sizes.push(change.length)
    return commit(change)
  }
  return { store, story, sizes, left: () => story.service.ledger.counts().lease }
}

t.test('all of them, a part at a time', async t => {
  for (const [count, parts] of [
    [0, []],
    [3, [3]],
    [500, [500]],
    [1203, [500, 500, 203]],
  ] as const) {
    const { story, sizes, left } = await remembering(count)
    await forgetLeases(story.service)
    t.equal(left(), 0)
    t.strictSame(sizes, parts, `${count}`)
  }
})

t.test('a store that refuses is told of; the rest can be forgotten later', async t => {
  const { store, story, left } = await remembering(1203)
  let turn = 0
  store.fails = () => ++turn === 2
  t.equal((await thrownProblem(() => forgetLeases(story.service))).code, 'IPK_STORE_FAILED')
  t.equal(left(), 703)
  await forgetLeases(story.service)
  t.equal(left(), 0)
})

t.test('what other nodes remember is theirs to forget', async t => {
  const site = new Site()
  const { world, ledger } = await site.join(t, 'n1', { byTime: undefined, offlineGrace: 60_000 })
  for (const [address, node] of [
    ['10.0.0.5', 'n1'],
    ['10.0.0.6', 'n2'],
  ] as const) {
    const record = lease(address, 1, { state: 'cooling', attachment: null, remembered: true, until: 2, node })
    await ledger.commit([putLease(record, null)])
  }
  await forgetLeases(world.service)
  t.strictSame(
    Array.from(ledger.leases(), ({ address }) => address),
    ['10.0.0.6'],
  )
})

t.test('where nodes share the store, no more at a time than a transaction of etcd takes', async t => {
  const site = new Site()
  const { world, ledger } = await site.join(t, 'n1', { byTime: undefined, offlineGrace: 60_000 })
  for (let index = 0; index < 150; index++) {
    const rest = { state: 'cooling', attachment: null, remembered: true, until: 2, node: 'n1' } as const
    await ledger.commit([putLease(lease(`10.0.0.${index}`, 1, rest), null)])
  }
  const sizes: number[] = []
  const commit = ledger.commit.bind(ledger)
  ledger.commit = change => {
    sizes.push(change.length)
    return commit(change)
  }
  await forgetLeases(world.service)
  t.strictSame([sizes, [...ledger.leases()]], [[64, 64, 22], []])
})
