/** Nodes whose clocks differ by an hour, on one engine: what the engine compares, and what each judges by its own clock. */
import t, { type Test } from 'tap'
import { until } from '../../../rigs/poll.ts'
import { Site, type SiteNode } from '../several-nodes.ts'
import { poolFrom, type PodWords } from '../test-service.ts'

const [minute, hour] = [60_000, 3_600_000]
const terms = { byTime: undefined, offlineGrace: 5 * minute }

/** Five addresses beside the gateway's. */
const pool = poolFrom('net', ['10.22.0.0/29'])
const address = '10.22.0.2'

interface Skewed {
  readonly site: Site
  readonly behind: SiteNode
  readonly ahead: SiteNode
}

/** The clock of `ahead` is an hour ahead of that of `behind`. */
async function makeSkewed(t: Test): Promise<Skewed> {
  const site = new Site()
  const behind = await site.join(t, 'n1', terms)
  const ahead = await site.join(t, 'n2', terms)
  ahead.world.now = behind.world.now + hour
  for (const { world } of [behind, ahead]) world.pool = pool
  return { site, behind, ahead }
}

function pass({ behind, ahead }: Skewed, milliseconds: number): void {
  for (const { world } of [behind, ahead]) world.now += milliseconds
}

/** As a daemon does it: what is over by the node's clock is let go, and a pod is added. */
async function add(node: SiteNode, container: string, more: Partial<PodWords> = {}): Promise<string> {
  node.ledger.expire(node.world.now)
  return await node.world.add({ pod: container, container, node: node.name, ...more })
}

/** A pod comes and goes on one node; resolves when the other one has heard of it. */
async function comeAndGo(t: Test, on: SiteNode, other: SiteNode, more: Partial<PodWords> = {}) {
  t.equal(await add(on, 'first', more), address)
  await on.world.del('first')
  await until('the other node knows', () => {
    const state = other.ledger.lease({ segment: 'default', address })?.state
    return state !== undefined && state !== 'bound'
  })
}

t.test(
  'a cool-down ends by the clock of the node that looks, and never later than a whole one from now',
  async t => {
    const skewed = await makeSkewed(t)
    const { behind, ahead } = skewed
    await comeAndGo(t, behind, ahead)
    t.equal(await add(behind, 'second'), '10.22.0.3', 'the first one rests for a minute')
    t.equal(await add(ahead, 'third'), address, 'an hour less')

    await ahead.world.del('third')
    await until('the other node knows', () => {
      const lease = behind.ledger.lease({ segment: 'default', address })
      return lease?.node === 'n2' && lease.state === 'cooling'
    })
    t.equal(await add(behind, 'fourth'), '10.22.0.4', 'it rests as if it had just been released')
    pass(skewed, minute)
    t.equal(await add(behind, 'fifth'), address, 'for a minute, not for an hour more')
  },
)

t.test('what is told once more does not rest for longer', async t => {
  const skewed = await makeSkewed(t)
  const { site, behind, ahead } = skewed
  await comeAndGo(t, ahead, behind)
  const key = JSON.stringify(['default', address])
  const { text = '' } = site.engine.get('lease', key) ?? {}
  const before = behind.ledger.lease({ segment: 'default', address })
  pass(skewed, minute / 2)
  site.engine.put('lease', key, text)
  // Of another pod, whose news come behind it.
  t.equal(await add(ahead, 'witness'), '10.22.0.3')
  await until(
    'it was told',
    () => behind.ledger.lease({ segment: 'default', address: '10.22.0.3' }) !== undefined,
  )
  t.equal(behind.ledger.lease({ segment: 'default', address })?.until, before?.until)
  t.equal(before?.until, before && before.since + minute)
})

t.test('so does retention', async t => {
  const skewed = await makeSkewed(t)
  const { behind, ahead } = skewed
  const kept = { ip: address, retain: '90m' }
  await comeAndGo(t, behind, ahead, kept)
  const other = (node: SiteNode, container: string) => add(node, container, { ip: address })
  t.equal(await other(behind, 'a'), 'IPK_ADDRESS_KEPT')
  t.equal(await other(ahead, 'b'), 'IPK_ADDRESS_KEPT')
  pass(skewed, 31 * minute)
  t.equal(await other(behind, 'c'), 'IPK_ADDRESS_KEPT')
  t.equal(await other(ahead, 'd'), address, 'an hour less')

  await ahead.world.del('d')
  await until('the other node knows', () => {
    const lease = behind.ledger.lease({ segment: 'default', address })
    return lease?.node === 'n2' && lease.state === 'cooling'
  })
  t.equal(await add(ahead, 'e', { ip: address, retain: '90m' }), address)
  await ahead.world.del('e')
  await until('the other node knows', () => {
    return behind.ledger.lease({ segment: 'default', address })?.state === 'held'
  })
  pass(skewed, 89 * minute)
  t.equal(await other(behind, 'f'), 'IPK_ADDRESS_KEPT')
  pass(skewed, minute)
  t.equal(await other(behind, 'g'), address, 'not an hour more')
})

t.test('a clock that is set right ends nothing early of what another node keeps', async t => {
  const skewed = await makeSkewed(t)
  const { behind, ahead } = skewed
  await comeAndGo(t, behind, ahead, { ip: address, retain: '90m' })
  ahead.world.time.set(-hour)
  pass(skewed, 31 * minute)
  t.equal(await add(ahead, 'a', { ip: address }), 'IPK_ADDRESS_KEPT', 'by neither clock it is over')
  pass(skewed, 59 * minute)
  t.equal(await add(ahead, 'b', { ip: address }), address)
})

t.test('an address has one holder, whatever the clocks say', async t => {
  const skewed = await makeSkewed(t)
  const { site } = skewed
  const given = new Map<string, string>()
  let pods = 0
  const live = async (node: SiteNode, lives: number): Promise<void> => {
    for (; lives > 0; lives--) {
      const container = `c${++pods}`
      const asked = pods % 3 === 0 ? { ip: `10.22.0.${2 + (pods % 5)}` } : {}
      const retain = pods % 2 === 0 ? { retain: '30m' } : {}
      const answer = await add(node, container, { ...asked, ...retain })
      if (answer.startsWith('IPK_')) {
        t.match(answer, /^IPK_(?:POOL_FULL|ADDRESS_HELD|ADDRESS_KEPT|STORE_CONFLICT)$/)
        pass(skewed, minute)
        continue
      }
      t.notOk(given.get(answer), `${answer} of ${container}`)
      given.set(answer, container)
      const record = site.engine.get('lease', JSON.stringify(['default', answer]))
      t.match(record?.text, `"containerId":"${container}"`)
      await Promise.resolve()
      given.delete(answer)
      await node.world.del(container)
    }
  }
  await Promise.all(site.nodes.flatMap(node => [live(node, 40), live(node, 40)]))
})
