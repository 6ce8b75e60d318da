import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runTool } from '../../../rigs/run-tool.ts'
import { serveLeases } from '../../../rigs/served-leases.ts'

const conflist = {
  cniVersion: '1.0.0',
  name: 'net',
  plugins: [
    {
      type: 'bridge',
      capabilities: { 'io.kubernetes.cri.pod-annotations': true },
      ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
    },
  ],
}

/** A real application on a socket, a folder with a network, and the tool that asks. */
async function explainCommand(t: Test, files: Readonly<Record<string, string>> = {}) {
  const { story, socket } = await serveLeases(t)
  const dir = t.testdir({ 'net.d': { '10-net.conflist': JSON.stringify(conflist), ...files }, ...files })
  const run = async (...argv: readonly string[]) => {
    const ran = await runTool(['explain', ...argv, '--net-dir', join(dir, 'net.d')], {
      env: { IPKEEPER_SOCKET: socket },
    })
    return { ...ran, err: ran.err.replaceAll(dir, 'DIR') }
  }
  return { story, run, file: (name: string) => join(dir, name) }
}

const unknown =
  '    request annotations: not known without the Kubernetes API (at an ADD the runtime passes them): pass them with --manifest\n'
const rest = ': after DEL it cools down for 1m, and until then only a pod that asks for it by name gets it\n'

t.test('a pod that may come', async t => {
  const { story, run } = await explainCommand(t)
  await story.add({ pod: 'a', container: 'c1' })
  t.strictSame(await run('shop/web-0'), {
    exit: 0,
    err: '',
    out:
      'shop/web-0, network net, interface eth0\n' +
      unknown +
      "    workload StatefulSet shop/web: as the pod's name says\n" +
      '  + pool net: named by the ranges of the network\n' +
      '  - address 10.22.0.2: held by shop/a on node n1\n' +
      '  + address 10.22.0.3: lowest free address\n' +
      `    retention 10.22.0.3: release, by the daemon's default${rest}` +
      'an ADD would give 10.22.0.3/24\n',
  })
})

const manifest = `
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: web
  annotations: { ipkeeper.io/retain: 30m }
spec:
  replicas: 3
  template:
    metadata:
      annotations:
        ipkeeper.io/ips: 10.22.0.50-10.22.0.51
`

t.test('a manifest of which one pod would be refused: exit 1, for each pod what and why', async t => {
  const { story, run, file } = await explainCommand(t, { 'web.yaml': manifest })
  await story.add({ pod: 'db-0', container: 'c1', ip: '10.22.0.51' })
  const notes =
    '  ! ipkeeper.io/retain is in metadata.annotations of the StatefulSet, where no pod sees it: move it to spec.template.metadata.annotations\n'
  const asks = '    request 10.22.0.50-10.22.0.51: candidates of annotation ipkeeper.io/ips\n'
  const workload = "    workload StatefulSet shop/web: as the pod's name says\n"
  const pool = '  + pool net: named by the ranges of the network\n'
  t.strictSame(await run('--manifest', file('web.yaml'), '--namespace', 'shop'), {
    exit: 1,
    err: '',
    out: [
      'Each pod is explained as if it were the next one created.\n',
      'shop/web-0, network net, interface eth0\n' +
        `${notes}${asks}${workload}${pool}` +
        '  + workload 10.22.0.50: candidate 0 of 2 for ordinal 0\n' +
        '  + address 10.22.0.50: annotation ipkeeper.io/ips: candidate 0 of 2 for ordinal 0\n' +
        "    retention 10.22.0.50: release, by the daemon's default: after DEL it cools down for 10m, and until then only a pod that asks for it by name gets it\n" +
        'an ADD would give 10.22.0.50/24\n',
      'shop/web-1, network net, interface eth0\n' +
        `${notes}${asks}${workload}${pool}` +
        '  + workload 10.22.0.51: candidate 1 of 2 for ordinal 1\n' +
        'an ADD would fail: annotation ipkeeper.io/ips (ordinal 1) asks for 10.22.0.51, which is held by shop/db-0 on node n1 (container c1, since 2026-01-01T00:00:00Z); it comes free when that pod is deleted [IPK_ADDRESS_HELD, CNI code 101]\n' +
        '  hint: choose another address for this pod, or delete shop/db-0; see: ipkeeperctl leases\n',
      'shop/web-2, network net, interface eth0\n' +
        `${notes}${asks}${workload}${pool}` +
        'an ADD would fail: pod shop/web-2 has ordinal 2, but annotation ipkeeper.io/ips lists 2 addresses (10.22.0.50-10.22.0.51) [IPK_ORDINAL_BEYOND_LIST, CNI code 134]\n' +
        '  a name that ends in "-N" is taken for the Nth pod of a StatefulSet; the first is 0\n' +
        '  hint: list one address per replica, in the order of the ordinals\n',
    ].join('\n'),
  })
})

