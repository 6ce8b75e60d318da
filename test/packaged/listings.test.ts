/** What `ipkeeperctl` answers about pods, addresses and pools, as a person types it, on the packaged executables. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { missing } from '../rigs/requirements.ts'
import { typedSite } from '../rigs/typed-site.ts'

const skip = missing('executables')

t.test('a full dual-stack /29: nothing is free of IPv4, however much of IPv6', { skip }, async t => {
  const { add, typed } = await typedSite(t, '10.22.0.0/29', 'fd00:22::/64')
  for (const name of ['a', 'b', 'c', 'd', 'e']) await add(`shop/${name}`)
  const rows = (await typed('pools')).split('\n').map(line => line.trim().split(/ {2,}/).slice(0, 7))
  t.strictSame(rows.slice(0, 3), [
    ['POOL', 'SEGMENT', 'FAMILY', 'CAPACITY', 'USED', 'HELD', 'FREE'],
    ['net', 'default', 'IPv4', '5', '5', '0', '0'],
    ['net', 'default', 'IPv6', '18446744073709551614', '5', '0', '18446744073709551609'],
  ])
})

t.test('a listing in every format', { skip }, async t => {
  const { add, typed } = await typedSite(t, '10.22.0.0/24')
  for (const pod of ['shop/web-0', 'lab/db-0']) await add(pod)
  await typed('reserve', '10.22.0.50', 'external:printer-3', '--note', '=1+1, "room" 12')
  t.equal(await typed('leases', '-o', 'name'), '10.22.0.2\n10.22.0.3\n')
  t.match((await typed('leases', '--no-headers')).split('\n'), [
    /^10\.22\.0\.2\/24 +bound +shop\/web-0/,
    /^10/,
    /^$/,
  ])
  t.match(
    await typed('leases', '-o', 'wide'),
    /^ADDRESS +SEGMENT +POOL .*\n10\.22\.0\.2\/24 +default +net +bound/,
  )
  t.match(
    await typed('leases', '-o', 'csv'),
    /^address,prefixLength,segment,pool,state,namespace,pod,.*\r\n10\.22\.0\.2,24,default,net,bound,shop,web-0,/,
  )
  t.match(
    await typed('reservations', '-o', 'csv', '--no-headers'),
    /^10\.22\.0\.50,default,external:printer-3,.*Z,"'=1\+1, ""room"" 12"\r\n$/,
  )
  t.strictSame(parse(await typed('leases', '-o', 'yaml')), JSON.parse(await typed('leases', '-o', 'json')))
  t.match(parse(await typed('status', '-o', 'yaml')), { store: { leases: 2 } })
})

t.test('which addresses a namespace, a pod, an owner has', { skip }, async t => {
  const { add, typed, daemon } = await typedSite(t, '10.22.0.0/24')
  for (const pod of ['shop/web-0', 'shop/web-1', 'lab/db-0', 'lab/x-6d4cf56db6-x2x5z']) await add(pod)
  await typed('reserve', '10.22.0.50', 'shop/sts/web')
  for (const [words, names] of [
    [['leases', '-n', 'shop'], '10.22.0.2\n10.22.0.3\n'],
    [['leases', '--pod', 'web-1'], '10.22.0.3\n'],
    [['leases', '-n', 'lab', '--owner', 'deploy/x'], '10.22.0.5\n'],
    [['leases', '--sort-by', 'pod', '--limit', '1'], '10.22.0.4\n'],
    [['leases', '-n=lab', '--limit', '1'], '10.22.0.4\n'],
    [['leases', '--state', 'held,cooling'], ''],
    [['attachments', '--pod', 'lab/db-0'], 'lab-db-0\n'],
    [['reservations', '--owner', 'shop/sts/web'], '10.22.0.50\n'],
    [['pools', '--sort-by', 'free'], 'net\n'],
  ] as const)
    t.equal(await typed(...words, '-o', 'name'), names, words.join(' '))
  t.match(await typed('leases', '--limit', '1'), /\n3 more; without --limit all are shown\n$/)
  for (const [words, exit, error] of [
    [['leases', '--state', 'free'], 2, '--state free is none of bound, held, cooling'],
    [['leases', '-l', 'app=web'], 1, 'this daemon knows no labels of pods: it asks no Kubernetes API'],
    [['leases', '--pool', 'nett'], 1, 'there is no pool nett; did you mean net?'],
    [
      ['leases', '-n', 'lab/db-0'],
      2,
      '--namespace "lab/db-0" is no name of a namespace; for a pod: --pod lab/db-0',
    ],
    [
      ['leases', '--owner', 'a/b/c/d'],
      2,
      '--owner "a/b/c/d" is neither NAME, KIND/NAME nor NAMESPACE/KIND/NAME',
    ],
    [
      ['leases', '--sort-by', 'foo'],
      2,
      '--sort-by foo is none of address, since, until, state, pod, node, pool',
    ],
    [['-n', 'shop', 'leases'], 2, 'option -n stands before the command'],
    [['doctor', '--pod', 'web-0'], 2, '--pod "web-0" is not NAMESPACE/NAME'],
    [['pods'], 2, 'unknown command "pods"; did you mean leases?'],
    [['leases', '-n', 'lab', '--pod', 'shop/web-0'], 1, 'pod shop/web-0 is not in namespace lab'],
  ] as const) {
    const finished = await daemon.control(...words)
    t.equal(finished.exit, exit, words.join(' '))
    t.ok(finished.stderr.startsWith(`error: ${error} [IPK_`), finished.stderr)
  }
})

t.test('who: an address with its prefix length, and a pod', { skip }, async t => {
  const { add, typed, daemon } = await typedSite(t, '10.22.0.0/16', 'fd00:22::/64')
  await add('shop/web-0')
  t.match(await typed('who', '10.22.0.2/16'), /^10\.22\.0\.2 is bound to shop\/web-0 /)
  const both = /^10\.22\.0\.2 is bound to shop\/web-0 [^]*\nfd00:22::2 is bound to shop\/web-0 /
  for (const word of ['shop/web-0', 'web-0']) t.match(await typed('who', word), both, word)
  t.match(await daemon.control('who', 'shop/web-1'), {
    exit: 1,
    stderr: /^error: no address is known of pod shop\/web-1; did you mean shop\/web-0\? \[IPK_POD_UNKNOWN\]/,
  })
})

t.test(
  'one pool: why it gives fewer addresses than its range has, and the next free ones',
  { skip },
  async t => {
    const { add, typed } = await typedSite(t, '10.22.0.0/29')
    await add('shop/web-0')
    const text = await typed('pools', 'net', '--free', '10')
    t.match(
      text,
      /\nrange +10\.22\.0\.1-10\.22\.0\.6 of 10\.22\.0\.0\/29: 5 of 6 addresses can be assigned\n +not 10\.22\.0\.1: the gateway\n/,
    )
    t.match(text, /\nfree +10\.22\.0\.3\n +10\.22\.0\.4\n +10\.22\.0\.5\n +10\.22\.0\.6\n$/)
    t.strictSame(JSON.parse(await typed('pools', 'net', '--free', '2', '-o', 'json')).description.free, [
      '10.22.0.3',
      '10.22.0.4',
    ])
  },
)

t.test('one pool that is full: it says that no address is free, and in which family', { skip }, async t => {
  const { add, daemon } = await typedSite(t, '10.22.0.0/30', 'fd00:22::/64')
  await add('shop/web-0')
  t.match(await daemon.control('pools', 'net', '--free', '1'), {
    stdout: /\nfree +fd00:22::3\n$/,
    stderr: 'note: no IPv4 address of pool net is free\n',
  })
})

t.test(
  'explain: annotations of others that are not read, and when a changed one counts',
  { skip },
  async t => {
    const { add, typed, folder } = await typedSite(t, '10.22.0.0/24')
    await add('shop/web-0')
    const conflist = folder.file('10-net.conflist')
    const plugin = {
      ...{ type: 'bridge', capabilities: { 'io.kubernetes.cri.pod-annotations': true } },
      ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
    }
    writeFileSync(conflist, JSON.stringify({ cniVersion: '1.0.0', name: 'net', plugins: [plugin] }))
    const manifest = folder.file('pod.yaml')
    const annotations = `{ 'cni.projectcalico.org/ipAddrs': '["10.22.0.77"]' }`
    writeFileSync(
      manifest,
      `apiVersion: v1\nkind: Pod\nmetadata: { namespace: shop, name: web-1, annotations: ${annotations} }\n`,
    )
    t.match(
      await typed('explain', '--manifest', manifest, '--conflist', conflist),
      /\n {2}- request annotation cni\.projectcalico\.org\/ipAddrs: not read: add calico to "annotations" in the daemon's file to have it obeyed\n[^]*\nan ADD would give 10\.22\.0\.3\/24\n$/,
    )
    t.match(
      await typed('explain', 'shop/web-0', '--conflist', conflist),
      /sandbox shop-web-0: has 10\.22\.0\.2\/24 .*; a changed annotation takes effect when the pod is started again; an ADD now would be /,
    )
  },
)

t.test('when a pool is full, by what is known of the days before', { skip }, async t => {
  const day = 86_400_000
  const [now, samples] = [Date.now(), [3, 2, 1, 0.5]]
  const net = samples.map(ago => [now - ago * day, 24 - 8 * ago, 0])
  const files = { 'pool-use.json': JSON.stringify({ version: 1, pools: { 'net IPv4': net } }) }
  const { add, daemon, typed } = await typedSite(t, { files }, '10.22.0.0/26', 'fd00:22::/64')
  for (let pod = 0; pod < 24; pod++) await add(`shop/web-${pod}`)
  const [titles = '', ipv4 = '', ipv6 = ''] = (await typed('pools', '-o', 'wide')).split('\n')
  t.match(titles, / FREE +NEXT FREE +FULL IN +RANGES +FORECAST$/)
  t.match(ipv4, / 37 +- +5d +\S+ +it grew by 8 addresses a day in the last 3d$/)
  t.match(ipv6, / - +- +\S+ +not known yet: 1 sample over 0s; it takes 4 over 1h$/)
  t.match(await typed('pools', '-o', 'csv'), /,fullAt,ranges,forecast\r\n/)
  const { body } = await daemon.ask('GET', '/v1/pools/use')
  const { use } = JSON.parse(body) as { use: { samples: { used: number }[] }[] }
  t.strictSame(
    use.map(of => of.samples.map(({ used }) => used)),
    [[0, 8, 16, 20, 24], [24]],
  )
})
