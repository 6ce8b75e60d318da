/** What goes wrong between an engine and a real API server. */
import { renameSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { leaseKey, type LeaseRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import { EngineAway, type Engine, type EngineWrite } from '../../ipkeeper-server/store/shared/engine.ts'
import { lease, nodeText } from '../rigs/records.ts'
import { grantRights, ipkeeperToken, rbacObjects } from '../rigs/cluster-node.ts'
import { startCluster, type Cluster } from '../rigs/cluster.ts'
import { followEngine, type HeardRecords } from '../rigs/followed-engine.ts'
import {
  customResourceDefinitions,
  installCustomResources,
  openEngine,
  type EngineSettings,
} from '../rigs/custom-resources.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('cluster')

let last = 1
const fresh = (): LeaseRecord => lease(`10.9.${last >> 8}.${last++ & 255}`)

function put(record: LeaseRecord, base: number | null = null): EngineWrite {
  return { kind: 'lease', key: leaseKey(record), base, text: JSON.stringify(record) }
}

async function open(
  t: Test,
  cluster: Cluster,
  settings: EngineSettings = {},
): Promise<{ engine: Engine; heard: HeardRecords; lines: readonly Record<string, unknown>[] }> {
  const { engine, lines } = openEngine(t, cluster, settings)
  const heard = followEngine(engine)
  await until('the first list', () => heard.lists > 0)
  return { engine, heard, lines }
}

/** Commits until one succeeds, as whoever waits for an engine does. */
async function commitAtLast(engine: Engine, write: EngineWrite): Promise<void> {
  await until('a commit', async () => {
    try {
      await engine.probe()
      await engine.commit([write])
      return true
    } catch (error) {
      if (error instanceof EngineAway) return false
      throw error
    }
  })
}

async function hears(heard: HeardRecords, write: EngineWrite): Promise<void> {
  await until('the news', () => heard.records.has(`lease ${write.key}`))
}

t.test('a server that is away', { skip }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  const { engine, heard } = await open(t, cluster, { deadlineMs: 1500 })
  // A server has to think about rules when it meets them first.
  await commitAtLast(engine, put(fresh()))

  const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['commit', () => engine.commit([put(fresh())])],
    ['read', () => engine.read('lease', leaseKey(fresh()))],
    ['read of a reservation', () => engine.read('reservation', leaseKey(fresh()))],
    ['probe', () => engine.probe()],
  ]

  await t.test('frozen', async t => {
    cluster.freeze()
    for (const [name, call] of calls) {
      const began = performance.now()
      await t.rejects(call(), EngineAway, name)
      const took = performance.now() - began
      t.ok(took > 1000 && took < 2500, `${name} took ${Math.round(took)} ms`)
    }
    cluster.thaw()
    const write = put(fresh())
    await commitAtLast(engine, write)
    await hears(heard, write)
  })

  await t.test('stopped', async t => {
    await cluster.stop('SIGKILL')
    await until('trouble', () => heard.trouble !== undefined)
    for (const [name, call] of calls) {
      const began = performance.now()
      await t.rejects(call(), EngineAway, name)
      t.ok(performance.now() - began < 2500)
    }
    await cluster.start()
    const write = put(fresh())
    await commitAtLast(engine, write)
    await hears(heard, write)
    await until('no trouble', () => heard.trouble === undefined)
    t.strictSame(heard.faults, [])
  })

  await t.test('and has forgotten what was changed meanwhile', async t => {
    const [gone, changed, made] = [fresh(), fresh(), fresh()]
    const revisions = await engine.commit([put(gone), put(changed)])
    await cluster.stop('SIGKILL')
    await until('trouble', () => heard.trouble !== undefined)
    await cluster.start()
    const other = await open(t, cluster)
    // As soon as the server is back, and before the first one has noticed or not.
    await other.engine.commit([{ ...put(gone), base: revisions[0] ?? null, text: null }])
    await other.engine.commit([put({ ...changed, generation: 2 }, revisions[1] ?? null), put(made)])
    await cluster.compact()
    await cluster.stop('SIGKILL')
    await cluster.start()
    await until('all is heard of', () => {
      const now = heard.records.get(`lease ${leaseKey(changed)}`)
      return (
        now?.text.includes('"generation":2') === true &&
        heard.records.has(`lease ${leaseKey(made)}`) &&
        !heard.records.has(`lease ${leaseKey(gone)}`)
      )
    })
    t.strictSame(heard.faults, [])
  })
})

t.test('a watch from a version that the server has forgotten', { skip }, async t => {
  const cluster = await startCluster(t, { flags: ['--watch-cache=false'] })
  await installCustomResources(cluster)
  const { engine, heard } = await open(t, cluster, { timing: { watchFor: 500 } })
  const other = await open(t, cluster)
  const [first, second] = [fresh(), fresh()]
  const [revision = null] = await engine.commit([put(first)])
  for (let round = 0; round < 3; round++) {
    await other.engine.commit([put(fresh())])
    await cluster.compact()
  }
  await other.engine.commit([{ ...put(first), base: revision, text: null }, put(second)])
  await hears(heard, put(second))
  await until('it is gone', () => !heard.records.has(`lease ${leaseKey(first)}`))
  t.strictSame(heard.faults, [])
})

t.test('a server without the custom resources', { skip }, async t => {
  const cluster = await startCluster(t)
  const { engine } = openEngine(t, cluster)
  const heard = followEngine(engine)
  const wanted = {
    code: 'IPK_STORE_FAILED',
    message: 'the Kubernetes API has no ipleases.ipkeeper.io',
    hint: /kubectl apply -k deploy\/crds/,
  }
  await t.rejects(engine.commit([put(fresh())]), wanted)
  await t.rejects(engine.read('lease', leaseKey(fresh())), wanted)
  await until('trouble', () => heard.trouble?.startsWith('the Kubernetes API has no ip') === true)
  await installCustomResources(cluster)
  const write = put(fresh())
  await engine.probe()
  await engine.commit([write])
  await hears(heard, write)
})

