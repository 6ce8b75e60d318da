/** No pod gets an address that its node has itself: not by choice, not by name, not because it had it. */
import t from 'tap'
import { OwnAddresses } from '../../../../ipkeeper-server/ipam/pools/own-addresses.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { formatAddress, parseAddress, type Address } from '../../../../shared/net/address.ts'
import { poolFrom, TestService, type PodWords } from '../../leases/test-service.ts'

const ownOf = (...entries: readonly string[]): OwnAddresses =>
  new OwnAddresses(
    entries.map(entry => {
      const [cidr = '', link = ''] = entry.split(' ')
      return { cidr, link }
    }),
  )

const addressOf = (text: string): Address => {
  const address = parseAddress(text)
  if (!address) throw new Error(text)
  return address
}

t.test('which they are, and what they leave of a run', t => {
  const own = ownOf(
    '10.22.0.9/32 lo',
    '10.22.0.3/24 eth0',
    '10.22.0.4 eth1',
    'fd00:22::3/64 eth0',
    'what else',
  )
  for (const [text, link] of [
    ['10.22.0.3', 'eth0'],
    ['10.22.0.4', 'eth1'],
    ['10.22.0.9', 'lo'],
    ['fd00:22::3', 'eth0'],
    ['10.22.0.2', undefined],
    ['10.22.0.10', undefined],
    ['::a16:3', undefined],
  ] as const) {
    t.equal(own.find(addressOf(text))?.link, link, text)
  }
  for (const [run, left] of [
    ['10.22.0.2-10.22.0.10', '10.22.0.2-10.22.0.2,10.22.0.5-10.22.0.8,10.22.0.10-10.22.0.10'],
    ['10.22.0.3-10.22.0.4', ''],
    ['10.22.0.4-10.22.0.6', '10.22.0.5-10.22.0.6'],
    ['10.22.0.5-10.22.0.8', '10.22.0.5-10.22.0.8'],
    ['10.22.0.10-10.22.0.12', '10.22.0.10-10.22.0.12'],
    ['fd00:22::1-fd00:22::3', 'fd00:22::1-fd00:22::2'],
  ] as const) {
    const [first, last] = run.split('-').map(addressOf) as [Address, Address]
    const { family } = first
    const runs = own.leftOf(family, { first: first.value, last: last.value })
    const spelt = runs.map(part =>
      [part.first, part.last].map(value => formatAddress({ family, value })).join('-'),
    )
    t.equal(spelt.join(), left, run)
  }
  t.end()
})

const web = (container: string, more: Partial<PodWords> = {}): PodWords => ({
  ...{ container, pod: 'web-0', uid: 'u1' },
  ...more,
})

t.test('dynamic choice passes over them', async t => {
  const story = await TestService.open()
  story.own = ownOf('10.22.0.2/24 eth0', '10.22.0.4/32 lo', '10.99.0.1/24 eth1')
  t.equal(await story.add({ container: 'c1' }), '10.22.0.3')
  t.equal(await story.add({ container: 'c2' }), '10.22.0.5')
  story.own = ownOf('10.22.0.6/24 eth0')
  t.equal(await story.add({ container: 'c3' }), '10.22.0.2', 'as they are at the ADD')
  t.equal(await story.add({ container: 'c4' }), '10.22.0.4')
  t.equal(await story.add({ container: 'c5' }), '10.22.0.7')
})

t.test('also when only resting ones are left', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/29'])
  for (const number of [1, 2, 3, 4, 5]) await story.add({ container: `c${number}` })
  for (const number of [1, 2, 3]) {
    story.now += 1000
    await story.del(`c${number}`)
  }
  story.own = ownOf('10.22.0.2/29 eth0')
  t.equal(await story.add({ container: 'c6' }), '10.22.0.3', 'the second longest rested')
  story.own = ownOf('10.22.0.2/29 eth0', '10.22.0.4/29 eth0')
  t.equal(await story.add({ container: 'c7' }), 'IPK_POOL_FULL')
})

t.test('by name it is an error that says which link has it', async t => {
  const story = await TestService.open()
  story.own = ownOf('10.22.0.50/32 lo')
  for (const [words, message, details] of [
    [
      { ip: '10.22.0.50' },
      'annotation ipkeeper.io/ip asks for 10.22.0.50, but node n1 has it itself, on link lo',
      '',
    ],
    [
      { cniIp: '10.22.0.50' },
      'failed to allocate for range 0: requested IP address 10.22.0.50 is not available in range set 10.22.0.1-10.22.0.254',
      'runtimeConfig.ips asks for 10.22.0.50, but node n1 has it itself, on link lo',
    ],
    [
      { ips: '10.22.0.49-10.22.0.51', pod: 'web-1' },
      'annotation ipkeeper.io/ips (ordinal 1) asks for 10.22.0.50, but node n1 has it itself, on link lo',
      '',
    ],
  ] as const) {
    const problem = await story.problem({ container: 'c1', ...words })
    t.equal(problem.code, 'IPK_ADDRESS_OF_NODE')
    t.equal(problem.message, message)
    t.equal(problem.details, details)
    t.match(problem.hint, /ip address delete 10\.22\.0\.50\/32 dev lo/)
  }
  t.same(story.leases(), [], 'nothing was written')
})

t.test('candidates: an ordinal keeps its place, others take the next', async t => {
  const story = await TestService.open()
  story.own = ownOf('10.22.0.50/32 lo')
  const ips = '10.22.0.50-10.22.0.52'
  t.equal(await story.add({ container: 'c2', pod: 'web-2', ips }), '10.22.0.52')
  t.equal(await story.add({ container: 'c1', pod: 'web-1', ips }), '10.22.0.51')
  const other = (name: string): PodWords => ({
    container: name,
    pod: `api-6d4cf56db6-${name}`,
    ips: '10.22.0.50,10.22.0.60',
  })
  t.equal(await story.add(other('x2x5z')), '10.22.0.60')
  const problem = await story.problem(other('b4b5z'))
  t.match(problem.message, /10\.22\.0\.50 the node's own, on link lo/)
})

t.test('what a pod had', async t => {
  const story = await TestService.open()
  t.equal(await story.add(web('c1')), '10.22.0.2')
  story.own = ownOf('10.22.0.2/24 eth0')
  t.equal(await story.add(web('c2')), '10.22.0.3', 'a dynamic one is replaced')

  const database = { pod: 'db-0', uid: 'u2' }
  t.equal(await story.add(web('d1', { ...database, ip: '10.22.0.9', retain: 'forever' })), '10.22.0.9')
  await story.del('d1')
  story.own = ownOf('10.22.0.9/24 eth0')
  const problem = await story.problem(web('d2', database))
  t.equal(problem.code, 'IPK_ADDRESS_OF_NODE')
  t.equal(problem.message, '10.22.0.9 is that of shop/db-0, but node n1 has it itself, on link eth0')
  t.ok(story.leases().includes('10.22.0.9 held shop/db-0 -'), 'it stays kept')
})

t.test('what is reserved for it', async t => {
  const story = await TestService.open()
  await story.add({ container: 'c0' })
  await reserve(story.service, { address: '10.22.0.8', owner: 'shop/web-0', note: '', segment: 'default' })
  story.own = ownOf('10.22.0.8/24 eth0')
  t.equal(await story.add(web('c1')), '10.22.0.3')
  t.equal((await story.problem(web('c2', { ip: '10.22.0.8' }))).code, 'IPK_ADDRESS_OF_NODE')
})
