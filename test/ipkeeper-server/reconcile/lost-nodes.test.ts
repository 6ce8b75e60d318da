/** Two nodes share a ledger; one of them is removed, and the other, which is elected, sees to what it has left. */
import t, { type Test } from 'tap'
import type { NodeState } from '../../../ipkeeper-server/kubernetes/cluster-view.ts'
import { delAttachment } from '../../../ipkeeper-server/leases/verbs/del.ts'
import type { ContactAge } from '../../../ipkeeper-server/ipam/records/last-contact.ts'
import { planReconcile } from '../../../ipkeeper-server/reconcile/plan-reconcile.ts'
import { LostNodes } from '../../../ipkeeper-server/reconcile/lost-nodes.ts'
import { EngineDouble } from '../../rigs/engine-double.ts'
import { until } from '../../rigs/poll.ts'
import { nodeRecord } from '../../rigs/records.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'
import { openSharedLeases } from '../../rigs/shared-store.ts'
import type { TestService } from '../leases/test-service.ts'
import { snapshot, usualTerms } from './snapshot-words.ts'

async function openNodes(t: Test) {
  const engine = new EngineDouble()
  const folder = tempFolder(t)
  const open = (node: string): Promise<TestService> =>
    openSharedLeases(t, engine.connect(), folder.file(`${node}.db`), { node })
  const [lost, here] = [await open('n9'), await open('n1')]
  const asked: string[] = []
  const state = {
    elected: true,
    node: 'present' as NodeState,
    pods: 'gone' as 'gone' | 'exists' | 'unknown',
    monotonic: 0,
  }
  const nodes = new LostNodes({
    service: here.service,
    election: { isElected: () => state.elected },
    cluster: {
      node: name => (name === 'n9' ? state.node : 'present'),
      ownerExists: async (namespace, { kind, name, uid }) => {
        asked.push(`${kind} ${namespace}/${name} ${uid}`)
        return await Promise.resolve(state.pods)
      },
    },
    askAfter: () => 300_000,
    monotonic: () => state.monotonic,
  })
  const look = async (after = 0): Promise<string[]> => {
    state.monotonic += after
    const seen = (await nodes.look()).map(
      ({ record, leases, goneFor, nodeWasThere, pod }) =>
        `${record.containerId} ${leases.map(({ address }) => address).join()} ${goneFor} ${nodeWasThere ? 'known' : 'unknown'} ${pod}`,
    )
    return seen.sort()
  }
  return { lost, here, nodes, state, asked, look }
}

t.test('only what lost nodes have left is looked at, and only by the elected one', async t => {
  const { lost, here, state, asked, look } = await openNodes(t)
  await lost.add({ pod: 'web-0', container: 'c1', node: 'n9' })
  await lost.add({ container: 'c2', node: 'n9' })
  await here.add({ pod: 'web-1', container: 'c3', node: 'n1' })
  await until('heard', () => here.leases().length === 3)
  t.strictSame(await look(), [], 'the node is there')
  for (const word of ['out-of-service', 'unknown'] as const) {
    state.node = word
    t.strictSame(await look(), [], word)
  }
  state.node = 'gone'
  state.elected = false
  t.strictSame(await look(500_000), [], 'not elected')
  state.elected = true
  const addressOf = (container: string): string | undefined =>
    here
      .leases()
      .find(line => line.endsWith(` ${container}`))
      ?.split(' ')[0]
  t.strictSame(await look(), [`c1 ${addressOf('c1')} 0 known later`, `c2 ${addressOf('c2')} 0 known none`])
  t.strictSame(asked, [])
  t.match(await look(299_999), [/299999 known later$/, /none$/])
  t.match(await look(1), [/300000 known gone$/, /none$/])
  t.match(await look(15_000), [/315000 known gone$/, /none$/])
  t.strictSame(asked, ['Pod shop/web-0 uid-of-c1'], 'asked once: it does not come back')
  state.node = 'unknown'
  t.strictSame(await look(), [])
  state.node = 'gone'
  t.match(await look(), [/ 0 known/, / 0 known/], 'a node that was there in between begins anew')
})

