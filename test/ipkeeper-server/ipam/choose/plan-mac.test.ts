import t from 'tap'
import type { SeenMac } from '../../../../ipkeeper-server/ipam/request/add-request.ts'
import { macGuardKey, type Write } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { planAdd } from '../../../../ipkeeper-server/ipam/plan/plan-add.ts'
import type { MainConfig } from '../../../../ipkeeper-server/ipam/request/main-config.ts'
import { addTerms } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { sampleConfig } from '../../network/plan/sample-job.ts'
import { poolFrom, TestService, type PodWords } from '../../leases/test-service.ts'

const mac = '02:42:ac:11:00:02'
/** What pod web-0 asks for, in its first sandbox. */
const first: PodWords = { pod: 'web-0', uid: 'u1', container: 'c1', mac }
const nobody: SeenMac = { links: [], neighbours: [], attachments: [] }
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-6d4cf56db6', uid: 'r1' }

const ptp: MainConfig = { ...sampleConfig, mode: 'ptp' }

const far = { ...poolFrom('far', ['10.33.0.0/24']), segment: 'other' }
const six = poolFrom('six', ['fd00:22::/64'])
const small = poolFrom('small', ['fd00:33::/112'])
const twin = poolFrom('twin', ['10.44.0.0/24'], ['10.55.0.0/24'])

/** Node n2, as it tells of itself. */
const tellNode = (story: TestService, gone: boolean): Promise<unknown> => {
  const record = { name: 'n2', addresses: ['192.168.7.2'], since: 0, generation: 1 }
  const left = gone && { gone: { since: 0, by: 'n1' } }
  return story.service.ledger.commit([
    { kind: 'node', key: 'n2', expect: null, record: { ...record, ...left } },
  ])
}

interface Row {
  readonly what: string
  /** Before: what is there besides the first pod; default: nothing. */
  readonly before?: (story: TestService) => Promise<unknown>
  readonly asks: PodWords
  readonly seen?: Partial<SeenMac>
  /** Addresses, or a code and what it says. */
  readonly gets: string | readonly [code: string, says: RegExp]
}

const other: PodWords = { pod: 'db', uid: 'u9', container: 'c9', mac }

