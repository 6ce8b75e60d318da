import t from 'tap'
import { AdmissionJudge } from '../../../../ipkeeper-server/http/webhook/admission.ts'
import type { Admission } from '../../../../ipkeeper-server/http/webhook/plan/admission-review.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { TestService } from '../../leases/test-service.ts'

t.test('a daemon that has not heard yet what other nodes have says nothing', async t => {
  const { service } = await TestService.open()
  const heard = { all: false }
  const judge = new AdmissionJudge({
    book: service.ledger,
    ...{ isShared: true, pools: service.pools, dialects: () => new Set() },
    expectHeard: () => {
      if (!heard.all) throw new Problem('IPK_STORE_AWAY', 'not heard yet')
    },
    namespaceLabels: () => undefined,
    networks: () => Promise.resolve({ pools: [], complete: true }),
    usage: () => Promise.resolve([]),
    readPool: () => {
      throw new Error('no pool')
    },
    isLive: () => false,
    ...{ now: Date.now, monotonic: () => performance.now() },
  })
  const admission = (kind: string): Admission => ({
    ...{
      uid: 'u',
      operation: 'CREATE',
      apiVersion: 'v1',
      kind,
      namespace: 'shop',
      name: 'a',
      subresource: '',
    },
    object: { metadata: { annotations: { 'ipkeeper.io/ip': '10.22.0.9' } }, spec: {} },
    oldObject: undefined,
  })
  for (const kind of ['Pod', 'IPPool'])
    await t.rejects(judge.judge(admission(kind)), { code: 'IPK_STORE_AWAY' })
  heard.all = true
  t.match(await judge.judge(admission('Pod')), { refusals: [] })
})
