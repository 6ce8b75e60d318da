/** What is said about an address that somebody has or keeps: when it comes free, and what can be done about it. */
import t from 'tap'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { TestService, type PodWords } from '../../leases/test-service.ts'

const leases = '; see: ipkeeperctl leases'
const giveUp = 'choose another address, or end it now: ipkeeperctl release 10.22.0.2'

const cases: readonly (readonly [
  name: string,
  holder: PodWords,
  ends: boolean,
  code: string,
  free: string,
  hint: string,
])[] = [
  [
    'a pod has it',
    { pod: 'kf', container: 'c1' },
    false,
    'IPK_ADDRESS_HELD',
    'it comes free when that pod is deleted',
    'choose another address for this pod, or delete shop/kf',
  ],
  [
    'a container without a pod has it',
    { container: 'c1' },
    false,
    'IPK_ADDRESS_HELD',
    'it comes free when that container is deleted',
    'choose another address for this pod, or delete container c1',
  ],
  [
    'kept for a while',
    { pod: 'kf', container: 'c1', retain: '30m' },
    true,
    'IPK_ADDRESS_KEPT',
    'it comes free at 2026-01-01T00:30:00Z',
    `shop/kf is gone: wait, or ${giveUp}`,
  ],
  [
    'kept for ever',
    { pod: 'kf', container: 'c1', retain: 'forever' },
    true,
    'IPK_ADDRESS_HELD',
    'it does not come free by itself',
    `shop/kf is gone: ${giveUp}`,
  ],
  [
    'kept for a container, which does not come again',
    { container: 'c1', retain: '30m' },
    true,
    'IPK_ADDRESS_KEPT',
    'it comes free at 2026-01-01T00:30:00Z',
    `container c1 is gone: wait, or ${giveUp}`,
  ],
]
for (const [name, holder, ends, code, free, hint] of cases) {
  t.test(name, async t => {
    const story = await TestService.open()
    await story.add(holder)
    if (ends) await story.del('c1')
    for (const asked of [{ ip: '10.22.0.2' }, { cniIp: '10.22.0.2' }]) {
      const problem = await story.problem({ pod: 'other', container: 'c2', ...asked })
      t.match(problem, { code, hint: hint + leases })
      t.ok(`${problem.message} ${problem.details}`.trim().endsWith(free), problem.message)
    }
  })
}

t.test('a kept address is given up in the way that the hint names', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'kf', container: 'c1', retain: 'forever' })
  await story.del('c1')
  t.equal(await story.add({ pod: 'kf', container: 'c2', retain: 'release' }), '10.22.0.2')
  await story.del('c2')
  t.equal(await story.add({ pod: 'other', container: 'c3', ip: '10.22.0.2' }), '10.22.0.2')
})

t.test('a reservation is taken back where it is', async t => {
  const story = await TestService.open()
  await reserve(story.service, { segment: 'default', address: '10.22.0.9', owner: 'shop/db-0', note: '' })
  t.match(await story.problem({ pod: 'other', container: 'c1', ip: '10.22.0.9' }), {
    hint: 'choose another address, or: ipkeeperctl unreserve 10.22.0.9',
  })
  story.pool = { ...story.pool, name: 'lab', segment: 'lab' }
  await reserve(story.service, { segment: 'lab', address: '10.22.0.9', owner: 'shop/db-0', note: '' })
  t.match(await story.problem({ pod: 'other', container: 'c1', ip: '10.22.0.9' }), {
    hint: 'choose another address, or: ipkeeperctl unreserve 10.22.0.9 --segment lab',
  })
})
