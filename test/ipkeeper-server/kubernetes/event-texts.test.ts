import t from 'tap'
import type { Finding } from '../../../shared/api/audit.schema.ts'
import { findingKindNames } from '../../../shared/findings.ts'
import { findingEvent } from '../../../ipkeeper-server/kubernetes/event-texts.ts'

const finding = (more: Partial<Finding>): Finding => ({
  ...{ kind: 'ip-differs', severity: 'error', says: 'it is so', why: 'as it was seen', remedy: '' },
  ...{ action: 'none', state: 'reported', address: null, pod: null, podUid: null, network: null },
  ...{ containerId: null, ifname: null, link: null },
  ...more,
})

t.test('whom it is told', t => {
  const rows: readonly (readonly [Partial<Finding>, object])[] = [
    [
      { pod: 'shop/web-0', podUid: 'u1' },
      { namespace: 'shop', name: 'web-0', uid: 'u1' },
    ],
    [{ pod: 'shop/web-0' }, { namespace: 'shop', name: 'web-0', uid: null }],
    [{ link: 'cali1' }, { kind: 'Node', namespace: 'default', name: 'n1', uid: 'n1' }],
  ]
  for (const [of, subject] of rows) t.same(findingEvent(finding(of), 'n1').subject, subject)
  t.end()
})

t.test('what is told', t => {
  t.same(findingEvent(finding({}), 'n1').event, {
    type: 'Warning',
    reason: 'IpDiffers',
    action: 'Reconcile',
    message: 'it is so: as it was seen',
    remedy: '',
  })
  t.match(findingEvent(finding({ severity: 'note', remedy: 'do this' }), 'n1').event, {
    type: 'Normal',
    message: 'it is so: as it was seen',
    remedy: 'do this',
  })
  for (const kind of findingKindNames)
    t.match(findingEvent(finding({ kind }), 'n1').event.reason, /^[A-Z][A-Za-z]{3,127}$/)
  t.end()
})
