import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { Refresher } from '../../../../../ipkeeper-server/http/page/client/refresher.ts'
import { until } from '../../../../rigs/poll.ts'

t.test('what wakes it during the work is done once more, later', async t => {
  const began: number[] = []
  let finish = (): void => undefined
  const refresher = new Refresher(async () => {
    began.push(performance.now())
    await new Promise<void>(resolve => (finish = resolve))
    return true
  })
  refresher.wake()
  refresher.wake()
  await until('it works', () => began.length === 1)
  for (let index = 0; index < 5; index++) refresher.wake()
  const ended = performance.now()
  finish()
  await until('it works again', () => began.length === 2)
  finish()
  t.ok((began[1] ?? 0) - ended >= 490, 'after a pause')
  await delay(20)
  t.equal(began.length, 2)
})

t.test('for a person it begins at once', async t => {
  const began: number[] = []
  let finish = (): void => undefined
  const refresher = new Refresher(async () => {
    began.push(performance.now())
    await new Promise<void>(resolve => (finish = resolve))
    return true
  })
  refresher.wake('now')
  await until('it works', () => began.length === 1)
  refresher.wake('soon')
  refresher.wake('now')
  refresher.wake('soon')
  // For nobody the next one would be ten times as far away.
  await delay(150)
  const ended = performance.now()
  finish()
  await until('it works again', () => began.length === 2)
  t.ok((began[1] ?? Infinity) - ended < 1_400, 'also when it was asked for during the work')
  finish()
})
