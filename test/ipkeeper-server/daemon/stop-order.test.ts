import t from 'tap'
import { openStopOrder, type StopOrder } from '../../../ipkeeper-server/daemon/stop-order.ts'

type Stage = Exclude<keyof StopOrder, 'all'>

const stages: readonly Stage[] = [
  ...(['tasks', 'configuration', 'metrics', 'page', 'webhook', 'socket', 'cluster', 'answers'] as const),
  ...(['times', 'repairs', 'node', 'name', 'mesh', 'verbs', 'network', 'ledger'] as const),
]

t.test('parts end by their stages, in whatever order they were made', async t => {
  for (const made of [stages, stages.toReversed(), stages.toSorted()]) {
    const stops = openStopOrder()
    const ended: string[] = []
    for (const stage of made)
      stops[stage].defer(async () => {
        await Promise.resolve()
        ended.push(stage)
      })
    await stops.all.disposeAsync()
    t.strictSame(ended, stages)
  }
})

t.test('in a stage whatever was registered last ends first', async t => {
  const stops = openStopOrder()
  const ended: string[] = []
  stops.ledger.defer(() => void ended.push('state folder'))
  stops.ledger.defer(() => void ended.push('store'))
  await stops.all.disposeAsync()
  t.strictSame(ended, ['store', 'state folder'])
})

t.test('a part that fails to end keeps no other part from ending', async t => {
  const stops = openStopOrder()
  const ended: string[] = []
  stops.ledger.defer(() => void ended.push('store'))
  stops.socket.defer(() => Promise.reject(new Error('stuck')))
  await t.rejects(stops.all.disposeAsync(), { message: 'stuck' })
  t.strictSame(ended, ['store'])
})
