/**
 * Small models, every state of which is looked at: that they hold with all their rules, and what breaks without each of them
 * (docs/contributing/models.md). EXTENT=all looks at larger bounds as well, for minutes.
 */
import t, { type Test } from 'tap'
import { isWhole } from '../rigs/extent.ts'
import { Allocation, allocationRules, type AllocationBound, type AllocationRule } from './allocation.ts'
import { endless, explore, type Model } from './checker.ts'
import {
  declared,
  ForgetNode,
  forgetNodeProposals,
  forgetNodeRules,
  robbed,
  type ForgetNodeChoice,
  type ForgetNodeRule,
} from './forget-node.ts'
import {
  Reclaim,
  reclaimRules,
  type ReclaimBound,
  type ReclaimProposal,
  type ReclaimRule,
} from './reclaim.ts'

/** More than any bound of this file has. */
const most = 600_000

function holds<S>(t: Test, name: string, model: Model<S>): void {
  const begun = performance.now()
  const { states, depth, broken } = explore(model, most)
  t.equal(broken?.invariant, undefined, name)
  for (const line of broken?.trace ?? []) t.comment(line)
  t.ok(states > 100, 'there is something to look at')
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  t.comment(`${name}: ${states} states, ${depth} steps deep, ${seconds} s`)
}

function breaks<S>(t: Test, name: string, model: Model<S>, invariant: string): void {
  const { states, broken } = explore(model, most)
  t.equal(broken?.invariant, invariant, name)
  t.ok((broken?.trace.length ?? 0) > 0, 'by steps that are told')
  t.comment(`${name}: ${broken?.trace.length ?? 0} steps, ${states} states`)
}

const some = <T>(...members: T[]): ReadonlySet<T> => new Set(members)

// ---- Allocation

const bothAddresses = ['a', 'b'] as const
const allocationBounds = {
  'by name, on two nodes': { addresses: bothAddresses, sandboxes: ['p1', 'p2', 'q1'] },
  'kept, on two nodes': { addresses: bothAddresses, sandboxes: ['p1', 'q1', 'q2'], early: 'q2' },
  'kept, on one node': { addresses: bothAddresses, sandboxes: ['p1', 'q1', 'q3'] },
  'one address, and a GC': { addresses: ['a'], sandboxes: ['p1', 'q1'], hasGc: true },
} as const satisfies Record<string, AllocationBound>
const largeAllocationBounds = {
  'three by name': { addresses: bothAddresses, sandboxes: ['p1', 'p2', 'p3', 'q1'] },
  'three, and a GC': { addresses: ['a'], sandboxes: ['p1', 'p3', 'q1'], hasGc: true },
  'two of each on two nodes': { addresses: bothAddresses, sandboxes: ['p1', 'p2', 'q1', 'q2'] },
} as const satisfies Record<string, AllocationBound>

const [byName, onTwo, onOne, single] = Object.keys(allocationBounds) as [
  'by name, on two nodes',
  'kept, on two nodes',
  'kept, on one node',
  'one address, and a GC',
]
const keeps = 'a live sandbox keeps its address'
const frees = 'no address is bound for ever'
const withoutAllocationRule: Readonly<
  Record<AllocationRule, readonly [bound: keyof typeof allocationBounds, invariant: string]>
> = {
  'an ADD compares the leases that it read': [byName, keeps],
  'an ADD compares the holder that it read': [onTwo, 'a pod that keeps its address has no second one'],
  'versions are compared, which never come again': [byName, 'what is kept for a pod goes to nobody else'],
  'only from a sandbox that is proved dead': [byName, keeps],
  'only its own node proves a death': [byName, keeps],
  'a DEL touches what its own attachment has': [onOne, keeps],
  'a DEL leaves a younger attachment alone': [onTwo, keeps],
  'an ADD whose DEL came first is refused': [byName, frees],
  'a DEL compares the holder that it leaves alone': [onOne, frees],
  'an undo leaves what has been changed since': [onOne, keeps],
  'an undo gives back what was kept': [onTwo, 'what is kept for a pod goes to nobody else'],
  'an undo gives nothing back to what has ended': [onOne, frees],
  'an undo leaves its own undo to its heirs': [onOne, 'nothing is kept that nobody was told of'],
  'a holder that lost its kept address is told': [byName, 'no holder is left'],
  'an unanswered ADD is undone': [byName, frees],
  'a GC ends what is older than its list': [single, keeps],
  'an expiry compares the lease that is over': [byName, keeps],
  'dynamic choice leaves alone what cools down': [single, 'nothing is chosen while it cools down'],
  'what has cooled down is deleted': [byName, frees],
}

t.test('allocation', t => {
  const bounds = { ...allocationBounds, ...(isWhole && largeAllocationBounds) }
  for (const [name, bound] of Object.entries(bounds)) holds(t, name, new Allocation(bound))
  for (const rule of allocationRules) {
    const [bound, invariant] = withoutAllocationRule[rule]
    breaks(t, `without: ${rule}`, new Allocation(allocationBounds[bound], some(rule)), invariant)
  }
  t.end()
})

// ---- Forgetting a node

const strict: ForgetNodeChoice = { isStrict: true, proposed: new Set(forgetNodeProposals) }
const withoutForgetNodeRule: Readonly<Record<ForgetNodeRule, readonly [invariant: string]>> = {
  'the claimant is asked first': [declared],
  'a question has its time': [declared],
  'a claimant that lives answers': [declared],
  'the mark compares the question': [declared],
  'a question makes way for a machine that starts': ['a node that is back serves'],
  'who finds a question waits for its answer': [endless],
  'a question that nobody asks any more is replaced': ['every operator is told'],
  'who comes back takes the mark away': ['a node that serves is not gone'],
  'the mark is a proof for the next pod': ['the next pod does not wait for a node that is gone'],
  'nothing else is a proof': ['an address is taken only from a node that was declared gone'],
  'only the next pod goes by it': ['an address goes from a pod of a gone node to its next pod'],
  'a takeover leaves a trace': ['what is ended on purpose is not taken for a loss'],
  'what was taken is cut off': ['no two pods have one address where the node is back'],
  'an answer to somebody who asked later counts': [endless],
}

