/** A node of many gets another name: what becomes of its leases in an etcd that nodes share. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startEtcdCluster, type EtcdCluster } from '../rigs/etcd.ts'
import { makeMachine, newMachineId, type Machine } from '../rigs/machine.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'executables', 'etcd')

interface Site {
  readonly etcd: EtcdCluster
  readonly folder: TempFolder
  /** Another machine on the same etcd. */
  readonly machine: () => Machine
  /** Values of a kind in etcd, by the rest of their keys. */
  readonly records: (kind: string) => Promise<ReadonlyMap<string, string>>
}

async function start(t: Test, reconcile: object = { minAge: '365d' }): Promise<Site> {
  const folder = tempFolder(t)
  const etcd = await startEtcdCluster(t)
  const config = { kubernetes: { mode: 'off' }, reconcile: { interval: '1s', ...reconcile } }
  return {
    etcd,
    folder,
    machine: () => makeMachine(t, { folder, config, store: `etcd:${etcd.urls.join(',')}` }),
    records: async kind => {
      const prefix = `/ipkeeper/v1/${kind}/`
      return new Map([...(await etcd.all(prefix))].map(([key, value]) => [key.slice(prefix.length), value]))
    },
  }
}

/** What libcni keeps of an ADD, in a folder of its own. */
function cacheResult(results: string, stateDir: string): void {
  const plugin = { type: 'bridge', ipam: { type: 'ipkeeper', stateDir, subnet: '10.22.0.0/24' } }
  const network = JSON.stringify({ cniVersion: '1.0.0', name: 'net', plugins: [plugin] })
  const cached = {
    ...{ kind: 'cniCacheV1', containerId: 'c1', ifName: 'eth0', networkName: 'net', cniArgs: [] },
    config: Buffer.from(network).toString('base64'),
    result: { cniVersion: '1.0.0', ips: [{ address: '10.22.0.50/24' }], dns: {} },
  }
  writeFileSync(join(results, 'net-c1-eth0'), JSON.stringify(cached))
}

t.test('a node gets another name', { skip, timeout: 120_000 }, async t => {
  const { machine, records } = await start(t)
  const [one, two] = [machine(), machine()]
  await one.start('n1')
  await two.start('other')
  const live = await one.pod('live', '10.22.0.50')
  const dead = await one.pod('dead', '10.22.0.51')
  const kept = await one.pod('kept', '10.22.0.52', 'forever')
  const foreign = await two.pod('foreign', '10.22.0.60')
  for (const pod of [live, dead, kept, foreign]) await pod.add()
  await kept.del()
  await one.stop('SIGKILL')
  await dead.die()
  await one.start('n2')
  const wanted = {
    '10.22.0.50': 'bound n2',
    '10.22.0.51': 'bound n2',
    '10.22.0.52': 'held n2',
    '10.22.0.60': 'bound other',
  }
  t.match(await one.leases(), wanted)
  await until('the others hear of it', async () => (await two.leases())['10.22.0.52'] === 'held n2')
  t.match(await two.leases(), wanted)
  for (const kind of ['leases', 'holders'])
    for (const [key, value] of await records(kind)) t.notMatch(value, /"node":"n1"/, `${kind}/${key}`)
  t.same(
    (await one.audit()).findings.filter(({ action }) => action !== 'none').map(({ pod }) => pod),
    ['shop/dead'],
    'what died meanwhile is found',
  )
  t.equal(await (await dead.again()).add(), '10.22.0.51', 'and may be taken over')
  t.strictSame([await live.check(), await live.del()], ['', ''])
  t.match(one.identity(), { name: 'n2', alsoNames: [], formerNames: [{ name: 'n1' }] })
})

t.test('a store that is away, and another name', { skip, timeout: 120_000 }, async t => {
  const { etcd, machine } = await start(t)
  const one = machine()
  await one.start('n1')
  const live = await one.pod('live', '10.22.0.50')
  const dead = await one.pod('dead', '10.22.0.51')
  for (const pod of [live, dead]) await pod.add()
  await one.stop()
  await dead.die()
  const [member] = etcd.members
  await member!.kill()
  await one.start('n2')
  t.match(await one.status(), { node: 'n1', identity: { wanted: 'n2' } }, 'it goes on as it was called')
  t.equal(await (await dead.again()).add(), '10.22.0.51', 'what is bound here is served')
  t.equal(await live.del(), '')
  await one.stop()
  await member!.start()
  await one.start('n2')
  t.match(await one.leases(), { '10.22.0.50': 'cooling n2', '10.22.0.51': 'bound n2' })
})