t.test('nodes of which there is only to tell', async t => {
  const { lost, here, state, nodes } = await openNodes(t)
  await lost.add({ pod: 'web-0', container: 'c1', node: 'n9' })
  await here.add({ pod: 'web-1', container: 'c3', node: 'n1' })
  await until('heard', () => here.leases().length === 2)
  const told = (asked: boolean): string[] =>
    nodes.told(asked).map(({ standing, leases }) => `${standing.node} ${standing.lost} ${leases.length}`)
  const table = [
    ['present', true, [], []],
    ['unknown', true, [], []],
    ['out-of-service', true, ['n9 out-of-service 1'], ['n9 out-of-service 1']],
    ['out-of-service', false, [], ['n9 out-of-service 1']],
    // What is gone the elected daemon ends, and tells of each by itself.
    ['gone', true, [], []],
    ['gone', false, [], ['n9 gone 1']],
  ] as const
  for (const [node, elected, usual, asked] of table) {
    Object.assign(state, { node, elected })
    t.strictSame([told(false), told(true)], [usual, asked], `${node}, ${elected ? 'elected' : 'not elected'}`)
  }
})

t.test('a pod that is there, or that nobody can tell of, is asked for again', async t => {
  const { lost, here, state, asked, look } = await openNodes(t)
  await lost.add({ pod: 'web-0', container: 'c1', node: 'n9' })
  await until('heard', () => here.leases().length === 1)
  Object.assign(state, { node: 'gone', pods: 'exists' })
  t.match(await look(), [/ 0 unknown later$/])
  t.match(await look(300_000), [/ exists$/])
  state.pods = 'unknown'
  t.match(await look(), [/ unknown unknown$/])
  t.equal(asked.length, 2)
})

t.test('ended as by a DEL: each address by its retention', async t => {
  const { lost, here, state, nodes } = await openNodes(t)
  await lost.add({ pod: 'web-0', container: 'c1', node: 'n9', ip: '10.22.0.50', retain: '30m' })
  await lost.add({ pod: 'a', container: 'c2', node: 'n9' })
  await until('heard', () => here.leases().length === 2)
  state.node = 'gone'
  for (const { record } of await nodes.look()) {
    t.ok(nodes.mayEnd(record))
    await delAttachment(here.service, record, undefined, { by: 'sweeper' })
  }
  t.match(
    here
      .leases()
      .sort()
      .map(line => line.split(' ').slice(1).join(' ')),
    ['cooling shop/a -', 'held shop/web-0 -'].sort((a, b) => (a < b ? -1 : 1)),
  )
  t.strictSame(await nodes.look(), [])
  t.equal(await here.add({ pod: 'web-0', container: 'c5', ip: '10.22.0.50' }), '10.22.0.50')
  state.elected = false
  t.notOk(
    nodes.mayEnd({
      ...here.service.ledger.attachment({ network: 'net', containerId: 'c5', ifname: 'eth0' })!,
      node: 'n9',
    }),
  )
})

t.test(
  'without a Kubernetes API: nodes that were declared gone, that are silent, and that nobody has heard of',
  async t => {
    const { lost, here } = await openNodes(t)
    await lost.add({ pod: 'web-0', container: 'c1', node: 'n9' })
    await until('heard', () => here.leases().length === 1)
    const { ledger } = here.service
    const silent = { kind: 'counting', age: 400_000, needed: 600_000 } as const
    const state = {
      forgotten: false,
      contact: { kind: 'unpromised' } as ContactAge,
      heard: undefined as number | undefined,
    }
    const nodes = new LostNodes({
      service: {
        ...here.service,
        lostNode: null,
        isForgotten: () => state.forgotten,
        contactAgeOf: () => state.contact,
        lastHeardOf: () => state.heard,
      },
      election: { isElected: () => false },
      cluster: undefined,
      ...{ askAfter: () => 0, monotonic: () => 0 },
    })
    const findings = (asked: boolean): string[] =>
      planReconcile(snapshot({ lostNodes: nodes.told(asked) }), new Map(), usualTerms, 0).planned.map(
        ({ finding: { says, remedy } }) => `${says} | ${remedy}`,
      )
    t.strictSame(await nodes.look(), [])
    t.strictSame([findings(true), nodes.unheard()], [[], ['n9']], 'nothing is known of it')
    state.heard = 5_000
    t.strictSame([findings(true), nodes.unheard()], [[], []], 'it was heard of')
    state.heard = undefined
    state.contact = silent
    await ledger.commit([
      {
        ...{ kind: 'node', key: 'n9', expect: null },
        record: nodeRecord('n9', { stopsAfter: 300_000 }),
      },
    ])
    t.match(findings(true), [
      /^node n9: last contact 6 min 40 s ago; .*, and 1 address is bound there: .* \| .*forget-node n9/,
    ])
    t.strictSame([findings(false), nodes.unheard()], [[], []], 'only for whoever asks')
    state.forgotten = true
    t.match(findings(true), [/^node n9 was declared gone for good, and 1 address is bound there: /])
  },
)
