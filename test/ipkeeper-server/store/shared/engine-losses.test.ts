import t from 'tap'
import type { NodeClaim, NodeRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { EngineLosses } from '../../../../ipkeeper-server/store/shared/engine-losses.ts'
import { KnownRecords } from '../../../../ipkeeper-server/store/shared/known-records.ts'
import { EngineDouble, type NodeEngine } from '../../../rigs/engine-double.ts'
import { until } from '../../../rigs/poll.ts'
import { nodeRecord, nodeText } from '../../../rigs/records.ts'

const record = (name: string): string => nodeText(name, { epoch: 1 })

const claim = (id: string): NodeClaim => ({ id, session: `${id}-1`, bootId: 'b1', since: 0 })
const gone = { since: 5, by: 'n2' }

/** Node n1 of an engine that keeps two, and how many lists it has heard. */
function followed(
  site: EngineDouble,
  names = ['n1'],
  { takesUp = false, by }: { readonly takesUp?: boolean; readonly by?: NodeClaim } = {},
): { engine: NodeEngine; losses: EngineLosses; lists: () => number; found: readonly string[] } {
  for (const name of ['n1', 'n2']) site.put('node', name, record(name))
  const engine = site.connect()
  const known = new KnownRecords({
    ...{
      engine,
      isChanging: () => false,
      onContact: () => undefined,
      onChange: (name, text) => {
        if (name.kind !== 'node') return
        if (text === null) losses.misses(name.key)
        else losses.heardOf(text)
      },
    },
  })
  const found: string[] = []
  const losses = new EngineLosses({
    ...{ engine, known, names: () => names, now: () => 0, isOffline: false, takesUp },
    ...{ note: () => undefined, onChange: () => undefined },
    onLoss: reason => found.push(reason),
    ...(by && { claim: by }),
  })
  let lists = 0
  engine.start({
    replace: (records, position) => {
      const reason = losses.judge(records, position, () => new Map())
      if (reason !== undefined) losses.lost(reason, records)
      known.replace(records, reason !== undefined)
      losses.heardAll(false)
      lists++
    },
    put: news => {
      known.hear(news)
    },
    remove: (kind, key) => {
      known.hear({ kind, key })
    },
    broke: reason => {
      losses.broke(reason)
    },
    trouble: () => undefined,
  })
  return { engine, losses, lists: () => lists, found }
}

t.test(
  'a node whose record is lost is waited for, also where another node was quicker to say so',
  async t => {
    const site = new EngineDouble()
    const { engine, losses, lists } = followed(site)
    await until('all is heard', () => lists() === 1)
    t.ok(losses.isWhole(), 'nobody is waited for')
    site.restore()
    await until('the loss is heard of', () => lists() === 2)
    engine.turn({ deaf: true })
    site.put('node', 'n2', record('n2'))
    await losses.report(false)
    t.match(losses.status(), { state: 'incomplete', waitsFor: ['n2'] })
  },
)

const deleted: readonly (readonly [what: string, before: Partial<NodeRecord>, isLoss: boolean])[] = [
  ['that has told what it holds', { epoch: 1 }, true],
  ['that has said how it is reached', { addresses: ['192.0.2.3'] }, true],
  ['that only has a claim', { claim: claim('it') }, true],
  ['that another machine was before', { formers: [claim('it')] }, true],
  ['that is gone for good', { gone }, false],
  ['of which nobody has said anything', {}, false],
]
for (const [what, patch, isLoss] of deleted)
  t.test(`the record goes, while this one listens, of a node ${what}`, async t => {
    const site = new EngineDouble()
    const { lists, found } = followed(site)
    await until('all is heard', () => lists() === 1)
    const before = nodeText('n3', patch)
    site.put('node', 'n3', before)
    site.put('node', 'n3', null)
    site.put('node', 'n2', null)
    await until('it is missed', () => found.includes('it has no record of node n2 any more'))
    t.equal(found.includes('it has no record of node n3 any more'), isLoss)
  })

t.test('a placeholder goes of a node that is waited for', async t => {
  const site = new EngineDouble()
  const { losses, lists, found } = followed(site)
  await until('all is heard', () => lists() === 1)
  site.put('node', 'n3', record('n3'))
  site.restore(site.snapshot())
  await until('the loss is heard of', () => lists() === 2)
  const placeholder = JSON.stringify({ generation: 2, name: 'n3', addresses: [], since: 0 })
  site.put('node', 'n3', placeholder)
  await losses.report(false)
  site.put('node', 'n3', null)
  await until('it is missed', () => found.length > 0)
  t.strictSame(found, ['it has no record of node n3 any more'])
})

t.test('a change of its own record takes back nothing that a node has just told', async t => {
  const site = new EngineDouble()
  const { engine, losses, lists } = followed(site)
  await until('all is heard', () => lists() === 1)
  site.restore()
  await until('the loss is heard of', () => lists() === 2)
  const own = (): NodeRecord | undefined => {
    const text = site.get('node', 'n1')?.text
    return text === undefined ? undefined : (JSON.parse(text) as NodeRecord)
  }
  for (const owes of [true, false]) {
    let claimed: NodeRecord | undefined
    engine.turn({
      // Asked for once more before the answer goes out, when the engine has it already.
      slowMs: () => {
        const present = own()
        const isTold = present?.epoch === 2 && (present.owes === true) === owes
        if (isTold) claimed ??= losses.inEpoch({ ...present, addresses: ['192.0.2.1'] })
        return 0
      },
    })
    await losses.report(owes)
    t.strictSame(claimed, { ...own(), addresses: ['192.0.2.1'] }, `owes: ${owes}`)
  }
  const planned = nodeRecord('n1', { generation: 9 })
  t.match(losses.inEpoch(planned), { epoch: 2 }, 'who plans it does not know of losses')
})

t.test('what the engine has of a node counts, and not what that has told', async t => {
  const site = new EngineDouble()
  site.put('node', 'n0', record('n0'))
  const names = ['n1']
  const { losses, lists } = followed(site, names)
  await until('all is heard', () => lists() === 1)
  site.restore(site.snapshot())
  await until('the loss is heard of', () => lists() === 2)
  const epochs = (): readonly unknown[] =>
    ['n0', 'n1', 'n2'].map(name => (JSON.parse(site.get('node', name)?.text ?? '{}') as NodeRecord).epoch)
  await losses.report(false)
  t.strictSame([losses.hasReported(), epochs()], [true, [1, 2, 1]])
  const looked = (): void => {
    losses.heardOf(site.get('node', 'n1')?.text ?? '')
  }
  site.put('node', 'n1', record('n1'))
  await until('an older write comes later', () => {
    looked()
    return !losses.hasReported()
  })
  await losses.report(false)
  t.strictSame([losses.hasReported(), epochs()], [true, [1, 2, 1]])
  names.push('n0')
  losses.named()
  t.notOk(losses.hasReported(), 'it has another name, which is behind')
  await losses.report(false)
  t.strictSame([losses.hasReported(), epochs()], [true, [2, 2, 1]])
})

t.test('sandboxes that live and are not on record', async t => {
  const site = new EngineDouble()
  const { losses, lists } = followed(site, ['n1'], { takesUp: true })
  await until('all is heard', () => lists() === 1)
  const owes = (name: string): unknown =>
    (JSON.parse(site.get('node', name)?.text ?? '{}') as NodeRecord).owes
  t.notOk(losses.mustTakeUp(), 'nothing is lost')
  t.ok(losses.isWhole())
  site.restore(site.snapshot())
  await until('the loss is heard of', () => lists() === 2)
  await losses.report(losses.mustTakeUp())
  t.ok(owes('n1'), 'it has told, and something is left')
  t.notOk(losses.haveAllTold(), 'n2 has not told')
  const tellsOther = async (
    patch: Partial<NodeRecord>,
    what: string,
    holds: () => boolean,
  ): Promise<void> => {
    const text = JSON.stringify({ ...(JSON.parse(record('n2')) as NodeRecord), ...patch })
    site.put('node', 'n2', text)
    await until(what, () => {
      losses.heardOf(text)
      return holds()
    })
  }
  await tellsOther({ epoch: 2, owes: true }, 'both have told', () => losses.haveAllTold())
  t.notOk(losses.isWhole(), 'but something is left of both')
  losses.tookUp()
  await losses.report(losses.mustTakeUp())
  t.notOk(owes('n1'))
  t.match(losses.status(), { waitsFor: ['n2'] })
  await tellsOther({ epoch: 2 }, 'nothing is left', () => losses.isWhole())
})

t.test('what an engine must have had', async t => {
  const site = new EngineDouble()
  const { losses, lists } = followed(site, ['n1'], { takesUp: true })
  await until('all is heard', () => lists() === 1)
  t.notOk(losses.mustHaveHad(), 'the journal knows nothing of it')
})

const claims: readonly (readonly [
  what: string,
  record: Partial<NodeRecord>,
  isOwn: boolean,
  isAlone: boolean,
])[] = [
  ['nobody else has had', { claim: claim('me') }, true, true],
  ['another machine has', { claim: claim('it') }, false, false],
  ['another machine had', { claim: claim('me'), formers: [claim('it')] }, true, false],
  ['another machine had, and nobody has', { formers: [claim('it')] }, true, false],
  ['one had that was gone', { claim: claim('me'), formers: [{ ...claim('it'), gone }] }, true, true],
]
for (const [what, patch, isOwn, isAlone] of claims)
  t.test(`an engine forgets all of a name that ${what}`, async t => {
    const site = new EngineDouble()
    const { losses, lists } = followed(site, ['n1'], { by: claim('me') })
    await until('all is heard', () => lists() === 1)
    const said = JSON.stringify({ ...(JSON.parse(record('n1')) as NodeRecord), ...patch })
    losses.heardOf(said)
    const whose = (one: EngineLosses): readonly boolean[] => [one.isOwn('n1'), one.isOwnAlone('n1')]
    t.strictSame(whose(losses), [isOwn, isAlone])
    site.restore()
    await until('the loss is heard of', () => lists() === 2)
    t.strictSame(whose(losses), [isOwn, isAlone], 'it is remembered')
    const next = followed(new EngineDouble(), ['n1'], { by: claim('me') })
    next.losses.found(losses.note().text ?? '')
    await until('all is heard', () => next.lists() === 1)
    t.strictSame(whose(next.losses), [isOwn, isAlone], 'also after a restart')
  })

const signed: readonly (readonly [
  what: string,
  before: Partial<NodeRecord> | undefined,
  formers: readonly string[],
])[] = [
  ['this machine has claimed', { claim: claim('me') }, []],
  ['it is known to have had', { claim: claim('it'), formers: [claim('me')] }, ['me']],
  ['another one has claimed', { claim: claim('it'), formers: [claim('that')] }, ['that', 'me']],
  ['nobody has claimed', {}, ['me']],
  ['nobody has a record of', undefined, ['me']],
]
for (const [what, before, formers] of signed)
  t.test(`what stands under a name is about to be told again, which ${what}`, async t => {
    const site = new EngineDouble()
    const { losses, lists } = followed(site, ['n3', 'n1'], { by: claim('me') })
    if (before)
      site.put('node', 'n3', JSON.stringify({ ...(JSON.parse(record('n3')) as NodeRecord), ...before }))
    await until('all is heard', () => lists() > 0)
    await Promise.all([losses.sign('n3'), losses.sign('n3'), losses.sign('n2')])
    const present = JSON.parse(site.get('node', 'n3')?.text ?? '{}') as NodeRecord
    t.strictSame([present.claim, (present.formers ?? []).map(({ id }) => id)], [before?.claim, formers])
    const { revision } = site
    await losses.sign('n3')
    t.equal(site.revision, revision, 'it is signed once')
    t.notOk(site.get('node', 'n2')?.text.includes('formers'), 'no name of others is')
  })

t.test('nobody tells for a name that is being given up', async t => {
  const site = new EngineDouble()
  const { losses, lists } = followed(site, ['n3', 'n1'], { by: claim('me') })
  await until('all is heard', () => lists() === 1)
  site.restore(site.snapshot())
  await until('the loss is heard of', () => lists() === 2)
  const given = { ...(JSON.parse(record('n1')) as NodeRecord), gone: { since: 0, by: 'n3' } }
  site.put('node', 'n1', JSON.stringify(given))
  await losses.report(false)
  t.strictSame(JSON.parse(site.get('node', 'n1')?.text ?? ''), given, 'it would be waited for ever after')
  t.match(JSON.parse(site.get('node', 'n3')?.text ?? ''), { epoch: 2 })
})
