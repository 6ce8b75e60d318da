import t from 'tap'
import type { JsonObject } from '../../../../shared/json/fold.ts'
import { readPoolSpec } from '../../../../ipkeeper-server/config/read-pool-object.ts'
import { readPeoplesPool } from '../../../../ipkeeper-server/store/kubernetes/pool-in-force.ts'
import { readApiRecord, UnreadableObject } from '../../../../ipkeeper-server/store/kubernetes/read-object.ts'

const readPool = (name: string, spec: JsonObject) =>
  readPoolSpec(name, spec, { retention: 'release', cooldown: 0, preferFor: 0 }).pool

const read = (spec: JsonObject, status?: JsonObject) => {
  const metadata = { name: 'prod', uid: 'u', resourceVersion: '7', generation: 4 }
  const record = readApiRecord({ metadata, spec, ...(status && { status }) })
  if (!record) throw new Error('no object')
  return readPeoplesPool(record, readPool)
}

const [wide, small] = [{ subnet: '10.7.0.0/24' }, { subnet: '10.7.0.0/28' }]
const wrong = { subnet: '10.7.0.0/24', exclude: ['x'] }
const newer = { subnet: '10.7.0.0/16', schema: 99 }
const refused = (observedGeneration: number): JsonObject => ({
  type: 'Refused',
  ...{ status: 'True', reason: 'AddressesInUse', message: 'left out', observedGeneration },
})

/** Which subnet the record is of, and what it says of what is published and what is not in force. */
const rows: readonly (readonly [
  what: string,
  spec: JsonObject,
  status: JsonObject | undefined,
  subnet: string,
  object: object,
])[] = [
  [
    'without a status',
    wide,
    undefined,
    '10.7.0.0/24',
    { since: 4, published: undefined, pending: undefined },
  ],
  [
    'published',
    wide,
    { inForce: { generation: 4, spec: wide } },
    '10.7.0.0/24',
    { since: 4, published: true, pending: undefined },
  ],
  [
    'published, with its keys in another order',
    { subnet: '10.7.0.0/24', mtu: 1400 },
    { inForce: { generation: 2, spec: { mtu: 1400, subnet: '10.7.0.0/24' } } },
    '10.7.0.0/24',
    { since: 2, generation: 4, published: true, pending: undefined },
  ],
  [
    'changed since',
    small,
    { inForce: { generation: 3, spec: wide } },
    '10.7.0.0/24',
    { spec: wide, since: 3, published: true, pending: { spec: small, refusal: undefined, fault: undefined } },
  ],
  [
    'refused',
    small,
    { inForce: { generation: 3, spec: wide }, conditions: [refused(4)] },
    '10.7.0.0/24',
    { pending: { spec: small, refusal: { reason: 'AddressesInUse', message: 'left out' } } },
  ],
  [
    'whose former change was refused',
    small,
    { inForce: { generation: 2, spec: wide }, conditions: [refused(3)] },
    '10.7.0.0/24',
    { pending: { spec: small, refusal: undefined } },
  ],
  [
    'that makes no sense any more',
    wrong,
    { inForce: { generation: 3, spec: wide } },
    '10.7.0.0/24',
    { pending: { spec: wrong, fault: /^spec\.exclude\[0\]/ } },
  ],
  [
    'of a newer form since',
    newer,
    { inForce: { generation: 3, spec: wide } },
    '10.7.0.0/24',
    { pending: { fault: /written by a newer ipkeeper/ } },
  ],
  ...[
    null,
    7,
    { spec: wide },
    { generation: 3 },
    { generation: 3, spec: wrong },
    { generation: 3, spec: 'x' },
  ].map(
    inForce =>
      [
        `whose status says ${JSON.stringify(inForce)}`,
        small,
        { inForce },
        '10.7.0.0/28',
        { spec: small, since: 4, published: undefined, pending: undefined },
      ] as const,
  ),
]
for (const [what, spec, status, subnet, object] of rows)
  t.test(`an IPPool ${what}`, t => {
    t.match(read(spec, status), { generation: 4, origin: 'api', ranges: [[{ subnet }]], object })
    t.end()
  })

t.test('cannot be read', t => {
  t.throws(() => read(wrong), { message: /^spec\.exclude\[0\]/ })
  t.throws(
    () => read(wide, { inForce: { generation: 3, spec: newer } }),
    new UnreadableObject('written by a newer ipkeeper (schema 99; this one knows 1): update this node'),
    'what a newer version has put in force is not for this one to overrule',
  )
  t.end()
})
