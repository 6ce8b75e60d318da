/**
 * deploy/kubernetes/components/node-policy on a real API server: daemons with the tokens that kubelet would give them do all
 * that they do, and none can speak for the node of another.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { ApiObject, ClusterClient } from '../rigs/cluster-client.ts'
import {
  createNamespace,
  createNode,
  createPod,
  startClusterNode,
  type ClusterNode,
} from '../rigs/cluster-node.ts'
import { findClusterProgram } from '../rigs/cluster-programs.ts'
import { startCluster } from '../rigs/cluster.ts'
import { logs } from '../rigs/logs.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { mustRun } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('cluster', 'kubectl', 'executables')
const namespace = 'ipkeeper-system'
const leases = '/apis/ipkeeper.io/v1alpha1/ipleases'
const election = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/ipkeeper`
const off = { mode: 'off' }
const kinds = { 'foreign-link': off, 'link-without-lease': off }
const reconcile = { interval: '1s', minAge: '1s', minAgeUnproved: '2s', passes: 2, kinds }
const nodes = ['worker-1', 'worker-2'] as const

t.test('daemons whose tokens name their nodes', { skip, timeout: 240_000 }, async t => {
  const folder = tempFolder(t)
  cpSync(join(import.meta.dirname, '..', '..', 'deploy'), folder.file('deploy'), { recursive: true })
  const overlay = folder.file('deploy', 'kubernetes', 'overlays', 'ours')
  mkdirSync(overlay)
  const own = 'resources: [../crd-store]\ncomponents: [../../components/node-policy]\n'
  writeFileSync(join(overlay, 'kustomization.yaml'), own)
  const kubectl = (...words: readonly string[]): Promise<string> =>
    mustRun(findClusterProgram('kubectl') ?? '', words)
  const api = await startCluster(t, { flags: ['--allow-privileged=true'] })
  const apply = ['--kubeconfig', api.kubeconfig, 'apply', '--server-side', '--validate=strict', '-k', overlay]
  await until('the resources are served', () =>
    kubectl(...apply).then(
      () => true,
      () => false,
    ),
  )
  await createNamespace(api, 'shop')
  for (const name of nodes) await createNode(api, name)

  const requestToken = async (spec: object): Promise<string> => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/ipkeeper/token`
    const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }
    return (await api.request('POST', path, { ...kind, spec }))['status'].token as string
  }
  /** As kubelet asks for it: bound to the pod of the daemon on that node. */
  const tokenOf = async (node: string): Promise<string> => {
    const { metadata } = await api.create({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: `daemon-${node}`, namespace } },
      spec: {
        ...{ nodeName: node, serviceAccountName: 'ipkeeper' },
        containers: [{ name: 'main', image: 'localhost/none' }],
      },
    })
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid }
    return await requestToken({ boundObjectRef, expirationSeconds: 3600 })
  }
  const start = (name: string, token: string): Promise<ClusterNode> =>
    startClusterNode(t, api, {
      ...{ name, kubeconfig: api.kubeconfigFor({ token }), config: { election: { namespace }, reconcile } },
      args: ['--store', 'kubernetes:'],
    })
  const [first, second] = [await tokenOf('worker-1'), await tokenOf('worker-2')]
  const two = await start('worker-2', second)
  await api.until(election, ({ spec }) => String(spec.holderIdentity).startsWith('worker-2 '))
  const one = await start('worker-1', first)

  const fixed = { 'ipkeeper.io/ip': '10.22.0.50' }
  const web = await createPod(api, 'web-0', fixed, { node: 'worker-2' })
  const added = await two.add(web)
  t.match(added, { ips: ['10.22.0.50/24'] })
  const path = `${leases}/default-010-022-000-050`
  const { spec } = (await api.request('GET', path)) as { spec: ApiObject }
  t.match(spec, { node: 'worker-2', state: 'bound' })

  await t.test('one that speaks for another node is refused', async t => {
    const forger = api.as({ token: first })
    const nameless = api.as({ token: await requestToken({ expirationSeconds: 3600 }) })
    const holder = { ...spec['holder'], name: 'thief' }
    const free = { ...spec, address: '10.22.0.99' }
    const made = (own: object): ApiObject => ({
      ...{
        apiVersion: 'ipkeeper.io/v1alpha1',
        kind: 'IPLease',
        metadata: { name: 'default-010-022-000-099' },
      },
      spec: { ...free, ...own },
    })
    const inOffice = async (holderIdentity: string): Promise<ApiObject> => {
      const lease = await api.request('GET', election)
      return { ...lease, spec: { ...lease['spec'], holderIdentity } }
    }
    const rows: readonly (readonly [
      what: string,
      by: ClusterClient,
      ...call: readonly ['POST' | 'PUT' | 'PATCH' | 'DELETE', string, object?],
    ])[] = [
      ['a lease in the name of another node', forger, 'POST', leases, made({})],
      ['any lease, by a token without a node', nameless, 'POST', leases, made({ node: 'worker-1' })],
      [
        'the end of what another has',
        forger,
        'PATCH',
        path,
        { spec: { state: 'cooling', attachment: null } },
      ],
      ['its deletion', forger, 'DELETE', path],
      [
        'its address for another pod',
        forger,
        'PATCH',
        path,
        { spec: { node: 'worker-1', holder, workload: null } },
      ],
      ['another holder of it there', forger, 'PATCH', path, { spec: { holder } }],
      ['the office, in the name of another', forger, 'PUT', election, await inOffice('worker-2 0')],
    ]
    for (const [what, by, ...call] of rows)
      await t.rejects(by.request(...call), { status: 422, message: /ipkeeper-(leases|election)-of-/ }, what)
    t.match(await api.request('GET', path), { spec })
    await forger.request('POST', `${leases}?dryRun=All`, made({ node: 'worker-1' }))
    await forger.request('PUT', `${election}?dryRun=All`, await inOffice('worker-1 0'))
  })

  await t.test('nor may it write, or remove, what another node has recorded', async t => {
    const histories = '/apis/ipkeeper.io/v1alpha1/iphistories'
    const part = (name: string, node: string): object => ({
      ...{ apiVersion: 'ipkeeper.io/v1alpha1', kind: 'IPHistory', metadata: { name } },
      spec: {
        ...{ schema: 1, node, stretch: 'aa', first: 1, last: 1, entries: 1, data: '' },
        ...{ from: '2026-11-21T10:00:00Z', to: '2026-11-21T10:00:00Z' },
      },
    })
    const [one, two] = [api.as({ token: first }), api.as({ token: second })]
    await one.request('POST', histories, part('ones', 'worker-1'))
    await one.request('PATCH', `${histories}/ones`, { spec: { last: 2 } })
    const forged = { status: 422, message: /ipkeeper-histories-of-/ }
    await t.rejects(two.request('POST', histories, part('forged', 'worker-1')), forged)
    await t.rejects(two.request('PATCH', `${histories}/ones`, { spec: { last: 3 } }), forged)
    await t.rejects(two.request('PATCH', `${histories}/ones`, { spec: { node: 'worker-2' } }), forged)
    await two.request('POST', histories, part('twos', 'worker-2'))
    await t.rejects(one.request('DELETE', `${histories}/twos`), forged, 'worker-2 is elected')
    await two.request('DELETE', `${histories}/ones`)
    await two.request('DELETE', `${histories}/twos`)
  })

  await t.test('nor may it tell what another node tells of itself', async t => {
    const forger = api.as({ token: first })
    const nodesPath = '/apis/ipkeeper.io/v1alpha1/ipnodes'
    const at = `${nodesPath}/worker-2`
    const before = await api.request('GET', at)
    const { claim, addresses } = before['spec'] as { claim: { id: string }; addresses: readonly string[] }
    const node = (name: string, own: object): ApiObject => ({
      ...{ apiVersion: 'ipkeeper.io/v1alpha1', kind: 'IPNode', metadata: { name } },
      spec: { schema: 1, generation: 1, name, addresses: [], since: '2026-01-01T00:00:00.000Z', ...own },
    })
    const gone = { since: '2026-01-01T00:00:00.000Z', by: 'worker-1' }
    const patch = (own: object): ['PATCH', string, object] => ['PATCH', `${at}?dryRun=All`, { spec: own }]
    const refused: readonly (readonly [
      what: string,
      ...call: readonly ['POST' | 'PATCH' | 'DELETE', string, object?],
    ])[] = [
      ['by which addresses it is reached', ...patch({ addresses: ['192.0.2.66'] })],
      ['that it has told again what it holds', ...patch({ epoch: 7 })],
      ['that something of it waits', ...patch({ owes: true })],
      ['whose its name is', ...patch({ claim: { ...claim, id: 'another' } })],
      ['after which silence it stops', ...patch({ stopsAfter: 1 })],
      ['one that is not there, with addresses', 'POST', nodesPath, node('worker-9', { addresses })],
      ['likewise, with an epoch', 'POST', nodesPath, node('worker-9', { epoch: 2 })],
      ['that there is none', 'DELETE', at],
    ]
    for (const [what, ...call] of refused)
      await t.rejects(
        forger.request(...call),
        { status: 422, message: /ipkeeper-records-of-nodes.*node worker-1 may .*node worker-[29]/s },
        what,
      )
    const asked = {
      ...{ network: 'net', containerId: 'c1', ifname: 'eth0', segment: 'default', address: '10.22.0.50' },
      ...{ by: 'worker-1', since: '2026-01-01T00:00:00.000Z' },
    }
    await t.rejects(
      forger.request(...patch({ yields: [asked] })),
      { status: 422, message: /ipkeeper-words-on-nodes.*node worker-1 is not elected/s },
      'which sandboxes of it are cut off',
    )
    const elected = api.as({ token: second })
    await elected.request('PATCH', `${nodesPath}/worker-1?dryRun=All`, { spec: { yields: [asked] } })
    t.match(await api.request('GET', at), { spec: before['spec'] })
    for (const own of [
      { gone },
      { claim: { ...claim, session: 'of another boot' } },
      { challenge: { ...claim, session: 'of another boot' } },
      { challenge: { ...claim, session: 'of a question', askedOn: 'worker-1' } },
      { claim: null, gone },
    ])
      await forger.request(...patch(own))
    await forger.request('POST', nodesPath, node('worker-9', {}))
    await forger.request('DELETE', `${nodesPath}/worker-9`)
    await forger.request('PATCH', `${nodesPath}/worker-1?dryRun=All`, { spec: { epoch: 2, addresses: [] } })

    await forger.request('PATCH', at, { spec: { gone } })
    await api.until(at, ({ spec: now }) => now['gone'] === undefined && now['generation'] > 1)
    await logs(t, two.daemon, /was declared gone for good but is running/, 'who lives takes that back')
  })

  await t.test(
    'a pool of people is theirs, and the elected daemon puts in force what they wrote',
    async t => {
      const [forger, elected] = [api.as({ token: first }), api.as({ token: second })]
      const pools = '/apis/ipkeeper.io/v1alpha1/ippools'
      const pool = (name: string): ApiObject => ({
        ...{ apiVersion: 'ipkeeper.io/v1alpha1', kind: 'IPPool', metadata: { name } },
        spec: { subnet: '10.60.0.0/24', rangeEnd: '10.60.0.20' },
      })
      const at = `${pools}/theirs`
      const status = `${at}/status?dryRun=All`
      const recorded = { generation: 1, origin: 'config', name: 'theirs' }
      const wide = { generation: 9, spec: { subnet: '10.0.0.0/8' } }
      await api.create(pool('theirs'))
      await api.until(at, got => got['status']?.inForce?.generation === 1)
      const used = { 'ipkeeper.io/pool': 'theirs', 'ipkeeper.io/ip': '10.60.0.9' }
      t.match(await one.add({ name: 'user', uid: 'u4', passedOn: used }), { ips: ['10.60.0.9/24'] })
      await api.request('PATCH', at, { spec: { rangeEnd: '10.60.0.5' } })
      await api.until(at, got =>
        (got['status'].conditions as ApiObject[]).some(one => one['reason'] === 'AddressesInUse'),
      )
      const rows: readonly (readonly [
        what: string,
        by: ClusterClient,
        ...call: readonly ['POST' | 'PATCH' | 'DELETE', string, object?],
      ])[] = [
        ['a pool', elected, 'POST', `${pools}?dryRun=All`, pool('ours')],
        ['a wider range', elected, 'PATCH', `${at}?dryRun=All`, { spec: { subnet: '10.0.0.0/8' } }],
        [
          'that it was made by a daemon',
          elected,
          'PATCH',
          `${at}?dryRun=All`,
          { spec: { recorded, subnet: null, rangeEnd: null } },
        ],
        ['its end', elected, 'DELETE', `${at}?dryRun=All`],
        ['what nobody wrote, in force', elected, 'PATCH', status, { status: { inForce: wide } }],
        ['that nothing is in force', elected, 'PATCH', status, { status: { inForce: null } }],
        [
          'what is in force, by one that is not elected',
          forger,
          'PATCH',
          status,
          { status: { inForce: wide } },
        ],
        ['its figures, by one that is not elected', forger, 'PATCH', status, { status: { ratio: '0/0' } }],
      ]
      for (const [what, by, ...call] of rows)
        await t.rejects(
          by.request(...call),
          { status: 422, message: /ipkeeper-pools-(of-people|in-force)/ },
          what,
        )
      await elected.request('PATCH', `${at}?dryRun=All`, { metadata: { finalizers: null } })
      await api.request('PATCH', at, { spec: { rangeEnd: '10.60.0.15' } })
      await api.until(at, got => got['status'].inForce.generation === 3)
    },
  )

  await t.test('a daemon whose token was made by hand is told so', async t => {
    const three = await start('worker-3', await requestToken({ expirationSeconds: 3600 }))
    const { code, ...said } = (await three.add({ name: 'none', uid: 'u3', passedOn: {} })) as ApiObject
    t.equal(code, 11)
    t.match(
      `${said['msg']} ${said['details']}`,
      /the token of this daemon names no node.*docs\/operations\/node-policy\.md/s,
    )
    await three.daemon.stop()
  })

  await t.test('a pod that moved takes its address over, and an ADD that did so can be undone', async t => {
    const moved = { 'ipkeeper.io/ip': '10.22.0.70' }
    const there = `${leases}/default-010-022-000-070`
    const old = await one.add(await createPod(api, 'moved-0', moved, { node: 'worker-1' }))
    t.match(old, { ips: ['10.22.0.70/24'] })
    await api.request('DELETE', '/api/v1/namespaces/shop/pods/moved-0', { gracePeriodSeconds: 0 })
    const next = await createPod(api, 'moved-0', moved, { node: 'worker-2' })
    const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }
    await api.request('PATCH', '/api/v1/nodes/worker-1', { spec: { taints: [taint] } })
    await until('it is taken over', async () => 'ips' in (await two.add(next)))
    t.match(await api.request('GET', there), { spec: { node: 'worker-2', state: 'bound' } })
    // What the undo writes.
    await api.as({ token: second }).request('PATCH', `${there}?dryRun=All`, { spec: { node: 'worker-1' } })
    await api.request('PATCH', '/api/v1/nodes/worker-1', { spec: { taints: null } })
    await two.del(web, 'container' in added ? added.container : '')
    await api.until(path, got => got['spec'].state === 'cooling')
    t.match(await one.add({ name: 'other', uid: 'u1', passedOn: fixed }), { ips: ['10.22.0.50/24'] })
    t.match(await api.request('GET', path), { spec: { node: 'worker-1', state: 'bound' } }, 'what came free')
  })

  await t.test('what a lost node has left is ended by the elected daemon', async t => {
    const lost = await createPod(api, 'lost-0', { 'ipkeeper.io/ip': '10.22.0.60' }, { node: 'worker-1' })
    t.match(await one.add(lost), { ips: ['10.22.0.60/24'] })
    await one.daemon.stop('SIGKILL')
    await api.request('DELETE', '/api/v1/namespaces/shop/pods/lost-0', { gracePeriodSeconds: 0 })
    await api.request('DELETE', '/api/v1/nodes/worker-1')
    await api.until(`${leases}/default-010-022-000-060`, got => got['spec'].state === 'cooling')
    t.match(await two.add({ name: 'heir', uid: 'u', passedOn: { 'ipkeeper.io/ip': '10.22.0.60' } }), {
      ips: ['10.22.0.60/24'],
    })
  })
  for (const { daemon } of [one, two])
    t.notMatch(daemon.log(), /ipkeeper-(leases|records|pools)-|refuses a record/)
})
