/** The nft table of masqueraded pods, in a kernel: a node that is a namespace, pods behind it, a machine outside. */
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { MasqueradeTable } from '../../ipkeeper-server/network/node/masquerade-table.ts'
import { setName, type MasqueradedPods } from '../../ipkeeper-server/network/plan/masquerade-rules.ts'
import type { RunTool, ToolRun } from '../../ipkeeper-server/network/run-tool.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { missing } from '../rigs/requirements.ts'
import { makeBridge, makeSpot, plugInto, seenFrom, startTeller, type Spot } from '../rigs/spot.ts'

const skip = missing('namespaces', 'nft')

const ranges = ['10.22.0.0/16', 'fd00:22::/64']
const pods = (...addresses: string[]): MasqueradedPods => ({ pool: 'fixed', ranges, addresses })

interface Counted {
  readonly run: RunTool
  readonly runs: ToolRun[]
}

/** Tools of a node, with a list of what was run. */
function counted(node: Spot): Counted {
  const runs: ToolRun[] = []
  return { runs, run: tool => (runs.push(tool), node.run(tool)) }
}

/** The whole ruleset, without the mark of its last change. */
async function list(node: Spot): Promise<string> {
  const ruleset = await node.must('nft', ['list', 'ruleset'])
  return ruleset.replace(/\tset revision {\n(\t\t.*\n)*\t}\n\n/, '')
}

const nobody = (): MasqueradedPods[] => []

/** What the daemon would know: `now` can be changed by the test. */
function memory(now: MasqueradedPods[] = []): { now: MasqueradedPods[]; everybody: () => MasqueradedPods[] } {
  const held = { now, everybody: () => held.now }
  return held
}

t.test('packets leave under the address of the node', { skip }, async t => {
  const [node, one, two, outside] = await Promise.all([makeSpot(t), makeSpot(t), makeSpot(t), makeSpot(t)])
  await makeBridge(node, 'ipk0')
  await node.ip('address add 10.22.0.1/16 dev ipk0', 'address add fd00:22::1/64 dev ipk0 nodad')
  await Promise.all([
    node.must('tee', ['/proc/sys/net/ipv4/ip_forward', '/proc/sys/net/ipv6/conf/all/forwarding'], '1'),
    plugInto(node, 'ipk0', one, 'port1'),
    plugInto(node, 'ipk0', two, 'port2'),
    node.ip(
      `link add uplink type veth peer name eth0 netns ${outside.pid}`,
      'link set uplink up',
      'address add 192.0.2.1/24 dev uplink',
      'address add 2001:db8::1/64 dev uplink nodad',
    ),
  ])
  const dress = async (spot: Spot, ...lines: string[]): Promise<void> => {
    await spot.ip('link set eth0 up', ...lines)
  }
  const podLines = (host: string): string[] => [
    `address add 10.22.0.${host}/16 dev eth0`,
    `address add fd00:22::${host}/64 dev eth0 nodad`,
    'route add default via 10.22.0.1',
    'route add default via fd00:22::1',
  ]
  await Promise.all([
    dress(one, ...podLines('50')),
    dress(two, ...podLines('51')),
    dress(
      outside,
      'address add 192.0.2.9/24 dev eth0',
      'address add 2001:db8::9/64 dev eth0 nodad',
      'route add 10.22.0.0/16 via 192.0.2.1',
      'route add fd00:22::/64 via 2001:db8::1',
    ),
  ])
  await Promise.all([startTeller(t, outside), startTeller(t, two)])
  const seen = async (spot: Spot): Promise<string[]> => [
    await seenFrom(spot, '192.0.2.9'),
    await seenFrom(spot, '2001:db8::9'),
  ]

  t.same(await seen(one), ['10.22.0.50', 'fd00:22::50'], 'before: under its own, or the test shows nothing')
  const masquerade = new MasqueradeTable({ run: node.run, everybody: nobody })
  await masquerade.add([pods('10.22.0.50', 'fd00:22::50')])
  t.same(await seen(one), ['192.0.2.1', '2001:db8::1'], 'both families')
  t.same(await seen(two), ['10.22.0.51', 'fd00:22::51'], 'one that is not among them')
  t.equal(await seenFrom(one, '10.22.0.51'), '10.22.0.50', 'pods see each other')
  t.equal(await seenFrom(one, 'fd00:22::51'), 'fd00:22::50')
  await masquerade.add([{ pool: 'fixed', ranges: [...ranges, '192.0.2.0/24'], addresses: ['10.22.0.51'] }])
  t.equal(await seenFrom(two, '192.0.2.9'), '10.22.0.51', 'never toward a range of its own')
  t.equal(await seenFrom(two, '2001:db8::9'), 'fd00:22::51', 'the other family was not asked for')
  await masquerade.add([pods('10.22.0.51')])
  t.equal(await seenFrom(two, '192.0.2.9'), '192.0.2.1', 'the ranges are those of the last ADD')
  await masquerade.remove(['10.22.0.50', 'fd00:22::50', '10.22.0.51'])
  t.same(await seen(one), ['10.22.0.50', 'fd00:22::50'], 'no more')
})

