import t from 'tap'
import {
  conditionsOfVerdict,
  drainingCondition,
  fullCondition,
  mergeConditions,
} from '../../../../ipkeeper-server/store/kubernetes/pool-conditions.ts'

const verdict = { uid: 'u', generation: 3, publish: undefined }
const refusal = { reason: 'AddressesInUse', message: 'left out' } as const
const rows = [
  [{ isInForce: true, refusal: undefined }, 'Ready True InForce', 'Refused False Accepted'],
  [{ isInForce: true, refusal }, 'Ready True EarlierSpecInForce', 'Refused True AddressesInUse'],
  [{ isInForce: false, refusal }, 'Ready False NotInForce', 'Refused True AddressesInUse'],
] as const
for (const [of, ...wanted] of rows)
  t.test(wanted.join(', '), t => {
    const conditions = conditionsOfVerdict({ ...verdict, ...of })
    t.strictSame(
      conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      wanted,
    )
    t.ok(conditions.every(({ observedGeneration }) => observedGeneration === 3))
    t.end()
  })

t.test('whether it drains', t => {
  const reasonOf = (draining: Parameters<typeof drainingCondition>[0]): string => {
    const { status, reason, message } = drainingCondition(draining, {})
    return `${status} ${reason}: ${message}`
  }
  t.match(reasonOf(undefined), /^False NotDraining/)
  t.match(
    reasonOf({ whole: true, left: 3n }),
    'True AddressesLeft: No new pod gets an address of the pool; 3 left.',
  )
  t.match(
    reasonOf({ whole: false, left: 0n }),
    'True Drained: No new pod gets an address of a range of it, and none',
  )
  t.end()
})

t.test('conditions of an object', t => {
  const since = '2026-01-01T00:00:00Z'
  const now = Date.UTC(2026, 10, 27)
  const whole = (condition: object) => ({ ...condition, lastTransitionTime: since })
  const full = fullCondition([], { observedGeneration: 3 })
  const others = { type: 'Checked', status: 'True', lastTransitionTime: since, reason: 'X', message: 'x' }
  const merged = (present: readonly object[] | undefined, wanted = [full]) =>
    mergeConditions({ status: { conditions: present } }, wanted, now)
  t.match(merged(undefined), [{ type: 'Full', lastTransitionTime: '2026-11-27T00:00:00Z' }], 'the first')
  t.equal(merged([others, whole(full)]), undefined, 'nothing has changed')
  t.match(merged([others]), [others, { type: 'Full' }], 'those of others stay')
  t.match(
    merged([whole({ ...full, observedGeneration: 2, message: 'other' })]),
    [{ message: full.message, observedGeneration: 3, lastTransitionTime: since }],
    'a moment stays as long as the status does',
  )
  t.match(merged([whole(full)], [fullCondition([0, 1], {})]), [
    { status: 'True', message: /^Range set 0, 1 /, lastTransitionTime: '2026-11-27T00:00:00Z' },
  ])
  t.strictSame(
    merged([whole({ ...full, type: 'Exhausted' }), whole(full)])?.map(({ type }) => type),
    ['Full'],
    'what an earlier version wrote goes',
  )
  t.end()
})
