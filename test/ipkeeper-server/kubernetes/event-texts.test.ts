import t from 'tap'
import type { Finding } from '../../../shared/api/audit.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { findingKindNames } from '../../../shared/findings.ts'
import { findingEvent, outcomeEvent } from '../../../ipkeeper-server/kubernetes/event-texts.ts'

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

t.test('which interface an ADD was for', t => {
  const outcome = { addresses: ['10.9.0.5/24'], reasons: ['dynamic'] }
  const problem = new Problem('IPK_POOL_FULL', 'pool lan is full')
  const rows: readonly (readonly [
    ifname: string,
    definition: string | undefined,
    network: unknown,
    text: string,
  ])[] = [
    ['eth0', undefined, 'fixed', ''],
    ['net1', 'shop/lan', 'shop-lan', 'net1 of shop/lan: '],
    ['net1', undefined, 'shop-lan', 'net1 of network shop-lan: '],
    ['net1', undefined, 'no name', 'net1: '],
    ['net1', undefined, 7, 'net1: '],
    ['no name', 'shop/lan', 'shop-lan', ''],
  ]
  for (const [ifname, definition, network, text] of rows) {
    const place = { ifname, definition, network }
    t.equal(outcomeEvent(outcome, place).message, `${text}10.9.0.5/24 (dynamic)`)
    t.equal(outcomeEvent({ problem }, place).message, `${text}pool lan is full`)
  }
  t.end()
})
