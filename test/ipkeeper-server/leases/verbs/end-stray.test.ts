import t from 'tap'
import { endStray } from '../../../../ipkeeper-server/leases/verbs/end-stray.ts'
import { leaseKey, type LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { until } from '../../../rigs/poll.ts'
import { Site } from '../several-nodes.ts'
import { TestService } from '../test-service.ts'

/** A commit that was repeated, since its first answer was lost, and is carried out a second time when its record has gone. */
for (const deletedHere of [true, false]) {
  t.test(`a lease appears again, its DEL ${deletedHere ? 'was served' : 'is not known'} here`, async t => {
    const site = new Site()
    const { world } = await site.join(t, 'n1', { byTime: undefined, offlineGrace: 300_000 })
    const { ledger } = world.service
    const strays: string[] = []
    ledger.subscribe({
      stray: key => {
        strays.push(key.containerId)
        void endStray(world.service, key, error => t.error(error))
      },
    })
    const address = await world.add({ pod: 'a', container: 'a' })
    const key = leaseKey({ segment: 'default', address })
    const text = site.engine.get('lease', key)?.text ?? ''
    await world.del('a', undefined, undefined, deletedHere ? { bootId: 'boot-1', startedAt: 5 } : undefined)
    site.engine.put('lease', key, null)
    site.engine.put('lease', key, text)
    await until('it is noticed', () => strays.length > 0)
    const state = (): string => (JSON.parse(site.engine.get('lease', key)?.text ?? '{}') as LeaseRecord).state
    if (deletedHere) await until('it is ended', () => state() === 'cooling')
    else t.equal(state(), 'bound', 'another daemon of this name may have it')
    t.strictSame([...new Set(strays)], ['a'])
  })
}

t.test('one that was added anew while it was to be ended stays', async t => {
  const world = await TestService.open()
  await world.add({ container: 'a', startedAt: 4 })
  await world.del('a', undefined, undefined, { bootId: 'boot-1', startedAt: 5 })
  const address = await world.add({ container: 'a', startedAt: 6 })
  await endStray(world.service, { network: 'net', containerId: 'a', ifname: 'eth0' }, error => t.error(error))
  t.strictSame(
    world.leases().filter(line => line.includes('bound')),
    [`${address} bound - a`],
  )
})
