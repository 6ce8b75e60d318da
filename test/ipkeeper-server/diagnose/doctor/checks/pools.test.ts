import t from 'tap'
import { poolsCheck } from '../../../../../ipkeeper-server/diagnose/doctor/checks/pools.ts'
import type { NodeView } from '../../../../../ipkeeper-server/diagnose/doctor/probe-node.ts'
import type { PoolFamily } from '../../../../../shared/api/listing.schema.ts'

const family = (capacity: number, free: number, more: Partial<PoolFamily> = {}): PoolFamily => ({
  ...{ family: 'IPv4', ranges: [], capacity, used: capacity - free, held: 0, free, nextFreeAt: null },
  ...more,
})

const look = async (pools: Readonly<Record<string, readonly PoolFamily[]>>): Promise<unknown> =>
  await poolsCheck.run({
    status: () => Promise.resolve({}),
    ask: () =>
      Promise.resolve({ pools: Object.entries(pools).map(([name, families]) => ({ name, families })) }),
  } as unknown as NodeView)

t.test('a pool that drains has nothing free, and is not full', async t => {
  const drained = family(2, 0, { drains: true })
  t.match(await look({ old: [drained] }), { state: 'skip', says: 'every pool is draining' })
  t.match(await look({ old: [drained], net: [family(10, 9)] }), { state: 'ok', says: /^1 pool, / })
  const v6 = family(4, 0, { family: 'IPv6' })
  t.match(await look({ old: [drained, v6] }), { state: 'fail', says: /^old \(IPv6\) has 0 of 4 addresses/ })
})

t.test('no pool at all', async t => {
  t.match(await look({}), { state: 'skip', says: /^no pool is known/ })
})