t.test('rights', { skip }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  const lacking = rbacObjects().map(object =>
    object['kind'] === 'ClusterRole'
      ? {
          ...object,
          rules: (object['rules'] as readonly { resources: string[]; verbs: string[] }[]).map(rule => ({
            ...rule,
            verbs: rule.resources.includes('ipleases') ? ['list', 'watch', 'delete'] : rule.verbs,
          })),
        }
      : object,
  )
  await grantRights(cluster, lacking)
  const token = await cluster.serviceAccountToken('kube-system', 'ipkeeper')
  const { engine } = await open(t, cluster, { kubeconfig: cluster.kubeconfigFor({ token }) })
  await t.rejects(engine.commit([put(fresh())]), {
    code: 'IPK_STORE_FAILED',
    message: /ipkeeper may not create ipleases: .*403/,
    hint: /resources: \[ipleases\]\n +verbs: \[create\]/,
  })
  await t.rejects(engine.probe(), { code: 'IPK_STORE_FAILED', message: /may not create ipholders/ })
})

/** A record of a node, of a version that is not there. */
const nodeWrite: EngineWrite = {
  kind: 'node',
  key: 'n1',
  base: null,
  text: nodeText('n1'),
}

t.test('daemons that were upgraded before their custom resources', { skip }, async t => {
  const cluster = await startCluster(t)
  const [ofNodes, ...others] = [...customResourceDefinitions()].sort(
    (a, b) => Number(b['spec'].names.kind === 'IPNode') - Number(a['spec'].names.kind === 'IPNode'),
  )
  await installCustomResources(cluster, others)
  const { engine, heard, lines } = await open(t, cluster)
  const write = put(fresh())
  t.strictSame(await engine.commit([nodeWrite]), [0], 'is forgotten')
  await engine.commit([nodeWrite, write])
  await hears(heard, write)
  t.equal(await engine.read('node', 'n1'), undefined)
  t.equal(heard.trouble, undefined, 'nothing else is the matter')
  t.strictSame(engine.ignores, ['quota', 'mac', 'ending', 'node'])
  t.equal(
    engine.lacks,
    'no records of nodes are kept: the Kubernetes API has no ipnodes.ipkeeper.io; kubectl apply -k deploy/crds',
  )
  t.equal(lines.filter(({ reason }) => reason === 'the Kubernetes API has no ipnodes.ipkeeper.io').length, 1)
  await installCustomResources(cluster, [ofNodes!])
  await until('they are kept', () => engine.lacks === undefined)
  await engine.commit([nodeWrite])
  await until('the news', () => heard.records.has('node n1'))
  t.strictSame(heard.faults, [])
})

t.test('daemons that were upgraded before their rights', { skip }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  const without = (verbs: readonly string[]) =>
    rbacObjects().map(object =>
      object['kind'] === 'ClusterRole'
        ? {
            ...object,
            rules: (object['rules'] as readonly { resources: string[] }[]).flatMap(rule => [
              { ...rule, resources: rule.resources.filter(name => name !== 'ipnodes') },
              ...(rule.resources.includes('ipnodes') && verbs.length > 0
                ? [{ ...rule, resources: ['ipnodes'], verbs }]
                : []),
            ]),
          }
        : object,
    )
  await grantRights(cluster, without([]))
  const kubeconfig = cluster.kubeconfigFor({
    token: await cluster.serviceAccountToken('kube-system', 'ipkeeper'),
  })
  const none = await open(t, cluster, { kubeconfig })
  const write = put(fresh())
  await none.engine.commit([nodeWrite, write])
  await hears(none.heard, write)
  t.match(
    none.engine.lacks,
    /kept: ipkeeper may not list ipnodes: .*; kubectl apply -f deploy\/rbac\/rbac.yaml$/,
  )

  const clusterRole = '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipkeeper'
  const role = without(['list', 'watch']).find(({ kind }) => kind === 'ClusterRole')!
  await cluster.request('PATCH', clusterRole, { rules: role['rules'] as object })
  const reader = await open(t, cluster, { kubeconfig })
  await until('they may be read', () => reader.engine.lacks === undefined && none.engine.lacks === undefined)
  const second = put(fresh())
  await reader.engine.commit([second, nodeWrite])
  await hears(reader.heard, second)
  t.match(reader.engine.lacks, /kept: ipkeeper may not create ipnodes: /)
  t.strictSame(reader.heard.faults, [])
})

t.test('a token that is revoked and replaced', { skip }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  const folder = tempFolder(t)
  const tokenFile = folder.file('token')
  writeFileSync(tokenFile, await ipkeeperToken(cluster))
  const { engine, heard } = await open(t, cluster, { kubeconfig: cluster.kubeconfigFor({ tokenFile }) })
  await engine.commit([put(fresh())])
  await cluster.request('DELETE', '/api/v1/namespaces/kube-system/serviceaccounts/ipkeeper')
  // A server knows for a while whom it has let in.
  await cluster.stop('SIGKILL')
  await cluster.start()
  await until('it is refused', async () => {
    const refusal: unknown = await engine.commit([put(fresh())]).catch((error: unknown) => error)
    return refusal instanceof EngineAway && refusal.message.includes('401')
  })
  writeFileSync(`${tokenFile}.new`, await ipkeeperToken(cluster))
  renameSync(`${tokenFile}.new`, tokenFile)
  const write = put(fresh())
  await commitAtLast(engine, write)
  await hears(heard, write)
})
