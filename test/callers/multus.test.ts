/** Multus 4 on containerd 2 with a real API server: addresses of further interfaces, as pods ask for them. */
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { annotationsCapability, lan } from '../rigs/caller-site.ts'
import { define, startMultusCluster, startMultusSite, type Chosen } from '../rigs/multus-site.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('go', 'callers', 'multus', 'cluster', 'namespaces', 'runc', 'executables', 'macvlan')

const capabilities = { ips: true, mac: true, [annotationsCapability]: true }

/** Definitions of namespace shop; `ipam` is ipkeeper's section with what is given. */
function definitions(ipam: (settings: object) => object): Readonly<Record<string, object>> {
  const of = (network: string, type: string, own: object, settings: object): object => ({
    ...{ cniVersion: '1.0.0', name: network, type, capabilities, ...own },
    ipam: ipam(settings),
  })
  const range = (subnet: string): object => ({ ranges: [[{ subnet }]] })
  return {
    lan: of('shop-lan', 'macvlan', { master: lan }, range('10.9.0.0/24')),
    br: of('shop-br', 'bridge', { bridge: 'cni-shop', isGateway: true }, range('10.8.0.0/24')),
    point: of('shop-point', 'ptp', {}, range('10.7.0.0/24')),
    own: of('shop-own', 'ipkeeper', { mode: 'macvlan', uplink: lan }, range('10.6.0.0/24')),
    list: {
      ...{ cniVersion: '1.0.0', name: 'shop-list' },
      plugins: [of('', 'bridge', { bridge: 'cni-list' }, range('10.5.0.0/24')), { type: 'tuning' }],
    },
    elsewhere: of(
      'shop-elsewhere',
      'bridge',
      { bridge: 'cni-else' },
      { ...range('10.9.0.0/24'), segment: 'b' },
    ),
    one: of('shop-one', 'bridge', { bridge: 'cni-one' }, { pool: 'store' }),
    two: of('shop-two', 'bridge', { bridge: 'cni-two' }, { pool: 'store' }),
    clash: of('shop-clash', 'bridge', { bridge: 'cni-clash' }, range('10.9.0.0/25')),
    broken: { cniVersion: '1.0.0', name: 'shop-broken', type: 'no-such-plugin' },
  }
}

