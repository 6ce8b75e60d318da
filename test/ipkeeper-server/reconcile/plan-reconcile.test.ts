import fc from 'fast-check'
import t from 'tap'
import { findingKindNames } from '../../../shared/findings.ts'
import { planReconcile, type Doubts } from '../../../ipkeeper-server/reconcile/plan-reconcile.ts'
import type { NodeSnapshot } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import { limitsOf, type ReconcileSettings } from '../../../ipkeeper-server/reconcile/plan-settings.ts'
import type { RuntimeAnswer } from '../../../ipkeeper-server/runtime/sandboxes.ts'
import {
  attachment,
  link,
  pod,
  runtime,
  snapshot,
  usualTerms,
  type AttachmentWords,
} from './snapshot-words.ts'

const socket = '/run/containerd/containerd.sock'
const none: Doubts = new Map()

/** Plans passes one after another; what each would do, and the state of its findings. */
function passes(
  terms: ReconcileSettings,
  ...looks: readonly (readonly [now: number, seen: NodeSnapshot])[]
): string[] {
  let doubts = none
  return looks.map(([now, seen]) => {
    const plan = planReconcile(seen, doubts, terms, now)
    doubts = plan.doubts
    return plan.planned.map(({ action, finding }) => `${finding.state} ${action.kind}`).join('; ')
  })
}

t.test('an attachment whose death is proved', t => {
  const dead = (age: number, death: 'boot' | 'namespace' = 'namespace'): NodeSnapshot =>
    snapshot({ attachments: [attachment({ id: 'a', death, age })] })
  const rows: readonly (readonly [age: number, terms: Partial<ReconcileSettings>, planned: string])[] = [
    [44_999, {}, 'waiting none'],
    [45_000, {}, 'due end-attachment'],
    [-3_600_000, {}, 'waiting none'],
    [45_000, { passes: 100 }, 'due end-attachment'],
    [45_000, { mode: 'report' }, 'due none'],
    [44_999, { mode: 'report' }, 'waiting none'],
    [45_000, { mode: 'off' }, ''],
    [45_000, { kinds: { 'lease-without-sandbox': { mode: 'report' } } }, 'due none'],
    [45_000, { kinds: { 'lease-without-sandbox': { mode: 'off' } } }, ''],
    [45_000, { kinds: { 'dead-boot': { mode: 'off' } } }, 'due end-attachment'],
    [45_000, { kinds: { 'lease-without-sandbox': { minAge: 45_001 } } }, 'waiting none'],
    [0, { kinds: { 'lease-without-sandbox': { minAge: 0 } } }, 'due end-attachment'],
    [45_000, { mode: 'off', kinds: { 'lease-without-sandbox': { mode: 'repair' } } }, ''],
    [
      45_000,
      { mode: 'report', kinds: { 'lease-without-sandbox': { mode: 'repair' } } },
      'due end-attachment',
    ],
  ]
  for (const [age, terms, planned] of rows)
    t.same(passes({ ...usualTerms, ...terms }, [0, dead(age)]), [planned], JSON.stringify([age, terms]))
  t.same(passes(usualTerms, [0, dead(45_000, 'boot')]), ['due end-attachment'])
  const reported = planReconcile(dead(45_000), none, { ...usualTerms, mode: 'report' }, 0)
  t.match(reported.planned, [{ finding: { remedy: 'set reconcile.mode to repair' } }])
  const waiting = planReconcile(dead(1_999), none, usualTerms, 0)
  t.match(waiting.planned, [{ finding: { why: /is gone; is 1 s old, waits for 45 s$/ } }])
  t.end()
})

