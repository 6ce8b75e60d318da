/** The packaged plugin under go-cni, the library through which containerd and nerdctl call plugins. */
import { randomBytes, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { annotationsCapability, makeCallerSite, type CallerSite } from '../rigs/caller-site.ts'
import { openGoCni, type GoCniAnswer, type GoCniPod } from '../rigs/go-cni.ts'
import { makeNetworkNamespace } from '../rigs/netns.ts'
import type { Conflist } from '../rigs/pod-runtime.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('go', 'callers', 'namespaces', 'executables')

const network = (name: string, bridge: string, ipam: unknown): Conflist => ({
  cniVersion: '1.1.0',
  name,
  plugins: [
    { type: 'bridge', bridge, isGateway: true, capabilities: { [annotationsCapability]: true }, ipam },
  ],
})

const fixed = (site: CallerSite): Conflist => network('fixed', 'cni0', site.ipam())
const storage = (site: CallerSite): Conflist =>
  network('storage', 'cni1', site.ipam({ ranges: [[{ subnet: '10.23.0.0/16' }]] }))

/** A pod of containerd's: what its CRI hands to the library. */
function podOf(name: string, netns: string, annotations: Readonly<Record<string, string>> = {}): GoCniPod {
  const id = randomBytes(32).toString('hex')
  return {
    id,
    netns,
    labels: {
      IgnoreUnknown: '1',
      K8S_POD_NAMESPACE: 'shop',
      K8S_POD_NAME: name,
      K8S_POD_INFRA_CONTAINER_ID: id,
      K8S_POD_UID: name,
    },
    capabilities: { [annotationsCapability]: annotations },
  }
}

const succeeds = (t: Test, answer: GoCniAnswer, what: string): void => {
  t.equal(answer.error, undefined, what)
}

t.test('a pod with two interfaces', { skip }, async t => {
  const site = await makeCallerSite(t)
  const before = await site.links()
  const namespace = await makeNetworkNamespace(site.host)
  const goCni = openGoCni(site, fixed(site), storage(site))
  const pod = podOf('web-0', namespace.path, {
    'ipkeeper.io/ip': '10.22.0.50',
    'ipkeeper.io/ip.eth1': '10.23.0.60',
  })
  succeeds(t, await goCni('Status'), 'Status')
  const { error, interfaces } = await goCni('Setup', pod)
  t.equal(error, undefined)
  t.match(interfaces, { eth0: ['10.22.0.50'], eth1: ['10.23.0.60'] })
  t.same(await namespace.addresses('eth0'), ['10.22.0.50/16'])
  t.same(await namespace.addresses('eth1'), ['10.23.0.60/16'])
  const leases = await site.daemon().boundLeases()
  t.same(Object.fromEntries(leases.map(({ ifname, address }) => [ifname, address])), {
    eth0: '10.22.0.50',
    eth1: '10.23.0.60',
  })
  succeeds(t, await goCni('Check', pod), 'Check')
  succeeds(t, await goCni('Remove', pod), 'Remove')
  t.same(await site.daemon().boundLeases(), [])
  t.same(await site.links(before), before)
  succeeds(t, await goCni('Remove', { ...pod, netns: '' }), 'Remove again, without a namespace')
  succeeds(t, await goCni('Remove', { ...pod, netns: '' }), 'and again')
})

t.test('a namespace that is gone before Remove', { skip }, async t => {
  const site = await makeCallerSite(t)
  const before = await site.links()
  const goCni = openGoCni(site, fixed(site))
  const cases: readonly (readonly [what: string, path: (path: string) => string])[] = [
    ['no path', () => ''],
    ['the path it had', path => path],
  ]
  for (const [what, path] of cases) {
    const namespace = await makeNetworkNamespace(site.host)
    const pod = podOf('web-0', namespace.path, { 'ipkeeper.io/ip': '10.22.0.50' })
    succeeds(t, await goCni('Setup', pod), `${what}: Setup`)
    await namespace.delete()
    succeeds(t, await goCni('Remove', { ...pod, netns: path(namespace.path) }), `${what}: Remove`)
    t.same(await site.daemon().boundLeases(), [], what)
    t.same(await site.links(before), before, what)
  }
})

t.test("a runtime's cache that a power cut has emptied", { skip }, async t => {
  const site = await makeCallerSite(t)
  const namespace = await makeNetworkNamespace(site.host)
  const goCni = openGoCni(site, fixed(site))
  const pod = podOf('web-0', namespace.path, { 'ipkeeper.io/ip': '10.22.0.50' })
  succeeds(t, await goCni('Setup', pod), 'Setup')
  await site.host.must('truncate', ['--size=0', `/var/lib/cni/results/fixed-${pod.id}-eth0`])
  succeeds(t, await goCni('Remove', pod), 'Remove')
  t.same(await site.daemon().boundLeases(), [])
  await t.rejects(namespace.addresses('eth0'), 'the interface is gone')
})

t.test('what Setup is refused reaches the caller whole', { skip }, async t => {
  const site = await makeCallerSite(t)
  const goCni = openGoCni(site, fixed(site))
  const place = async (): Promise<string> => (await makeNetworkNamespace(site.host)).path
  const asking = { 'ipkeeper.io/ip': '10.22.0.50' }
  succeeds(t, await goCni('Setup', podOf('web-0', await place(), asking)), 'Setup')
  const before = await site.daemon().boundLeases()

  const intruder = podOf('intruder', await place(), asking)
  const refused = await goCni('Setup', intruder)
  t.match(
    refused.error,
    /^plugin type="bridge" failed \(add\): .*10\.22\.0\.50, which is held by shop\/web-0 .*; see: ipkeeperctl leases(?: --socket \S+)?; \[IPK_ADDRESS_HELD, request [0-9a-f]{12}\]$/s,
  )
  t.ok(refused.code! >= 100, 'a code of ours')
  succeeds(t, await goCni('Remove', intruder), 'Remove')
  t.same(await site.daemon().boundLeases(), before)

  const alone = openGoCni(site, network('fixed', 'cni0', site.ipamWithoutDaemon()))
  const unreachable = await alone('Setup', podOf('late', await place()))
  t.match(
    unreachable.error,
    /^plugin type="bridge" failed \(add\): cannot reach ipkeeper-server on .*nobody\.sock.*\[IPK_DAEMON_UNREACHABLE\b.*\]$/s,
  )
})

/** What Nomad hands to the library (client/allocrunner/networking_cni.go): nothing of it at Remove. */
function allocationOf(netns: string, args: Readonly<Record<string, string>> = {}): GoCniPod {
  const id = randomUUID()
  const own = {
    NOMAD_REGION: 'global',
    NOMAD_NAMESPACE: 'default',
    NOMAD_JOB_ID: 'web',
    NOMAD_GROUP_NAME: 'cache',
    NOMAD_ALLOC_ID: id,
  }
  return { id, netns, labels: { IgnoreUnknown: 'true', ...args, ...own } }
}

t.test('an allocation of Nomad, and the one that takes its place', { skip }, async t => {
  const site = await makeCallerSite(t, () => ({ retention: '1h' }))
  const goCni = openGoCni(site, fixed(site))
  const place = async (): Promise<string> => (await makeNetworkNamespace(site.host)).path
  const first = allocationOf(await place(), { IP: '10.22.0.50' })
  const { error, interfaces } = await goCni('Setup', first)
  t.equal(error, undefined)
  t.match(interfaces, { eth0: ['10.22.0.50'] })
  t.match(await site.daemon().boundLeases(), [
    { address: '10.22.0.50', pod: { namespace: 'default', name: `web.cache[${first.id}]` } },
  ])
  succeeds(t, await goCni('Check', first), 'Check')
  const forged = allocationOf(await place(), { FOO: 'x;NOMAD_JOB_ID=other' })
  t.match((await goCni('Setup', forged)).error, /NOMAD_JOB_ID is given twice.*IPK_ARGS_INVALID/s)
  succeeds(t, await goCni('Remove', { id: first.id, netns: first.netns }), 'Remove')

  const next = allocationOf(await place())
  t.match(await goCni('Setup', next), { error: undefined, interfaces: { eth0: ['10.22.0.50'] } })
  t.match(await site.daemon().boundLeases(), [
    { address: '10.22.0.50', pod: { namespace: 'default', name: `web.cache[${next.id}]` } },
  ])
})

t.test('Status where no daemon has ever been', { skip }, async t => {
  const site = await makeCallerSite(t)
  const goCni = openGoCni(site, network('fixed', 'cni0', site.ipamWithoutDaemon()))
  const { error, code } = await goCni('Status')
  t.match(error, /cannot reach ipkeeper-server on .*nobody\.sock/)
  t.equal(code, 50)
})

t.test('Remove while the daemon is away', { skip }, async t => {
  const site = await makeCallerSite(t)
  const before = await site.links()
  const goCni = openGoCni(site, fixed(site), storage(site))
  const there = await makeNetworkNamespace(site.host)
  const gone = await makeNetworkNamespace(site.host)
  const pods = [podOf('web-0', there.path), podOf('web-1', gone.path)] as const
  for (const pod of pods) succeeds(t, await goCni('Setup', pod), 'Setup')
  t.equal((await site.daemon().boundLeases()).length, 4)
  await site.daemon().stop()
  await gone.delete()

  const removed = await goCni('Remove', pods[0])
  succeeds(t, removed, 'Remove')
  t.match(removed.stderr, `ipkeeper: the DEL of ${pods[0].id} is queued`)
  succeeds(t, await goCni('Remove', { ...pods[0], netns: '' }), 'Remove again')
  succeeds(t, await goCni('Remove', { ...pods[1], netns: '' }), 'Remove of a pod whose namespace is gone')
  t.same(await site.links(before), before, 'the reference plugins have done their part')

  await site.startDaemon()
  t.same(await site.daemon().boundLeases(), [], 'the queue is empty before the daemon answers')
})
