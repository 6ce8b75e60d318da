import t, { type Test } from 'tap'
import { BridgeGateways } from '../../../../ipkeeper-server/network/node/bridge-gateways.ts'
import { GatewayRecords } from '../../../../ipkeeper-server/network/node/gateway-records.ts'
import type { BridgeFacts } from '../../../../ipkeeper-server/network/plan/wiring-job.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { toolDouble } from '../../../rigs/tool-double.ts'
import { sampleJob, type JobParts } from '../plan/sample-job.ts'

const old = '10.60.0.1/24'
const wanted = ['10.22.0.1/16', 'fd00:22::1/64']

/** A host with one bridge, which has these addresses, and what is told of it. */
function makeHost(t: Test, ...addresses: readonly string[]) {
  const folder = tempFolder(t)
  t.teardown(() => records.idle())
  const onBridge = new Set(addresses)
  const used = new Set<string>()
  const events: string[] = []
  const onProblem = (): void => void events.push('problem')
  const { run } = toolDouble(({ input = '' }) => {
    const [, address = ''] = /^address delete (\S+) dev ipk0\n$/.exec(input) ?? []
    events.push(`delete ${address}`)
    onBridge.delete(address)
    return {}
  })
  const records = new GatewayRecords({ stateDir: folder.path, bootId: 'b1', onProblem })
  const gateways = new BridgeGateways({
    ...{ run, records, onProblem },
    facts: { isGateway: () => false, podsBehind: cidr => (used.has(cidr) ? ['shop/web-0'] : []) },
    addressesOf: () => Promise.resolve([...onBridge]),
    onRemoved: (bridge, gone) => void events.push(`removed from ${bridge}: ${gone.join()}`),
  })
  const seen = (): BridgeFacts => ({
    ...{ state: 'bridge', mac: '', addresses: [...onBridge], filtersVlans: false },
    ours: [...onBridge].filter(address => records.of('ipk0').includes(address)),
  })
  const wire = async ({ survey, ...parts }: JobParts = {}, work?: () => void): Promise<void> => {
    await gateways.during(sampleJob({ ...parts, survey: { bridge: seen(), ...survey } }), async () => {
      await Promise.resolve()
      work?.()
      for (const address of wanted) onBridge.add(address)
    })
  }
  return { ...{ folder, onBridge, used, events, records, gateways, seen, wire } }
}

t.test('what is added is written down before, unless it is there', async t => {
  for (const [what, there, parts, expected] of [
    ['a bridge that is new', [], { survey: { bridge: { state: 'absent', mac: '' } } }, wanted],
    ['a bridge without addresses', [], {}, wanted],
    ['with one of somebody else’s', ['10.22.0.1/16'], {}, ['fd00:22::1/64']],
    [
      'which was not there when the bridge was looked at',
      ['10.22.0.1/16'],
      { survey: { bridge: { state: 'absent', mac: '' } } },
      ['fd00:22::1/64'],
    ],
    ['an underlay that is to be a gateway', [], { config: { mode: 'underlay' } }, wanted],
    ['no gateway', [], { config: { isGateway: false } }, []],
    ['no bridge', [], { config: { mode: 'ptp' }, survey: { bridge: undefined } }, []],
  ] as const) {
    const { records, wire } = makeHost(t, ...there)
    await wire(parts, () => {
      t.same(records.of('ipk0'), expected, what)
    })
  }
})

t.test('what was not added is not ours', async t => {
  const { records, wire, onBridge } = makeHost(t)
  const broken = (): never => {
    onBridge.add('10.22.0.1/16')
    throw new Error('no buffer space available')
  }
  await t.rejects(wire({}, broken), { message: 'no buffer space available' })
  t.same(records.of('ipk0'), ['10.22.0.1/16'])
})

t.test('what cannot be written down is somebody else’s, and the pod is wired', async t => {
  const { records, wire, events, onBridge, folder } = makeHost(t)
  folder.remove()
  await wire()
  t.same(events, ['problem'])
  t.same(records.of('ipk0'), [])
  t.same([...onBridge], wanted)
})

t.test('which addresses are taken away', async t => {
  for (const [what, use, parts, expected] of [
    ['nobody uses it', false, {}, [`delete ${old}`, `removed from ipk0: ${old}`]],
    ['a pod has it', true, {}, []],
    ['an underlay', false, { config: { mode: 'underlay' } }, []],
    ['no gateway', false, { config: { isGateway: false } }, []],
  ] as const) {
    const { records, wire, events, used, onBridge } = makeHost(t, old)
    await records.add('ipk0', [old])
    if (use) used.add(old)
    await wire(parts)
    t.same(events, expected, what)
    t.equal(records.of('ipk0').includes(old), onBridge.has(old), what)
  }
})

t.test('nobody is wired while addresses are taken away', async t => {
  const { records, wire, events } = makeHost(t, old)
  await records.add('ipk0', [old])
  const others = ['a', 'b', 'c'].map(name => wire({}, () => events.push(name)))
  await Promise.all(others)
  t.same(events.slice(0, 2), [`delete ${old}`, `removed from ipk0: ${old}`])
  t.same(events.slice(2).sort(), ['a', 'b', 'c'])
})

t.test('what somebody removes and adds again is his', async t => {
  const { records, wire, events, gateways, seen } = makeHost(t, old)
  await records.add('ipk0', [old])
  const before = seen()
  gateways.gone('br7', old)
  t.same(records.of('ipk0'), [old], 'another bridge')
  gateways.gone('ipk0', old)
  t.same(records.of('ipk0'), [])
  await wire({ survey: { bridge: before } })
  t.same(events, [], 'also for who has looked before')
})

t.test('a start forgets what is there no more', async t => {
  const { records, gateways, events } = makeHost(t, old)
  await records.add('ipk0', [old, '10.61.0.1/24'])
  await gateways.compare()
  t.same(records.of('ipk0'), [old])
  t.same(events, [])
})