t.test('an attachment that its maker omits', t => {
  const omitted = (age: number, answer: readonly string[] | 'failed' = ['b']): NodeSnapshot =>
    snapshot({
      attachments: [attachment({ id: 'a', madeBy: socket, age })],
      runtimes: [runtime(socket, answer)],
    })
  t.same(
    passes(usualTerms, [0, omitted(299_999)], [1, omitted(299_999)], [2, omitted(300_000)]),
    ['waiting none', 'waiting none', 'due end-attachment'],
    'it has to be old',
  )
  t.same(
    passes(usualTerms, [0, omitted(1e9)], [1, omitted(1e9)]),
    ['waiting none', 'due end-attachment'],
    'it has to be found twice',
  )
  for (const answer of [['a', 'b'], [], 'failed'] as const)
    t.same(
      passes(usualTerms, [0, omitted(1e9)], [1, omitted(1e9, answer)], [2, omitted(1e9)], [3, omitted(1e9)]),
      ['waiting none', '', 'waiting none', 'due end-attachment'],
      `${String(answer)} in between: from the beginning`,
    )
  t.same(passes({ ...usualTerms, passes: 1 }, [0, omitted(1e9)]), ['due end-attachment'])
  const again = snapshot({
    attachments: [attachment({ id: 'a', madeBy: socket, answered: 2 })],
    runtimes: [runtime(socket, ['b'])],
  })
  t.same(passes(usualTerms, [0, omitted(1e9)], [1, again]), ['waiting none', 'waiting none'], 'added anew')
  t.end()
})

t.test('a link ages from when it was first suspected', t => {
  const seen = snapshot({ links: { state: 'asked', found: [link('ipk000000000001')] } })
  t.same(passes(usualTerms, [1_000, seen], [45_999, seen], [46_000, seen]), [
    'waiting none',
    'waiting none',
    'due remove-link',
  ])
  const foreign = snapshot({ links: { state: 'asked', found: [link('cali1')] } })
  const terms = { ...usualTerms, links: ['cali*'] }
  t.same(passes(terms, [0, foreign], [299_999, foreign], [300_000, foreign]), [
    'waiting none',
    'waiting none',
    'due remove-link',
  ])
  t.same(passes(usualTerms, [0, foreign], [300_000, foreign]), ['waiting none', 'reported none'])
  const another = snapshot({ links: { state: 'asked', found: [link('ipk000000000001', { index: 8 })] } })
  t.same(passes(usualTerms, [0, seen], [45_000, another]), ['waiting none', 'waiting none'], 'another one')
  t.end()
})

t.test('terms of each kind', t => {
  for (const kind of findingKindNames) {
    t.same(limitsOf(usualTerms, kind), { mode: 'repair', minAge: 45_000, minAgeUnproved: 300_000, passes: 2 })
    const own = { mode: 'report', minAge: 1, minAgeUnproved: 2, passes: 3 } as const
    t.same(limitsOf({ ...usualTerms, kinds: { [kind]: own } }, kind), own)
    t.equal(limitsOf({ ...usualTerms, mode: 'off', kinds: { [kind]: own } }, kind).mode, 'off')
  }
  t.end()
})

/** Few of everything, so that coincidences are many. */
const ids = ['a', 'b', 'c', 'd'] as const
const sockets = ['/run/one.sock', '/run/two.sock'] as const

const answers = fc.oneof(fc.constant('failed' as const), fc.subarray([...ids, 'e', 'f!'], { minLength: 0 }))
const words = (id: string): fc.Arbitrary<AttachmentWords> =>
  fc
    .record({
      pod: fc.constantFrom(null, 'web-0', 'web-1'),
      uid: fc.constantFrom(null, 'uid-web-0', 'uid-web-1', 'other'),
      madeBy: fc.constantFrom(undefined, ...sockets),
      death: fc.constantFrom(undefined, undefined, undefined, 'boot' as const, 'namespace' as const),
      age: fc.constantFrom(0, 44_999, 45_000, 299_999, 300_000, 1e9),
      delegatedTo: fc.constantFrom(undefined, undefined, 'host-local'),
    })
    .map(({ madeBy, delegatedTo, ...rest }) => ({
      ...{ id, ...rest },
      ...(madeBy !== undefined && { madeBy }),
      ...(delegatedTo !== undefined && { delegatedTo }),
    }))