t.test('a table that somebody has damaged is mended by the next ADD', { skip }, async t => {
  const node = await makeSpot(t)
  const { run, runs } = counted(node)
  const masquerade = new MasqueradeTable({ run, everybody: nobody })
  const first = pods('10.22.0.50', 'fd00:22::50')
  await masquerade.add([first])
  const whole = await list(node)
  for (const [damage, processes] of [
    ['flush ruleset', 2],
    ['delete table inet ipkeeper', 2],
    ['flush table inet ipkeeper', 1],
    ['flush chain inet ipkeeper postrouting; delete chain inet ipkeeper postrouting', 2],
    [`flush chain inet ipkeeper postrouting; delete set inet ipkeeper ${setName('fixed', 4)}`, 2],
  ] as const) {
    await node.must('nft', ['-f', '-'], damage)
    t.not(await list(node), whole, `${damage} does damage`)
    t.not((await masquerade.differences([first])).length, 0, 'and CHECK says so')
    runs.length = 0
    await masquerade.add([pods('10.22.0.51')])
    t.equal(runs.length, processes, 'nft runs')
    t.same(await masquerade.differences([first, pods('10.22.0.51')]), [], damage)
    await masquerade.remove(['10.22.0.51'])
    t.equal(await list(node), whole, 'all as it was')
  }
})

t.test('a former ruleset that somebody restores is mended by the next change', { skip }, async t => {
  const node = await makeSpot(t)
  const { run, runs } = counted(node)
  const masquerade = new MasqueradeTable({ run, everybody: nobody })
  const [first, second, third] = ['10.22.0.50', '10.22.0.51', '10.22.0.52'].map(one => pods(one))
  const restore = async (ruleset: string): Promise<void> => {
    await node.must('nft', ['-f', '-'], `flush ruleset\n${ruleset}`)
  }
  const save = (): Promise<string> => node.must('nft', ['list', 'ruleset'])
  await masquerade.add([first!])
  const early = await save()
  await masquerade.add([second!])
  await restore(early)
  t.match(await masquerade.differences([second!]), [/lacks it/], 'it does damage')
  runs.length = 0
  await masquerade.add([third!])
  t.equal(runs.length, 2, 'nft runs')
  t.same(await masquerade.differences([first!, second!, third!]), [])

  await restore(await save())
  runs.length = 0
  await masquerade.add([third!])
  t.equal(runs.length, 1, 'the latest state is as good as never saved')

  const full = await save()
  await masquerade.remove(third!.addresses)
  await restore(full)
  await masquerade.remove(second!.addresses)
  t.same(await masquerade.differences([first!]), [])
  t.equal((await masquerade.differences([second!, third!])).length, 2, 'also a DEL finds it out')

  const former = new MasqueradeTable({ run, everybody: nobody })
  await former.add([third!])
  const ofFormer = await save()
  const later = new MasqueradeTable({ run, everybody: () => [first!] })
  await later.add([second!])
  await restore(ofFormer)
  await later.remove(['10.22.0.99'])
  await later.add([pods('10.22.0.53')])
  t.same(
    await later.differences([first!, second!]),
    [],
    'nor is the state of an earlier daemon taken for its own',
  )
})

t.test('what a DEL finds missing is no fault', { skip }, async t => {
  const node = await makeSpot(t)
  const { run, runs } = counted(node)
  const masquerade = new MasqueradeTable({ run, everybody: nobody })
  await masquerade.remove(['10.22.0.50'])
  await masquerade.remove([])
  await masquerade.add([{ ...pods(), addresses: [] }])
  t.equal(runs.length, 0, 'where nothing was ever masqueraded, nft is not needed')
  await masquerade.add([pods('10.22.0.50', '10.22.0.51')])
  await masquerade.remove(['10.22.0.52'])
  await node.must('nft', ['-f', '-'], `delete element inet ipkeeper ${setName('fixed', 4)} { 10.22.0.50 }`)
  await masquerade.remove(['10.22.0.50'])
  t.same(await masquerade.differences([pods('10.22.0.51')]), [], 'the other one is untouched')
  await node.must('nft', ['flush', 'ruleset'])
  await masquerade.remove(['10.22.0.51'])
  t.notMatch(await list(node), /elements/)
})

