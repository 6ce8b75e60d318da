import t from 'tap'
import { holderKey, leaseKey, type HolderRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { endHalfDeleted } from '../../../../ipkeeper-server/leases/verbs/half-deleted.ts'
import { until } from '../../../rigs/poll.ts'
import { attachmentOf, holderRecord, lease, nodeText, podHolder } from '../../../rigs/records.ts'
import { Site } from '../several-nodes.ts'

const key = holderKey(podHolder('web-0'))
const sandbox = { node: 'n1', podUid: 'u1', since: 1 }
const kept = lease('10.22.0.9', 1, { state: 'held', attachment: null })

interface Row {
  readonly ends: boolean
  readonly holder?: Partial<HolderRecord>
  /** What it has by the engine, if anything. */
  readonly has?: ReturnType<typeof lease>
  /** Another machine had the name of the node, and may run. */
  readonly isShared?: boolean
}

const rows: Readonly<Record<string, Row>> = {
  'neither a lease nor a record': { ends: true },
  'what is kept for its pod': { ends: true, has: kept, holder: { leases: [kept] } },
  'a lease': { ends: false, has: lease('10.22.0.9'), holder: { leases: [kept] } },
  'nothing, on another node': { ends: false, holder: { sandbox: { ...sandbox, node: 'n2' } } },
  'nothing, under a name that another machine had': { ends: false, isShared: true },
}

for (const [name, { ends, holder = {}, has, isShared = false }] of Object.entries(rows))
  t.test(`a pod is said to have a sandbox here, of which there is ${name}`, async t => {
    const site = new Site()
    const one = { id: 'one', session: 'one-1', bootId: 'b0', since: 0 }
    const formers = isShared ? { formers: [one] } : {}
    site.engine.put('node', 'n1', nodeText('n1', { claim: { ...one, id: 'two', bootId: 'b1' }, ...formers }))
    site.engine.put('holder', key, JSON.stringify(holderRecord({ sandbox, ...holder })))
    if (has) site.engine.put('lease', leaseKey(has), JSON.stringify(has))
    const { world } = await site.join(t, 'n1', { byTime: undefined, offlineGrace: 300_000 })
    const { ledger } = world.service
    await until('it is heard of', () => ledger.holder(podHolder('web-0')) !== undefined)
    t.equal(await endHalfDeleted(world.service), isShared, 'is to be looked at again')
    const present = ledger.holder(podHolder('web-0'))
    t.strictSame(present?.attachment ?? null, ends ? null : attachmentOf())
    t.equal(present !== undefined, !ends || has !== undefined, 'what is kept for it stays')
  })
