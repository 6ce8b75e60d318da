/** Several machines that want one name, or have one state folder, on an etcd that nodes share. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { startEtcdCluster, startRestorableEtcd, type EtcdCluster } from '../rigs/etcd.ts'
import { logs } from '../rigs/logs.ts'
import { makeMachine, newMachineId, type Machine } from '../rigs/machine.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { mustRun } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'executables', 'etcd')
// They wait for answers most of the time.
t.jobs = 3

/** How a DaemonSet asks its daemon, by words after "ipkeeper-server ctl". */
const { spec } = parse(
  readFileSync(join(import.meta.dirname, '../../deploy/kubernetes/base/daemonset.yaml'), 'utf8'),
) as { readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [Probes] } } } }
const [probes] = spec.template.spec.containers

interface Probe {
  readonly exec: { readonly command: readonly string[] }
}
type Probes = Readonly<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', Probe>>

interface Site {
  readonly etcd: EtcdCluster
  readonly one: Machine
  readonly two: Machine
  readonly nodeRecord: (name: string) => Promise<string | undefined>
  /** Where libcni would keep results of ADDs. */
  readonly results: string
}

async function start(t: Test): Promise<Site> {
  const folder = tempFolder(t)
  const etcd = await startEtcdCluster(t)
  const results = folder.file('results')
  mkdirSync(results)
  const config = {
    kubernetes: { mode: 'off' },
    resultCache: { folders: { results: [results] } },
    reconcile: { interval: '1s', minAge: '1s', minAgeUnproved: '1s' },
  }
  const machine = (): Machine => makeMachine(t, { folder, config, store: `etcd:${etcd.urls.join(',')}` })
  return {
    ...{ etcd, one: machine(), two: machine(), results },
    nodeRecord: async name =>
      (await etcd.all('/ipkeeper/v1/nodes/')).get(`/ipkeeper/v1/nodes/=${encodeURIComponent(name)}`),
  }
}

