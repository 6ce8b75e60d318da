/** What is said to IPPools: a ledger with some pools and addresses in use, and what somebody wants to do. */
import t from 'tap'
import { readPoolSpec } from '../../../../../ipkeeper-server/config/read-pool-object.ts'
import { toPoolRecord } from '../../../../../ipkeeper-server/ipam/pools/pool-record.ts'
import type { PoolRecord } from '../../../../../ipkeeper-server/ipam/records/records.ts'
import type { Admission } from '../../../../../ipkeeper-server/http/webhook/plan/admission-review.ts'
import { judgePool, type PoolGround } from '../../../../../ipkeeper-server/http/webhook/plan/judge-pool.ts'
import type { JsonObject } from '../../../../../shared/json/fold.ts'
import { poolFrom, TestService } from '../../../leases/test-service.ts'

type Spec = JsonObject | undefined

function admission(name: string, before: Spec, after: Spec, more: Partial<Admission> = {}): Admission {
  const object = (spec: Spec) => spec && { metadata: { name }, spec }
  return {
    ...{ uid: 'u', operation: before ? (after ? 'UPDATE' : 'DELETE') : 'CREATE' },
    ...{ apiVersion: 'ipkeeper.io/v1alpha1', kind: 'IPPool', subresource: '', namespace: '', name },
    ...{ object: object(after), oldObject: object(before) },
    ...more,
  }
}

const subnet = (text: string, more: JsonObject = {}): JsonObject => ({ schema: 1, subnet: text, ...more })

/** prod (10.22.0.0/24) of the API has .50 in use, tiny (10.31.0.0/29) nothing; net is a network with addresses in use. */
async function open(): Promise<PoolGround> {
  const story = await TestService.open()
  const { ledger } = story.service
  story.pool = poolFrom('prod', ['10.22.0.0/24'])
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50' })
  await story.add({ pod: 'b', container: 'c2', network: 'net', pool: poolFrom('net', ['10.40.0.0/24']) })
  const ofApi = (name: string, text: string): PoolRecord => toPoolRecord(poolFrom(name, [text]), 1, 'api')
  const api = [ofApi('prod', '10.22.0.0/24'), ofApi('tiny', '10.31.0.0/29')]
  const networks = [...ledger.pools()].filter(({ name }) => name === 'net')
  return {
    book: {
      pools: () => [...api, ...networks],
      leases: () => ledger.leases(),
      reservations: () => ledger.reservations(),
    },
    configured: [poolFrom('file', ['10.50.0.0/24'])],
    readPool: (name, spec) => readPoolSpec(name, spec, story.book.standard).pool,
    isLive: () => true,
  }
}

const prod = subnet('10.22.0.0/24')
const tiny = subnet('10.31.0.0/29')

const rows: readonly (readonly [what: string, asked: Admission, refused: RegExp | null])[] = [
  ['a pool of its own', admission('new', undefined, subnet('10.60.0.0/24')), null],
  [
    'one that makes no sense',
    admission('new', undefined, subnet('10.60.0.1/24')),
    /^IPPool new: spec.subnet: .*host bits set.* \[IPK_CONFIG_INVALID\]/,
  ],
  [
    'over another one',
    admission('new', undefined, subnet('10.31.0.0/24')),
    /^the ranges of IPPool new \(10.31.0.1-10.31.0.254\) overlap those of pool tiny \(10.31.0.1-10.31.0.6\) of segment default/,
  ],
  ['in another segment', admission('new', undefined, subnet('10.31.0.0/24', { segment: 'lab' })), null],
  [
    "over one of the daemons' configuration",
    admission('new', undefined, subnet('10.50.0.0/25')),
    /pool file \(10.50/,
  ],
  [
    'over a network in use',
    admission('new', undefined, subnet('10.40.0.0/25')),
    /overlap those of network net \(10.40.0.1-10.40.0.254\), which has leases, such as 10.40.0.2 of shop\/b/,
  ],
  ['larger', admission('prod', prod, subnet('10.22.0.0/23')), null],
  [
    'smaller, with an address in use outside',
    admission('prod', prod, subnet('10.22.0.0/27')),
    /^pool prod changes to 10.22.0.1-10.22.0.30, which would leave out 1 address in use: 10.22.0.50 \(shop\/a\).* keep these addresses/,
  ],
  ['smaller, with it inside', admission('prod', prod, subnet('10.22.0.0/26')), null],
  [
    'in another segment, with an address in use',
    admission('prod', prod, subnet('10.22.0.0/24', { segment: 'lab' })),
    /^pool prod moves from segment default to lab/,
  ],
  [
    'excluded, the address in use',
    admission('prod', prod, { ...prod, exclude: ['10.22.0.50'] }),
    /would leave out 1 address/,
  ],
  [
    'over another one, after a change',
    admission('tiny', tiny, subnet('10.22.0.0/29')),
    /overlap those of pool prod/,
  ],
  [
    'deleted, with an address in use',
    admission('prod', prod, undefined),
    /^pool prod goes, which would leave out 1 address/,
  ],
  ['deleted, with none', admission('tiny', tiny, undefined), null],
  ['rules alone', admission('prod', prod, { ...prod, namespaces: ['shop'] }), null],
  [
    'one that made no sense before',
    admission('odd', subnet('10.60.0.1/24'), subnet('10.60.0.1/24', { mtu: 1450 })),
    null,
  ],
  [
    'one that overlapped before',
    admission('over', subnet('10.31.0.0/24'), subnet('10.31.0.0/24', { mtu: 1450 })),
    null,
  ],
  ['what ipkeeper remembers itself', admission('net', { recorded: {} }, undefined), null],
  ['its status', admission('prod', prod, subnet('10.22.0.0/27'), { subresource: 'status' }), null],
  ['an object of others', admission('prod', prod, undefined, { kind: 'Pool' }), null],
]

t.test('what is said', async t => {
  const ground = await open()
  for (const [what, asked, refused] of rows) {
    const said = judgePool(asked, ground).refusals.map(
      ({ message, hint, code }) => `${message} [${code}]; ${hint}`,
    )
    if (refused) t.match(said, [refused], what)
    else t.strictSame(said, [], what)
  }
})