t.test('pods that choose networks', { skip }, async t => {
  const cluster = await startMultusCluster(t)
  const node = await startMultusSite(t, cluster, {
    hasApi: true,
    config: { pools: [{ name: 'store', subnet: '10.4.0.0/24' }] },
  })
  const { site } = node
  const ipam = (settings: object): object => site.ipam({ ranges: undefined, ...settings })
  const made = definitions(ipam)
  for (const [name, config] of Object.entries(made)) await define(cluster, name, config)
  const bare = await site.links()

  interface Row {
    readonly what: string
    readonly chosen: Chosen
    readonly annotations?: Readonly<Record<string, string>>
    /** Of further interfaces, as Multus writes it down. */
    readonly status: Readonly<Record<string, readonly string[]>>
    readonly leases: readonly string[]
  }
  const rows: readonly Row[] = [
    {
      what: 'macvlan, by annotation',
      chosen: 'lan',
      annotations: { 'ipkeeper.io/ip.net1': '10.9.0.5' },
      status: { net1: ['10.9.0.5'] },
      leases: ['shop-lan net1 10.9.0.5'],
    },
    {
      what: 'ips, mac and interface of a selection',
      chosen: [{ name: 'lan', ips: ['10.9.0.6/24'], mac: '02:42:ac:11:00:06', interface: 'san0' }],
      status: { san0: ['10.9.0.6'] },
      leases: ['shop-lan san0 10.9.0.6'],
    },
    {
      what: 'an annotation for an interface with a name of its own',
      chosen: 'lan@san0',
      annotations: { 'ipkeeper.io/ip.san0': '10.9.0.7' },
      status: { san0: ['10.9.0.7'] },
      leases: ['shop-lan san0 10.9.0.7'],
    },
    {
      what: 'cni-args',
      chosen: [{ name: 'br', 'cni-args': { ips: ['10.8.0.9'] } }],
      status: { net1: ['10.8.0.9'] },
      leases: ['shop-br net1 10.8.0.9'],
    },
    {
      what: 'ptp, ipkeeper itself and a list',
      chosen: 'point,own,list',
      annotations: {
        'ipkeeper.io/ip.net1': '10.7.0.9',
        'ipkeeper.io/ip.net2': '10.6.0.9',
        'ipkeeper.io/ip.net3': '10.5.0.9',
      },
      status: { net1: ['10.7.0.9'], net2: ['10.6.0.9'], net3: ['10.5.0.9'] },
      leases: ['shop-list net3 10.5.0.9', 'shop-own net2 10.6.0.9', 'shop-point net1 10.7.0.9'],
    },
    {
      what: 'the same network twice',
      chosen: 'br,br',
      annotations: { 'ipkeeper.io/ip.net1': '10.8.0.21', 'ipkeeper.io/ip.net2': '10.8.0.20' },
      status: { net1: ['10.8.0.21'], net2: ['10.8.0.20'] },
      leases: ['shop-br net1 10.8.0.21', 'shop-br net2 10.8.0.20'],
    },
    {
      what: 'one address in two segments',
      chosen: 'lan,elsewhere',
      annotations: { 'ipkeeper.io/ip.net1': '10.9.0.9', 'ipkeeper.io/ip.net2': '10.9.0.9' },
      status: { net1: ['10.9.0.9'], net2: ['10.9.0.9'] },
      leases: ['shop-elsewhere net2 10.9.0.9', 'shop-lan net1 10.9.0.9'],
    },
    {
      what: 'two networks of one pool',
      chosen: 'one,two',
      annotations: { 'ipkeeper.io/ip.net1': '10.4.0.8', 'ipkeeper.io/ip.net2': '10.4.0.9' },
      status: { net1: ['10.4.0.8'], net2: ['10.4.0.9'] },
      leases: ['shop-one net1 10.4.0.8', 'shop-two net2 10.4.0.9'],
    },
    {
      what: 'a pool by annotation',
      chosen: 'lan',
      annotations: { 'ipkeeper.io/pool.net1': 'store' },
      status: { net1: ['10.4.0.2'] },
      leases: ['shop-lan net1 10.4.0.2'],
    },
  ]

  await t.test('get what they ask for, and give it back', async t => {
    for (const [index, { what, chosen, annotations = {}, status, leases }] of rows.entries()) {
      const pod = await node.run(`pod-${index}`, chosen, annotations)
      t.match(await node.networkStatus(pod.name), { eth0: [/^10\.22\./], ...status }, what)
      t.strictSame(await node.leases(), leases, what)
      await node.end(pod)
      t.strictSame(await node.leases('eth0'), [], `${what}: given back`)
    }
  })

  await t.test('mac and default-route of a selection are in the pod', async t => {
    const chosen = [{ name: 'br', mac: '02:42:ac:11:00:09', 'default-route': ['10.8.0.1'] }]
    const pod = await node.run('route', chosen)
    t.match(await node.inside(pod, 'ip', 'link', 'show', 'net1'), /02:42:ac:11:00:09/)
    t.match(await node.inside(pod, 'ip', 'route'), /default via 10\.8\.0\.1 dev net1/)
    await node.end(pod)
  })

  await t.test('a StatefulSet has a list for an interface', async t => {
    const annotations = { 'ipkeeper.io/ips.net1': '10.9.0.30-10.9.0.31' }
    const pods = [await node.run('db-1', 'lan', annotations), await node.run('db-0', 'lan', annotations)]
    t.match(await node.networkStatus('db-0'), { net1: ['10.9.0.30'] })
    t.match(await node.networkStatus('db-1'), { net1: ['10.9.0.31'] })
    for (const pod of pods) await node.end(pod)
  })

  await t.test('who has an address, on which interface of which network, is told', async t => {
    const pod = await node.run('seen', 'lan,own', { 'ipkeeper.io/ip.net1': '10.9.0.60' })
    await node.run('late', 'lan', { 'ipkeeper.io/ip.net1': '10.9.0.60' }).catch(() => undefined)
    const who = await site.daemon().control('who', '10.9.0.60')
    t.match(who.stdout, /bound to shop\/seen .*network +shop-lan\ninterface +net1\n/s)
    const told = (events: ApiObject, name: string): readonly string[] =>
      (events['items'] as readonly ApiObject[])
        .filter(({ regarding, reportingController }) => {
          return regarding.name === name && reportingController === 'ipkeeper.io/ipkeeper-server'
        })
        .map(({ reason, note }) => `${reason} ${note}`)
    const all = '/apis/events.k8s.io/v1/namespaces/shop/events'
    await cluster.until(all, events => told(events, 'seen').length === 3 && told(events, 'late').length === 2)
    const events = await cluster.request('GET', all)
    t.match(told(events, 'seen').toSorted(), [
      /^AddressAssigned 10\.22\./,
      'AddressAssigned net1 of shop/lan: 10.9.0.60/24 (10.9.0.60: annotation ipkeeper.io/ip.net1)',
      /^AddressAssigned net2 of shop\/own: 10\.6\./,
    ])
    t.match(told(events, 'late').toSorted(), [
      /^AddressAssigned /,
      /^AddressHeld net1 of shop\/lan: annotation ipkeeper\.io\/ip\.net1 asks for 10\.9\.0\.60, which is held by shop\/seen/,
    ])
    await node.end(pod)
  })

  await t.test('the folder of Multus is no finding', async t => {
    const pod = await node.run('kept', 'lan')
    const { stdout } = await node.control('doctor', '-o', 'json')
    const { checks } = JSON.parse(stdout) as { checks: readonly { id: string }[] }
    t.match(
      checks.find(({ id }) => id === 'result-cache'),
      { state: 'ok', says: /^[1-9]\d* files$/ },
    )
    const files = await site.host.must('find', ['/var/lib/cni/multus', '-type', 'f', '-printf', '%P\n'])
    t.match(files, /^results\/shop-lan-[0-9a-f]{64}-net1$/m)
    await node.end(pod)
  })

  await refusals(t)
  await t.test('a DEL that comes while the API is away', async t => {
    const pod = await node.run('away', 'lan,br')
    await cluster.stop()
    await node.end(pod, { keepObject: true })
    t.strictSame(await node.leases('eth0'), [])
    await cluster.start()
  })

  await t.test('the linter finds in the API what clashes, and what a pod names in vain', async t => {
    const file = site.folder.file('pod.yaml')
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'lan,lam', 'ipkeeper.io/ip.net3': '10.9.0.5' }
    writeFileSync(
      file,
      stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', namespace: 'shop', annotations } }),
    )
    const asked = ['--api', '--kubeconfig', cluster.kubeconfig, file, '--bin-dir', node.containerd.binDir]
    const { stdout, exit } = await site.daemon().control('lint', ...asked, '-o', 'json')
    t.equal(exit, 1)
    const { findings } = JSON.parse(stdout) as {
      findings: readonly { file: string; rule: string; line: number }[]
    }
    const told = findings.map(finding => `${finding.file} ${finding.rule}`)
    for (const wanted of [
      'net-attach-def/shop/lan overlapping-ranges',
      'net-attach-def/shop/broken plugin-missing',
      `${file} attachment-unknown`,
      `${file} attachment-interface`,
    ])
      t.ok(told.includes(wanted), wanted)
  })

  t.strictSame(await site.links(bare), bare, 'no link is left')

  /** What does not come about leaves nothing, and says why. */
  async function refusals(t: Test): Promise<void> {
    const holder = await node.run('holder', 'lan', { 'ipkeeper.io/ip.net1': '10.9.0.40' })
    const before = await node.leases('eth0')
    const refused: readonly (readonly [
      what: string,
      chosen: Chosen,
      annotations: Readonly<Record<string, string>>,
      said: RegExp,
    ])[] = [
      [
        'an address that another pod has',
        'br,lan',
        { 'ipkeeper.io/ip.net2': '10.9.0.40' },
        /10\.9\.0\.40, which is held by shop\/holder .*\[IPK_ADDRESS_HELD/s,
      ],
      ['the same by ips of a selection', [{ name: 'lan', ips: ['10.9.0.40/24'] }], {}, /IPK_ADDRESS_HELD/],
      [
        'two requests that disagree',
        [{ name: 'lan', ips: ['10.9.0.41'] }],
        { 'ipkeeper.io/ip.net1': '10.9.0.42' },
        /IPK_REQUESTS_DISAGREE/,
      ],
      ['an address outside', 'lan', { 'ipkeeper.io/ip.net1': '10.1.0.1' }, /IPK_ADDRESS_OUTSIDE/],
      ['a later network that fails', 'lan,br,broken', {}, /no-such-plugin/],
      ['a range of another network', 'clash', {}, /IPK_POOL_OVERLAP/],
    ]
    for (const [index, [what, chosen, annotations, said]] of refused.entries()) {
      await t.test(what, async t => {
        await t.rejects(node.run(`no-${index}`, chosen, annotations), { message: said })
        t.strictSame(await node.leases('eth0'), before)
      })
    }
    await node.end(holder)
  }
})