t.test('-o json: the whole answers, and the file of the network', async t => {
  const { run, file } = await explainCommand(t, { 'a.yaml': 'kind: Pod\nmetadata: { name: a }' })
  const { exit, out } = await run('--manifest', file('a.yaml'), '-o', 'json', '--ifname', 'net1')
  t.equal(exit, 0)
  t.match(JSON.parse(out), {
    conflist: file('net.d/10-net.conflist'),
    explanations: [
      {
        pod: { namespace: 'default', name: 'a', uid: null },
        ifname: 'net1',
        annotationsFrom: 'manifest',
        addresses: ['10.22.0.2/24'],
        result: { ips: [{ address: '10.22.0.2/24', gateway: '10.22.0.1' }] },
        notes: [],
      },
    ],
  })
})

t.test('left to the fallback: exit 0', async t => {
  const plugin = { type: 'bridge', ipam: { ...conflist.plugins[0]?.ipam, fallback: { type: 'dhcp' } } }
  const { run, file } = await explainCommand(t, {
    'f.conflist': JSON.stringify({ name: 'net', plugins: [plugin] }),
  })
  const { exit, out } = await run('shop/web-0', '--conflist', file('f.conflist'))
  t.match(
    out,
    /^ {2}- request annotations: an ADD does not see them: the "capabilities" of the network lack /m,
  )
  t.match(out, /\nan ADD would be delegated to the fallback dhcp\n$/)
  t.equal(exit, 0)
})

t.test('networks that cannot be read are told of on stderr', async t => {
  const { run } = await explainCommand(t, { '05-broken.conflist': '{' })
  t.match(await run('shop/web-0', '--network', 'net'), {
    exit: 0,
    err: /^note: skipped: DIR\/net\.d\/05-broken\.conflist:1:\d+: .*\n$/,
  })
})

t.test('called wrongly, or refused before an answer', async t => {
  const { run, file } = await explainCommand(t, {
    'bad.yaml': 'kind: Pod',
    'nul.yaml': 'kind: Pod\nmetadata: { name: A_b }',
  })
  for (const [argv, exit, err] of [
    [[], 2, /^error: explain takes NAMESPACE\/POD or --manifest FILE; got none \[IPK_USAGE\]\n/],
    [['web-0'], 2, /"web-0" is not NAMESPACE\/POD/],
    [['a/b/c'], 2, /"a\/b\/c" is not NAMESPACE\/POD/],
    [['shop/a', 'shop/b'], 2, /takes at most one NAMESPACE\/POD; got shop\/b as well/],
    [['shop/a', '--manifest', 'x'], 2, /either NAMESPACE\/POD or --manifest FILE, not both/],
    [['shop/a', '--namespace', 'x'], 2, /--namespace goes with --manifest/],
    [['shop/a', '--network', 'none'], 1, /hint: networks that use ipkeeper: net\n$/],
    [['--manifest', file('none.yaml')], 1, /none\.yaml cannot be read \(ENOENT\)/],
    [['--manifest', file('bad.yaml')], 1, /bad\.yaml:1:1: a Pod without metadata\.name/],
    [['--manifest', file('nul.yaml')], 1, /"default\/A_b" is not the NAMESPACE\/NAME of a pod/],
    [['Shop/web'], 1, /"Shop\/web" is not the NAMESPACE\/NAME of a pod \[IPK_REQUEST_INVALID\]/],
  ] as const) {
    const ran = await run(...argv)
    t.equal(ran.exit, exit, argv.join(' '))
    t.equal(ran.out, '')
    t.match(ran.err, err)
  }
})

t.test('the help says what its exit codes mean', async t => {
  const { run } = await explainCommand(t)
  const { exit, out } = await run('--help')
  t.equal(exit, 0)
  t.match(
    out,
    '\nExit codes: 0 every ADD would succeed, 1 an ADD would be refused, or explain failed, 2 usage error.\n',
  )
})