t.test('after the last DEL all is as after an earlier one', { skip }, async t => {
  const node = await makeSpot(t)
  const masquerade = new MasqueradeTable({ run: node.run, everybody: nobody })
  const round = async (): Promise<string> => {
    await masquerade.add([pods('10.22.0.50', 'fd00:22::50')])
    await masquerade.remove(['10.22.0.50', 'fd00:22::50'])
    return await list(node)
  }
  const once = await round()
  t.match(once, /masquerade comment "pool fixed"/)
  t.notMatch(once, /elements/)
  t.equal(await round(), once)
  await masquerade.add([{ ...pods('10.22.0.50'), pool: 'other' }])
  await masquerade.add([pods('10.22.0.50')])
  t.match(await masquerade.differences([{ ...pods('10.22.0.50'), pool: 'other' }]), [
    /^10\.22\.0\.50 .* lacks it/,
  ])
  t.same(await masquerade.differences([pods('10.22.0.50')]), [], 'an address is in the pool of its last ADD')
})

t.test('tables of others are left alone', { skip }, async t => {
  const node = await makeSpot(t)
  const theirs = 'table inet firewall {\n\tchain input {\n\t\ttcp dport 22 accept\n\t}\n}\n'
  await node.must('nft', ['-f', '-'], `${theirs}table ip ipkeeper {\n}\n`)
  const before = await list(node)
  const masquerade = new MasqueradeTable({ run: node.run, everybody: nobody })
  await masquerade.add([pods('10.22.0.50')])
  await node.must('nft', ['delete', 'table', 'inet', 'ipkeeper'])
  t.equal(await list(node), before)
  await masquerade.add([pods('10.22.0.51')])
  await node.must('nft', ['delete', 'table', 'inet', 'ipkeeper'])
  t.equal(await list(node), before)
})

t.test('a daemon that starts again', { skip }, async t => {
  const node = await makeSpot(t)
  const stays = pods('10.22.0.50')
  await new MasqueradeTable({ run: node.run, everybody: nobody }).add([
    stays,
    pods('10.22.0.51', '10.22.0.52'),
  ])
  const known = memory([stays, pods('10.22.0.51')])
  const again = new MasqueradeTable({ run: node.run, everybody: known.everybody })
  await again.remove(['10.22.0.51'])
  t.same(await again.differences([stays]), [])
  t.match(
    await again.differences([pods('10.22.0.51', '10.22.0.52')]),
    [/^10\.22\.0\.51 .* lacks it/, /^10\.22\.0\.52 .* lacks it/],
    'what nobody knows any more is gone with the first change',
  )
})

t.test('many at once share few runs of nft', { skip }, async t => {
  const node = await makeSpot(t)
  const { run, runs } = counted(node)
  const masquerade = new MasqueradeTable({ run, everybody: nobody })
  const each = Array.from({ length: 20 }, (_, index) => pods(`10.22.1.${index}`))
  await Promise.all(each.map(entry => masquerade.add([entry])))
  t.equal(runs.length, 1, 'those of one turn')
  t.same(await masquerade.differences(each), [])
  runs.length = 0
  await Promise.all(
    each.map(async (entry, index) => {
      for (let turn = 0; turn < index; turn++) await setImmediate()
      await masquerade.remove(entry.addresses)
      await masquerade.add([entry])
      if (index % 2 === 0) await masquerade.remove(entry.addresses)
    }),
  )
  t.ok(runs.length < 20, `${runs.length} runs for 50 changes`)
  t.same(await masquerade.differences(each.filter((_, index) => index % 2 === 1)), [])
  t.equal((await masquerade.differences(each)).length, 10)
})

t.test('an ADD is one run of nft, and no slower with 10,000 pods', { skip }, async t => {
  const node = await makeSpot(t)
  const medianOf = async (masquerade: MasqueradeTable, runs: ToolRun[]): Promise<number> => {
    await masquerade.add([pods('10.22.200.1')])
    runs.length = 0
    const times: number[] = []
    for (let round = 0; round < 11; round++) {
      const started = performance.now()
      await masquerade.add([pods(`10.22.201.${round}`)])
      times.push(performance.now() - started)
    }
    t.equal(runs.length, 11)
    t.ok(
      runs.every(({ input = '' }) => input.length < 1000 && !input.includes('list')),
      'a short script that lists nothing',
    )
    return times.toSorted((a, b) => a - b)[5]!
  }
  const many = Array.from({ length: 10_000 }, (_, index) => `10.22.${index >> 8}.${index & 255}`)
  const few = counted(node)
  const small = await medianOf(new MasqueradeTable({ run: few.run, everybody: nobody }), few.runs)
  const lots = counted(node)
  const full = await medianOf(
    new MasqueradeTable({ run: lots.run, everybody: () => [pods(...many)] }),
    lots.runs,
  )
  t.comment(`ADD with none: ${small.toFixed(1)} ms, with 10,000: ${full.toFixed(1)} ms`)
})

