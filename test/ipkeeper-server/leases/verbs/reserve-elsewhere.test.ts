/** A reservation and an ADD on nodes that have not heard of one another: ledgers in front of one engine with transactions. */
import t, { type Test } from 'tap'
import type { TakeoverTerms } from '../../../../ipkeeper-server/ipam/records/last-contact.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { until } from '../../../rigs/poll.ts'
import { Site, type SiteNode } from '../several-nodes.ts'
import type { PodWords } from '../test-service.ts'

const terms: TakeoverTerms = { byTime: undefined, offlineGrace: 300_000 }

/** Two nodes, of which the second one hears no news. */
async function makeSite(t: Test): Promise<readonly [SiteNode, SiteNode]> {
  const site = new Site()
  const one = await site.join(t, 'n1', terms)
  const two = await site.join(t, 'n2', terms)
  // So that the pool is known to both.
  t.equal(await one.world.add(pod(one, 'first', '10.22.0.99')), '10.22.0.99')
  await until('the other node knows', () => two.ledger.lease(at('10.22.0.99')) !== undefined)
  return [one, two]
}

const at = (address: string): { segment: string; address: string } => ({ segment: 'default', address })

const pod = (node: SiteNode, name: string, ip?: string): PodWords => ({
  ...{ pod: name, container: `c-${name}`, uid: `u-${name}`, node: node.name, netns: '', netnsInode: null },
  ...(ip !== undefined && { ip }),
})

/** The dynamic address that a node would give now. */
function nextOf({ ledger, world }: SiteNode): string {
  const [run] = world.pool.rangeSets[0]?.[0]?.usable ?? []
  const address = run && ledger.lowestFree('default', 4, run)
  if (!address) throw new Error('none is free')
  return formatAddress(address)
}

const promise = (node: SiteNode, address: string, owner: string): Promise<unknown> =>
  reserve(node.world.service, { ...at(address), owner, note: undefined })

t.test('a dynamic address that was reserved on another node a moment ago', async t => {
  const [one, two] = await makeSite(t)
  const next = nextOf(two)
  two.engine.turn({ deaf: true })
  await promise(one, next, 'shop/db-0')
  const given = await two.world.add(pod(two, 'web-0'))
  t.not(given, next)
  t.match(two.ledger.reservation(at(next)), { name: 'db-0' }, 'and now it knows')
})

t.test('a named address that was reserved on another node a moment ago', async t => {
  const [one, two] = await makeSite(t)
  two.engine.turn({ deaf: true })
  await promise(one, '10.22.0.50', 'shop/db-0')
  t.match(await two.world.problem(pod(two, 'web-0', '10.22.0.50')), { code: 'IPK_ADDRESS_RESERVED' })
  t.equal(await two.world.add(pod(two, 'db-0', '10.22.0.50')), '10.22.0.50', 'but whom it is reserved for')
})

t.test('a reservation of what another node gave a moment ago', async t => {
  const [one, two] = await makeSite(t)
  two.engine.turn({ deaf: true })
  t.equal(await one.world.add(pod(one, 'web-0', '10.22.0.50')), '10.22.0.50')
  await t.rejects(promise(two, '10.22.0.50', 'shop/db-0'), { code: 'IPK_ADDRESS_HELD' })
  await promise(two, '10.22.0.50', 'shop/web-0')
  t.match(two.ledger.lease(at('10.22.0.50')), { state: 'bound', generation: 1 }, 'the lease is as it was')
})

t.test('a reservation of what rested when it was last heard of', async t => {
  const [one, two] = await makeSite(t)
  t.equal(await one.world.add(pod(one, 'web-0', '10.22.0.50')), '10.22.0.50')
  await one.world.del('c-web-0')
  await until('the other node knows', () => two.ledger.lease(at('10.22.0.50'))?.state === 'cooling')
  two.engine.turn({ deaf: true })
  t.equal(await one.world.add(pod(one, 'web-1', '10.22.0.50')), '10.22.0.50')
  await t.rejects(promise(two, '10.22.0.50', 'shop/db-0'), { code: 'IPK_ADDRESS_HELD' })
})
