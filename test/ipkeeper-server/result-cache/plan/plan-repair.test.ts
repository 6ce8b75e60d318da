import t from 'tap'
import { planRepair } from '../../../../ipkeeper-server/result-cache/plan/plan-repair.ts'
import { cacheReasonNames, cacheReasons } from '../../../../shared/cache-reasons.ts'

const attachment = { network: 'net', containerId: 'c1', ifname: 'eth0', busy: false }

/** own, attachment known, conflist known, records known, others -> plan of each class of reasons. */
const cases: readonly (readonly [
  own: boolean,
  attached: boolean,
  conflist: boolean,
  records: boolean,
  others: 'report' | 'quarantine' | 'unlike',
  broken: string,
  leftOver: string,
])[] = [
  [true, true, true, true, 'report', 'rewrite', 'quarantine'],
  [true, true, false, true, 'report', 'quarantine', 'quarantine'],
  [true, false, true, true, 'report', 'quarantine', 'quarantine'],
  [true, false, true, false, 'report', 'quarantine', 'report'],
  [true, false, true, false, 'quarantine', 'quarantine', 'report'],
  [false, false, true, true, 'report', 'report', 'report'],
  [false, false, true, true, 'quarantine', 'quarantine', 'quarantine'],
  [false, false, true, false, 'quarantine', 'quarantine', 'report'],
  [false, false, true, true, 'unlike', 'report', 'report'],
]

for (const [own, attached, conflist, recordsKnown, others, broken, leftOver] of cases) {
  const what = JSON.stringify({ own, attached, conflist, recordsKnown, others })
  t.test(what, t => {
    for (const reason of cacheReasonNames) {
      const { plan, because } = planRepair(
        { reason, own, attachment: attached ? attachment : undefined },
        { others, recordsKnown, canRewrite: network => conflist && network === 'net' },
      )
      const expected = { broken, 'left-over': leftOver, odd: 'report' }[cacheReasons[reason].fault]
      t.equal(plan, expected, reason)
      t.not(because, '')
    }
    t.end()
  })
}