/** Whoever is refused says so to everybody and does nothing else; the first one has noticed nothing but that. */
async function isRefused(
  t: Test,
  { one, two }: Site,
  name: string,
  says: RegExp,
  hint: RegExp,
): Promise<void> {
  const live = await one.pod('live', '10.22.0.50')
  t.equal(await live.add(), '10.22.0.50')
  const refused = await two.startRefused(name)
  await logs(t, refused, says)
  await logs(t, refused, hint)
  const { exit, stderr } = await refused.control('status')
  t.ok(exit !== 0)
  for (const text of [says, hint]) t.match(stderr, text, 'whoever asks is told')
  const probe = async (name: keyof typeof probes): Promise<readonly [number | null, string]> => {
    const [, , ...words] = probes[name].exec.command
    const probed = await refused.control(...words)
    return [probed.exit, probed.stdout + probed.stderr]
  }
  for (const name of ['startupProbe', 'livenessProbe'] as const)
    t.match(await probe(name), [0, says], `${name}: a DaemonSet lets it say so`)
  t.match(await probe('readinessProbe'), [1, says], 'and its pod is not ready, with the reason')
  const pod = await two.pod('new')
  t.match(await pod.add(), says)
  t.match(await pod.add(), /\[IPK_NODE_NAME_TAKEN/)
  t.equal(await pod.delInstead(live), '', 'a DEL waits for better times')
  t.match((await refused.ask('GET', '/metrics')).body, /^ipkeeper_node_name_lost 1$/m)
  await logs(t, one.daemon(), /another machine claimed the name n1 and was refused/)
  t.match((await one.daemon().ask('GET', '/metrics')).body, /^ipkeeper_node_name_challenges_total [1-9]/m)
  t.match((await one.daemon().ask('GET', '/metrics')).body, /^ipkeeper_node_name_lost 0$/m)
  t.match(await one.leases(), { '10.22.0.50': 'bound n1' }, 'and ends nothing of the first')
  t.strictSame([await live.check(), await live.del()], ['', ''])
  t.match(await (await one.pod('next', '10.22.0.51')).add(), '10.22.0.51')
  t.equal(await refused.stop(), 0)
}

t.test('two machines with one name', { skip, timeout: 120_000 }, async t => {
  const site = await start(t)
  const { one, two } = site
  await one.start('n1')
  const { id } = one.identity()
  const short = String(id).slice(0, 12)
  await isRefused(
    ...([t, site, 'n1'] as const),
    new RegExp(
      `node n1 is another machine that runs \\(ID ${short} since .*\\); this one is ID [0-9a-f]{12}`,
    ),
    /give this machine a name of its own/,
  )
  await two.start('n2')
  t.match(await two.status(), { node: 'n2' }, 'with a name of its own it may come in')
})

for (const [what, other, name, says] of [
  ['its name', undefined, 'n1', /a machine with a copy of this state folder runs as node n1/],
  ['another name', undefined, 'n2', /a machine with a copy of this state folder runs as node n1/],
  ['its name and another machine ID', newMachineId(), 'n1', /node n1 is another machine that runs/],
] as const) {
  t.test(`a copy of a machine that runs, with ${what}`, { skip, timeout: 120_000 }, async t => {
    const site = await start(t)
    const { one, two } = site
    await one.start('n1')
    await (await one.pod('kept', '10.22.0.60')).add()
    two.copyFrom(one)
    if (other !== undefined) two.machineId(other)
    await isRefused(t, site, name, says, other === undefined ? /mv .* .*\.copy\// : /name of its own/)
    const again = await two.startRefused(name)
    await logs(t, again, says, 'nor is it let in when it tries again')
    await two.stop('SIGKILL')
    t.match(await one.leases(), { '10.22.0.60': 'bound n1' })
    if (other === undefined) return
    await two.start('n2')
    t.not(two.identity()['id'], one.identity()['id'], 'as the hint says')
  })
}

/** What libcni has kept on the disk that was copied. */
function cacheResult(results: string, stateDir: string): void {
  const network = { name: 'fixed', plugins: [{ type: 'bridge', ipam: { type: 'ipkeeper', stateDir } }] }
  const cached = {
    ...{ kind: 'cniCacheV1', containerId: 'c'.repeat(64), ifName: 'eth0', networkName: 'fixed', cniArgs: [] },
    config: Buffer.from(JSON.stringify({ cniVersion: '1.0.0', ...network })).toString('base64'),
    result: { cniVersion: '1.0.0', ips: [{ address: '10.22.0.60/24' }], dns: {} },
  }
  writeFileSync(join(results, `fixed-${cached.containerId}-eth0`), JSON.stringify(cached))
}

for (const [what, mounts, runs] of [
  ['', false, false],
  [', and has a mount for its state folder', true, false],
  [', but cannot stop its daemon before', true, true],
] as const) {
  t.test(`the copy does what it is told${what}`, { skip, timeout: 120_000 }, async t => {
    const { one, two, results } = await start(t)
    await one.start('n1')
    await (await one.pod('kept', '10.22.0.60')).add()
    if (mounts) {
      mkdirSync(two.stateDir)
      await mustRun('mount', ['-t', 'tmpfs', 'state', two.stateDir])
      t.teardown(() => mustRun('umount', ['--lazy', two.stateDir]))
    }
    two.copyFrom(one)
    cacheResult(results, two.stateDir)
    const refused = await two.startRefused('n2')
    const [, commands = ''] = /stop the daemon, (.*?), and start it again/.exec(refused.log()) ?? []
    if (!runs) await two.stop()
    await mustRun('sh', ['-ec', commands])
    if (runs) await two.stop()
    await two.start('n2')
    t.not(two.identity()['id'], one.identity()['id'], 'it is a node of its own')
    t.match(await two.leases(), { '10.22.0.60': 'bound n1' }, 'and has taken nothing away')
    t.ok(readdirSync(`${two.stateDir}.copy`).includes('node.json'), 'what was copied is kept')
  })
}

t.test('who was refused a name has nothing under it', { skip, timeout: 120_000 }, async t => {
  const folder = tempFolder(t)
  const etcd = await startRestorableEtcd(t, folder)
  const config = { kubernetes: { mode: 'off' }, reconcile: { interval: '1s', minAge: '365d' } }
  const machine = (): Machine => makeMachine(t, { folder, config, store: `etcd:${etcd.url}` })
  const [one, two] = [machine(), machine()]
  await one.start('n1')
  await (await one.pod('early', '10.22.0.50')).add()
  const refused = await two.startRefused('n1')
  t.equal(await (await one.pod('later', '10.22.0.51')).add(), '10.22.0.51')
  const snapshot = folder.file('snapshot')
  await etcd.save(snapshot)
  t.equal(await (await one.pod('last', '10.22.0.52')).add(), '10.22.0.52')
  await etcd.restore(snapshot)
  await logs(t, refused, /lost records|gone back/)
  await until('the loss is over', async () => {
    const { store } = await one.status()
    return store.state === 'ready' && store.owed === 0
  })
  t.match(await one.leases(), {
    '10.22.0.50': 'bound n1',
    '10.22.0.51': 'bound n1',
    '10.22.0.52': 'bound n1',
  })
  t.match(await (await one.pod('next', '10.22.0.51')).add(), /held by shop\/later/)
  t.equal(await refused.stop(), 0)
})

t.test('nobody asks whom nobody contradicts: restarts cost nothing', { skip, timeout: 120_000 }, async t => {
  const { one, nodeRecord } = await start(t)
  await one.start('n1')
  const before = await nodeRecord('n1')
  t.match(before, /"claim":\{/)
  for (let turn = 0; turn < 2; turn++) {
    await one.stop(turn === 0 ? 'SIGTERM' : 'SIGKILL')
    await one.start('n1')
    t.equal(await nodeRecord('n1'), before, 'who asks writes its question there')
  }
  await one.stop()
  one.reboot()
  await one.start('n1')
  t.not(await nodeRecord('n1'), before, 'another boot might be a copy, and asks')
})

t.test('a machine that was installed afresh', { skip, timeout: 120_000 }, async t => {
  const { one } = await start(t)
  await one.start('n1')
  const old = await one.pod('old', '10.22.0.50')
  await old.add()
  const { id } = one.identity()
  await one.stop('SIGKILL')
  one.reinstall()
  await one.start('n1')
  t.not(one.identity()['id'], id)
  t.match(await one.status(), { node: 'n1' }, 'it gets its name')
  t.match(
    await one.leases(),
    { '10.22.0.50': 'bound n1' },
    'and what was there is in use until somebody proves otherwise',
  )
  t.match(await (await one.pod('old', '10.22.0.50')).add(), /still held by shop\/old/)
  await until('the audit has it', async () =>
    (await one.audit()).findings.some(({ state }) => state === 'reported'),
  )
  t.match((await one.audit()).findings, [
    {
      kind: 'lease-without-record',
      address: /^10\.22\.0\.50/,
      remedy: /release (?:--socket \S+ )?--force 10\.22\.0\.50 --powered-off$/,
    },
  ])
  const words = ['release', '--force', '10.22.0.50', '--powered-off', '--yes']
  t.match(await one.daemon().control(...words), { exit: 0 }, 'as the finding says')
  t.match(await one.leases(), { '10.22.0.50': 'cooling n1' })
  t.same((await one.audit()).findings, [])
})

t.test('a claimant that is frozen while another one comes', { skip, timeout: 120_000 }, async t => {
  const { one, two } = await start(t)
  await one.start('n1')
  const live = await one.pod('live', '10.22.0.50')
  await live.add()
  one.daemon().kill('SIGSTOP')
  await two.start('n1')
  t.match(await two.leases(), { '10.22.0.50': 'bound n1' })
  t.match(await (await two.pod('live', '10.22.0.50')).add(), /still held/, 'the silence proves nothing')
  one.daemon().kill('SIGCONT')
  await until('the first one knows', () =>
    Promise.resolve(/no ADD is served: node n1 is another machine/.test(one.daemon().log())),
  )
  t.match(await (await one.pod('new')).add(), /^11 node n1 is another machine that runs/)
  t.equal(await live.del(), '', 'DELs go on')
  t.match(await (await two.pod('new')).add(), /^10\.22\.0\./)
})

t.test('another one comes while etcd is away', { skip, timeout: 120_000 }, async t => {
  const { etcd, one, two } = await start(t)
  const [member] = etcd.members
  await one.start('n1')
  await member!.kill()
  await two.start('n1')
  const answers: string[] = []
  let isRefused = false
  const asks = async (): Promise<void> => {
    const pod = await two.pod(`new-${randomBytes(3).toString('hex')}`)
    while (!isRefused) {
      const answer = await pod.add()
      answers.push(answer)
      isRefused ||= /is another machine that runs/.test(answer)
    }
  }
  const asking = [asks(), asks(), asks()]
  await until('it asks', () => answers.length > 0)
  await member!.start()
  await Promise.all(asking)
  t.strictSame(
    answers.filter(answer => answer.startsWith('10.')),
    [],
    'it gives no address under a name that is not known to be its own',
  )
})

t.test('killed again and again while it gets another name', { skip, timeout: 120_000 }, async t => {
  const { one, nodeRecord } = await start(t)
  await one.start('n1')
  const pods = await Promise.all(
    Array.from({ length: 24 }, (_, index) => one.pod(`p${index}`, `10.22.0.${100 + index}`)),
  )
  for (const pod of pods) await pod.add()
  await one.stop('SIGKILL')
  for (const name of ['n2', 'n3', 'n2', 'n3', 'n2']) {
    await one.startsInVain(name, Math.round(250 + Math.random() * 700))
    await delay(0)
  }
  await one.start('n2')
  const names = Object.values(await one.leases())
  t.strictSame([...new Set(names)], ['bound n2'])
  t.equal(names.length, 24)
  t.match(await nodeRecord('n1'), /"gone":\{/, 'n1 is given up')
  // It may have been killed each time before it had claimed that one.
  const third = (await nodeRecord('n3')) ?? '"gone":{'
  t.ok(third.includes('"gone":{') && !third.includes('"claim":{'), 'n3 is given up, or was never had')
  t.match(await nodeRecord('n2'), /"claim":\{/)
  for (const pod of pods) t.equal(await pod.del(), '')
})