t.test('the folder goes to another machine', { skip, timeout: 120_000 }, async t => {
  const { machine } = await start(t, { minAge: '1s', minAgeUnproved: '1s' })
  const [one, copy] = [machine(), machine()]
  await one.start('n1')
  const live = await one.pod('live', '10.22.0.50')
  await live.add()
  copy.copyFrom(one)
  copy.machineId(newMachineId())
  await copy.start('n2')
  t.match(copy.identity(), { copyOf: one.identity()['id'] })
  t.same((await copy.audit()).attachments, 0, 'what the other one has is nothing of its own')
  t.match(await (await copy.pod('new')).add(), /^10\.22\.0\.[0-9]+$/)
  t.match(await one.leases(), { '10.22.0.50': 'bound n1' })
  t.match(await (await copy.pod('live', '10.22.0.50')).add(), /older pod of that name|still held/)
})

t.test('the first start of a copy is broken off', { skip, timeout: 120_000 }, async t => {
  const { etcd, folder, machine } = await start(t)
  const one = machine()
  await one.start('n1')
  await (await one.pod('live', '10.22.0.50')).add()
  await one.stop()
  const results = folder.file('results')
  mkdirSync(results)
  const etcdStore: Record<string, unknown> = {}
  const config = {
    ...{ kubernetes: { mode: 'off' }, reconcile: { minAge: '365d' } },
    ...{ resultCache: { folders: { results: [results] } }, store: { etcd: etcdStore } },
  }
  const copy = makeMachine(t, { folder, config, store: `etcd:${etcd.urls.join(',')}` })
  copy.copyFrom(one)
  copy.machineId(newMachineId())
  // The runtime's records are on the copied disk as well.
  cacheResult(results, copy.stateDir)
  const passwordFile = folder.file('password')
  Object.assign(etcdStore, { user: 'somebody', passwordFile })
  const failed = await copy.startsInVain('n2')
  t.match(
    failed.stderr,
    /password cannot be read.*IPK_DAEMON_CONFIG/,
    'after the folder was taken, before anything was opened',
  )
  t.match(copy.identity(), { copyOf: one.identity()['id'] })
  delete etcdStore['user']
  delete etcdStore['passwordFile']
  await copy.start('n2')
  t.match(await (await copy.pod('new')).add(), /^10\.22\.0\.[0-9]+$/)
  await copy.stop()
  for (const file of ['journal.db', 'journal.db-wal']) rmSync(join(copy.stateDir, file), { force: true })
  t.match(
    (await copy.startsInVain('n2')).stderr,
    /IPK_STORE_MISSING/,
    'from then on one that is missing is missed',
  )
})

t.test('an upgrade after which names differ', { skip, timeout: 120_000 }, async t => {
  for (const [what, reboots, follows] of [
    ['in the same boot', false, true],
    ['after another boot', true, false],
  ] as const) {
    await t.test(what, async t => {
      // Who is proved dead by its boot is ended however young it is, before a slow look at it.
      const one = (await start(t, { mode: 'report' })).machine()
      await one.start('n1')
      await (await one.pod('live', '10.22.0.50')).add()
      await one.stop()
      one.forgetIdentity()
      if (reboots) one.reboot()
      await one.start('n2')
      t.match(await one.leases(), { '10.22.0.50': follows ? 'bound n2' : 'bound n1' })
      const found = (await one.audit()).findings.map(({ kind }) => kind)
      t.equal(found.includes('record-of-another-name'), !follows)
      if (follows) return
      // As the finding says.
      await one.stop()
      await one.start('n1')
      await one.stop()
      await one.start('n2')
      t.match(await one.leases(), { '10.22.0.50': 'bound n2' })
      t.match((await one.audit()).findings, [{ kind: 'dead-boot', pod: 'shop/live' }])
    })
  }
})