t.test('what the kernel refuses is an error of those who asked, and of nobody later', { skip }, async t => {
  const node = await makeSpot(t)
  let broken = true
  const run: RunTool = tool =>
    broken ? node.run({ ...tool, input: `${tool.input ?? ''}delete table inet nobodys\n` }) : node.run(tool)
  const masquerade = new MasqueradeTable({ run, everybody: nobody })
  const refused = { code: 'IPK_WIRING_FAILED', message: /cannot change nft table inet ipkeeper/ }
  await t.rejects(masquerade.add([pods('10.22.0.50')]), refused)
  await t.rejects(masquerade.add([pods('nonsense')]), /cannot be an element/)
  t.equal(await list(node), '')
  broken = false
  await masquerade.add([pods('10.22.0.51')])
  t.match(await masquerade.differences([pods('10.22.0.50')]), [/^10\.22\.0\.50 .* lacks it/], 'it had failed')
})

/** A table of whose node nft can be broken, and what was reported. */
async function breakable(t: Test): Promise<{
  readonly node: Spot
  readonly masquerade: MasqueradeTable
  readonly problems: unknown[]
  readonly nft: { works: boolean }
}> {
  const node = await makeSpot(t)
  const nft = { works: true }
  const problems: unknown[] = []
  const run: RunTool = async tool => {
    if (nft.works || tool.args.includes('list')) return await node.run(tool)
    throw new Problem('IPK_TOOL_MISSING', 'nft is not installed')
  }
  const onProblem = (error: unknown): void => void problems.push(error)
  return { node, problems, nft, masquerade: new MasqueradeTable({ run, everybody: nobody, onProblem }) }
}

t.test('no DEL ends at nft: what could not be taken out goes with the next change', { skip }, async t => {
  const { node, masquerade, problems, nft } = await breakable(t)
  await masquerade.add([pods('10.22.0.50', '10.22.0.51', '10.22.0.52')])
  nft.works = false
  await masquerade.remove(['10.22.0.50'])
  t.match(problems, [{ code: 'IPK_TOOL_MISSING' }], 'it is reported')
  t.same(await masquerade.differences([pods('10.22.0.50')]), [], 'it is still there')
  nft.works = true
  await masquerade.remove(['10.22.0.51'])
  t.equal((await masquerade.differences([pods('10.22.0.50', '10.22.0.51')])).length, 2, 'both are gone')
  t.same(await masquerade.differences([pods('10.22.0.52')]), [])

  nft.works = false
  await masquerade.remove(['10.22.0.52'])
  await masquerade.add([{ ...pods(), addresses: [] }])
  t.equal(problems.length, 3, 'an ADD without masquerade does not fail for it')
  nft.works = true
  await masquerade.add([])
  t.notMatch(await list(node), /elements/, 'and takes it out')
  t.equal(problems.length, 3)
  await new MasqueradeTable({
    run: () => Promise.reject(new Error('no')),
    everybody: () => [pods('10.22.0.1')],
  }).remove(['10.22.0.1'])
})

t.test('an ADD that failed leaves nothing behind, whatever it went along with', { skip }, async t => {
  const { masquerade, problems, nft } = await breakable(t)
  await masquerade.add([pods('10.22.0.50')])
  const elsewhere = (address: string): MasqueradedPods => ({ ...pods(address), pool: 'other' })
  const missingTool = { code: 'IPK_TOOL_MISSING' }
  const fails = (entry: MasqueradedPods): Promise<unknown> => t.rejects(masquerade.add([entry]), missingTool)
  nft.works = false
  await Promise.all([
    fails(elsewhere('10.22.0.50')),
    fails(pods('10.22.0.51')),
    masquerade.remove(['10.22.0.51']),
    masquerade.remove(['10.22.0.53']),
    fails(pods('10.22.0.53')),
  ])
  t.equal(problems.length, 1, 'once for those that share a run')
  await fails(pods('10.22.0.52'))
  await masquerade.remove(['10.22.0.52'])
  nft.works = true
  await masquerade.add([pods('10.22.0.60')])
  t.same(await masquerade.differences([pods('10.22.0.50', '10.22.0.60')]), [], 'one is where it was')
  const gone = pods('10.22.0.51', '10.22.0.52', '10.22.0.53')
  t.equal((await masquerade.differences([gone, elsewhere('10.22.0.50')])).length, 4)

  nft.works = false
  await Promise.all([masquerade.remove(['10.22.0.50']), fails(elsewhere('10.22.0.50'))])
  nft.works = true
  await masquerade.add([pods('10.22.0.61')])
  t.equal(
    (await masquerade.differences([pods('10.22.0.50'), elsewhere('10.22.0.50')])).length,
    2,
    'taken out first',
  )
})
