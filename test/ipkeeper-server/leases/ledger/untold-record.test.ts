/** A record that an engine will not tell, as one of a newer ipkeeper: what has nothing to do with it goes on. */
import t from 'tap'
import { holderKey, leaseKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { StoreConflict } from '../../../../ipkeeper-server/store/lease-store.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { poolFrom, type PodWords } from '../test-service.ts'
import { Site } from '../several-nodes.ts'

const terms = { byTime: undefined, offlineGrace: 300_000 }
const unreadable = leaseKey({ segment: 'default', address: '10.22.0.3' })
const pod = (container: string, more: Partial<PodWords> = {}): PodWords => ({
  ...{ pod: container, container },
  ...more,
})

t.test('a lease that cannot be read', async t => {
  const site = new Site()
  const node = await site.join(t, 'n1', terms)
  const { engine, world } = node
  world.pool = poolFrom('net', ['10.22.0.0/29'])
  let readable = false
  const [read, commit] = [engine.read.bind(engine), engine.commit.bind(engine)]
  engine.read = async (kind, key) => {
    if (key === unreadable && !readable) throw new Problem('IPK_STORE_FAILED', 'it is of a newer ipkeeper')
    return await read(kind, key)
  }
  // It is there, and nobody was told of it.
  engine.commit = async writes => {
    if (!readable && writes.some(({ key }) => key === unreadable))
      throw new StoreConflict('lease', unreadable)
    return await commit(writes)
  }
  t.equal(await world.add(pod('a')), '10.22.0.2')
  t.equal(await world.add(pod('b')), '10.22.0.4', 'the next one is given')
  t.equal(await world.add(pod('c', { ip: '10.22.0.3' })), 'IPK_STORE_CONFLICT', 'and it is not')
  await world.del('a')
  await world.del('b')
  t.notMatch(world.leases().join('\n'), / bound shop\/[ab] /)
  readable = true
  t.equal(await world.add(pod('c', { ip: '10.22.0.3' })), '10.22.0.3', 'nothing is left of it')
})

t.test('a lease that somebody wrote by hand', async t => {
  const site = new Site()
  site.engine.put('lease', unreadable, '{"generation":1,"state":"mine"}')
  const node = await site.join(t, 'n1', terms)
  const { world } = node
  world.pool = poolFrom('net', ['10.22.0.0/29'])
  t.equal(await world.add(pod('a')), '10.22.0.2')
  t.equal(await world.add(pod('b')), '10.22.0.4', 'the next one is given')
  t.equal(await world.add(pod('c', { ip: '10.22.0.3' })), 'IPK_STORE_CONFLICT', 'and it is not')
  // Edited as it is now, it is read no better.
  site.engine.put('lease', unreadable, '{"generation":2,"state":"mine"}')
  await site.heard(node)
  t.equal(await world.add(pod('d')), '10.22.0.5')
  t.equal(node.engine.commits(), 4, 'what is known to be there is not asked for')
  await world.del('b')
  t.notMatch(world.leases().join('\n'), / bound shop\/b /)
  site.engine.put('lease', unreadable, null)
  await site.heard(node)
  t.equal(await world.add(pod('c', { ip: '10.22.0.3' })), '10.22.0.3', 'nothing is left of it')
})

t.test('a reservation that somebody wrote by hand: its address is given to nobody', async t => {
  const site = new Site()
  site.engine.put('reservation', unreadable, '{"address":"10.22.0.3"}')
  const { world } = await site.join(t, 'n1', terms)
  world.pool = poolFrom('net', ['10.22.0.0/29'])
  t.equal(await world.add(pod('a')), '10.22.0.2')
  t.equal(await world.add(pod('b')), '10.22.0.4')
})

t.test('a holder that somebody wrote by hand is in the way of its pod alone', async t => {
  const site = new Site()
  const holder = holderKey({ kind: 'pod', network: 'net', namespace: 'shop', name: 'a', ifname: 'eth0' })
  site.engine.put('holder', holder, '{"leases":[]}')
  const { world, ledger } = await site.join(t, 'n1', terms)
  world.pool = poolFrom('net', ['10.22.0.0/29'])
  t.equal(await world.add(pod('a')), 'IPK_STORE_CONFLICT')
  await t.resolves(ledger.checkStore(Date.now()), 'the node stays ready')
  t.equal(await world.add(pod('b')), '10.22.0.2')
})