const rows: readonly Row[] = [
  {
    what: 'another pod',
    asks: other,
    gets: ['IPK_MAC_TAKEN', /which shop\/web-0 on node n1 \(container c1, .*\) has/],
  },
  {
    what: 'another interface of the pod',
    asks: { ...first, ifname: 'net1' },
    gets: ['IPK_MAC_TAKEN', /shop\/web-0/],
  },
  { what: 'the next sandbox of the same pod', asks: { ...first, container: 'c2' }, gets: '10.22.0.2' },
  {
    what: 'the next pod of the same name, while the old sandbox may live',
    asks: { ...first, uid: 'u2', container: 'c2' },
    gets: ['IPK_HOLDER_LIVE', /web-0/],
  },
  {
    what: 'anybody, once the sandbox is dead',
    before: story => Promise.resolve(story.dead.add('c1')),
    asks: other,
    gets: '10.22.0.3',
  },
  { what: 'anybody, after a DEL', before: story => story.del('c1'), asks: other, gets: '10.22.0.3' },
  {
    what: 'anybody, while it is kept with the address',
    before: async story => {
      await story.add({ ...first, container: 'c2', retain: '30m' })
      await story.del('c2')
    },
    asks: other,
    gets: ['IPK_MAC_TAKEN', /shop\/web-0 on node n1 \(kept by retention .* has; it comes free at /],
  },
  {
    what: 'anybody, while the sandbox is dead and the address is to be kept',
    before: async story => {
      await story.add({ ...first, container: 'c2', retain: '30m' })
      story.dead.add('c2')
    },
    asks: other,
    gets: ['IPK_MAC_TAKEN', /shop\/web-0/],
  },
  {
    what: 'its own pod, when it comes back to what was kept',
    before: async story => {
      await story.add({ ...first, container: 'c2', retain: '30m' })
      await story.del('c2')
    },
    asks: { ...first, uid: 'u2', container: 'c3' },
    gets: '10.22.0.2',
  },
  {
    what: 'its own pod, which asks for another address by now',
    before: async story => {
      await story.add({ ...first, container: 'c2', retain: '30m' })
      await story.del('c2')
    },
    asks: { ...first, uid: 'u2', container: 'c3', ip: '10.22.0.50' },
    gets: '10.22.0.50',
  },
  {
    what: 'anybody, when the time of what was kept is over',
    before: async story => {
      await story.add({ ...first, container: 'c2', retain: '30m' })
      await story.del('c2')
      story.now += 31 * 60_000
    },
    asks: other,
    gets: '10.22.0.3',
  },
  {
    what: 'anybody, of one that has a link for itself',
    before: async story => {
      await story.del('c1')
      await story.add({ ...first, container: 'c2', main: ptp })
    },
    asks: other,
    gets: '10.22.0.4',
  },
  {
    what: 'the default one of a pod that has a link for itself',
    before: async story => {
      await story.add({ pod: 'db-0', container: 'c2', main: ptp })
    },
    asks: { ...other, mac: '0a:58:0a:16:00:03' },
    gets: '10.22.0.4',
  },
  { what: 'a pod of another segment', asks: { ...other, pool: far, network: 'far' }, gets: '10.33.0.2' },
  {
    what: 'a pod that has a link for itself',
    asks: { ...other, main: ptp },
    gets: '10.22.0.3',
  },
  {
    what: 'that of the node, also on such a link',
    asks: { ...other, mac: '02:00:00:00:00:01', main: ptp },
    seen: { links: ['eth0'] },
    gets: ['IPK_MAC_TAKEN', /which node n1 has itself, on link eth0$/],
  },
  {
    what: 'that of the bridge which is still to be made',
    asks: { ...other, mac: '0e:00:00:00:00:02', main: sampleConfig },
    gets: ['IPK_MAC_TAKEN', /which bridge ipk0 is to have/],
  },
  {
    what: 'that of the gateway',
    asks: { ...other, mac: '02:00:00:00:00:01' },
    seen: { neighbours: ['10.22.0.77', '10.22.0.1'] },
    gets: ['IPK_MAC_TAKEN', /which the gateway 10\.22\.0\.1 has$/],
  },
  {
    what: 'that of who else is known as a neighbour: it may have left, or lie',
    asks: { ...other, mac: '02:00:00:00:00:01' },
    seen: { neighbours: ['10.22.0.77'] },
    gets: '10.22.0.3',
  },
  {
    what: 'that of another node',
    before: story => tellNode(story, false),
    asks: { ...other, mac: '02:00:00:00:00:01' },
    seen: { neighbours: ['192.168.7.2'] },
    gets: ['IPK_MAC_TAKEN', /which node n2 has$/],
  },
  {
    what: 'that of who has the address of a node that is gone',
    before: story => tellNode(story, true),
    asks: { ...other, mac: '02:00:00:00:00:01' },
    seen: { neighbours: ['192.168.7.2'] },
    gets: '10.22.0.3',
  },
  {
    what: 'that of an older sandbox of its name, which is not the last one, and may live',
    before: story => story.add({ pod: 'web-0', uid: 'u2', container: 'c2' }),
    asks: { ...first, uid: 'u2', container: 'c3' },
    gets: ['IPK_HOLDER_LIVE', /10\.22\.0\.2 is still held by shop\/web-0 \(UID u1\)/],
  },
  {
    what: 'that of its other address',
    asks: { ...other, mac: '0a:58:0a:37:00:02', pool: twin, network: 'twin' },
    gets: '10.44.0.2,10.55.0.2',
  },
  {
    what: 'that which a pod has by its address',
    asks: { ...other, mac: '0a:58:0a:16:00:02' },
    gets: ['IPK_MAC_TAKEN', /that of the pod with address 10\.22\.0\.2: shop\/web-0/],
  },
  {
    what: 'that which a pod would have by its address',
    asks: { ...other, mac: '0a:58:0a:16:00:64' },
    gets: ['IPK_MAC_TAKEN', /10\.22\.0\.100, whoever gets it/],
  },
  { what: 'that of its own address', asks: { ...other, mac: '0a:58:0a:16:00:03' }, gets: '10.22.0.3' },
  { what: 'that of an address of nobody', asks: { ...other, mac: '0a:58:0a:63:00:02' }, gets: '10.22.0.3' },
  {
    what: 'one of those of a large subnet of IPv6',
    asks: { ...other, mac: '0e:00:00:00:00:50', pool: six, network: 'six' },
    gets: ['IPK_MAC_TAKEN', /they begin with 0e$/],
  },
  {
    what: 'that of an address of a small one',
    asks: { ...other, mac: '0e:33:00:00:00:50', pool: small, network: 'small' },
    gets: 'fd00:33::2',
  },
]

for (const { what, before, asks, seen, gets } of rows) {
  t.test(what, async t => {
    const story = await TestService.open()
    t.equal(await story.add(first), '10.22.0.2')
    await before?.(story)
    story.network.seeMac = () => Promise.resolve({ ...nobody, ...seen })
    if (typeof gets === 'string') t.equal(await story.add(asks), gets)
    else {
      const { code, message, hint } = await story.problem(asks)
      t.equal(code, gets[0], message)
      t.match(message, gets[1])
      t.not(hint, '')
    }
  })
}

t.test('pods of one template, one after the other', async t => {
  const story = await TestService.open()
  await story.add({ ...first, pod: 'web-6d4cf56db6-x2x5z', owner })
  const next = { ...first, pod: 'web-6d4cf56db6-b4d5f', uid: 'u2', container: 'c2', owner }
  const { code, hint } = await story.problem(next)
  t.equal(code, 'IPK_MAC_BUSY')
  t.match(hint, /maxSurge 0 or strategy Recreate/)
  await story.del('c1')
  t.match(await story.add(next), /^10\.22\.0\./)
})

t.test('two pods of a virtual machine', async t => {
  const story = await TestService.open()
  const vm = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'v1' }
  const launcher = { ...first, owner: vm, pod: 'virt-launcher-vm-x2x5z' }
  await story.add(launcher)
  const { code, hint } = await story.problem({ ...launcher, pod: 'virt-launcher-vm-b4d5f', container: 'c2' })
  t.equal(code, 'IPK_MAC_BUSY')
  t.match(hint, /live migration.* is not supported/)
})

