/** An IPPool that is deleted stays as long as anybody's lease needs it, whatever the daemon that looks knows by then. */
import t, { type Test } from 'tap'
import { leaseKey } from '../../ipkeeper-server/ipam/records/records.ts'
import { systemClock } from '../../ipkeeper-server/kubernetes/client-context.ts'
import { leaseSpec } from '../../ipkeeper-server/store/kubernetes/lease-object.ts'
import { leaseObjectName } from '../../ipkeeper-server/store/kubernetes/object-name.ts'
import {
  createNamespace,
  createNode,
  createPod,
  grantRights,
  ipkeeperToken,
  rbacObjects,
  startClusterNode,
} from '../rigs/cluster-node.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { startCluster, type Cluster } from '../rigs/cluster.ts'
import { installCustomResources, openEngine, type EngineSettings } from '../rigs/custom-resources.ts'
import { followEngine } from '../rigs/followed-engine.ts'
import { until } from '../rigs/poll.ts'
import { lease } from '../rigs/records.ts'
import { missing } from '../rigs/requirements.ts'

const root = '/apis/ipkeeper.io/v1alpha1'
const finalizer = 'ipkeeper.io/addresses-in-use'

const bound = lease('10.30.0.2', 1, { pool: 'prod', prefixLength: 26, node: 'worker-1', retain: 'release' })

/** A lease of a node whose daemon does not run; `of` says in what it is another one. */
async function leaveLease(
  cluster: Cluster,
  of: { readonly address?: string; readonly pool?: string; readonly state?: string } = {},
): Promise<void> {
  const { segment, address } = { ...bound, ...of }
  await cluster.create({
    apiVersion: 'ipkeeper.io/v1alpha1',
    kind: 'IPLease',
    metadata: { name: leaseObjectName(leaseKey({ segment, address })) },
    spec: { ...leaseSpec(bound), ...of },
  })
}

/** A pool that somebody has deleted, and that a daemon of earlier keeps. */
async function leaveDeletedPool(cluster: Cluster, name: string, subnet: string): Promise<void> {
  const metadata = { name, finalizers: [finalizer] }
  await cluster.create({ apiVersion: 'ipkeeper.io/v1alpha1', kind: 'IPPool', metadata, spec: { subnet } })
  await cluster.request('DELETE', `${root}/ippools/${name}`)
}

async function poolNames(cluster: Cluster): Promise<readonly string[]> {
  const { items } = await cluster.request('GET', `${root}/ippools`)
  return (items as ApiObject[]).map(({ metadata }) => metadata.name as string).sort()
}

/** The rights of deploy/rbac/rbac.yaml, without those to see leases. */
function withoutLeases(): readonly ApiObject[] {
  return rbacObjects().map(object => {
    if (object['kind'] !== 'ClusterRole') return object
    const rules = (object['rules'] as { resources: string[] }[]).map(rule => ({
      ...rule,
      resources: rule.resources.filter(name => name !== 'ipleases'),
    }))
    return { ...object, rules }
  })
}

const allRules = (): unknown => rbacObjects().find(({ kind }) => kind === 'ClusterRole')?.['rules']

const grantAll = (cluster: Cluster): Promise<ApiObject> =>
  cluster.request('PATCH', '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipkeeper', { rules: allRules() })

t.setTimeout(180_000)

