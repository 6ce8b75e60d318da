import t from 'tap'
import type { Change } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { countAsAnswered } from '../../../../ipkeeper-server/leases/verbs/attachment-notes.ts'
import { release } from '../../../../ipkeeper-server/leases/verbs/release.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { takeBack } from '../../../../ipkeeper-server/leases/verbs/undo-add.ts'
import { takesRoom } from '../../../../ipkeeper-server/store/room/takes-room.ts'
import { TestService } from '../../leases/test-service.ts'

/** The changes that work on a ledger hands to it. */
async function changesOf({ service }: TestService, work: () => Promise<unknown>): Promise<readonly Change[]> {
  const changes: Change[] = []
  const { ledger } = service
  const commit = ledger.commit.bind(ledger)
  ledger.commit = async change => {
    if (change.length > 0) changes.push(change)
    await commit(change)
  }
  try {
    await work()
  } finally {
    ledger.commit = commit
  }
  return changes
}

t.test('what gives somebody something takes room; what ends, keeps or notes something does not', async t => {
  const story = await TestService.open()
  const { service } = story
  const takes = async (name: string, expected: boolean, work: () => Promise<unknown>): Promise<void> => {
    const changes = await changesOf(story, work)
    t.ok(changes.length > 0, `${name}: changes something`)
    t.equal(changes.some(takesRoom), expected, name)
  }
  const key = (containerId: string) => ({ network: 'net', containerId, ifname: 'eth0' })
  const pod = { pod: 'a', ip: '10.22.0.50', retain: 'forever', confirms: true } as const
  await takes('an ADD', true, () => story.add({ ...pod, container: 'c1', invocation: 'i1' }))
  await takes('its answer', false, () => countAsAnswered(service, [key('c1')]))
  await takes('its DEL, which keeps the address', false, () => story.del('c1'))
  await takes('an ADD that takes it again', true, () =>
    story.add({ ...pod, container: 'c2', invocation: 'i2' }),
  )
  const generation = service.ledger.attachment(key('c2'))?.generation ?? NaN
  await takes('what takes that back', false, () => takeBack(service, key('c2'), generation))
  await takes('its release', false, () => release(service, 'default', '10.22.0.50'))
  await takes('a reservation', true, () =>
    reserve(service, { address: '10.22.0.60', owner: 'shop/db-0', segment: 'default', note: '' }),
  )
})
