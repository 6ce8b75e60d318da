/** A Kubernetes API whose etcd went back to a snapshot, or lost objects, while daemons ran and were down. */
import t, { type Test } from 'tap'
import { leaseKey, type LeaseRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import type { EngineWrite } from '../../ipkeeper-server/store/shared/engine.ts'
import { lease } from '../rigs/records.ts'
import {
  createPod,
  startClusterNode,
  type Answer,
  type ClusterNode,
  type RuntimePod,
} from '../rigs/cluster-node.ts'
import { startCluster, type Cluster } from '../rigs/cluster.ts'
import { startDaemon } from '../rigs/daemon.ts'
import { followEngine } from '../rigs/followed-engine.ts'
import { installCustomResources, openEngine } from '../rigs/custom-resources.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster', 'etcdctl')

const root = '/apis/ipkeeper.io/v1alpha1'

let last = 1
const fresh = (): LeaseRecord => lease(`10.9.${last >> 8}.${last++ & 255}`)

function put(record: LeaseRecord, base: number | null = null): EngineWrite {
  return { kind: 'lease', key: leaseKey(record), base, text: JSON.stringify(record) }
}

t.test('a watch from a version that the server does not have yet tells nothing', { skip }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  const { metadata } = await cluster.request('GET', `${root}/ipleases`)
  const from = Number(metadata.resourceVersion) + 1000
  const query = `resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=4`
  const heard: unknown[] = []
  for await (const event of cluster.watch(`${root}/ipleases?${query}`)) heard.push(event)
  t.strictSame(heard, [], 'neither a refusal nor a bookmark')
})

t.test('an engine', { skip }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  const { engine } = openEngine(t, cluster)
  const heard = followEngine(engine)
  await until('the first list', () => heard.lists > 0)
  const [stays, changes, lost] = [fresh(), fresh(), fresh()]
  const [, changesAt] = await engine.commit([put(stays), put(changes)])

  await t.test('that goes on after the server was restarted', async t => {
    await cluster.stop('SIGKILL')
    await until('trouble', () => heard.trouble !== undefined)
    await cluster.start()
    await until('no trouble', () => heard.trouble === undefined)
    t.strictSame(heard.breaks, [])
    t.equal(heard.lists, 1)
  })

  const snapshot = await cluster.snapshot()
  await engine.commit([put({ ...changes, generation: 2 }, changesAt ?? null), put(lost)])

  await t.test('whose API went back, and which has nothing to ask', async t => {
    await cluster.restore(snapshot)
    await until('it was noticed', () => heard.breaks.length > 0 && heard.lists === 2)
    t.match(heard.breaks, [/restored from a backup/], 'once')
    t.ok(heard.records.has(`lease ${leaseKey(stays)}`))
    t.notOk(heard.records.has(`lease ${leaseKey(lost)}`))
    t.match(heard.records.get(`lease ${leaseKey(changes)}`)?.text, /"generation":1/)
  })

  await t.test('goes on with what there is', async t => {
    const write = put(fresh())
    await engine.commit([write])
    await until('the news', () => heard.records.has(`lease ${write.key}`))
    const other = openEngine(t, cluster).engine
    const elsewhere = put(fresh())
    await other.commit([elsewhere])
    await until('news of others', () => heard.records.has(`lease ${elsewhere.key}`))
    t.strictSame(heard.faults, [])
    t.equal(heard.lists, 2)
  })
})

const store = ['--store', 'kubernetes:']

interface Site {
  readonly cluster: Cluster
  readonly one: ClusterNode
  readonly two: ClusterNode
  /** Addresses of the pods that live, by name. */
  readonly living: Map<string, string>
}

const addressOf = (answer: Answer): string => {
  if (!('ips' in answer)) throw new Error(`${answer.msg}: ${answer.details}`)
  return String(answer.ips[0]).split('/')[0] ?? ''
}

async function startSite(t: Test): Promise<Site> {
  const cluster = await startPreparedCluster(t, { resources: true, nodes: ['worker-1', 'worker-2'] })
  const [one, two] = await Promise.all([
    startClusterNode(t, cluster, { name: 'worker-1', args: store }),
    startClusterNode(t, cluster, { name: 'worker-2', args: store }),
  ])
  return { cluster, one, two, living: new Map() }
}

