/** An address that somebody has and another one is to have next: who gets it, when, and what is said. */
import t from 'tap'
import { describeMove, promisedAway } from '../../../../ipkeeper-server/ipam/choose/promised-address.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { tellStories, type Step } from '../../leases/story.ts'
import { TestService, type PodWords } from '../../leases/test-service.ts'

const had: PodWords = { pod: 'a', container: 'c1', ip: '10.22.0.50' }
const kept: PodWords = { ...had, retain: 'forever' }
const next: PodWords = { pod: 'b', container: 'c2' }
const web = (container: string, pod: string): PodWords => ({
  ...{ container, pod, ip: '10.22.0.50', retain: 'forever' },
  owner: { kind: 'StatefulSet', name: 'web', apiVersion: 'apps/v1', uid: 'u' },
})

const stories: Readonly<Record<string, readonly Step[]>> = {
  'from a pod that lives: not yet': [
    ['add', had, '10.22.0.50'],
    ['move', '10.22.0.50', 'shop/b'],
    ['add', { ...next, ip: '10.22.0.50' }, 'IPK_ADDRESS_HELD'],
    ['add', { ...next, container: 'c3' }, '10.22.0.2', /lowest free address/],
  ],
  'from one that is kept': [
    ['add', kept, '10.22.0.50'],
    ['del', 'c1'],
    ['move', '10.22.0.50', 'shop/b'],
    ['add', { ...kept, container: 'c3' }, 'IPK_ADDRESS_RESERVED'],
    ['add', next, '10.22.0.50', /moved to shop\/b from shop\/a/],
    ['leases', ['10.22.0.50 bound shop/b c2']],
  ],
  'by name as well': [
    ['add', kept, '10.22.0.50'],
    ['del', 'c1'],
    ['move', '10.22.0.50', 'shop/b'],
    ['add', { ...next, ip: '10.22.0.50' }, '10.22.0.50', /moved to shop\/b from shop\/a/],
  ],
  'from a sandbox that is gone': [
    ['add', kept, '10.22.0.50'],
    ['netns', 'c1', 'gone'],
    ['move', '10.22.0.50', 'shop/b'],
    ['add', next, '10.22.0.50', /moved to shop\/b from shop\/a on node n1: /],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 bound shop/b c2']],
  ],
  'once it is free it is a reservation as any other': [
    ['add', had, '10.22.0.50'],
    ['move', '10.22.0.50', 'shop/b'],
    ['del', 'c1'],
    ['add', next, '10.22.0.50', /reserved for this pod/],
  ],
  'not to somebody else, and not after it was undone': [
    ['add', kept, '10.22.0.50'],
    ['move', '10.22.0.50', 'shop/b'],
    ['del', 'c1'],
    ['add', { pod: 'c', container: 'c4', ip: '10.22.0.50' }, 'IPK_ADDRESS_RESERVED'],
    ['unreserve', '10.22.0.50'],
    ['add', { ...next, ip: '10.22.0.50' }, 'IPK_ADDRESS_HELD'],
    ['add', { ...kept, container: 'c5' }, '10.22.0.50'],
  ],
  "what a workload has that it is reserved for, stays its pod's": [
    ['add', web('c1', 'web-0'), '10.22.0.50'],
    ['move', '10.22.0.50', 'shop/statefulset/web'],
    ['del', 'c1'],
    ['add', web('c2', 'web-1'), 'IPK_ADDRESS_HELD'],
    ['add', web('c3', 'web-0'), '10.22.0.50'],
  ],
}
tellStories(t, stories)

t.test('what is said of the one that has it', async t => {
  const rows: readonly (readonly [string, PodWords, owner: string, del: boolean, says: string])[] = [
    ['who lives', kept, 'shop/b', false, ', which gets it when shop/a is gone'],
    ['who is deleted', kept, 'shop/b', true, ', which gets it in place of shop/a'],
    ['a reservation of its own', kept, 'shop/a', false, ''],
    ['what cools down', had, 'shop/b', true, ''],
  ]
  for (const [name, pod, owner, del, says] of rows) {
    const story = await TestService.open()
    const { service } = story
    await story.add(pod)
    await reserve(service, { segment: 'default', address: '10.22.0.50', owner, note: '', moves: true })
    if (del) await story.del('c1')
    const lease = service.ledger.lease({ segment: 'default', address: '10.22.0.50' })
    t.equal(describeMove(service.ledger, lease), says, name)
    t.equal(lease && promisedAway(service.ledger, lease) !== undefined, says !== '', name)
  }
  const { service } = await TestService.open()
  t.equal(describeMove(service.ledger, undefined), '', 'nobody')
})
