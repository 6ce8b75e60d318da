import t from 'tap'
import { describePool } from '../../../../ipkeeper-server/leases/queries/describe-pool.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { canonicalPool, type RangeDefinition } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { parseAddress } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { poolFrom, TestService } from '../test-service.ts'

const noTurn = (): Promise<void> => Promise.resolve()

t.test('why a range gives fewer addresses than it has', async t => {
  const run = (first: string, last: string) => ({ first: parseAddress(first)!, last: parseAddress(last)! })
  const subnet = parseCidr('10.22.0.0/24')!
  for (const [more, words] of [
    [{}, '253 of 254: 10.22.0.1 the gateway'],
    [{ rangeStart: parseAddress('10.22.0.10')! }, '245 of 245'],
    [{ rangeEnd: parseAddress('10.22.0.31')! }, '30 of 31: 10.22.0.1 the gateway'],
    [
      {
        rangeEnd: parseAddress('10.22.0.31')!,
        exclude: [run('10.22.0.2', '10.22.0.5'), run('10.22.0.9', '10.22.0.9')],
      },
      '25 of 31: 10.22.0.1 the gateway, 10.22.0.2-10.22.0.5 excluded, 10.22.0.9 excluded',
    ],
    [
      {
        gateway: parseAddress('10.22.0.7')!,
        rangeEnd: parseAddress('10.22.0.9')!,
        exclude: [run('10.22.0.6', '10.22.0.8')],
      },
      '6 of 9: 10.22.0.6 excluded, 10.22.0.7 the gateway, 10.22.0.8 excluded',
    ],
    [
      { rangeStart: parseAddress('10.22.0.254')!, rangeEnd: parseAddress('10.22.0.255')! },
      '1 of 2: 10.22.0.255 the broadcast address',
    ],
  ] as const satisfies readonly (readonly [Partial<RangeDefinition>, string])[]) {
    const story = await TestService.open()
    story.pool = canonicalPool('net', 'default', [[{ subnet, ...more }]])
    await story.add({ pod: 'a', container: 'c1' })
    const [range] = (await describePool(story.service, 'net', 0, noTurn)).ranges
    const never = range?.never.map(
      ({ first, last, why }) => `${first === last ? first : `${first}-${last}`} ${why}`,
    )
    const list = never?.join(', ')
    t.equal(`${range?.capacity} of ${range?.size}${list ? `: ${list}` : ''}`, words)
  }
})

t.test('the next free addresses: what nobody has, keeps or was promised, of each family', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/29'], ['fd00:22::/64'])
  for (const pod of ['a', 'b']) await story.add({ pod, container: pod })
  await story.del('a')
  await reserve(story.service, { segment: 'default', address: '10.22.0.5', owner: 'shop/x', note: '' })
  for (const [most, free] of [
    [0, []],
    [1, ['10.22.0.4', 'fd00:22::4']],
    // .2 is cooling down: dynamic choice takes it last.
    [3, ['10.22.0.4', '10.22.0.6', 'fd00:22::4', 'fd00:22::5', 'fd00:22::6']],
  ] as const)
    t.strictSame((await describePool(story.service, 'net', most, noTurn)).free, free)
})

t.test('rules, as the file says them', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1' })
  const rules = {
    ...{ namespaces: ['shop', 'team-*'], nodes: ['n1'], quotaPerNamespace: 2, allowMac: false },
    nodeSelector: { matchLabels: { zone: 'a' }, matchExpressions: [] },
  }
  const policy = { ...story.book.standard, retention: 'forever' as const, cooldown: 60_000 }
  story.book = { ...story.book, pools: [{ pool: story.pool, rules, policy, network: {} }] }
  t.match(await describePool(story.service, 'net', 0, noTurn), {
    origin: 'network',
    retention: 'forever',
    cooldown: '1m',
    strategy: 'lowest-free',
    rules: [
      'namespaces shop, team-*',
      'nodes n1',
      'nodes with zone=a',
      'at most 2 addresses of a family for the pods of a namespace',
      'pods choose no MAC',
    ],
  })
  const besides = { namespaces: ['lab'], nodeSelector: rules.nodeSelector }
  story.book = { ...story.book, pools: [{ pool: story.pool, rules: { besides }, policy, network: {} }] }
  t.match(
    await describePool(story.service, 'net', 0, noTurn),
    { rules: ['namespaces lab: of the file that is otherwise not in force', /^nodes with zone=a: /] },
    'those of a refused file, which apply all the same',
  )
  await t.rejects(describePool(story.service, 'none', 0, noTurn), { code: 'IPK_POOL_UNKNOWN' })
})
