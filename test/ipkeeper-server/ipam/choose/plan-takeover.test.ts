import t from 'tap'
import { judgeTakeover, tookOver } from '../../../../ipkeeper-server/ipam/choose/plan-takeover.ts'
import { describeContactAge } from '../../../../ipkeeper-server/ipam/records/last-contact.ts'
import { addAttachment } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { TestService, type PodWords } from '../../leases/test-service.ts'

const minute = 60_000
const over = { kind: 'over', age: 12 * minute, needed: 10 * minute } as const
const counting = { kind: 'counting', age: 3.5 * minute, needed: 10 * minute } as const
const onLink = [{ carried: 'link' }] as const
const probing = { mode: 'macvlan', duplicateProbe: true } as const

t.test('whether an ADD may take over', t => {
  for (const [what, leases, main, contact, allowed, says] of [
    ['after a long time', onLink, probing, over, true, /^node n1: last contact 12 min ago, long enough/],
    ['in an underlay', onLink, { ...probing, mode: 'underlay' }, over, true, /long enough/],
    [
      'not yet',
      onLink,
      probing,
      counting,
      false,
      /last contact 3 min 30 s ago; takeover by time in 6 min 30 s without further contact/,
    ],
    ['off', onLink, probing, { kind: 'off' }, false, undefined],
    [
      'without a promise',
      onLink,
      probing,
      { kind: 'unpromised' },
      false,
      /node n1 does not renew its record/,
    ],
    ['of routed addresses', [{ carried: 'routed' }], probing, over, false, /modes underlay and macvlan only/],
    ['of one that is routed', [...onLink, { carried: 'routed' }], probing, over, false, /only/],
    ['of what is not known', [{}], probing, over, false, /only/],
    ['of nothing', [], probing, over, false, /only/],
    ['into a bridge', onLink, { mode: 'bridge', duplicateProbe: true }, over, false, /only/],
    ['in the IPAM role', onLink, undefined, over, false, /only/],
    [
      'without asking',
      onLink,
      { ...probing, duplicateProbe: false },
      over,
      false,
      /"duplicateProbe" is false/,
    ],
  ] as const) {
    const made = judgeTakeover('n1', leases, main, contact)
    t.equal(made.allowed, allowed, what)
    if (says) t.match(made.says, says, what)
    else t.equal(made.says, undefined, what)
  }
  t.equal(describeContactAge('n1', { kind: 'off' }), undefined)
  t.end()
})

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
