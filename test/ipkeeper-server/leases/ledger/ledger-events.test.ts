import t from 'tap'
import { LedgerSubscribers } from '../../../../ipkeeper-server/leases/ledger/ledger-events.ts'

t.test('each listener hears what it listens for, in the order of subscription, until it ends that', t => {
  const subscribers = new LedgerSubscribers()
  const heard: string[] = []
  const unsubscribe = subscribers.add({
    kept: () => heard.push('first: kept'),
    stray: ({ containerId }) => heard.push(`first: ${containerId} stray`),
  })
  subscribers.add({ kept: () => heard.push('second: kept') })
  subscribers.publish('kept')
  subscribers.publish('stray', { network: 'prod', containerId: 'c1', ifname: 'eth0' })
  subscribers.publish('routing')
  t.strictSame(heard.splice(0), ['first: kept', 'second: kept', 'first: c1 stray'])
  unsubscribe()
  unsubscribe()
  subscribers.publish('kept')
  t.strictSame(heard, ['second: kept'])
  t.end()
})

t.test('one listener may be subscribed twice, and each subscription ends for itself', t => {
  const subscribers = new LedgerSubscribers()
  let calls = 0
  const listener = { routing: () => calls++ }
  const unsubscribe = subscribers.add(listener)
  subscribers.add(listener)
  unsubscribe()
  subscribers.publish('routing')
  t.equal(calls, 1)
  t.end()
})

t.test('a listener may end its own subscription while it is called', t => {
  const subscribers = new LedgerSubscribers()
  const heard: string[] = []
  const unsubscribe = subscribers.add({
    kept: () => {
      heard.push('once')
      unsubscribe()
    },
  })
  subscribers.add({ kept: () => heard.push('always') })
  subscribers.publish('kept')
  subscribers.publish('kept')
  t.strictSame(heard, ['once', 'always', 'always'])
  t.end()
})
