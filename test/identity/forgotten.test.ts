/** An operator says of a node that it is gone for good, and errs, or not: machines on an etcd that they share. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { NodeRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import { startEtcdCluster } from '../rigs/etcd.ts'
import { logs } from '../rigs/logs.ts'
import { makeMachine, type Machine, type MachinePod } from '../rigs/machine.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'executables', 'etcd')
const options = { skip, timeout: 120_000 }
// They wait for answers most of the time.
t.jobs = 3

/** Milliseconds that a node has to answer before anything is written. */
const answerWithin = 15_000

interface Site {
  /** Where the operator types. */
  readonly one: Machine
  /** The other one, n2, and a pod there. */
  readonly two: Machine
  readonly pod: MachinePod
  readonly nodeRecord: (name: string) => Promise<NodeRecord>
  /** A pod of the same name on the first node: its address, or why it has none. */
  readonly moved: () => Promise<string>
}

async function start(t: Test): Promise<Site> {
  const folder = tempFolder(t)
  const etcd = await startEtcdCluster(t)
  const config = { kubernetes: { mode: 'off' }, reconcile: { minAge: '365d' } }
  const machine = (): Machine => makeMachine(t, { folder, config, store: `etcd:${etcd.urls.join(',')}` })
  const [one, two] = [machine(), machine()]
  await Promise.all([one.start('n1'), two.start('n2')])
  const pod = await two.pod('web-0', '10.22.0.50')
  t.equal(await pod.add(), '10.22.0.50')
  const next = await one.pod('web-0', '10.22.0.50')
  return {
    ...{ one, two, pod },
    nodeRecord: async name => {
      const texts = await etcd.all('/ipkeeper/v1/nodes/')
      const text = texts.get(`/ipkeeper/v1/nodes/=${name}`)
      if (text === undefined) throw new Error(`etcd has no record of node ${name}`)
      return (JSON.parse(text) as { readonly record: NodeRecord }).record
    },
    moved: () => next.add(),
  }
}

/** Nothing of the question is left, and the node is not gone. */
async function isUntouched(t: Test, { nodeRecord }: Site, what: string): Promise<void> {
  const { challenge, gone } = await nodeRecord('n2')
  t.strictSame({ challenge, gone }, { challenge: undefined, gone: undefined }, what)
}

const isHeld = /still held by shop\/web-0/
const lives =
  /^error: node n2 is running: its daemon answered \(ID [0-9a-f]{12} since 20.*Z.*\).*\[IPK_NODE_LIVES\]\nhint: /

t.test('a node that lives is not forgotten, though it answers late', options, async t => {
  const site = await start(t)
  const { one, two, pod, nodeRecord, moved } = site
  two.daemon().kill('SIGSTOP')
  const forgetting = one.daemon().control('forget-node', 'n2')
  const told: string[] = []
  const end = performance.now() + 2_500
  while (performance.now() < end) {
    if ((await nodeRecord('n2')).gone) told.push('it is gone')
    const answer = await moved()
    if (!isHeld.test(answer)) told.push(answer)
    await delay(20)
  }
  t.strictSame(told, [], 'nothing is said of it, and nobody gets what its pods have')
  two.daemon().kill('SIGCONT')
  const { exit, stdout, stderr } = await forgetting
  t.strictSame({ exit, stdout }, { exit: 1, stdout: '' })
  t.match(stderr, lives)
  await isUntouched(t, site, 'and all is as it was')
  t.match(await moved(), isHeld)
  await logs(t, two.daemon(), /node n1 asked whether this node is running/, 'who asked stands in its log')
  t.match((await two.daemon().ask('GET', '/metrics')).body, /^ipkeeper_node_name_challenges_total 0$/m)
  t.strictSame([await pod.check(), await pod.del()], ['', ''])
  t.equal(await (await two.pod('next', '10.22.0.51')).add(), '10.22.0.51', 'it goes on')
})

t.test('a node that is silent is gone after fifteen seconds, and not before', options, async t => {
  const { one, two, nodeRecord, moved } = await start(t)
  await two.stop('SIGKILL')
  const { exit, stdout, ms } = await one.daemon().control('forget-node', 'n2')
  t.equal(exit, 0)
  t.match(stdout, /^node n2 is now gone for good: .*\n1 address is bound on it: .*\n/)
  t.ok(ms >= answerWithin, `${ms} ms`)
  t.match(await nodeRecord('n2'), { gone: { by: 'n1' }, claim: { id: two.identity()['id'] } })
  t.equal((await nodeRecord('n2')).challenge, undefined)
  t.equal(await moved(), '10.22.0.50')
  await two.start('n2')
  t.equal((await nodeRecord('n2')).gone, undefined, 'it comes back all the same')
})

t.test('an operator who changes his mind has said nothing', options, async t => {
  const site = await start(t)
  const { one, two, nodeRecord, moved } = site
  await two.stop('SIGKILL')
  const words = ['forget-node', 'n2', '--socket', one.daemon().socket]
  let pid = 0
  const forgetting = runProgram(join(distFolder, 'ipkeeperctl'), words, { started: own => (pid = own) })
  await until('it is asked', async () => (await nodeRecord('n2')).challenge !== undefined)
  process.kill(pid, 'SIGINT')
  t.not((await forgetting).exit, 0)
  await until('the question is taken back', async () => (await nodeRecord('n2')).challenge === undefined)
  await delay(answerWithin + 500)
  await isUntouched(t, site, 'not later either')
  t.match(await moved(), isHeld)
})

for (const [what, reboots] of [
  ['a daemon that is started again', false],
  ['a machine that boots', true],
] as const) {
  t.test(`${what} meanwhile is not taken for dead`, options, async t => {
    const site = await start(t)
    const { one, two, nodeRecord } = site
    await two.stop('SIGKILL')
    const forgetting = one.daemon().control('forget-node', 'n2')
    await until('it is asked', async () => (await nodeRecord('n2')).challenge !== undefined)
    if (reboots) two.reboot()
    await two.start('n2')
    const { exit, stderr } = await forgetting
    t.equal(exit, 1)
    t.match(stderr, lives)
    await isUntouched(t, site, 'and all is as it was')
    t.match(await two.status(), { node: 'n2' })
    t.equal(await (await two.pod('next', '10.22.0.51')).add(), '10.22.0.51', 'it serves')
  })
}

t.test('two operators at once hear the same', options, async t => {
  const site = await start(t)
  const { one, two, nodeRecord } = site
  const both = async (): Promise<readonly (readonly [exit: number | null, said: string])[]> =>
    await Promise.all(
      [0, 1].map(async () => {
        const { exit, stdout, stderr } = await one.daemon().control('forget-node', 'n2')
        return [exit, stdout + stderr] as const
      }),
    )
  for (const [exit, said] of await both()) {
    t.equal(exit, 1)
    t.match(said, lives)
  }
  await isUntouched(t, site, 'and all is as it was')
  await two.stop('SIGKILL')
  const said = await both()
  t.strictSame(
    said.map(([exit]) => exit),
    [0, 0],
  )
  const texts = said.map(([, text]) => text.split('\n')[0] ?? '').sort()
  t.match(texts, [
    /^node n2 is now gone for good/,
    /^nothing was changed: node n2 was already declared gone for good, on node n1 at /,
  ])
  t.match(await nodeRecord('n2'), { gone: { by: 'n1' } })
})