t.test('a daemon without the API, under a Multus that has it', { skip }, async t => {
  const cluster = await startMultusCluster(t)
  const node = await startMultusSite(t, cluster, { hasApi: false })
  const ipam = node.site.ipam({ ranges: [[{ subnet: '10.8.0.0/24' }]] })
  const br = { cniVersion: '1.0.0', name: 'shop-br', type: 'bridge', bridge: 'cni-shop', ipam }
  await define(cluster, 'declares', { ...br, capabilities })
  await define(cluster, 'silent', br)

  await t.test('a pod whose annotation is lost is refused', async t => {
    const asked = node.run('asks', 'declares', { 'ipkeeper.io/ip.net1': '10.8.0.50' })
    await t.rejects(asked, { message: /annotations of pod shop\/asks are not known.*\[IPK_FACTS_MISSING/s })
    t.strictSame(await node.leases('eth0'), [])
  })
  const served: readonly (readonly [what: string, chosen: Chosen, lease: string])[] = [
    ['ips of a selection', [{ name: 'declares', ips: ['10.8.0.51/24'] }], 'shop-br net1 10.8.0.51'],
    ['the same without the capability', [{ name: 'silent', ips: ['10.8.0.52'] }], 'shop-br net1 10.8.0.52'],
    ['cni-args', [{ name: 'declares', 'cni-args': { ips: ['10.8.0.53'] } }], 'shop-br net1 10.8.0.53'],
    ['a network that declares nothing: any address', 'silent', 'shop-br net1 10.8.0.2'],
  ]
  for (const [index, [what, chosen, lease]] of served.entries()) {
    await t.test(what, async t => {
      const pod = await node.run(`pod-${index}`, chosen)
      t.strictSame(await node.leases(), [lease])
      await node.end(pod)
      t.strictSame(await node.leases('eth0'), [])
    })
  }
})
