/**
 * An IPPool whose newer spec is refused: what was in force stays, on every node and after every restart, and wherever a person
 * looks it says so, why, and what to type.
 */
import t, { type Test } from 'tap'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { createPod, startClusterNode, type ClusterNode } from '../rigs/cluster-node.ts'
import type { Cluster } from '../rigs/cluster.ts'
import { logs } from '../rigs/logs.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster', 'executables')
const root = '/apis/ipkeeper.io/v1alpha1/ippools'
const asks = (address: string) => ({ 'ipkeeper.io/pool': 'prod', 'ipkeeper.io/ip': address })
const gets = (address: string) => ({ ips: [`${address}/24`] })
const conditionOf = ({ status }: ApiObject, type: string): ApiObject | undefined =>
  (status?.conditions as ApiObject[] | undefined)?.find(one => one['type'] === type)

const small = { rangeStart: '10.41.0.100', rangeEnd: '10.41.0.110' }
const why = /pool prod changes to .*10\.41\.0\.25 \(shop\/fixed\)/
const next = 'ipkeeperctl leases --pool prod'

const setUp = async (t: Test): Promise<Cluster> => {
  const cluster = await startPreparedCluster(t, { resources: true, nodes: ['worker-1', 'worker-2'] })
  return cluster
}

const start = (t: Test, cluster: Cluster, name: string): Promise<ClusterNode> =>
  startClusterNode(t, cluster, { name, args: ['--store', 'kubernetes:'], ipam: { pool: 'prod' } })

const makePool = async (cluster: Cluster, name: string, spec: object): Promise<ApiObject> => {
  await cluster.create({ apiVersion: 'ipkeeper.io/v1alpha1', kind: 'IPPool', metadata: { name }, spec })
  return await cluster.until(`${root}/${name}`, pool => conditionOf(pool, 'Ready') !== undefined)
}

const change = (cluster: Cluster, name: string, spec: object): Promise<ApiObject> =>
  cluster.request('PATCH', `${root}/${name}`, { spec })

/** What every place says of a spec that is not in force. */
async function everywhere(t: Test, { daemon }: ClusterNode, generation: number): Promise<void> {
  const listed = await daemon.control('pools')
  t.match(listed.stdout, /^prod +default +IPv4 +253 .*10\.41\.0\.1-10\.41\.0\.254/m, 'what is in force')
  const places = {
    pools: listed,
    'pools prod': await daemon.control('pools', 'prod'),
    status: await daemon.control('status'),
    doctor: await daemon.control('doctor'),
    audit: await daemon.control('audit'),
  }
  for (const [place, { stdout }] of Object.entries(places)) {
    t.match(stdout, why, `${place} says why`)
    t.match(
      stdout,
      new RegExp(`IPPool prod.*generation ${generation}.* is not in force`),
      `${place} says what`,
    )
    t.match(stdout, /ipkeeperctl leases --socket \S+ --pool prod/, `${place} says what to type`)
  }
  t.match(places.audit.stdout, /\[ippool-refused\]$/m)
  const { pools } = JSON.parse((await daemon.ask('GET', '/v1/pools')).body) as { pools: ApiObject[] }
  t.match(
    pools.find(pool => pool['name'] === 'prod'),
    { capacity: 253, pending: { generation, refused: true, says: why, next: next.split(' ') } },
  )
  const typed = await daemon.control(...next.split(' ').slice(1))
  t.match(typed.stdout, /10\.41\.0\.25\/24 /, 'and that shows who is in the way')
}