const podOn = (cluster: Cluster, name: string, node: number): Promise<RuntimePod> =>
  createPod(cluster, name, {}, { node: `worker-${node}` })

async function bound(cluster: Cluster): Promise<readonly string[]> {
  const { items } = await cluster.request('GET', `${root}/ipleases`)
  return (items as { spec: { state: string; address: string } }[])
    .filter(({ spec }) => spec.state === 'bound')
    .map(({ spec }) => spec.address)
}

/** The address of a new pod as soon as one is given; what was said until then. */
async function addAtLast(
  node: ClusterNode,
  pod: RuntimePod,
): Promise<{ address: string; refusals: Set<string> }> {
  const refusals = new Set<string>()
  let address = ''
  await until('an ADD succeeds', async () => {
    const answer = await node.add(pod)
    if ('ips' in answer) address = addressOf(answer)
    else refusals.add(/IPK_[A-Z_]+/.exec(`${answer.msg} ${answer.details}`)?.[0] ?? answer.msg)
    return address !== ''
  })
  return { address, refusals }
}

t.test('daemons', { skip }, async t => {
  const { cluster, one, two, living } = await startSite(t)
  const pods = new Map<string, RuntimePod>()
  for (const name of ['a', 'c', 'e', 'new-1', 'new-3']) pods.set(name, await podOn(cluster, name, 1))
  for (const name of ['b', 'd', 'new-2', 'new-4']) pods.set(name, await podOn(cluster, name, 2))
  const add = async (node: ClusterNode, name: string): Promise<void> => {
    living.set(name, addressOf(await node.add(pods.get(name)!)))
  }
  await add(one, 'a')
  await add(two, 'b')

  await t.test('a lease of a living pod that somebody deletes', async () => {
    const { items } = await cluster.request('GET', `${root}/ipleases`)
    const own = (items as { metadata: { name: string }; spec: { address: string } }[]).find(
      ({ spec }) => spec.address === living.get('a'),
    )
    await cluster.request('DELETE', `${root}/ipleases/${own?.metadata.name ?? ''}`)
    await until('it is there again', async () => (await bound(cluster)).includes(living.get('a')!))
  })

  await t.test('a server that was restarted', async t => {
    await cluster.stop('SIGKILL')
    await cluster.start()
    const { address, refusals } = await addAtLast(one, pods.get('c')!)
    living.set('c', address)
    t.notOk(refusals.has('IPK_STORE_INCOMPLETE'), 'is no loss')
  })

  const snapshot = await cluster.snapshot()
  await add(two, 'd')
  await add(one, 'e')
  await two.daemon.stop('SIGTERM')

  await t.test('a snapshot, and one daemon that is down', async t => {
    await cluster.restore(snapshot)
    await until(
      'the loss is noticed',
      async () => {
        const answer = await one.add(pods.get('new-1')!)
        if ('ips' in answer)
          throw new Error(`${String(answer.ips)} was given; living: ${[...living.values()].join()}`)
        return `${answer.msg} ${answer.details}`.includes('IPK_STORE_INCOMPLETE')
      },
      60_000,
    )
    await until('what is bound here is there again', async () =>
      (await bound(cluster)).includes(living.get('e')!),
    )
    t.match(
      await one.add(pods.get('new-1')!),
      { msg: /worker-2/ },
      'nothing new before the other one is back',
    )
    const [socket, stateDir] = [two.folder.file('s'), two.folder.file('state')]
    const back = await startDaemon({ socket, stateDir, config: two.folder.file('config.yaml'), args: store })
    t.teardown(() => back.stop('SIGKILL'))
    for (const [name, node] of [
      ['new-1', one],
      ['new-2', two],
      ['new-3', one],
      ['new-4', two],
    ] as const) {
      const { address } = await addAtLast(node, pods.get(name)!)
      t.notOk([...living.values()].includes(address), `${address} is nobody's`)
      living.set(name, address)
    }
    t.strictSame([...(await bound(cluster))].sort(), [...living.values()].sort(), 'all that lives is there')
  })
})
