/** What becomes of a fixed address when its pod is moved away from a node that may live: ledgers in front of one engine. */
import t, { type Test } from 'tap'
import type { TakeoverTerms } from '../../../../ipkeeper-server/ipam/records/last-contact.ts'
import { holderKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { describeAddress } from '../../../../ipkeeper-server/leases/queries/describe-address.ts'
import { AddressTaken } from '../../../../ipkeeper-server/network/pod-network.ts'
import type { MainConfig } from '../../../../ipkeeper-server/ipam/request/main-config.ts'
import { until } from '../../../rigs/poll.ts'
import { holderRecord } from '../../../rigs/records.ts'
import { sampleConfig } from '../../network/plan/sample-job.ts'
import { Site, type SiteNode } from '../several-nodes.ts'
import type { PodWords } from '../test-service.ts'

const minute = 60_000
const off: TakeoverTerms = { byTime: undefined, offlineGrace: 5 * minute }
const byTime: TakeoverTerms = { byTime: 10 * minute, offlineGrace: 5 * minute }
const macvlan: MainConfig = {
  ...sampleConfig,
  mode: 'macvlan',
  uplink: 'up0',
  isGateway: false,
  duplicateProbe: true,
}

const address = '10.22.0.50'
const web = (node: SiteNode, container: string, uid: string, more: Partial<PodWords> = {}): PodWords => ({
  ...{
    pod: 'web-0',
    container,
    uid,
    ip: address,
    node: node.name,
    netns: '',
    netnsInode: null,
    main: macvlan,
  },
  ...more,
})

/** Two nodes; web-0 is on the first one. */
async function makeSite(
  t: Test,
  terms: TakeoverTerms = off,
  more: Partial<PodWords> = {},
): Promise<readonly [Site, SiteNode, SiteNode]> {
  const site = new Site()
  const one = await site.join(t, 'n1', terms)
  const two = await site.join(t, 'n2', terms)
  t.equal(await one.world.add(web(one, 'c1', 'u1', more)), address)
  await until(
    'the other node knows',
    () => two.ledger.lease({ segment: 'default', address })?.state === 'bound',
  )
  return [site, one, two]
}

t.test('it waits until its node attests that the sandbox is gone', async t => {
  const [, one, two] = await makeSite(t)
  const { code, message, details, hint } = await two.world.problem(web(two, 'c2', 'u2'))
  t.strictSame(
    { code, message, details },
    {
      code: 'IPK_HOLDER_LIVE',
      message: '10.22.0.50 is still held by shop/web-0 (UID u1) on node n1 in container c1',
      details:
        'waits until node n1 attests that the sandbox is gone, or the API says that the node is out of service or gone',
    },
  )
  t.match(hint, /delete its Node object or taint it node\.kubernetes\.io\/out-of-service/)
  await one.world.del('c1')
  await until(
    'the other node knows',
    () => two.ledger.lease({ segment: 'default', address })?.state !== 'bound',
  )
  t.equal(await two.world.add(web(two, 'c2', 'u2')), address)
  t.strictSame(two.world.leases(), ['10.22.0.50 bound shop/web-0 c2'])
  await until('its node knows', () => one.ledger.lease({ segment: 'default', address })?.node === 'n2')
  await one.world.del('c1')
  t.strictSame(one.world.leases(), ['10.22.0.50 bound shop/web-0 c2'], 'a late DEL touches nothing')
})

for (const state of ['out-of-service', 'gone'] as const) {
  t.test(`it takes over when the API says that the node is ${state}`, async t => {
    const [site, , two] = await makeSite(t)
    site.api.set('n1', 'present')
    t.equal(await two.world.add(web(two, 'c2', 'u2')), 'IPK_HOLDER_LIVE')
    site.api.set('n1', state)
    t.equal(await two.world.add(web(two, 'c2', 'u2')), address)
    t.strictSame(two.world.leases(), ['10.22.0.50 bound shop/web-0 c2'])
  })

  t.test(`likewise of an ADD that got no further than its holder, node ${state}`, async t => {
    const site = new Site()
    const two = await site.join(t, 'n2', off)
    const record = holderRecord({ sandbox: { node: 'n1', podUid: 'u1', since: 1 } })
    site.engine.put('holder', holderKey(record.holder), JSON.stringify(record))
    await until('it is heard', () => two.ledger.counts().holder === 1)
    t.equal(await two.world.add(web(two, 'c2', 'u2')), 'IPK_HOLDER_LIVE')
    site.api.set('n1', state)
    t.equal(await two.world.add(web(two, 'c2', 'u2')), address)
  })
}

t.test('a MAC moves with the address', async t => {
  const mac = '02:42:ac:11:00:02'
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-6d4cf56db6', uid: 'r1' }
  const deployed = { owner, pod: 'web-6d4cf56db6-x2x5z' }
  const successor = { owner, pod: 'web-6d4cf56db6-b4d5f' }
  for (const [whose, before, after] of [
    ['of a StatefulSet', {}, {}],
    ['of a Deployment', deployed, successor],
  ] as const) {
    await t.test(`${whose}, by proof`, async t => {
      const [site, , two] = await makeSite(t, off, { ...before, mac })
      site.api.set('n1', 'out-of-service')
      t.equal(await two.world.add(web(two, 'c2', 'u2', { ...after, mac })), address)
    })
    await t.test(`${whose}, by time`, async t => {
      const [site, one, two] = await makeSite(t, byTime, { ...before, mac })
      await site.pass(30)
      await site.turn(one, 'cut')
      await site.pass(11)
      t.equal(await two.world.add(web(two, 'c2', 'u2', { ...after, mac })), address)
    })
  }
  await t.test('and not without it by time, as nobody can be asked who has a MAC', async t => {
    const [site, one, two] = await makeSite(t, byTime, { ...deployed, mac })
    const asks = web(two, 'c2', 'u2', { ...successor, mac, ip: '10.22.0.60' })
    t.equal(await two.world.add(asks), 'IPK_MAC_BUSY')
    await site.pass(30)
    await site.turn(one, 'cut')
    await site.pass(11)
    t.equal(await two.world.add(asks), 'IPK_MAC_BUSY')
    site.api.set('n1', 'out-of-service')
    t.equal(await two.world.add(asks), '10.22.0.60', 'proof is another matter')
  })
})

t.test('takeover by time: the node stops, and only then the other one takes over', async t => {
  const [site, one, two] = await makeSite(t, byTime)
  await site.pass(30)
  t.match(
    (await two.world.problem(web(two, 'c2', 'u2'))).details,
    /node n1: last contact 0 s ago; takeover by time in 10 min/,
  )

  await site.turn(one, 'cut')
  await site.pass(4)
  t.equal(
    await one.world.add(web(one, 'c1b', 'u1')),
    address,
    'a newer sandbox of the pod is served from the journal',
  )
  await site.pass(2)
  t.match(await one.world.problem(web(one, 'c1c', 'u1')), {
    code: 'IPK_STORE_AWAY',
    message: 'this node has not reached the store for 6 min',
    details: /after 5 min \("takeover\.offlineGrace"\)/,
  })

  t.match(
    (await two.world.problem(web(two, 'c2', 'u2'))).details,
    /waits until node n1 attests .*; node n1: last contact 6 min ago; takeover by time in 4 min without further contact/,
  )
  const told = await describeAddress(two.world.service, 'default', address)
  t.match(told, {
    sentence: /is bound to shop\/web-0 .*; node n1: last contact 6 min ago; takeover by time in 4 min/,
    nodeSilence: { node: 'n1', state: 'counting', silentSeconds: 360, neededSeconds: 600 },
  })

  await site.pass(3)
  t.equal(await two.world.add(web(two, 'c2', 'u2')), 'IPK_HOLDER_LIVE', 'not yet')
  await one.world.del('c1')
  t.pass('DELs go on')
  await site.pass(1)
  t.equal(await two.world.add(web(two, 'c2', 'u2')), address)
  t.strictSame(two.world.leases(), ['10.22.0.50 bound shop/web-0 c2'])

  await site.turn(one, 'well')
  await site.pass(1)
  await until('the node knows', () => one.ledger.lease({ segment: 'default', address })?.node === 'n2')
  t.equal(await one.world.add(web(one, 'c1d', 'u1')), 'IPK_HOLDER_LIVE', 'whoever comes back finds it taken')
  await one.world.del('c1b')
  t.strictSame(one.world.leases(), ['10.22.0.50 bound shop/web-0 c2'])
})

t.test('somebody answers for the address: it stays where it was', async t => {
  const [site, one, two] = await makeSite(t, byTime)
  await site.turn(one, 'cut')
  await site.pass(11)
  const { network } = two.world.service
  const wire = network.wire.bind(network)
  network.wire = () => Promise.reject(new AddressTaken([{ address, mac: '02:00:00:00:00:01' }]))
  t.equal(await two.world.add(web(two, 'c2', 'u2')), 'IPK_ADDRESS_DUPLICATE')
  t.match(two.ledger.lease({ segment: 'default', address }), { state: 'bound', node: 'n1', podUid: 'u1' })
  t.match(
    two.ledger.holder({ kind: 'pod', network: 'net', namespace: 'shop', name: 'web-0', ifname: 'eth0' }),
    {
      attachment: { containerId: 'c1' },
      sandbox: { node: 'n1', podUid: 'u1' },
      leases: [{ address }],
    },
  )
  network.wire = wire
  await site.turn(one, 'well')
  await site.pass(1)
  t.equal(await two.world.add(web(two, 'c2', 'u2')), 'IPK_HOLDER_LIVE')
  await one.world.del('c1')
  await until(
    'the other node knows',
    () => two.ledger.lease({ segment: 'default', address })?.state !== 'bound',
  )
  t.equal(await two.world.add(web(two, 'c2', 'u2')), address)
})

t.test('when nothing is taken over, whatever time goes by', async t => {
  const never = async (
    what: string,
    makeIt: (t: Test) => Promise<readonly [Site, SiteNode, SiteNode]>,
    says: RegExp,
    more: Partial<PodWords> = {},
  ): Promise<void> => {
    await t.test(what, async t => {
      const [, , two] = await makeIt(t)
      const { code, details } = await two.world.problem(web(two, 'c2', 'u2', more))
      t.equal(code, 'IPK_HOLDER_LIVE')
      t.match(details, says)
    })
  }
  const cut = async (site: Site, one: SiteNode): Promise<void> => {
    await site.turn(one, 'cut')
    await site.pass(60)
  }
  await never(
    'it is off',
    async t => {
      const made = await makeSite(t, off)
      await cut(made[0], made[1])
      return made
    },
    /is out of service or gone$/,
  )
  await never(
    'the other node has promised nothing',
    async t => {
      const made = await makeSite(t, off)
      const [site, one, two] = made
      two.terms = byTime
      await site.pass(1)
      await cut(site, one)
      return made
    },
    /node n1 does not renew its record \("takeover\.byTime" is off there\)/,
  )
  for (const [what, words] of [
    ['mode bridge', { main: { ...sampleConfig, duplicateProbe: true } }],
    ['the IPAM role', { main: undefined }],
  ] as const satisfies readonly (readonly [string, Partial<PodWords>])[]) {
    await never(
      what,
      async t => {
        const made = await makeSite(t, byTime, words)
        await cut(made[0], made[1])
        return made
      },
      /takeover by time is for modes underlay and macvlan only/,
      words,
    )
  }
  await never(
    'nobody is asked whether he has the address',
    async t => {
      const made = await makeSite(t, byTime)
      await cut(made[0], made[1])
      return made
    },
    /no takeover by time: "duplicateProbe" is false/,
    { main: { ...macvlan, duplicateProbe: false } },
  )
  await never(
    'the node that waits hears no news, and asks',
    async t => {
      const made = await makeSite(t, byTime)
      const [site, , two] = made
      await site.turn(two, 'deaf')
      await site.pass(60)
      return made
    },
    /takeover by time in (?:9 min|10 min)/,
  )
  await never(
    'the node that waits was cut off itself: it begins anew',
    async t => {
      const made = await makeSite(t, byTime)
      const [site, one, two] = made
      await site.turn(one, 'cut')
      await site.pass(8)
      await site.turn(two, 'cut')
      await site.pass(8)
      await site.turn(two, 'well')
      await site.pass(5)
      return made
    },
    /takeover by time in (?:5|6) min/,
  )
  await never(
    'the engine was away from all: it begins anew',
    async t => {
      const made = await makeSite(t, byTime)
      const [site, one, two] = made
      for (const node of [one, two]) await site.turn(node, 'cut')
      await site.pass(60)
      await site.turn(two, 'well')
      await site.pass(1)
      return made
    },
    /takeover by time in (?:9 min|10 min)/,
  )
})

t.test('a promise holds until the engine has another word', async t => {
  const [site, one] = await makeSite(t, byTime)
  await site.turn(one, 'cut')
  one.terms = off
  await site.pass(6)
  t.equal(await one.world.add(web(one, 'c1b', 'u1')), 'IPK_STORE_AWAY')
  await site.turn(one, 'well')
  await site.pass(1)
  await site.turn(one, 'cut')
  await site.pass(60)
  t.equal(await one.world.add(web(one, 'c1b', 'u1')), address, 'then nothing is promised any more')
})

t.test('what nodes tell of themselves', async t => {
  const site = new Site()
  const one = await site.join(t, 'n1', off)
  t.match(one.ledger.node('n1'), { name: 'n1', addresses: ['10.30.0.11'], generation: 1 })
  await site.pass(3)
  t.equal(one.ledger.node('n1')?.generation, 1, 'nothing new is nothing to tell')
  site.addresses = ['10.30.0.12', 'fd00:30::12']
  await site.pass(3)
  t.match(one.ledger.node('n1'), { generation: 2, addresses: site.addresses })
  site.engine.put('node', 'n1', null)
  // A loss: it is written again at first without a word of how the node is reached.
  await until('the node knows', () => one.ledger.node('n1')?.epoch !== undefined)
  await site.pass(1)
  t.match(
    one.ledger.node('n1'),
    { epoch: 2, addresses: site.addresses },
    'and told again when it was removed',
  )
})
