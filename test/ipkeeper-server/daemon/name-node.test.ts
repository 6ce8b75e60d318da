import { join } from 'node:path'
import t from 'tap'
import { nameNode } from '../../../ipkeeper-server/daemon/name-node.ts'
import { NodeIdentity } from '../../../ipkeeper-server/identity/node-identity.ts'
import { NameClaims } from '../../../ipkeeper-server/leases/tasks/name-claims.ts'
import type { Logger } from '../../../ipkeeper-server/host/logger.ts'
import type { Unrecorded } from '../../../ipkeeper-server/reconcile/adopt-unrecorded.ts'
import type { NodeRecord } from '../../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../../ipkeeper-server/leases/ledger/ledger.ts'
import { EngineDouble } from '../../rigs/engine-double.ts'
import { nodeText } from '../../rigs/records.ts'
import { openSharedStore } from '../../rigs/shared-store.ts'

const silent = (): undefined => undefined

interface Row {
  /** What the daemon is called in the end. */
  readonly is: string
  readonly unrecorded: Unrecorded
  /** Another machine has claimed the former name since. */
  readonly isTaken?: boolean
  readonly warns?: RegExp
}

const rows: Readonly<Record<string, Row>> = {
  'all that runs there is on record': { is: 'n2', unrecorded: 'nothing' },
  'pods that run there are not on record': {
    ...{ is: 'n1', unrecorded: 'known to the store' },
    warns:
      /^pods that run here are not on record yet: this node keeps the name n1, and is named n2 from its next/,
  },
  'a pod of a fallback is not': { is: 'n2', unrecorded: 'unknown to the store' },
  'so they are, and another machine has its name': {
    is: 'n2',
    unrecorded: 'known to the store',
    isTaken: true,
  },
}

for (const [name, { is, unrecorded, isTaken = false, warns }] of Object.entries(rows))
  t.test(`a node is to be renamed, and ${name}`, async t => {
    const folder = t.testdir({ state: {} })
    const stateDir = join(folder, 'state')
    const open = (wanted: string): NodeIdentity =>
      NodeIdentity.open({
        ...{ stateDir, name: wanted, now: Date.now, wasInUse: false },
        sight: { marks: { machineId: 'm' }, bootId: 'b1', folder: '1' },
      })
    const before = open('n1')
    before.take()
    before.begin()
    const identity = open('n2')
    const mine = { id: identity.id, session: 'mine', bootId: 'b1', since: 0 }
    const double = new EngineDouble()
    const claim = isTaken ? { ...mine, id: 'another', session: 'another' } : mine
    double.put('node', 'n1', nodeText('n1', { claim }))
    const store = openSharedStore(t, double.connect({}), join(folder, 'journal.db'), {
      ...{ names: () => identity.names(), claim: mine, takesUp: true },
    })
    const ledger = await Ledger.open(store, Date.now, 'n2')
    const claims = new NameClaims({
      ...{ ledger, mine, stateDir, now: Date.now, monotonic: () => performance.now(), answerWithin: 50 },
      ...{ onChallenge: silent, onLost: silent, onError: silent },
    })
    t.teardown(() => claims.stop())
    const warned: string[] = []
    const logger = { info: silent, fatal: silent, warn: (_: object, text: string) => warned.push(text) }
    const named = await nameNode({
      ...{ identity, ledger, claims, logger: logger as unknown as Logger },
      stopped: new Promise(silent),
      unrecorded: () => Promise.resolve(unrecorded),
      refuse: () => Promise.resolve(() => Promise.resolve()),
    })
    t.equal(named, is)
    t.equal(warned.length, warns ? 1 : 0)
    if (warns) t.match(warned, [warns])
    const former = JSON.parse(double.get('node', 'n1')?.text ?? '{}') as NodeRecord
    t.equal(former.claim?.id, isTaken ? 'another' : is === 'n1' ? mine.id : undefined)
    t.equal(identity.name, is, 'so it is called at its next start')
  })
