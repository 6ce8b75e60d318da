/** What other nodes ask for, and how often it is tried, is in leases/verbs/force-release.test.ts. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { AskedYield, NodeRecord } from '../../../ipkeeper-server/ipam/records/records.ts'
import { AskedYields } from '../../../ipkeeper-server/reconcile/asked-yields.ts'
import { EngineDouble } from '../../rigs/engine-double.ts'
import { until } from '../../rigs/poll.ts'
import { nodeRecord } from '../../rigs/records.ts'
import { openSharedLeases } from '../../rigs/shared-store.ts'
import type { TestService } from '../leases/test-service.ts'

const asked = (containerId: string, address: string): AskedYield => ({
  ...{ network: 'net', containerId, ifname: 'eth0', segment: 'default', address, by: 'n2', since: 0 },
})
const one = asked('c1', '10.22.0.50')
const two = asked('c2', '10.22.0.51')
const record = nodeRecord('n1')

/** Node n1 with two pods; its record asks for nothing. */
async function nodeOfTwoPods(t: Test) {
  const engine = new EngineDouble()
  engine.put('node', 'n1', JSON.stringify(record))
  const world = await openSharedLeases(t, engine.connect(), join(t.testdir({}), 'n1.db'))
  await world.add({ pod: 'a', container: 'c1', ip: '10.22.0.50' })
  await world.add({ pod: 'b', container: 'c2', ip: '10.22.0.51' })
  const [done, failed]: [string[], string[]] = [[], []]
  const yields = new AskedYields({
    service: world.service,
    onDone: ({ containerId }) => done.push(containerId),
    onError: (error, { containerId }) => failed.push(`${containerId}: ${(error as Error).message}`),
  })
  t.teardown(() => yields.stop())
  const stored = (): NodeRecord => JSON.parse(engine.get('node', 'n1')?.text ?? '') as NodeRecord
  const ask = (...list: readonly AskedYield[]): void => {
    engine.put('node', 'n1', JSON.stringify({ ...stored(), yields: list }))
  }
  const heard = async (): Promise<void> => {
    await until('it hears', () => world.service.ledger.node('n1')?.yields !== undefined)
  }
  return { world, yields, done, failed, stored, ask, heard }
}

const bound = ({ service }: TestService): readonly string[] =>
  [...service.ledger.leases()].filter(({ state }) => state === 'bound').map(({ address }) => address)

t.test('what is asked for while the daemon runs is cut off, and nothing else', async t => {
  const { world, done, stored, ask } = await nodeOfTwoPods(t)
  ask(one)
  await until('it is said', () => done.length === 1)
  t.strictSame([done, world.network.calls, bound(world)], [['c1'], ['cut off c1'], ['10.22.0.51']])
  t.equal(stored().yields, undefined)
})

t.test('one that fails keeps no other from it, and stays asked for', async t => {
  const { world, yields, done, failed, stored, ask, heard } = await nodeOfTwoPods(t)
  const cutOff = world.network.cutOff.bind(world.network)
  world.network.cutOff = async attachment => {
    if (attachment.containerId === 'c1') throw new Error('the kernel is busy')
    return await cutOff(attachment)
  }
  ask(one, two)
  await heard()
  await yields.begin()
  t.strictSame(
    [[...new Set(failed)], done, bound(world)],
    [['c1: the kernel is busy'], ['c2'], ['10.22.0.50']],
  )
  t.strictSame(stored().yields, [one])
})

t.test('one whose sandbox is gone has given it up', async t => {
  const { world, done, failed, stored, ask } = await nodeOfTwoPods(t)
  await world.del('c1')
  ask(one)
  await until('it is said', () => done.length === 1)
  t.strictSame([failed, world.network.calls, stored().yields], [[], [], undefined])
})
