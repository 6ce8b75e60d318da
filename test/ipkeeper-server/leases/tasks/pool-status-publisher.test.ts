import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { PoolStatus } from '../../../../ipkeeper-server/store/pool-status-sink.ts'
import { measureUsage } from '../../../../ipkeeper-server/leases/queries/measure-usage.ts'
import { canonicalPool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { UsageTally } from '../../../../ipkeeper-server/ipam/pools/usage.ts'
import {
  poolStatuses,
  rangesColumn,
  samePoolStatus,
} from '../../../../ipkeeper-server/leases/tasks/pool-statuses.ts'
import { TellPools } from '../../../../ipkeeper-server/leases/tasks/pool-status-publisher.ts'
import { parseAddress } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { until } from '../../../rigs/poll.ts'
import { poolFrom, TestService } from '../test-service.ts'

/** A service whose pools are told, with a sink that keeps what it was told and may refuse it. */
async function startPublisher(t: Test, quiet = 5) {
  const story = await TestService.open()
  story.pool = poolFrom('prod', ['10.22.0.0/29'])
  const told: string[] = []
  const errors: unknown[] = []
  const state = { elected: true, heard: true, refuses: false, measured: 0 }
  const tell = new TellPools({
    election: { isElected: () => state.elected },
    isHeard: () => state.heard,
    sink: {
      write: async (pool: string, { ratio, held, free, exhausted }: PoolStatus) => {
        await Promise.resolve()
        if (state.refuses) throw new Error('refused')
        told.push(`${pool} ${ratio} ${held} ${free}${exhausted.length > 0 ? ' exhausted' : ''}`)
      },
    },
    usage: async () => {
      state.measured++
      return await measureUsage(story.service, () => Promise.resolve())
    },
    monotonic: () => performance.now(),
    quiet,
    onError: error => errors.push(error),
  })
  story.service.ledger.subscribe({
    changed: () => {
      tell.wake()
    },
  })
  t.teardown(() => tell.stop())
  return { story, told, errors, state, tell }
}

t.test('figures are told when they have changed, and once', async t => {
  const { story, told, state, tell } = await startPublisher(t)
  await story.add({ pod: 'a', container: 'c1' })
  await until('told', () => told.length === 1)
  t.strictSame(told, ['prod 1/5 0 4'])
  for (const index of [2, 3, 4, 5]) await story.add({ pod: `p${index}`, container: `c${index}` })
  await until('told', () => told.at(-1) === 'prod 5/5 0 0 exhausted')
  const { measured } = state
  tell.wake()
  await until('measured', () => state.measured > measured)
  t.equal(told.filter(line => line === 'prod 5/5 0 0 exhausted').length, 1, 'nothing has changed')
})

t.test('many changes are told together', async t => {
  const { story, told, state } = await startPublisher(t, 50)
  for (const index of [1, 2, 3]) await story.add({ pod: `p${index}`, container: `c${index}` })
  await until('told', () => told.length > 0)
  t.strictSame([told, state.measured], [['prod 3/5 0 2'], 1])
})

t.test('who is not elected tells nothing, and all of it when it is', async t => {
  const { story, told, state, tell } = await startPublisher(t)
  await story.add({ pod: 'a', container: 'c1' })
  await until('told', () => told.length === 1)
  state.elected = false
  await story.add({ pod: 'b', container: 'c2' })
  await story.del('c2')
  await story.del('c1')
  t.equal(state.measured, 1)
  state.elected = true
  tell.wake()
  await until('told again', () => told.length === 2)
  t.strictSame(told.at(-1), 'prod 0/5 0 5')
})

t.test('nothing is told before all was heard that there is', async t => {
  const { story, told, state, tell } = await startPublisher(t)
  state.heard = false
  await story.add({ pod: 'a', container: 'c1' })
  // Timers end in their order: what would be told in 5 ms would have been.
  await pause(20)
  t.equal(state.measured, 0)
  state.heard = true
  tell.wake()
  await until('told', () => told.length === 1)
  t.strictSame(told, ['prod 1/5 0 4'])
})

t.test('what could not be written is told, and tried again', async t => {
  const { story, told, errors, state, tell } = await startPublisher(t)
  state.refuses = true
  await story.add({ pod: 'a', container: 'c1' })
  await until('refused', () => errors.length === 1)
  t.match(errors, [{ message: 'refused' }])
  t.strictSame(told, [])
  state.refuses = false
  await tell.stop()
})

t.test('a pool of both families: the figures of each, beside those of all', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/30'], ['fd00:22::/126'])
  await story.add({ pod: 'a', container: 'c1' })
  const usage = await measureUsage(story.service, () => Promise.resolve())
  t.strictSame(poolStatuses(usage).get('net'), {
    ...{ capacity: 3n, used: 2n, held: 0n, free: 1n, ratio: '2/3', exhausted: [0] },
    ...{ ranges: '10.22.0.0/30, fd00:22::/126', draining: undefined },
    families: {
      ipv4: { capacity: 1n, used: 1n, held: 0n, free: 0n, ratio: '1/1' },
      ipv6: { capacity: 2n, used: 1n, held: 0n, free: 1n, ratio: '1/2' },
    },
  })
})

t.test('ranges, as short as they are true', t => {
  const range = (subnet: string, more: Partial<Record<'rangeStart' | 'rangeEnd', string>> = {}) => ({
    subnet: parseCidr(subnet)!,
    ...Object.fromEntries(Object.entries(more).map(([key, text]) => [key, parseAddress(text)!])),
  })
  const many = Array.from({ length: 200 }, (_, index) => range(`10.22.${index}.0/24`))
  for (const [what, sets, text] of [
    ['a whole subnet', [[range('10.22.0.0/24')]], '10.22.0.0/24'],
    [
      'with its gateway elsewhere',
      [[{ ...range('10.22.0.0/24'), gateway: parseAddress('10.22.0.254')! }]],
      '10.22.0.0/24',
    ],
    ['a part', [[range('10.22.0.0/24', { rangeStart: '10.22.0.10' })]], '10.22.0.10-10.22.0.254'],
    ['another', [[range('10.22.0.0/24', { rangeEnd: '10.22.0.10' })]], '10.22.0.1-10.22.0.10'],
    [
      'several, of both families',
      [[range('10.22.0.0/24'), range('10.23.0.0/24')], [range('fd00:22::/64')]],
      '10.22.0.0/24, 10.23.0.0/24, fd00:22::/64',
    ],
    ['more than a column holds', [many], '10.22.0.0/24, 10.22.1.0/24, 10.22.2.0/24, and 197 more'],
  ] as const)
    t.equal(rangesColumn(canonicalPool('net', 'default', sets)), text, what)
  t.end()
})

t.test('ranges that change are told, where no figure does', t => {
  const [before, after] = ['10.22.0.0/24', '10.23.0.0/24'].map(subnet => {
    const pools = [poolFrom('net', [subnet])]
    return poolStatuses({ pools, rangeSets: new UsageTally(pools, 0).rangeSets() }).get('net')!
  })
  t.ok(samePoolStatus(before, before!))
  t.notOk(samePoolStatus(before, after!))
  t.end()
})
