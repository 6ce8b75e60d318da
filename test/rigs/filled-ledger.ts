import { SqliteStore } from '../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { reserve } from '../../ipkeeper-server/leases/verbs/reserve.ts'
import { poolFrom, TestService } from '../ipkeeper-server/leases/test-service.ts'

/** Milliseconds since the epoch; the store of the API knows moments to the millisecond. */
const begin = Date.parse('2026-01-01T00:00:00Z')

/**
 * A ledger as a node has it after some time, in a file: pods with one and two addresses, kept, resting and reserved
 * ones, a history in which addresses changed hands.
 *
 * @param pods how many run
 */
export async function fillLedger(path: string, pods: number, node = 'n1'): Promise<void> {
  const store = SqliteStore.open(path)
  const story = await TestService.open(store, 'release', node)
  story.pool = poolFrom('net', ['10.22.0.0/16'], ['fd00:22::/64'])
  story.now = begin
  await Promise.all(
    Array.from({ length: pods }, async (_, index) => {
      const name = `web-${index}`
      const retain = index % 3 === 0 ? { retain: index % 2 === 0 ? '30m' : 'while-owner-exists' } : {}
      await story.add({ pod: name, uid: `uid-${index}`, container: `c${index}`, confirms: false, ...retain })
    }),
  )
  for (let index = 0; index < Math.min(pods, 8); index++) {
    story.now += 1000
    await story.del(`c${index}`)
  }
  story.now += 1000
  await story.add({ pod: 'late', container: 'late', ip: '10.22.7.7', mac: '02:00:00:00:00:07' })
  await story.add({ container: 'nobody' })
  await reserve(story.service, {
    segment: 'default',
    address: '10.22.9.9',
    owner: 'shop/statefulset/db',
    note: 'a note',
  })
  await reserve(story.service, {
    segment: 'default',
    address: '10.22.9.10',
    owner: 'external:printer',
    note: undefined,
  })
  await store.close()
}