t.test('pods of one template, of whom one has left its address to the next', async t => {
  const story = await TestService.open()
  const template = { owner, mac, retain: '30m' }
  await story.add({ ...template, mac: '02:42:ac:11:00:03', pod: 'web-6d4cf56db6-aaaaa', container: 'c1' })
  await story.add({ ...template, pod: 'web-6d4cf56db6-x2x5z', container: 'c2' })
  await story.del('c1')
  await story.del('c2')
  const next = { ...template, pod: 'web-6d4cf56db6-b4d5f', container: 'c3' }
  t.equal(await story.add(next), '10.22.0.2', 'of several the one that was kept for longest')
  t.equal(
    (await story.problem({ ...next, pod: 'web-6d4cf56db6-zzzzz', container: 'c4' })).code,
    'IPK_MAC_BUSY',
  )
})

t.test('a MAC that was wired without being asked for', async t => {
  for (const [main, gets] of [
    [sampleConfig, 'IPK_MAC_TAKEN'],
    [ptp, '10.22.0.3'],
  ] as const) {
    const story = await TestService.open()
    await story.add({ pod: 'web-0', container: 'c1', main })
    const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
    const attachment = story.service.ledger.attachment(key)!
    story.network.seeMac = () => Promise.resolve({ ...nobody, attachments: [attachment] })
    t.equal(await story.add(other), gets, main.mode)
  }
})

t.test('a pod whose own MAC somebody chose before gets a spare one', async t => {
  const own = '0a:58:0a:2c:00:02'
  const chosen: PodWords = { ...first, mac: own }
  const late = poolFrom('late', ['10.44.0.0/24'])
  const words: PodWords = { pod: 'db', container: 'c9', pool: late, network: 'late', main: sampleConfig }
  for (const [what, before, asks, gets] of [
    ['of the same segment', chosen, words, '06:58:0a:2c:00:02'],
    ['of another segment', { ...chosen, pool: far, network: 'far' }, words, own],
    ['that has a link for itself', { ...chosen, main: ptp }, words, own],
    ['who alone is on its link', chosen, { ...words, main: ptp }, own],
  ] as const) {
    const story = await TestService.open()
    // No pool had 10.44.0.0/24 then.
    await story.add(before)
    t.equal(await story.add(asks), '10.44.0.2')
    const key = { network: 'late', containerId: 'c9', ifname: 'eth0' }
    t.equal(story.service.ledger.attachment(key)?.wiring?.mac, gets, what)
  }
})

t.test('a guard makes an ADD of another node look again, where nodes share what they know', async t => {
  const story = await TestService.open()
  const { ledger } = story.service
  const guardsOf = (isShared: boolean): readonly Write[] => {
    const book = new Proxy(ledger, {
      get: (target, property) => {
        if (property === 'isShared') return isShared
        const value: unknown = Reflect.get(target, property)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const { change } = planAdd(book, story.request(first), addTerms(story.service), undefined)
    return change.filter(({ kind }) => kind === 'mac')
  }
  t.strictSame(guardsOf(false), [])
  const guard = { segment: 'default', lastOctet: 2 }
  t.strictSame(guardsOf(true), [
    { kind: 'mac', key: macGuardKey(guard), expect: null, record: { ...guard, generation: 1 } },
  ])
  await ledger.commit(guardsOf(true))
  t.strictSame(
    guardsOf(true),
    [{ kind: 'mac', key: macGuardKey(guard), expect: 1, record: { ...guard, generation: 2 } }],
    'and each ADD moves it on',
  )
})

t.test('a pool that cannot be read has no default MACs', async t => {
  const story = await TestService.open()
  const bad = { subnet: 'x', rangeStart: 'x', rangeEnd: 'x', gateway: 'x', exclude: [] }
  const record = { generation: 1, name: 'bad', segment: 'default', ranges: [[bad]] }
  await story.service.ledger.commit([{ kind: 'pool', key: 'bad', expect: null, record }])
  const change = (asked: string) =>
    planAdd(story.service.ledger, story.request({ ...first, mac: asked }), addTerms(story.service), undefined)
  const large = { ...six, name: 'net' }
  story.pool = large
  t.throws(
    () => change('0e:00:00:00:00:50'),
    { code: 'IPK_MAC_TAKEN' },
    'those of a sound one are kept all the same',
  )
})