t.test('forgetting a node', t => {
  for (const accidents of isWhole ? [1, 2, 3] : [1, 2])
    holds(t, `${accidents} accidents`, new ForgetNode({ accidents }))
  holds(t, 'a name that nobody claims', new ForgetNode({ accidents: 2, isUnclaimed: true }))
  for (const rule of forgetNodeRules) {
    const [invariant] = withoutForgetNodeRule[rule]
    breaks(t, `without: ${rule}`, new ForgetNode({ accidents: 2 }, { without: some(rule) }), invariant)
  }
  t.end()
})

t.test('forgetting a node: what the product does not keep, and the rule that would', t => {
  const [asks] = forgetNodeProposals
  const bound = { accidents: 1 }
  const unclaimed = { accidents: 1, isUnclaimed: true }
  breaks(t, 'a name that nobody claims', new ForgetNode(unclaimed, { isStrict: true }), declared)
  breaks(t, 'a takeover on its way', new ForgetNode(bound, { isStrict: true, proposed: some(asks) }), robbed)
  holds(t, 'with both rules', new ForgetNode({ accidents: 2 }, strict))
  holds(t, 'with both, of a name that nobody claims', new ForgetNode(unclaimed, strict))
  t.end()
})

// ---- Reclaiming

const two = { machines: 'AC', addresses: ['x'] } as const
const snapshot: ReclaimBound = {
  ...two,
  ...{ losses: 1, faults: 1, fragile: 'C', hasSnapshot: true, hasOperator: true },
}
const renamed: ReclaimBound = { ...two, losses: 1, faults: 1, fragile: 'C', renames: true }
const twice: ReclaimBound = { ...two, losses: 2, faults: 0 }
const ever: ReclaimBound = { ...two, losses: 1, faults: 1, fragile: 'C', busy: 'AC', hasOther: 'any time' }
const late: ReclaimBound = { ...ever, hasOther: 'late', hasOperator: true }
const largeReclaimBounds: Readonly<Record<string, ReclaimBound>> = {
  'two nodes, each may fail': { ...snapshot, fragile: 'AC' },
  'two addresses, a snapshot': { ...snapshot, addresses: ['x', 'y'], faults: 0 },
  'three nodes': { machines: 'ABC', addresses: ['x'], losses: 1, faults: 0 },
}

const shared = 'no address is had by two live pods'
const has = 'the engine has what is in use where nobody is down'
const waits = 'nobody waits for ever where nobody is down'
const cut = 'a live pod is not cut off'
const withoutReclaimRule: Readonly<Record<ReclaimRule, readonly [invariant: string, bound?: ReclaimBound]>> =
  {
    'a loss is noticed by what the journal remembers of the engine': [has],
    'a later epoch of another node is a loss': [waits],
    'what is bound here is told again': [has],
    'what the journal does not know has ended': [has],
    'what is in use on a node that has not told is waited for': [has],
    'what waits for a node that is gone is written': [has],
    'what is pending stands in the journal': [has],
    'a DEL is noted before the engine hears of it': [cut],
    'what was written before a loss is written again': [has],
    'who says that it has told has told': [cut],
    'who waits for another node says that it owes': [shared],
    'who owes takes that back in the end': [waits],
    'nothing is given while a node is waited for': [shared],
    'nothing is given out of other data': [shared],
    'a node that is gone is not waited for': [waits],
    'a node that the engine has lost is written back': [shared],
    'who was not the first to write it back asks for it': [cut],
    'a node tells for its former names': [waits, renamed],
    'who has not told again says no epoch': [shared, twice],
    'what stands under a name belongs to whoever has claimed it': [shared, late],
    'the name of a node that is waited for is not taken': [shared, late],
  }

t.test('reclaiming', t => {
  holds(t, 'two nodes, a snapshot', new Reclaim(snapshot))
  holds(t, 'a node of another name', new Reclaim(renamed))
  holds(t, 'a second loss', new Reclaim(twice))
  holds(t, 'another machine of the same name', new Reclaim(late))
  if (isWhole)
    for (const [name, bound] of Object.entries(largeReclaimBounds)) holds(t, name, new Reclaim(bound))
  for (const rule of reclaimRules) {
    const [invariant, bound = snapshot] = withoutReclaimRule[rule]
    breaks(t, `without: ${rule}`, new Reclaim(bound, { without: some(rule) }), invariant)
  }
  t.end()
})

t.test('reclaiming: what the product does not keep, and the rule that would', t => {
  const closes = (name: string, bound: ReclaimBound, ...rules: ReclaimProposal[]): void => {
    holds(t, `${name}: ${rules.join('; ')}`, new Reclaim(bound, { proposed: new Set(rules) }))
  }
  const byMachine = 'machines are waited for, not names'
  const byId = 'a machine knows its own leases by its ID'
  breaks(t, 'another machine has taken the name before a loss', new Reclaim(ever), shared)
  breaks(
    t,
    'another machine ends what is bound under its name',
    new Reclaim(ever, { proposed: some<ReclaimProposal>(byMachine) }),
    shared,
  )
  closes('another machine', ever, byMachine, byId)
  if (isWhole)
    closes('another machine, and an operator', { ...ever, busy: 'ACD', hasOperator: true }, byMachine, byId)
  t.end()
})
