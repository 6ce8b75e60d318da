/** What a node says of all nodes: ledgers in front of one engine. */
import t, { type Test } from 'tap'
import {
  listNodes,
  selectNodes,
  type NodeFigures,
} from '../../../../ipkeeper-server/leases/queries/known-nodes.ts'
import { forgetNode } from '../../../../ipkeeper-server/leases/verbs/forget-node.ts'
import type { TakeoverTerms } from '../../../../ipkeeper-server/ipam/records/last-contact.ts'
import { until } from '../../../rigs/poll.ts'
import { nodeText } from '../../../rigs/records.ts'
import { Site, type SiteNode } from '../several-nodes.ts'
import { TestService } from '../test-service.ts'

const minute = 60_000
const off: TakeoverTerms = { byTime: undefined, offlineGrace: 5 * minute }
const byTime: TakeoverTerms = { byTime: 10 * minute, offlineGrace: 5 * minute }
const figures: NodeFigures = { version: '9.9.9' }

const add = async (node: SiteNode, container: string): Promise<unknown> =>
  await node.world.add({ container, node: node.name, netns: '', netnsInode: null })

/** "n1 lives 3 0 1.2.3": its state, minutes since the last contact, leases and version. */
function told({ world }: SiteNode, more: NodeFigures = figures): readonly string[] {
  const now = world.service.now()
  return listNodes(world.service, more).map(({ name, state, lastContact, leases, version, leader }) => {
    const minutes =
      lastContact === null ? 'never' : String(Math.round((now - Date.parse(lastContact)) / minute))
    return `${name} ${state} ${minutes} ${leases} ${version ?? 'unknown'}${leader === null ? '' : leader ? ' leads' : ' follows'}`
  })
}

async function twoNodes(t: Test, terms: TakeoverTerms): Promise<readonly [Site, SiteNode, SiteNode]> {
  const site = new Site()
  const one = await site.join(t, 'n1', terms)
  const two = await site.join(t, 'n2', terms)
  await site.heard(one)
  return [site, one, two]
}

t.test('what is not known is not guessed', async t => {
  const [site, one, two] = await twoNodes(t, off)
  t.strictSame(told(one), ['n1 lives 0 0 9.9.9', 'n2 lives 0 0 1.2.3'], 'it has just come')
  t.strictSame(told(two), ['n1 unknown never 0 1.2.3', 'n2 lives 0 0 9.9.9'], 'it was there before')
  site.clock += 3 * minute
  t.strictSame(told(one), ['n1 lives 0 0 9.9.9', 'n2 unknown 3 0 1.2.3'])
  const { revision } = site.engine
  await add(two, 'c1')
  await until('the other node knows', () => one.ledger.boundOn('n2') === 1)
  t.strictSame(told(one), ['n1 lives 0 0 9.9.9', 'n2 lives 0 1 1.2.3'], 'it has bound an address')
  site.clock += 3 * minute
  await one.world.problem({ container: 'c2', ip: '10.22.0.0', node: 'n1' })
  t.strictSame(told(one), ['n1 lives 0 0 9.9.9', 'n2 unknown 3 1 1.2.3'])
  t.ok(site.engine.revision > revision)
})

t.test('a node that renews its record lives, until it is silent', async t => {
  const [site, one, two] = await twoNodes(t, byTime)
  await site.pass(2)
  t.strictSame(told(one), ['n1 lives 0 0 9.9.9', 'n2 lives 0 0 1.2.3'])
  await site.pass(4, [one])
  t.match(told(one)[1], /^n2 lives [34] /)
  await site.pass(3, [one])
  t.match(told(one)[1], /^n2 silent [67] /)
  t.match(told(two)[0], /^n1 /)
})

t.test('a gone node, one out of service, and a store that is away', async t => {
  const [site, one] = await twoNodes(t, off)
  await forgetNode(one.world.service, 'n2', { answerWithin: 20 })
  t.match(told(one)[1], /^n2 gone /)
  t.match(listNodes(one.world.service, figures)[1]?.why, /^declared gone for good on node n1 at 2/)
  const three = await site.join(t, 'n3', off)
  await until('it is known', () => one.ledger.node('n3') !== undefined)
  const lost = { lostNode: () => 'out-of-service' as const }
  t.match(listNodes({ ...one.world.service, ...lost }, figures)[2]?.state, 'out-of-service')
  t.strictSame(
    told(three, { ...figures, leader: () => 'n1' }).map(line => line.split(' ').at(-1)),
    ['leads', 'follows', 'follows'],
  )
  await site.turn(three, 'cut')
  await three.ledger.readNode('n1')
  t.match(listNodes(three.world.service, figures)[0], {
    state: 'unknown',
    why: 'this daemon cannot reach the store',
  })
})

t.test('one that the store waits for', async t => {
  const [site, one] = await twoNodes(t, off)
  site.engine.put('node', 'n7', nodeText('n7', { epoch: 1 }))
  site.engine.put('node', 'n8', nodeText('n8', { epoch: 2 }))
  await until('it waits', () => one.ledger.storeStatus()?.waitsFor?.includes('n7') === true)
  t.match(
    told(one).find(line => line.startsWith('n7')),
    /^n7 waited-for /,
  )
})

t.test('where one daemon has the store to itself', async t => {
  const world = await TestService.open()
  await world.add({ container: 'c1' })
  const { nodes } = selectNodes(world.service, figures, {})
  t.match(nodes, [{ name: 'n1', here: true, state: 'lives', leases: 1, version: '9.9.9', leader: null }])
  t.equal(nodes.length, 1)
})

t.test('sorted, and cut', async t => {
  const [, one, two] = await twoNodes(t, off)
  await add(two, 'c1')
  await until('the other node knows', () => one.ledger.boundOn('n2') === 1)
  const { nodes, more } = selectNodes(one.world.service, figures, { sort: 'leases', limit: '1' })
  t.strictSame([nodes.map(({ name }) => name), more], [['n2'], 1])
  t.match(selectNodes(one.world.service, figures, { node: 'n1' }).nodes, [{ name: 'n1' }])
  t.strictSame(selectNodes(one.world.service, figures, { node: 'n3' }), { nodes: [] })
})