t.test(
  'a daemon that starts while a pool is deleted',
  { skip: missing('cluster', 'executables'), timeout: 90_000 },
  async t => {
    const cluster = await startCluster(t)
    await installCustomResources(cluster)
    await createNamespace(cluster, 'shop')
    await createNode(cluster, 'worker-2')
    await leaveLease(cluster)
    await leaveDeletedPool(cluster, 'prod', '10.30.0.0/26')
    await leaveDeletedPool(cluster, 'unused', '10.31.0.0/26')
    await grantRights(cluster, withoutLeases())
    const kubeconfig = cluster.kubeconfigFor({ token: await ipkeeperToken(cluster) })
    // It hears of the pools at once and of the leases never, until it gives up waiting and serves what its journal has.
    const node = await startClusterNode(t, cluster, {
      ...{ name: 'worker-2', kubeconfig, args: ['--store', 'kubernetes:'], ipam: { pool: 'prod' } },
      ...{ unwatched: true },
    })
    t.same(await poolNames(cluster), ['prod', 'unused'], 'what is not known is in use')
    await grantAll(cluster)
    await until('the store is ready', async () => (await node.status()).store.state === 'ready')
    await until('a pool that nobody uses goes', async () => !(await poolNames(cluster)).includes('unused'))
    t.same(await poolNames(cluster), ['prod'], 'a lease of a node whose daemon is down keeps it')
    const web = await createPod(cluster, 'web-1', {}, { node: 'worker-2' })
    t.match(await node.add(web), { ips: [/^10\.30\.0\.\d+\/26$/] }, 'and it stays in force')
  },
)

/** An engine whose guard looks many times a second, and how often it did at each pool. */
function openGuard(
  t: Test,
  cluster: Cluster,
  { isPoolInUse = () => false, ...settings }: Pick<EngineSettings, 'isPoolInUse' | 'kubeconfig'>,
): { readonly looksAt: (pool: string) => number } {
  const looks: string[] = []
  const { engine } = openEngine(t, cluster, {
    ...settings,
    clock: { ...systemClock, random: () => 0.01 },
    isPoolInUse: name => {
      looks.push(name)
      return isPoolInUse(name)
    },
  })
  followEngine(engine)
  return { looksAt: pool => looks.filter(name => name === pool).length }
}

t.test('what a guard goes by', { skip: missing('cluster'), timeout: 60_000 }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  const unknown = (): undefined => undefined
  const broken = (): never => {
    throw new Error('broken')
  }
  const resting = { state: 'cooling', attachment: undefined }
  const cases = [
    ['a lease of another node that is not heard of here', {}, () => false, true],
    ['one that is kept', { state: 'held', attachment: undefined }, () => false, true],
    ['one of a form that only a newer ipkeeper reads', { schema: 99 }, () => false, true],
    ['a ledger that is not heard out', resting, unknown, true],
    ['a ledger that cannot be asked', resting, broken, true],
    ['one that only rests', resting, () => false, false],
  ] as const
  const pools = cases.map((_, index) => `pool-${index}`)
  for (const [index, [, of]] of cases.entries()) {
    await leaveLease(cluster, { ...of, pool: `pool-${index}`, address: `10.30.${index}.2` })
    await leaveDeletedPool(cluster, `pool-${index}`, `10.30.${index}.0/24`)
  }
  const { looksAt } = openGuard(t, cluster, {
    isPoolInUse: name => cases[pools.indexOf(name)]?.[2](),
  })
  await until('it has come to an end with each of them', async () => {
    const there = await poolNames(cluster)
    return pools.every(pool => !there.includes(pool) || looksAt(pool) >= 2)
  })
  const left = await poolNames(cluster)
  for (const [index, [what, , , stays]] of cases.entries())
    t.equal(left.includes(`pool-${index}`), stays, what)
})

t.test('leases that are listed late', { skip: missing('cluster'), timeout: 60_000 }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  await grantRights(cluster, withoutLeases())
  const kubeconfig = cluster.kubeconfigFor({ token: await ipkeeperToken(cluster) })
  await leaveLease(cluster)
  await leaveDeletedPool(cluster, 'prod', '10.30.0.0/26')
  const one = openGuard(t, cluster, { kubeconfig })
  const other = openGuard(t, cluster, { isPoolInUse: () => true })
  await until('another guard has looked several times', () => other.looksAt('prod') >= 20)
  t.equal(one.looksAt('prod'), 0, 'it has not begun')
  await grantAll(cluster)
  await until('it has', () => one.looksAt('prod') >= 2)
  t.same(await poolNames(cluster), ['prod'])
  await cluster.request('DELETE', `${root}/ipleases/${leaseObjectName(leaseKey(bound))}`)
  await until('it is gone', async () => (await poolNames(cluster)).length === 0)
})
