import t, { type Test } from 'tap'
import type { PoolVerdict } from '../../../../ipkeeper-server/ipam/pools/judge-pool-objects.ts'
import { PublishPools } from '../../../../ipkeeper-server/leases/tasks/pool-verdict-publisher.ts'
import { until } from '../../../rigs/poll.ts'

const verdict = (generation: number, more: Partial<PoolVerdict> = {}): PoolVerdict => ({
  ...{ uid: 'u', generation, publish: undefined, isInForce: true, refusal: undefined },
  ...more,
})
const refusal = { reason: 'AddressesInUse', message: 'left out' } as const

function startPublisher(t: Test) {
  const state = {
    ...{ elected: true, heard: true, refuses: '', judged: 0 },
    verdicts: new Map<string, PoolVerdict>([['a', verdict(1)]]),
  }
  const published: string[] = []
  const told: string[] = []
  const errors: unknown[] = []
  const publisher = new PublishPools({
    election: { isElected: () => state.elected },
    isHeard: () => state.heard,
    judge: () => {
      state.judged++
      return state.verdicts
    },
    sink: {
      publish: async (pool, { generation }) => {
        await Promise.resolve()
        if (state.refuses === pool) throw new Error('refused')
        published.push(`${pool} ${generation}`)
      },
    },
    onVerdict: (pool, { generation }, before) =>
      told.push(`${pool} ${before?.generation ?? '-'} ${generation}`),
    onError: error => errors.push(error),
  })
  t.teardown(() => publisher.stop())
  const round = async (): Promise<void> => {
    const { judged } = state
    publisher.wake()
    await until('judged', () => state.judged > judged)
    await until('done', () => true)
  }
  return { state, published, told, errors, publisher, round }
}

t.test('what is new is published, once', async t => {
  const { state, published, told, round } = startPublisher(t)
  await round()
  await round()
  t.strictSame(published, ['a 1'])
  state.verdicts.set('a', verdict(2))
  await round()
  await until('told', () => told.length === 2)
  t.strictSame(
    [published, told],
    [
      ['a 1', 'a 2'],
      ['a - 1', 'a 1 2'],
    ],
  )
})

t.test('one that cannot be written keeps no other one from it', async t => {
  const { state, published, errors, round } = startPublisher(t)
  state.verdicts.set('b', verdict(1))
  state.refuses = 'a'
  await round()
  await until('failed', () => errors.length === 1)
  t.strictSame(published, ['b 1'])
})

t.test('whoever is not elected judges nothing, and begins anew when it is', async t => {
  const { state, published, publisher, round } = startPublisher(t)
  await round()
  await until('published', () => published.length === 1)
  state.elected = false
  publisher.wake()
  state.elected = true
  await round()
  await until('again', () => published.length === 2)
  t.strictSame(published, ['a 1', 'a 1'])
})

t.test('what is refused is looked at again by itself, and so is what is not heard yet', async t => {
  const { state, round, publisher } = startPublisher(t)
  state.verdicts.set('a', verdict(1, { refusal }))
  await round()
  const { judged } = state
  await until('looked at again', () => state.judged > judged)
  state.heard = false
  publisher.wake()
  const before = state.judged
  state.heard = true
  await until('judged', () => state.judged > before)
})
