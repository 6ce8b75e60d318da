/** Which ADDs go to the fallback, and which of the addresses that it gives may stand. */
import t from 'tap'
import { checkGiven } from '../../../../ipkeeper-server/ipam/plan/plan-delegation.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { minute, tellStories, type Step } from '../../leases/story.ts'
import { poolFrom, TestService, type PodWords } from '../../leases/test-service.ts'

const plain = (container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'web-0',
  container,
  fallback: 'dhcp',
  ...patch,
})
/** Of a network whose ranges a promised address is outside of. */
const other = { pool: poolFrom('other', ['10.33.0.0/24']), network: 'net' }
const copy = (suffix: string, container: string, patch: Partial<PodWords> = {}): PodWords =>
  plain(container, { pod: `api-6d4cf56db6-${suffix}`, ...patch })

const stories: Readonly<Record<string, readonly Step[]>> = {
  'who asks for nothing is left to it': [['add', plain('c1'), 'left to dhcp', /the pod asks for nothing/]],
  'who asks for an address, one of a list, a pool, a retention or a MAC is not': [
    ['add', plain('c1', { ip: '10.22.0.50' }), '10.22.0.50'],
    ['add', plain('c2', { pod: 'b', ips: '10.22.0.60-10.22.0.61' }), '10.22.0.60'],
    ['add', plain('c3', { pod: 'c', pools: ['net'] }), '10.22.0.2'],
    ['add', plain('c4', { pod: 'd', retain: 'release' }), '10.22.0.3'],
    ['add', plain('c5', { pod: 'e', mac: '02:42:ac:11:00:02' }), '10.22.0.4'],
  ],
  'nor who has something reserved, as long as the network can give it': [
    ['reserve', '10.22.0.50', 'shop/web-0'],
    ['add', plain('c1'), '10.22.0.50', /reserved for this pod/],
    ['del', 'c1'],
    ['add', plain('c2', other), 'left to dhcp'],
  ],
  'nor whose workload keeps something': [
    ['add', copy('x2x5z', 'c1', { retain: 'forever' }), '10.22.0.2'],
    ['del', 'c1'],
    ['add', copy('b4d5f', 'c2'), '10.22.0.2', /kept for Deployment shop\/api/],
  ],
  'what was kept and is over is promised to nobody': [
    ['add', copy('x2x5z', 'c1', { retain: '30m' }), '10.22.0.2'],
    ['del', 'c1'],
    ['clock', 31 * minute],
    ['add', copy('b4d5f', 'c2'), 'left to dhcp'],
  ],
}
tellStories(t, stories)

t.test('what a fallback gave', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'db-0', container: 'c1', ip: '10.22.0.9' })
  await story.add({ pod: 'db-1', container: 'c2', ip: '10.44.0.9', pool: poolFrom('far', ['10.44.0.0/24']) })
  await story.add({ pod: 'db-2', container: 'c3', ip: '10.44.0.10', pool: poolFrom('far', ['10.44.0.0/24']) })
  await story.del('c3', 'eth0', 'far')
  await reserve(story.service, { segment: 'default', address: '10.55.0.9', owner: 'shop/web-0', note: '' })
  const rows: readonly (readonly [given: string, inline: boolean, refused: RegExp | undefined])[] = [
    ['192.0.2.7/24', true, undefined],
    ['192.0.2.7/24', false, undefined],
    ['no address', true, undefined],
    ['10.22.0.9/24', true, /^fallback dhcp gave 10\.22\.0\.9\/24, but shop\/db-0 has it$/],
    ['10.22.0.9/24', false, /but shop\/db-0 has it$/],
    ['10.22.0.10/24', true, /but the ranges of network net hold it$/],
    ['10.44.0.10/24', true, /but the ranges of network far hold it$/],
    ['10.55.0.9/24', true, /but it is reserved for shop\/web-0$/],
  ]
  for (const [given, inline, refused] of rows) {
    const asked = { fallback: 'dhcp', given: [given], inline: inline ? story.pool : undefined }
    const check = (): void => {
      checkGiven(story.service.ledger, asked, { pools: story.service.pools(), now: story.now })
    }
    if (refused) t.throws(check, { code: 'IPK_FALLBACK_CLASH', message: refused }, given)
    else t.doesNotThrow(check, given)
  }
})

t.test('what is known on another link is no matter', async t => {
  const story = await TestService.open()
  const lab = { ...poolFrom('lab', ['10.33.0.0/24']), segment: 'lab' }
  await story.add({ pod: 'db-0', container: 'c1', ip: '10.22.0.9' })
  t.doesNotThrow(() => {
    const asked = { fallback: 'dhcp', given: ['10.22.0.9/24'], inline: lab }
    checkGiven(story.service.ledger, asked, { pools: story.service.pools(), now: story.now })
  })
})

t.test('what is of a pool in force that has no record', async t => {
  const story = await TestService.open()
  const policy = story.book.standard
  const own = [{ pool: poolFrom('blue', ['10.40.0.0/24']), rules: {}, policy, network: {} }]
  const inline = poolFrom('far', ['10.44.0.0/24'])
  const check = (given: string): void => {
    const terms = { pools: { ...story.book, pools: own }, now: story.now }
    checkGiven(story.service.ledger, { fallback: 'dhcp', given: [given], inline }, terms)
  }
  for (const [given, pool] of [
    ['10.40.0.9/24', 'blue'],
    ['10.44.0.9/24', 'far'],
  ] as const)
    t.throws(
      () => {
        check(given)
      },
      { code: 'IPK_FALLBACK_CLASH', message: new RegExp(`the ranges of network ${pool} hold it$`) },
    )
  t.doesNotThrow(() => {
    check('10.40.0.1/24')
  }, 'a gateway is given to nobody')
})
