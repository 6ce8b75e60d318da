import t from 'tap'
import {
  namesOfThisBoot,
  planRename,
  type Renaming,
} from '../../../../ipkeeper-server/ipam/plan/plan-rename.ts'
import {
  sameAttachment,
  type AttachmentRecord,
  type HolderRecord,
  type LeaseRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { attachmentOf, attachmentRecord, holderRecord, lease } from '../../../rigs/records.ts'

const key = attachmentOf('c1')
const others = attachmentOf('c9')
const unbound = { state: 'held', attachment: null } as const

const bound = (patch: Partial<LeaseRecord> = {}): LeaseRecord =>
  lease('10.0.0.2', 3, { node: 'n1', attachment: key, ...patch })
const holder = (patch: Partial<HolderRecord> = {}): HolderRecord =>
  holderRecord({ generation: 4, sandbox: { node: 'n1', podUid: 'u1', since: 0 }, ...patch })
const attachment = (patch: Partial<AttachmentRecord> = {}): AttachmentRecord =>
  attachmentRecord({ generation: 5, answered: 5, bootId: 'b1', startedAt: 0, ...patch })

interface Records {
  readonly leases?: readonly LeaseRecord[]
  readonly holders?: readonly HolderRecord[]
  readonly attachments?: readonly AttachmentRecord[]
}

function plan(
  { leases = [], holders = [], attachments = [] }: Records,
  more: Partial<Renaming> = {},
  most?: number,
) {
  const renaming: Renaming = {
    node: 'n2',
    wasOurs: name => name === 'n1',
    isOthers: () => false,
    isOurs: one => sameAttachment(one, key),
    ...more,
  }
  return planRename({ leases, holders, attachments }, renaming, most)
}

t.test('everything that is ours follows', t => {
  const undo = {
    leases: [{ segment: 'default', address: '10.0.0.2', wrote: 3, before: null }],
    attachment: null,
  }
  const change = plan({ leases: [bound()], holders: [holder()], attachments: [attachment({ undo })] })
  t.match(change, [
    { kind: 'lease', expect: 3, record: { generation: 4, node: 'n2', state: 'bound' } },
    { kind: 'holder', expect: 4, record: { generation: 5, sandbox: { node: 'n2', podUid: 'u1' } } },
    {
      kind: 'attachment',
      expect: 5,
      record: { generation: 6, node: 'n2', answered: 5, undo: { leases: [{ wrote: 4 }] } },
    },
  ])
  t.end()
})

const untouched: Readonly<Record<string, Records>> = {
  'nothing at all': {},
  'what has the name already': {
    leases: [bound({ node: 'n2' })],
    holders: [holder({ sandbox: { node: 'n2', podUid: null, since: 0 } })],
    attachments: [attachment({ node: 'n2' })],
  },
  'what bears the name of somebody else': {
    leases: [bound({ node: 'n3' }), bound({ node: 'n3', ...unbound })],
    holders: [holder({ sandbox: { node: 'n3', podUid: null, since: 0 } })],
  },
  'what another machine has that bore the name': {
    leases: [bound({ attachment: others })],
    holders: [holder({ attachment: others })],
  },
  'a holder without a sandbox': {
    holders: [holder({ attachment: null }), { ...holder(), sandbox: undefined as never }],
  },
}
for (const [what, records] of Object.entries(untouched)) {
  t.test(`left alone: ${what}`, t => {
    t.strictSame(plan(records), [])
    t.end()
  })
}

t.test('what is kept follows as well, and an undo finds it again', t => {
  const kept = bound(unbound)
  const before = bound({ generation: 1 })
  const undo = { leases: [{ segment: 'default', address: '10.0.0.2', wrote: 3, before }], attachment: null }
  t.match(plan({ leases: [kept], attachments: [attachment({ node: 'n2', undo })] }), [
    { kind: 'lease', record: { node: 'n2', generation: 4 } },
    { kind: 'attachment', record: { undo: { leases: [{ wrote: 4, before: { node: 'n2' } }] } } },
  ])
  t.match(
    plan({
      attachments: [
        attachment({ node: 'n2', undo: { ...undo, leases: [{ ...undo.leases[0]!, before: null }] } }),
      ],
    }),
    [],
    'of a lease that was not renamed the generation stays',
  )
  t.end()
})

t.test('a part of it after the other', t => {
  const leases = [2, 3, 4].map(last => lease(`10.0.0.${last}`, 1, { node: 'n1', attachment: key }))
  const kinds = (most: number): readonly string[] =>
    plan({ leases, holders: [holder()], attachments: [attachment()] }, {}, most).map(({ kind }) => kind)
  t.strictSame(kinds(2), ['lease', 'lease', 'attachment'])
  t.strictSame(kinds(3), ['lease', 'lease', 'lease', 'attachment'])
  t.strictSame(kinds(4), ['lease', 'lease', 'lease', 'holder', 'attachment'])
  t.end()
})

t.test('names that were those of this machine', t => {
  const all = [
    attachment({ node: 'n1', bootId: 'b1' }),
    attachment({ node: 'n1', bootId: 'b0' }),
    attachment({ node: 'n0', bootId: 'b0' }),
  ]
  t.strictSame(namesOfThisBoot(all, 'b1'), ['n1'], 'what came with a copied disk is of another boot')
  t.strictSame(namesOfThisBoot([], 'b1'), [])
  t.end()
})