const looks: fc.Arbitrary<NodeSnapshot> = fc
  .record({
    attachments: fc.tuple(...ids.map(words)).map(all => all.map(attachment)),
    runtimes: fc
      .tuple(answers, answers, fc.nat(2))
      .map(([one, two, count]) => [runtime(sockets[0], one), runtime(sockets[1], two)].slice(0, count)),
    pods: fc.constantFrom<NodeSnapshot['pods']>(
      { state: 'absent' },
      { state: 'later' },
      { state: 'failed', reason: 'no' },
      { state: 'asked', found: [] },
      { state: 'asked', found: [pod('web-0')] },
      { state: 'asked', found: [pod('elsewhere')] },
    ),
    links: fc.constantFrom<NodeSnapshot['links']>(
      { state: 'failed', reason: 'no' },
      { state: 'asked', found: [link('ipk000000000001'), link('cali1', { index: 8 })] },
      { state: 'asked', found: [link('ipk000000000001', { carrier: true })] },
    ),
  })
  .map(snapshot)
const terms = fc
  .record({
    mode: fc.constantFrom('repair' as const, 'repair' as const, 'report' as const, 'off' as const),
    passes: fc.integer({ min: 1, max: 3 }),
    links: fc.constantFrom([], ['*']),
  })
  .map((own): ReconcileSettings => ({ ...usualTerms, ...own }))

const isListed = (answer: RuntimeAnswer, id: string): boolean =>
  answer.state === 'listed' && answer.sandboxes.some(sandbox => sandbox.id === id)
const isBelievable = (answer: RuntimeAnswer): boolean =>
  answer.state === 'listed' && answer.sandboxes.length > 0

t.test('whatever is seen, only what is certain is acted on', t => {
  const acted = { proof: 0, absence: 0, link: 0 }
  const property = fc.property(
    terms,
    fc.array(fc.tuple(looks, fc.constantFrom(0, 15_000, 45_000, 300_000)), { minLength: 1, maxLength: 5 }),
    (own, sequence) => {
      let doubts = none
      let now = 0
      /** In how many passes, one after another, it was there, alive, and listed by nobody. */
      const missing = new Map<string, number>()
      for (const [seen, pause] of sequence) {
        now += pause
        const { planned, doubts: next } = planReconcile(seen, doubts, own, now)
        const again = planReconcile(seen, doubts, own, now)
        if (JSON.stringify(again.planned) !== JSON.stringify(planned)) throw new Error('the audit differs')
        doubts = next
        for (const { record, death } of seen.attachments) {
          const id = record.containerId
          const isMissing = death === undefined && !seen.runtimes.some(answer => isListed(answer, id))
          missing.set(id, isMissing ? (missing.get(id) ?? 0) + 1 : 0)
        }
        for (const { action } of planned) {
          if (action.kind === 'none') continue
          if (own.mode !== 'repair') throw new Error(`acts in mode ${own.mode}`)
          if (action.kind === 'remove-link') {
            acted.link++
            if (action.link.carrier) throw new Error('a link whose other side is up')
            if (action.link.name === 'cali1' && own.links.length === 0) throw new Error('a foreign link')
            continue
          }
          const { containerId: id, madeBy, podUid } = action.attachment
          const of = seen.attachments.find(({ record }) => record.containerId === id)
          if (!of || of.record.delegatedTo !== undefined) throw new Error('not ours to end')
          if (of.death !== undefined) {
            acted.proof++
            if (of.age < own.minAge) throw new Error('too young')
            continue
          }
          acted.absence++
          if (seen.runtimes.some(answer => isListed(answer, id))) throw new Error('listed, and alive')
          if (of.age < own.minAgeUnproved) throw new Error('too young')
          if ((missing.get(id) ?? 0) < own.passes) throw new Error('too few passes')
          const witnesses = seen.runtimes.filter(answer => madeBy === undefined || answer.socket === madeBy)
          if (!witnesses.some(isBelievable)) throw new Error('nobody to believe')
          if (madeBy !== undefined) continue
          if (seen.runtimes.some(({ state }) => state === 'failed')) throw new Error('one could not be asked')
          const { pods } = seen
          if (podUid === null || pods.state !== 'asked' || pods.found.length === 0)
            throw new Error('no second witness')
          if (pods.found.some(({ uids }) => uids.includes(podUid))) throw new Error('the API knows it')
        }
      }
    },
  )
  fc.assert(property, { numRuns: 5_000, seed: 20261121 })
  for (const [what, count] of Object.entries(acted)) t.ok(count > 50, `${what}: ${count}`)
  t.end()
})
