import t from 'tap'
import { tookOver } from '../../../../ipkeeper-server/ipam/choose/plan-takeover.ts'
import { addAttachment } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { TestService, type PodWords } from '../../leases/test-service.ts'

t.test('from whose sandbox an ADD takes addresses', async t => {
  const first: PodWords = { pod: 'web-0', uid: 'u1', container: 'c1' }
  const table: readonly [why: string, second: PodWords, dead: boolean, from: string | undefined][] = [
    ['a new sandbox of the pod', { ...first, container: 'c2' }, false, 'same_pod'],
    ['also of a dead one', { ...first, container: 'c2' }, true, 'same_pod'],
    [
      'another pod of the name, the old sandbox dead',
      { ...first, uid: 'u2', container: 'c2' },
      true,
      'other_pod',
    ],
    ['a missing UID is another pod', { ...first, uid: null, container: 'c2' }, true, 'other_pod'],
    ['a fresh address: the old sandbox may live', { ...first, uid: 'u2', container: 'c2' }, false, undefined],
    ['somebody else', { pod: 'web-1', uid: 'u3', container: 'c2' }, true, undefined],
  ]
  for (const [why, second, dead, from] of table) {
    const story = await TestService.open()
    const add = (words: PodWords) => addAttachment(story.service, story.request(words), { gone: () => false })
    t.equal(tookOver((await add(first)).change), undefined)
    if (dead) story.dead.add('c1')
    t.equal(tookOver((await add(second)).change), from, why)
  }
})

t.test('what was released is taken from nobody', async t => {
  const story = await TestService.open()
  const words = { pod: 'web-0', uid: 'u1', container: 'c1', retain: 'forever' }
  await story.add(words)
  await story.del('c1')
  const { change } = await addAttachment(story.service, story.request({ ...words, container: 'c2' }), {
    gone: () => false,
  })
  t.equal(tookOver(change), undefined)
})