t.test('a range that an address in use would fall out of', { skip, timeout: 240_000 }, async t => {
  const cluster = await setUp(t)
  const one = await start(t, cluster, 'worker-1')
  const made = await makePool(cluster, 'prod', { subnet: '10.41.0.0/24' })
  t.match(made['status'], { inForce: { generation: 1, spec: { subnet: '10.41.0.0/24' } } })
  const fixed = await createPod(cluster, 'fixed', asks('10.41.0.25'))
  const added = await one.add(fixed)
  t.match(added, gets('10.41.0.25'))

  await change(cluster, 'prod', { ...small, namespaces: ['shop'] })
  await logs(t, one.daemon, /ippool prod: .*10\.41\.0\.25 \(shop\/fixed\); what was in force before stays/)
  const refused = await cluster.until(
    `${root}/prod`,
    pool => conditionOf(pool, 'Refused')?.['status'] === 'True',
  )
  t.match(conditionOf(refused, 'Refused'), {
    ...{ reason: 'AddressesInUse', message: why, observedGeneration: 2, lastTransitionTime: /^\d{4}-.*Z$/ },
  })
  t.match(conditionOf(refused, 'Ready'), {
    status: 'True',
    reason: 'EarlierSpecInForce',
    observedGeneration: 2,
  })
  t.same(refused['status'].inForce, made['status'].inForce)
  await t.test('says so everywhere', t => everywhere(t, one, 2))
  await until('an Event on the IPPool', async () => {
    const { items } = await cluster.request('GET', '/apis/events.k8s.io/v1/namespaces/default/events')
    return (items as ApiObject[]).some(
      ({ regarding, reason, type, note }) =>
        regarding.kind === 'IPPool' &&
        regarding.uid === made['metadata'].uid &&
        `${reason} ${type}` === 'Refused Warning' &&
        why.test(String(note)),
    )
  })
  t.match(await one.add(await createPod(cluster, 'second', asks('10.41.0.27'))), gets('10.41.0.27'))

  await t.test('is what it was after a restart, and where a daemon joins later', async t => {
    await one.restart()
    await everywhere(t, one, 2)
    t.match(await one.add(await createPod(cluster, 'third', asks('10.41.0.28'))), gets('10.41.0.28'))
    const two = await start(t, cluster, 'worker-2')
    await everywhere(t, two, 2)
    const pod = await createPod(cluster, 'fourth', asks('10.41.0.29'), { node: 'worker-2' })
    t.match(await two.add(pod), gets('10.41.0.29'))

    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'bank' } })
    const shut = { node: 'worker-2', namespace: 'bank' }
    t.match(
      await two.add(await createPod(cluster, 'robber', asks('10.41.0.30'), shut)),
      { msg: /namespace bank may not use it/ },
      'who is shut out is shut out although the rest is refused',
    )
    await two.daemon.stop()
  })

  await t.test('is taken when nothing is in the way any more, also while a daemon was down', async t => {
    await one.restart(async () => {
      await change(cluster, 'prod', { rangeStart: '10.41.0.20', rangeEnd: '10.41.0.40' })
    })
    const taken = await cluster.until(`${root}/prod`, ({ status }) => status?.inForce?.generation === 3)
    t.match(taken['status'].inForce, { spec: { rangeStart: '10.41.0.20', namespaces: ['shop'] } })
    t.match(conditionOf(taken, 'Refused'), { status: 'False', observedGeneration: 3 })
    await until('pools shows it', async () =>
      /10\.41\.0\.20-10\.41\.0\.40/.test((await one.daemon.control('pools')).stdout),
    )
    for (const word of ['pools', 'status', 'audit'])
      t.notMatch((await one.daemon.control(word)).stdout, /is not in force/, word)
  })
})

t.test('what else is refused', { skip, timeout: 240_000 }, async t => {
  const cluster = await setUp(t)
  const node = await start(t, cluster, 'worker-1')
  await makePool(cluster, 'prod', { subnet: '10.41.0.0/24', exclude: ['10.41.0.9'] })
  await makePool(cluster, 'lab', { subnet: '10.42.0.0/24' })
  const refusal = async (wanted: string, generation: number): Promise<ApiObject> =>
    await cluster.until(`${root}/prod`, pool => {
      const refused = conditionOf(pool, 'Refused')
      return refused?.['reason'] === wanted && refused['observedGeneration'] === generation
    })
  const wrong = { exclude: ['10.41.0.9-10.41.0.3'] }
  await change(cluster, 'prod', wrong)
  t.match((await refusal('Invalid', 2))['status'].inForce, { spec: { exclude: ['10.41.0.9'] } })
  await node.restart()
  t.match(
    await node.add(await createPod(cluster, 'web-0', asks('10.41.0.4'))),
    gets('10.41.0.4'),
    'a pool whose spec cannot be read is there after a restart',
  )
  t.match((await node.daemon.control('status')).stdout, /generation 2.* is not in force: spec\.exclude\[0\]/)

  await change(cluster, 'prod', { subnet: '10.40.0.0/14', exclude: null })
  t.match(conditionOf(await refusal('Overlaps', 3), 'Refused'), { message: /overlap those of IPPool lab/ })

  await t.test('what somebody writes into the status', async t => {
    const write = (inForce: unknown): Promise<ApiObject> =>
      cluster.request('PATCH', `${root}/prod/status`, { status: { inForce } })
    await change(cluster, 'prod', { subnet: '10.41.0.0/24' })
    await cluster.until(`${root}/prod`, ({ status }) => status?.inForce?.generation === 4)
    for (const [what, inForce] of [
      ['another range', { generation: 9, spec: { subnet: '10.99.0.0/24', rangeStart: '10.99.0.7' } }],
      ['nothing', null],
      ['what makes no sense', { generation: 4, spec: { subnet: '10.41.0.0/24', exclude: ['x'] } }],
    ] as const) {
      await write(inForce)
      const { status } = await cluster.until(
        `${root}/prod`,
        pool => JSON.stringify(pool['status'].inForce?.spec) === JSON.stringify(pool['spec']),
      )
      t.equal(status.inForce.generation, 4, `${what}: the elected daemon writes it anew`)
    }
    await change(cluster, 'prod', small)
    await refusal('AddressesInUse', 5)
    await write(null)
    const { status } = await cluster.until(`${root}/prod`, pool => pool['status'].inForce !== undefined)
    t.match(status.inForce, { spec: { subnet: '10.41.0.0/24', rangeStart: undefined } })
  })
})
