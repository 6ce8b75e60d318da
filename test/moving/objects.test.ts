/** What other IPAMs keep in the API, read from a real API server, and whereabouts' from what whereabouts itself has written. */
import { mkdirSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import {
  hasWhereabouts,
  installWhereabouts,
  whereaboutsRun,
  writeWhereaboutsConfig,
} from '../../bench/whereabouts.ts'
import { startCluster, type Cluster } from '../rigs/cluster.ts'
import { encodeReply, startCriDouble } from '../rigs/cri-double.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { missing, optionalSkip } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'
import { installForeignResources } from './foreign-resources.ts'

const skip = missing('cluster', 'executables')

interface Item {
  readonly address: string
  readonly verdict: string
  readonly as: string | null
  readonly reason: string
  readonly pod: { readonly name: string } | null
}

/** A sandbox as the runtime of this node lists it. */
interface Running {
  readonly id: string
  readonly namespace: string
  readonly name: string
}

interface Site {
  readonly daemon: Daemon
  readonly folder: TempFolder
  /** "10.22.0.2 adopt bound" for each; runs `ipkeeperctl import`. */
  readonly verdicts: (...words: readonly string[]) => Promise<readonly string[]>
  readonly lastItems: () => readonly Item[]
}

async function makeSite(
  t: Test,
  cluster: Cluster,
  running: readonly Running[],
  ranges: readonly (string | object)[],
): Promise<Site> {
  const folder = tempFolder(t)
  const config = folder.file('config.yaml')
  const pools = [
    { name: 'pods', ranges: ranges.map(range => [typeof range === 'string' ? { subnet: range } : range]) },
  ]
  writeFileSync(config, JSON.stringify({ node: 'worker-1', pools }))
  for (const name of ['net.d', 'results']) mkdirSync(folder.file(name))
  const runtime = await startCriDouble(folder.file('cri.sock'), () =>
    encodeReply('ListPodSandbox', {
      items: running.map(({ id, namespace, name }) => ({
        ...{ id, state: 'SANDBOX_READY', created_at: '1' },
        metadata: { name, namespace, uid: `uid-of-${name}`, attempt: 0 },
      })),
    }),
  )
  const daemon = await startDaemon({ socket: folder.file('d.sock'), stateDir: folder.file('state'), config })
  t.teardown(async () => {
    runtime.close()
    await daemon.stop()
  })
  let items: readonly Item[] = []
  return {
    daemon,
    folder,
    lastItems: () => items,
    verdicts: async (...words) => {
      const { stdout, stderr } = await daemon.control(
        ...['import', ...words, '-o', 'json', '--runtime', folder.file('cri.sock')],
        ...['--net-dir', folder.file('net.d'), '--results-dir', folder.file('results')],
        ...(words.includes('--file') ? [] : ['--kubeconfig', cluster.kubeconfig]),
      )
      if (stdout === '') throw new Error(stderr)
      items = (JSON.parse(stdout) as { items: readonly Item[] }).items
      return items.map(({ address, verdict, as }) => [address, verdict, as].filter(Boolean).join(' ')).sort()
    },
  }
}

const id = (digit: string): string => digit.repeat(64)

t.test('objects on a real API server', { skip }, async t => {
  const cluster = await startCluster(t)
  await installForeignResources(cluster)

  await t.test(
    'whereabouts',
    { skip: hasWhereabouts() ? false : `${optionalSkip}needs whereabouts (make bench builds it)` },
    async t => {
      await installWhereabouts(cluster)
      const running = [
        { id: id('a'), namespace: 'shop', name: 'web-0' },
        { id: id('b'), namespace: 'shop', name: 'web-1' },
      ]
      const ranges = { subnet: '10.22.0.0/24', gateway: '10.22.0.254' }
      const site = await makeSite(t, cluster, running, [ranges])
      const config = site.folder.file('whereabouts.conf')
      writeWhereaboutsConfig(config, cluster)
      const call = async (verb: 'ADD' | 'DEL', digit: string, name: string): Promise<void> => {
        const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};K8S_POD_UID=uid-of-${name}`
        const pod = { containerId: id(digit), netns: '/run/netns/none', ifname: 'net1', args }
        const { program, env, input } = whereaboutsRun(config, '10.22.0.0/24', verb, pod)
        const ran = await runProgram(program, [], { env, input })
        t.equal(ran.exit, 0, ran.stdout)
      }
      for (const [digit, name] of Object.entries({ a: 'web-0', b: 'web-1', c: 'web-2' }))
        await call('ADD', digit, name)
      const expected = ['10.22.0.1 adopt bound', '10.22.0.2 adopt bound', '10.22.0.3 gone']
      t.same(await site.verdicts('whereabouts', '--network', 'bench'), expected)
      t.same(await site.daemon.leases(), [])
      t.same(await site.verdicts('whereabouts', '--network', 'bench', '--apply'), expected)
      t.match(await site.daemon.leases(), [
        {
          address: '10.22.0.1',
          ifname: 'net1',
          containerId: id('a'),
          pod: { namespace: 'shop', name: 'web-0' },
        },
        { address: '10.22.0.2', ifname: 'net1', containerId: id('b') },
      ])
      await call('DEL', 'a', 'web-0')
      t.same(
        await site.verdicts('whereabouts', '--network', 'bench', '--apply'),
        ['10.22.0.2 ours', '10.22.0.3 gone'],
        'what whereabouts gave up meanwhile is no longer found',
      )
    },
  )

  await t.test('calico', async t => {
    const site = await makeSite(
      t,
      cluster,
      [{ id: id('c'), namespace: 'shop', name: 'web-0' }],
      ['10.30.0.0/16'],
    )
    const attribute = (digit: string, pod: string, node: string): object => ({
      handle_id: `k8s-pod-network.${id(digit)}`,
      secondary: { namespace: 'shop', node, pod, timestamp: '2026-01-02 03:04:05.678 +0000 UTC' },
    })
    await cluster.create({
      ...{ apiVersion: 'crd.projectcalico.org/v1', kind: 'IPAMBlock', metadata: { name: '10-30-1-0-29' } },
      spec: {
        ...{
          cidr: '10.30.1.0/29',
          affinity: 'host:worker-1',
          strictAffinity: false,
          unallocated: [4, 5, 6, 7],
        },
        allocations: [0, 1, 2, 3, null, null, null, 9],
        attributes: [
          {
            handle_id: 'vxlan-tunnel-addr-worker-1',
            secondary: { node: 'worker-1', type: 'vxlanTunnelAddress' },
          },
          attribute('c', 'web-0', 'worker-1'),
          attribute('d', 'web-1', 'worker-1'),
          attribute('e', 'web-2', 'worker-2'),
        ],
      },
    })
    const expected = ['10.30.1.1 adopt bound', '10.30.1.2 gone', '10.30.1.3 elsewhere']
    t.same(await site.verdicts('calico'), expected)
    t.same(await site.verdicts('calico', '--apply'), expected)
    t.same(await site.verdicts('calico', '--apply'), ['10.30.1.1 ours', ...expected.slice(1)])
    t.match(await site.daemon.leases(), [
      {
        address: '10.30.1.1',
        network: 'k8s-pod-network',
        containerId: id('c'),
        ifname: 'eth0',
        pod: { name: 'web-0' },
      },
    ])
  })

  await t.test('kube-ovn', async t => {
    const site = await makeSite(
      t,
      cluster,
      [
        { id: id('1'), namespace: 'shop', name: 'db-0' },
        { id: id('2'), namespace: 'shop', name: 'web-5d4cf56db6-x2x5z' },
      ],
      ['10.16.0.0/16', 'fd00:10:16::/112'],
    )
    const object = (pod: string, v4: string, v6: string, podType: string, nodeName = 'worker-1'): object => ({
      ...{ apiVersion: 'kubeovn.io/v1', kind: 'IP', metadata: { name: `${pod}.shop` } },
      spec: {
        ...{ podName: pod, namespace: 'shop', nodeName, podType, subnet: 'ovn-default', containerID: '' },
        ...{ ipAddress: [v4, v6].filter(Boolean).join(','), v4IpAddress: v4, v6IpAddress: v6 },
        ...{ macAddress: '00:00:00:8D:1A:A0', attachIps: [], attachMacs: [], attachSubnets: [] },
      },
    })
    for (const one of [
      object('db-0', '10.16.0.5', 'fd00:10:16::5', 'StatefulSet'),
      object('db-1', '10.16.0.6', '', 'StatefulSet'),
      object('web-5d4cf56db6-x2x5z', '10.16.0.7', '', ''),
      object('web-5d4cf56db6-gone5', '10.16.0.8', '', ''),
      object('db-2', '10.16.0.9', '', 'StatefulSet', 'worker-2'),
    ])
      await cluster.create(one)
    const rest = ['10.16.0.8 gone', '10.16.0.9 elsewhere']
    t.same(await site.verdicts('kube-ovn', '--network', 'ovn', '--apply'), [
      ...['10.16.0.5 adopt bound', '10.16.0.6 adopt held', '10.16.0.7 adopt bound'],
      ...[...rest, 'fd00:10:16::5 adopt bound'],
    ])
    t.same(await site.verdicts('kube-ovn', '--network', 'ovn', '--apply'), [
      ...['10.16.0.5 ours', '10.16.0.6 ours', '10.16.0.7 ours'],
      ...[...rest, 'fd00:10:16::5 ours'],
    ])
    t.match(
      (await site.daemon.leases()).filter(({ address }) => address !== 'fd00:10:16::5'),
      [
        { address: '10.16.0.5', state: 'bound', retain: 'while-owner-exists' },
        { address: '10.16.0.6', state: 'held', retain: 'while-owner-exists' },
        { address: '10.16.0.7', state: 'bound', retain: 'release' },
      ],
    )
  })

  await t.test('crd-ipkeeper, from the API and from a file', async t => {
    const site = await makeSite(
      t,
      cluster,
      [{ id: id('7'), namespace: 'default', name: 'web-aaaaa' }],
      ['172.16.91.0/24'],
    )
    const manifest = {
      ...{ apiVersion: 'ipkeeper.generals.space/v1', kind: 'StaticIP' },
      metadata: { name: 'deployment-web', namespace: 'default' },
      spec: {
        ...{ namespace: 'default', ownerKind: 'Deployment', gateway: '172.16.91.1', ratio: '2/3' },
        ipPool: '172.16.91.140/24,172.16.91.141/24,172.16.91.142/24',
        ipmap: {
          '172.16.91.140/24': { namespace: 'default', name: 'web-aaaaa', uid: 'uid-of-web-aaaaa' },
          '172.16.91.141/24': { namespace: 'default', name: 'web-bbbbb', uid: 'u2' },
          '172.16.91.142/24': null,
        },
        used: ['172.16.91.140/24', '172.16.91.141/24'],
        avaliable: ['172.16.91.142/24'],
      },
    }
    await cluster.create(manifest)
    const expected = ['172.16.91.140 adopt bound', '172.16.91.141 adopt held']
    t.same(await site.verdicts('crd-ipkeeper', '--network', 'net'), expected)
    const list = await cluster.request('GET', '/apis/ipkeeper.generals.space/v1/staticips')
    const file = site.folder.file('list.json')
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: (list as { items: object[] }).items }),
    )
    t.same(await site.verdicts('crd-ipkeeper', '--network', 'net', '--file', file, '--apply'), expected)
    t.same(
      (await site.daemon.leases()).map(({ address, state }) => `${address} ${state}`),
      ['172.16.91.140 bound', '172.16.91.141 held'],
    )
  })

  await t.test('what cannot be read says what to type', async t => {
    const site = await makeSite(t, cluster, [], ['10.22.0.0/24'])
    const pods = site.folder.file('pods.json')
    writeFileSync(pods, JSON.stringify({ kind: 'List', items: [{ kind: 'Pod', metadata: { name: 'a' } }] }))
    const rows: readonly (readonly [words: readonly string[], exit: number, says: RegExp])[] = [
      [
        ['calico', '--file', pods],
        2,
        /pods\.json has no IPAMBlock, but Pod .*\nhint: kubectl get ipamblocks/,
      ],
      [['whereabouts', '--kubeconfig', '/none'], 1, /IPK_KUBERNETES_CONFIG/],
      [['calico', '--file', '/none'], 1, /cannot be read \(ENOENT\)/],
      [['calico', '--file', '/none', '--kubeconfig', '/none'], 2, /not both/],
      [['host-local', '--subnet', '10.22.0.0/24'], 2, /--subnet needs --network NAME/],
      [['host-local', '--retain', 'for ever', '--dir', site.folder.file('results')], 0, /^$/],
      [['host-local', '--dir', '/none'], 1, /\/none cannot be read \(ENOENT\) \[IPK_CACHE_UNREADABLE\]/],
      [
        ['flannel'],
        2,
        /unknown command "import flannel" \[IPK_USAGE\]\nhint: see: ipkeeperctl import --help/,
      ],
      [[], 2, /"import" needs a subcommand: host-local, whereabouts/],
    ]
    for (const [words, exit, says] of rows) {
      const ran = await site.daemon.control('import', ...words)
      t.equal(ran.exit, exit, words.join(' '))
      t.match(ran.stderr, says)
      if (exit !== 0) t.match(ran.stderr, /hint: /)
    }
  })
})
