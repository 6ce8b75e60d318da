import t from 'tap'
import {
  judgeTakeover,
  planTakeover,
  tookOver,
} from '../../../../ipkeeper-server/ipam/choose/plan-takeover.ts'
import type { AddressBook } from '../../../../ipkeeper-server/ipam/pools/address-book.ts'
import { describeContactAge } from '../../../../ipkeeper-server/ipam/records/last-contact.ts'
import { decideAdd } from '../../../../ipkeeper-server/ipam/plan/plan-add.ts'
import { commitPlan } from '../../../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { addAttachment, addTerms } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { sampleConfig } from '../../network/plan/sample-job.ts'
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

t.test('from a node that was not heard of for long', async t => {
  const macvlan = { ...sampleConfig, mode: 'macvlan', uplink: 'eth0', duplicateProbe: true } as const
  const first: PodWords = {
    pod: 'web-0',
    uid: 'u1',
    container: 'c1',
    node: 'n2',
    ip: '10.22.0.50',
    main: macvlan,
  }
  const second: PodWords = { ...first, uid: 'u2', container: 'c2', node: 'n1' }
  const table = [
    ['it is long enough', over, second, undefined],
    ['it is not yet', counting, second, /takeover by time in 6 min 30 s/],
    ['nobody counts', undefined, second, /waits until node n2 attests that the sandbox is gone[^;]*$/],
    ['a sandbox of this node is not judged by time', over, { ...second, node: 'n2' }, /is not proved gone/],
  ] as const
  for (const [why, contact, asks, refused] of table) {
    const story = await TestService.open()
    if (contact) Object.assign(story.service, { contactAgeOf: () => contact })
    const { ledger } = story.service
    const decide = (words: PodWords) => decideAdd(ledger, story.request(words), addTerms(story.service))
    await commitPlan(ledger, () => ({ change: decide(first).plan?.change ?? [] }))
    const { plan, problem } = decide(asks)
    if (refused) {
      t.equal(problem?.code, 'IPK_HOLDER_LIVE', why)
      t.match(problem?.details, refused, why)
    } else {
      const taken = /takes over from container c1: node n2: last contact 12 min ago, long enough/
      t.match(plan?.reasons.join('; '), taken, why)
    }
  }
})

t.test('which of its own leases an ADD may move', async t => {
  const story = await TestService.open()
  const words: PodWords = { pod: 'web-0', uid: 'u1', container: 'c1', ip: '10.22.0.50' }
  await story.add(words)
  const { ledger } = story.service
  const lease = ledger.lease({ segment: 'default', address: '10.22.0.50' })!
  const of = (words: PodWords, book = ledger as AddressBook) =>
    planTakeover(book, story.request(words), addTerms(story.service))
  const next = { ...words, container: 'c2' }

  t.strictSame(of(next).movable, [lease], 'those of its older sandbox')
  t.strictSame(
    of(next, withoutLease(ledger)).movable,
    [],
    'none that the holder no longer has: its record may be older than that of the lease',
  )
  const other = of({ pod: 'db-0', container: 'c3' })
  t.strictSame(other.movable, [])
  t.equal(other.mayTake(lease), false, "nothing of another pod's")
  t.equal(other.inUse(lease), true)
  t.equal(other.left(lease), undefined)

  story.dead.add('c1')
  t.equal(other.inUse(lease), false, 'whose sandbox is dead')
  t.equal(other.left(lease), 'the old sandbox is dead')
  t.equal(other.mayTake(lease), false, 'it still is not its own')

  const kept = { ...lease, state: 'held', attachment: null } as const
  t.equal(other.inUse(kept), false, 'what no sandbox has is in use by none')
  t.equal(other.left(kept), undefined)
  t.equal(other.byTime(kept), undefined)
  t.match(other.standing(kept), { kind: 'in-use', node: 'n1' })
})

/** A book in which no lease is left. */
const withoutLease = (book: AddressBook): AddressBook =>
  new Proxy(book, {
    get: (target, property) => {
      if (property === 'lease') return () => undefined
      const value: unknown = Reflect.get(target, property)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
