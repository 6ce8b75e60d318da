import { chmodSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { commands, runIpkeeperctl } from '../../../ipkeeper-server/cli/ipkeeperctl.ts'
import { canonicalPool } from '../../../ipkeeper-server/ipam/pools/pool.ts'
import type { NodeRecord } from '../../../ipkeeper-server/ipam/records/records.ts'
import type { ReadExport } from '../../../ipkeeper-server/http/routes/status.ts'
import type { DiskStatus, LeaseStore, StoreStatus } from '../../../ipkeeper-server/store/lease-store.ts'
import type { AddressReply, HistoryReply, ReleaseReply } from '../../../shared/api/address.schema.ts'
import type {
  LeasesReply,
  PoolsReply,
  ReservationsReply,
  StatusReply,
} from '../../../shared/api/listing.schema.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'
import { leaveStaleSocket, listenScripted, replyText, type Script } from '../../rigs/scripted-socket.ts'
import { EngineDouble } from '../../rigs/engine-double.ts'
import { until } from '../../rigs/poll.ts'
import { nodeText } from '../../rigs/records.ts'
import { openSharedStore } from '../../rigs/shared-store.ts'
import { runTool, type ToolRun } from '../../rigs/run-tool.ts'
import { serveLeases } from '../../rigs/served-leases.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'
import { TestService } from '../leases/test-service.ts'

const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ToolRun> =>
  runTool(argv, { env })

const folder = tempFolder(t)
let names = 0
const newPath = (): string => folder.file(`${++names}.sock`)

/** A real application on a socket, and the tool that asks it. */
async function servedTool(t: Test, store?: LeaseStore) {
  const story = await TestService.open(store)
  story.now = Date.now()
  const deferred = { waiting: 0, quarantined: 0 }
  const disk: { now: DiskStatus | undefined } = { now: undefined }
  const historyExport: { now: Awaited<ReturnType<ReadExport>> } = { now: undefined }
  const { socket } = await serveLeases(t, {
    story,
    facts: { startedAt: Date.now() - 300_000 },
    parts: {
      deferredDels: () => Promise.resolve(deferred),
      disk: () => disk.now,
      historyExport: () => Promise.resolve(historyExport.now),
    },
  })
  // What the environment says holds for the commands that hints name, too.
  const control = (...argv: readonly string[]): Promise<ToolRun> => run(argv, { IPKEEPER_SOCKET: socket })
  /** What a command that must succeed prints. */
  const printed = async (...argv: readonly string[]): Promise<string> => {
    const { exit, out, err } = await control(...argv)
    if (exit !== 0 || err !== '') throw new Error(`${argv.join(' ')}: exit ${exit}, ${err}`)
    // A slow machine may need some seconds.
    return out.replace(/ [0-9]s( |$)/gm, ' 0s$1')
  }
  return { story, socket, control, printed, deferred, disk, historyExport }
}

t.test('leases', async t => {
  const { story, printed, control } = await servedTool(t)
  t.equal(await printed('leases'), 'no leases\n')
  t.equal(await printed('leases', '-o', 'json'), '{\n  "leases": []\n}\n')
  await story.add({ pod: 'web-0', container: 'c0ffee'.repeat(10), ip: '10.22.0.50' })
  await story.add({ container: 'alone' })
  await story.add({ pod: 'db-0', container: 'c3', retain: '30m' })
  await story.del('c3')
  t.equal(
    await printed('leases'),
    [
      'ADDRESS        STATE  HOLDER           NETWORK  NODE  CONTAINER      IFNAME  SOURCE                     SINCE  FREE IN',
      '10.22.0.2/24   bound  container alone  net      n1    alone          eth0    dynamic                    0s     -',
      '10.22.0.3/24   held   shop/db-0        net      n1    -              eth0    dynamic                    0s     30m',
      '10.22.0.50/24  bound  shop/web-0       net      n1    c0ffeec0ffeec  eth0    annotation ipkeeper.io/ip  0s     -',
      '',
    ].join('\n'),
  )
  const { leases } = JSON.parse(await printed('leases', '-o', 'json')) as LeasesReply
  t.match(leases, [
    { address: '10.22.0.2', containerId: 'alone', pod: null },
    { address: '10.22.0.3', state: 'held', containerId: null, pod: { namespace: 'shop', name: 'db-0' } },
    { address: '10.22.0.50', containerId: 'c0ffee'.repeat(10), pod: { name: 'web-0' } },
  ])
  const limited = JSON.parse(await printed('leases', '--limit', '1', '--output=json')) as LeasesReply
  t.match(limited, { leases: { length: 1 }, more: 2 })
  for (const [argv, addresses, below] of [
    [['--limit', '1'], ['10.22.0.2/24'], '2 more; without --limit all are shown\n'],
    [['--limit', '1', '--no-headers'], ['10.22.0.2/24'], ''],
    [['-n', 'shop'], ['10.22.0.3/24', '10.22.0.50/24'], ''],
    [['--state', 'held,cooling'], ['10.22.0.3/24'], ''],
    [['--pod', 'shop/web-0'], ['10.22.0.50/24'], ''],
    [['--owner', 'sts/web', '--node', 'n1'], ['10.22.0.50/24'], ''],
    [['--sort-by', 'pod'], ['10.22.0.3/24', '10.22.0.50/24', '10.22.0.2/24'], ''],
    [['--node', 'n2'], [], ''],
  ] as const) {
    const text = await printed('leases', ...argv)
    t.strictSame(text.match(/^[0-9.]+\/24/gm) ?? [], addresses, argv.join(' '))
    t.equal(/^[0-9]+ more.*\n$/m.exec(text)?.[0] ?? '', below)
  }
  t.match(await printed('leases', '--pool', 'net'), /10\.22\.0\.50/)
  t.match(await control('leases', '--pool', 'ent'), {
    exit: 1,
    err: /there is no pool ent; did you mean net\?/,
  })
})

t.test('a kept address of a container without a pod', async t => {
  const { story, printed } = await servedTool(t)
  await story.add({ container: 'alone', retain: 'forever' })
  await story.del('alone')
  t.match(await printed('leases'), /10\.22\.0\.2\/24 +held +- +net +n1 +- +eth0 .* never\n/)
})

t.test('until when a kept address is kept', async t => {
  const { story, printed } = await servedTool(t)
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 's1' }
  for (const [pod, retain, more] of [
    ['a', 'forever', {}],
    ['b', '12m', {}],
    ['web-0', 'while-owner-exists', { owner }],
    ['printer', 'while-owner-exists', { owner: null }],
    ['db-0', 'while-owner-exists', {}],
    ['z', 'while-owner-exists', { owner }],
  ] as const) {
    await story.add({ pod, container: pod, retain, ...more })
    if (pod !== 'z') await story.del(pod)
  }
  t.strictSame(
    (await printed('leases'))
      .split('\n')
      .slice(1, -1)
      .map(line => line.replace(/^(\S+) .* dynamic +\S+ +/, '$1 ')),
    [
      '10.22.0.2/24 never',
      '10.22.0.3/24 12m',
      '10.22.0.4/24 with StatefulSet web',
      '10.22.0.5/24 with Pod printer',
      '10.22.0.6/24 owner unknown',
      '10.22.0.7/24 -',
    ],
  )
  const { leases } = JSON.parse(await printed('leases', '-o', 'json')) as LeasesReply
  t.strictSame(
    leases.map(({ owner: known }) => known),
    [null, null, 'StatefulSet shop/web', 'Pod shop/printer', null, 'StatefulSet shop/web'],
  )
})

t.test('reserve for a workload, and for an owner that is no pod', async t => {
  const { story, control, printed } = await servedTool(t)
  await story.add({ pod: 'a', container: 'c1' })
  t.equal(
    await printed('reserve', '10.22.0.50', 'shop/STS/web'),
    '10.22.0.50 is reserved for shop/statefulset/web\n',
  )
  t.match(await control('reserve', '10.22.0.51', 'external:printer-3', '--note', 'room 12'), {
    exit: 0,
    out: '10.22.0.51 is reserved for external:printer-3\n',
  })
  t.equal(
    await printed('reservations'),
    'ADDRESS     SEGMENT  OWNER                 SINCE  NOTE\n' +
      '10.22.0.50  default  shop/statefulset/web  0s\n' +
      '10.22.0.51  default  external:printer-3    0s     room 12\n',
  )
  t.match(await control('reserve', '10.22.0.52', 'shop/statefulst/web'), {
    exit: 1,
    err: /names kind "statefulst", which has no pods; did you mean "statefulset"\? \[IPK_REQUEST_INVALID\]/,
  })
})

t.test('pools', async t => {
  const { story, printed } = await servedTool(t)
  t.match(await printed('pools'), /^no pools: a pool appears with the first ADD/)
  await story.add({ pod: 'a', container: 'c1' })
  t.equal(
    await printed('pools'),
    'POOL  SEGMENT  FAMILY  CAPACITY  USED  HELD  FREE  NEXT FREE  FULL IN  RANGES\n' +
      'net   default  IPv4    253       1     0     252   -          -        10.22.0.1-10.22.0.254\n',
  )
  await story.add({ pod: 'b', container: 'c2', retain: '30m' })
  await story.del('c2')
  t.match(
    await printed('pools'),
    /\nnet +default +IPv4 +253 +1 +1 +251 +30m +- +10\.22\.0\.1-10\.22\.0\.254\n$/,
  )
  const { pools } = JSON.parse(await printed('pools', '-o', 'json')) as PoolsReply
  const nextFreeAt = new Date(story.now + 30 * 60_000).toISOString()
  t.match(pools, [{ name: 'net', capacity: 253, used: 1, held: 1, free: 251, nextFreeAt }])
})

/** As the commands print a moment. */
const at = (time: number): string => new Date(time).toISOString().replace(/\.[0-9]{3}Z$/, 'Z')

t.test('who: a bound address', async t => {
  const { story, control, printed } = await servedTool(t)
  const begun = story.now
  await story.add({ pod: 'web-0', container: 'c0ffee'.repeat(10), ip: '10.22.0.50', retain: '30m' })
  story.now += 60_000
  story.dead.add('c0ffee'.repeat(10))
  await story.add({ pod: 'web-0', container: 'beef'.repeat(16), ip: '10.22.0.50', retain: '30m' })
  // What is printed is as far from now as the clock of this process says.
  const moved = begun + 60_000
  t.equal(
    (await printed('who', '10.22.0.50')).replace(/, \d+[sm] ago\n/, ', AGO\n'),
    [
      `10.22.0.50 is bound to shop/web-0 (container beefbeefbeefb on node n1; annotation ipkeeper.io/ip), which has had it since ${at(begun)}`,
      '',
      'state      bound',
      'pool       net',
      'segment    default',
      'holder     shop/web-0',
      `pod UID    uid-of-${'beef'.repeat(16)}`,
      'network    net',
      'interface  eth0',
      `container  ${'beef'.repeat(16)}`,
      'node       n1',
      `sandbox    /run/netns/${'beef'.repeat(16)}, not proved dead`,
      `since      ${at(moved)}, AGO`,
      `had since  ${at(begun)}`,
      'retention  30m',
      'source     annotation ipkeeper.io/ip',
      '',
      `FROM                  TO                    STATE  HOLDER      POD UID                                                                  CONTAINER      NODE  SOURCE                     ENDED`,
      `${at(moved)}  now                   bound  shop/web-0  uid-of-${'beef'.repeat(16)}  beefbeefbeefb  n1    annotation ipkeeper.io/ip  -`,
      `${at(begun)}  ${at(moved)}  bound  shop/web-0  uid-of-${'c0ffee'.repeat(10)}      c0ffeec0ffeec  n1    annotation ipkeeper.io/ip  taken over by a newer sandbox`,
      '',
    ]
      .join('\n')
      .replace(/ +$/gm, ''),
  )
  const json = JSON.parse((await control('who', '10.22.0.50', '-o', 'json')).out) as AddressReply
  t.match(json, { state: 'bound', lease: { containerId: 'beef'.repeat(16) }, tenures: [{ to: null }, {}] })
})

t.test('who: the other states', async t => {
  const { story, control, printed } = await servedTool(t)
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50', retain: '30m' })
  await story.add({ pod: 'b', container: 'c2', ip: '10.22.0.51', retain: 'forever' })
  await story.del('c1')
  await story.del('c2')
  await printed('reserve', '10.22.0.77', 'shop/db-0', '--note', 'licence server')
  const lab = parseCidr('10.22.0.0/25')!
  await story.add({ pod: 'l', container: 'c3', pool: canonicalPool('lab', 'lab', [[{ subnet: lab }]]) })
  const noted = (address: string): RegExp =>
    RegExp(
      `^note: a pool of segment lab also has this address; see: ipkeeperctl who ${address} --segment lab\n$`,
    )
  for (const [argv, out, err] of [
    [['10.22.0.50'], /\nfree in    30m, at .*Z\n/, noted('10.22.0.50')],
    [['10.22.0.51'], /\nfree in    never\n/, noted('10.22.0.51')],
    [['10.22.0.77'], /\nreserved   for shop\/db-0 \(licence server\)\n$/, noted('10.22.0.77')],
    [
      ['10.22.0.200'],
      /^10\.22\.0\.200 is free in pool net\n\nstate +free\npool +net\nsegment +default\n$/,
      /^$/,
    ],
    [['10.22.0.255'], /\npool       net: the broadcast address of 10\.22\.0\.0\/24\n/, /^$/],
    [
      ['10.22.0.2', '--segment', 'lab'],
      /^10\.22\.0\.2 is bound to shop\/l /,
      /a pool of segment default also has this address; see: ipkeeperctl who 10\.22\.0\.2\n$/,
    ],
    [['fd00::1'], /^fd00::1 is in no pool known so far in segment default\n/, /^$/],
  ] as const)
    t.match(await control('who', ...argv), { exit: 0, out, err }, argv.join(' '))
  story.now -= 31 * 60_000
  await story.add({ pod: 'd', container: 'c4', ip: '10.22.0.60', retain: '30m' })
  await story.del('c4')
  story.now += 31 * 60_000
  t.match((await control('who', '10.22.0.60')).out, /free in    now\n/)
})

t.test('a note can hold what a terminal obeys, and is never printed so', async t => {
  const { story, control, printed } = await servedTool(t)
  await story.add({ pod: 'web-0', container: 'c1' })
  await printed('reserve', '10.22.0.77', 'shop/db-0', '--note', 'a\nb \u001b[31mred')
  for (const argv of [
    ['who', '10.22.0.77'],
    ['who', 'shop/db-0'],
    ['reservations'],
    ['unreserve', '10.22.0.77', '--dry-run'],
  ]) {
    const { out, err } = await control(...argv)
    t.match(`${out}${err}`, /a\?b \?\[31mred/, argv.join(' '))
    t.notMatch(`${out}${err}`, /\u001b/, argv.join(' '))
  }
})

t.test('who: a pod', async t => {
  const { story, control, printed } = await servedTool(t)
  await story.add({ pod: 'web-0', container: 'c1', ip: '10.22.0.50', retain: '30m' })
  await story.add({ pod: 'web-1', container: 'c2' })
  await printed('reserve', '10.22.0.77', 'shop/web-0')
  await printed('reserve', '10.22.0.78', 'shop/db-0')
  for (const [word, sentences] of [
    ['shop/web-1', [/^10\.22\.0\.2 is bound to shop\/web-1 \(container c2 on node n1; dynamic\)/]],
    ['web-1', [/^10\.22\.0\.2 is bound to shop\/web-1 /]],
    [
      'shop/web-0',
      [/^10\.22\.0\.50 is bound to shop\/web-0 /, /^10\.22\.0\.77 is unused .* reserved for shop\/web-0/],
    ],
    ['shop/db-0', [/^10\.22\.0\.78 is unused in pool net; it is reserved for shop\/db-0/]],
  ] as const) {
    const said = (await printed('who', word)).split('\n').filter(line => /^[0-9.]+ is /.test(line))
    t.match(said, sentences, word)
    t.equal(said.length, sentences.length)
  }
  t.match(JSON.parse(await printed('who', 'shop/web-1', '-o', 'json')), {
    pod: 'shop/web-1',
    addresses: [{ address: '10.22.0.2', state: 'bound' }],
  })
  await story.del('c1')
  t.match(await printed('who', 'shop/web-0'), /^10\.22\.0\.50 is kept for shop\/web-0 until /)
  for (const [argv, err] of [
    [
      ['shop/web-2'],
      /^error: no address is known of pod shop\/web-2; did you mean shop\/web-[01]\? \[IPK_POD_UNKNOWN\]\nhint: see: ipkeeperctl leases -n shop; .*: ipkeeperctl explain shop\/web-2\n$/,
    ],
    [
      ['printer'],
      /^error: no address is known of pod printer \[IPK_POD_UNKNOWN\]\nhint: see: ipkeeperctl leases\n$/,
    ],
    [
      ['shop/ü'],
      /^error: no address is known of pod shop\/ü(; .*)? \[IPK_POD_UNKNOWN\]\nhint: see: ipkeeperctl leases -n shop\n$/,
    ],
    [['web-0', '--segment', 'lab'], /^error: no address is known of pod web-0/],
    [['10.22.0.500'], /"10\.22\.0\.500" is no IP address/],
    [['10.22.0.50/99'], /"10\.22\.0\.50\/99" is no IP address/],
  ] as const)
    t.match(await control('who', ...argv), { exit: 1, out: '', err }, argv.join(' '))
})

t.test('an address as listings print it, with its prefix length', async t => {
  const { story, printed } = await servedTool(t)
  await story.add({ pod: 'web-0', container: 'c1', ip: '10.22.0.50', retain: '30m' })
  t.match(await printed('who', '10.22.0.50/24'), /^10\.22\.0\.50 is bound to shop\/web-0/)
  t.match(await printed('history', '10.22.0.50/24'), /bound +shop\/web-0/)
  await story.del('c1')
  t.match(await printed('release', '10.22.0.50/24'), /^10\.22\.0\.50 is released/)
  await printed('reserve', '10.22.0.60', 'shop/web-0')
  t.equal(await printed('unreserve', '10.22.0.60/24'), '10.22.0.60 is no longer reserved\n')
})

t.test('history', async t => {
  const { story, control, printed } = await servedTool(t)
  t.equal(
    await printed('history', '10.22.0.50'),
    'no record of anybody who had it\nno history of node n1: what was recorded there is not known\n',
  )
  const begun = story.now
  const begins = `not known before ${at(begun)}: the history of node n1 begins then`
  await story.add({ pod: 'web-0', container: 'c1', ip: '10.22.0.50' })
  story.now += 60_000
  await story.del('c1')
  story.now += 60_000
  await story.add({ container: 'c2', ip: '10.22.0.50' })
  t.equal(
    await printed('history', '10.22.0.50'),
    [
      'ADDRESS     FROM                  TO                    STATE    HOLDER        POD UID    CONTAINER  NODE  SOURCE                     ENDED',
      `10.22.0.50  ${at(begun + 120_000)}  now                   bound    container c2  -          c2         n1    annotation ipkeeper.io/ip  -`,
      `10.22.0.50  ${at(begun + 60_000)}  ${at(begun + 120_000)}  cooling  shop/web-0    uid-of-c1  -          n1    annotation ipkeeper.io/ip  given to container c2`,
      `10.22.0.50  ${at(begun)}  ${at(begun + 60_000)}  bound    shop/web-0    uid-of-c1  c1         n1    annotation ipkeeper.io/ip  deleted`,
      begins,
      '',
    ].join('\n'),
  )
  const { history } = JSON.parse(await printed('history', '10.22.0.50', '-o', 'json')) as HistoryReply
  t.equal(history.length, 3)
  const limited = await control('history', '10.22.0.50', '--limit', '1', '-o', 'json')
  t.match(JSON.parse(limited.out), { history: history.slice(0, 1), notKnown: [] })
  const id = String(history[0]?.id)
  t.equal(limited.err, `note: for earlier tenures: ipkeeperctl history 10.22.0.50 --limit 1 --before ${id}\n`)
  t.match(JSON.parse(await printed('history', '10.22.0.50', '--before', id, '-o', 'json')), {
    ...{ history: history.slice(1), notKnown: [begins] },
    coverage: [{ node: 'n1', from: new Date(begun).toISOString(), to: null }],
  })
  t.equal(
    await printed('history', '10.22.0.50', '--segment', 'lab'),
    `no record of anybody who had it\n${begins}\n`,
  )
  const csv = ['-o', 'csv', '--no-headers']
  const ids = (out: string): string[] => out.split('\n').flatMap(line => line.split(',')[0] ?? [])
  for (const [argv, found] of [
    [['10.22.0.50', '--at', at(begun + 30_000)], ['1']],
    [['10.22.0.50', '--at', at(begun + 90_000)], ['2']],
    [
      ['--pod', 'shop/web-0'],
      ['2', '1'],
    ],
    [['--owner', 'StatefulSet/web', '--state', 'bound'], ['1']],
    [['-n', 'shop', '--until', at(begun + 30_000)], ['1']],
    [['-n', 'lab'], []],
  ] as const)
    t.strictSame(ids(await printed('history', ...argv, ...csv)).filter(Boolean), found, argv.join(' '))
  t.equal(
    await printed('history', '10.22.0.51', '--at', at(begun + 30_000)),
    'nobody had it in that time\n',
    'the history of this node is whole',
  )
  t.match(await control('history', '-n', 'shop', '--limit', '1'), {
    err: `note: for earlier tenures: ipkeeperctl history --namespace shop --limit 1 --until ${history[1]?.from}\n`,
  })
})

t.test('history --verify', async t => {
  const { story, control, printed } = await servedTool(t)
  t.equal(await printed('history', '--verify'), 'node n1: 0 entries, as they were written\n')
  const begun = story.now
  await story.add({ pod: 'web-0', container: 'c1', ip: '10.22.0.50' })
  await story.del('c1')
  const [whole, links, newest] = (await printed('history', '--verify')).split('\n')
  t.equal(whole, 'node n1: 2 entries, as they were written')
  t.equal(links, `links begin with entry 1 of ${at(begun)}`)
  t.match(newest, /^newest: entry 2 of \S+Z, link [\w-]{43}$/)
  const entries = await story.store.history({ limit: 2 })
  const changed = { ...entries[0]!, node: 'n2', id: 3 }
  await story.store.adoptHistory([changed])
  const found = await control('history', '--verify')
  t.equal(found.exit, 1)
  t.match(found.out, /^node n1: 3 entries, 1 fault\nentry 3 of \S+Z: not as it was written\n/)
})

t.test('history --export, and --verify of the copy', async t => {
  const { story, control, printed } = await servedTool(t)
  const file = tempFolder(t).file('history.jsonl')
  t.equal(await printed('history', '--export'), '')
  const begun = story.now
  for (const container of ['c1', 'c2']) {
    await story.add({ pod: 'web-0', container, ip: '10.22.0.50' })
    story.now += 60_000
    await story.del(container)
    story.now += 60_000
  }
  const copy = await printed('history', '--export')
  const entries = await story.store.history({ after: 0, limit: 10 })
  t.strictSame(
    copy
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as object),
    entries.map((entry, index) => ({ recorder: 'n1', previous: entries[index - 1]?.link ?? '', ...entry })),
  )
  writeFileSync(file, copy)
  const newest = `newest: entry 4 of ${at(begun + 180_000)}, link ${entries[3]?.link}`
  t.equal(
    await printed('history', '--verify', '--file', file),
    `node n1: 4 entries, as they were written\nbegins with entry 1 of ${at(begun)}\n${newest}\n`,
  )
  const later = await printed('history', '--export', '--since', at(begun + 90_000))
  t.equal(later, copy.slice(copy.indexOf('\n', copy.indexOf('\n') + 1) + 1))
  for (const [what, text, exit, out] of [
    ['the second half', later, 0, /4 of |begins with entry 3 of .*; earlier ones are not in it/],
    [
      'a change',
      copy.replace('web-0', 'web-1'),
      1,
      /^node n1: 4 entries, 1 fault\nline 1: entry 1 of \S+Z: not as it was written\n/,
    ],
    ['a gap', copy.replace(/^.*\n(.*\n)/, '$1'), 0, /begins with entry 2 /],
    ['nothing of it', 'hello\n', 1, /: no entry of a history in it\n1 other line, passed over\n$/],
    ['a cut line', `${copy}{"recorder":`, 1, /\n1 line is cut, and cannot be checked: 5\n$/],
  ] as const) {
    writeFileSync(file, text)
    const found = await control('history', '--verify', '--file', file)
    t.equal(found.exit, exit, what)
    t.match(found.out, out, what)
  }
  t.match(await control('history', '--verify', '--file', `${file}.absent`), {
    ...{ exit: 1, err: /absent cannot be read \(ENOENT\)/ },
  })
})

t.test('release', async t => {
  const { story, control, printed } = await servedTool(t)
  for (const [pod, retain] of [
    ['a', 'forever'],
    ['b', '30m'],
    ['c', 'release'],
  ] as const)
    await story.add({ pod, container: pod, retain })
  await story.add({ container: 'alone', retain: 'forever' })
  t.match(await control('release', '10.22.0.2'), {
    ...{ exit: 1, out: '' },
    err: /^error: 10\.22\.0\.2 is bound to shop\/a on node n1 \(container a, since .*Z\) \[IPK_ADDRESS_HELD\]\n {2}only an address that is kept .*\nhint: delete shop\/a first; or take it from the sandbox: ipkeeperctl release --force 10\.22\.0\.2\n$/,
  })
  for (const container of ['a', 'b', 'c', 'alone']) await story.del(container)
  await printed('reserve', '10.22.0.4', 'shop/c')
  for (const [address, text] of [
    ['10.22.0.2', '10.22.0.2 is released: it was kept for shop/a with no end\n'],
    ['10.22.0.3', `10.22.0.3 is released: it was kept for shop/b until ${at(story.now + 30 * 60_000)}\n`],
    [
      '10.22.0.4',
      '10.22.0.4 is released: it was cooling down; shop/c had released it; it stays reserved for shop/c\n',
    ],
    ['10.22.0.5', '10.22.0.5 is released: it was kept for a deleted container with no end\n'],
  ] as const)
    t.equal(await printed('release', address), text)
  t.equal(await printed('leases'), 'no leases\n')
  t.match(await control('release', '10.22.0.2', '--segment', 'lab'), {
    exit: 1,
    err: /^error: 10\.22\.0\.2 is neither kept for a holder nor cooling down in segment lab \[IPK_ADDRESS_FREE\]\nhint: see: ipkeeperctl who/,
  })
  await story.add({ pod: 'a', container: 'a2', ip: '10.22.0.9', retain: 'forever' })
  await story.del('a2')
  const json = JSON.parse(await printed('release', '10.22.0.9', '-o', 'json')) as ReleaseReply
  t.match(json, { released: { address: '10.22.0.9', state: 'held' }, reservation: null })
})

t.test('release by force', async t => {
  const { story, socket, control } = await servedTool(t)
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50' })
  const usage = /^error: .* \[IPK_USAGE\]\n/
  for (const words of [
    ['10.22.0.50', '--force'],
    ['10.22.0.50', '--powered-off'],
    ['10.22.0.50', '10.22.0.51', '--force', '--yes'],
    ['-n', 'shop', '--force', '--yes'],
    ['--force', '--yes'],
  ])
    t.match(await control('release', ...words), { exit: 2, err: usage }, words.join(' '))
  const dry = await control('release', '10.22.0.50', '--force', '--dry-run')
  t.match(dry, { exit: 0, out: '', err: /^shop\/a \(container c1 on node n1\) loses its interface eth0/ })
  /** As somebody at a terminal, who answers so. */
  const answering = async (answer: string): Promise<readonly [exit: number, out: string, err: string]> => {
    let err = ''
    const { exit, out } = await runTool(['release', '--force', '10.22.0.50', '--socket', socket], {
      err: text => (err += text),
      ask: text => {
        err += `${text}${answer}`
        return answer
      },
    })
    return [exit, out, err]
  }
  const told = 'shop/a (container c1 on node n1) loses its interface eth0; it keeps running without it\n'
  for (const answer of ['', 'n', 'yo'])
    t.match(await answering(answer), [
      1,
      '',
      `${told}release it? [y/N] ${answer}error: nothing was released [IPK_INTERRUPTED]\nhint: to go on, answer y, or add --yes\n`,
    ])
  t.match(story.leases(), ['10.22.0.50 bound shop/a c1'])
  t.match(await answering('y'), [
    0,
    /^10\.22\.0\.50 is released from shop\/a: its sandbox was disconnected; it is cooling down until .*Z, and a pod that asks for it by name gets it at once\n$/,
    `${told}release it? [y/N] y`,
  ])
  t.match(await answering('y'), [0, '10.22.0.50 is released from shop/a: no sandbox had it; it is free\n'])
})

t.test('what is no address', async t => {
  const { control } = await servedTool(t)
  for (const name of ['who', 'history', 'release'])
    // For who, the others are pods.
    for (const address of [
      '10.22.0.050',
      '10.22.0.5/33',
      '..',
      ...(name === 'who' ? [] : ['web-0', 'a/../b']),
    ])
      t.match(
        await control(name, address),
        {
          exit: 1,
          out: '',
          err: /^error: ".*" is no IP address \[IPK_ADDRESS_INVALID\]\nhint: write one address, such as/,
        },
        `${name} ${address}`,
      )
})

t.test('reserve, reservations, unreserve', async t => {
  const { story, control, printed } = await servedTool(t)
  t.equal(await printed('reservations'), 'no reservations\n')
  await story.add({ pod: 'first', container: 'c1' })
  t.equal(
    await printed('reserve', '10.22.0.50', 'shop/web-0', '--note', 'licence server'),
    '10.22.0.50 is reserved for shop/web-0\n',
  )
  const outside = await control('reserve', 'fd00::5', 'shop/a', '--segment', 'lab', '-o', 'json')
  t.match(outside, { exit: 0, err: /^note: no known pool of segment lab has fd00::5; .*\n$/ })
  const made = JSON.parse(outside.out) as unknown
  t.match(made, { segment: 'lab', address: 'fd00::5', owner: 'shop/a', note: '', pool: null })
  t.match(await printed('reserve', '10.22.0.50', 'shop/web-0', '-o', 'json'), /"note": "licence server"/)
  t.match(await control('reserve', '10.22.0.1', 'shop/web-0'), {
    ...{ exit: 1, out: '' },
    err: /^error: 10\.22\.0\.1 cannot be assigned: .* the gateway of .* \[IPK_ADDRESS_UNUSABLE\]\nhint: /,
  })
  t.equal(
    await printed('reservations'),
    'ADDRESS     SEGMENT  OWNER       SINCE  NOTE\n' +
      '10.22.0.50  default  shop/web-0  0s     licence server\n' +
      'fd00::5     lab      shop/a      0s\n',
  )
  const { reservations } = JSON.parse(await printed('reservations', '-o', 'json')) as ReservationsReply
  t.equal(reservations.length, 2)
  t.match(await control('reserve', '10.22.0.50', 'shop/db-0'), {
    exit: 1,
    out: '',
    err: 'error: 10.22.0.50 is reserved for shop/web-0 [IPK_ADDRESS_RESERVED]\nhint: ',
  })
  t.equal(await printed('unreserve', '10.22.0.50'), '10.22.0.50 is no longer reserved\n')
  t.match(await control('unreserve', 'fd00::5'), {
    exit: 1,
    err: /fd00::5 is not reserved in segment default/,
  })
  const gone = JSON.parse(await printed('unreserve', 'fd00::5', '--segment=lab', '-o', 'json')) as unknown
  t.strictSame(gone, { address: 'fd00::5', segment: 'lab' })
})

t.test('status', async t => {
  const { story, socket, printed, deferred, disk } = await servedTool(t)
  await story.add({ pod: 'a', container: 'c1' })
  t.equal(
    await printed('status'),
    [
      `ipkeeper-server 1.2.3 on node n1, pid ${process.pid}, up 5m`,
      `socket  ${socket}`,
      'state   /state',
      'store   memory memory',
      'leases  1, attachments 1, pools 1',
      '',
    ].join('\n'),
  )
  for (const [waiting, quarantined, text] of [
    [2, 1, '2 DELs waiting, 1 file quarantined in /state/quarantine'],
    [1, 0, '1 DEL waiting'],
    [0, 3, '0 DELs waiting, 3 files quarantined in /state/quarantine'],
  ] as const) {
    Object.assign(deferred, { waiting, quarantined })
    t.ok((await printed('status')).endsWith(`\nqueue   ${text}\n`), text)
  }
  const status = JSON.parse(await printed('status', '-o', 'json')) as StatusReply
  t.match(status, { node: 'n1', bootId: 'boot-1', operationsUnderWay: 0 })
  t.notOk('disk' in status)
  deferred.waiting = 0
  deferred.quarantined = 0
  disk.now = { folder: '/state', reserved: 7, wanted: 7, refuses: undefined }
  t.notMatch(await printed('status'), /disk/, 'nothing is wrong')
  t.match(JSON.parse(await printed('status', '-o', 'json')), {
    disk: { folder: '/state', reserved: 7, wanted: 7, refuses: null },
  })
  disk.now = {
    ...disk.now,
    reserved: 3,
    refuses: { reason: 'the disk is full', since: Date.now() - 120_000 },
  }
  t.match(
    await printed('status'),
    /^disk {4}the disk is full, for 2m\n {8}pods can be deleted, but none can be added until there is space again$/m,
  )
})

t.test('status of the history on its way to a receiver', async t => {
  const { printed, historyExport } = await servedTool(t)
  const figures = { receiver: 'tcp://192.0.2.10:514', unsent: 0, oldestUnsent: undefined, sent: 7, pruned: 0 }
  for (const [patch, lines] of [
    [{}, ['export  tcp://192.0.2.10:514, all of the history is sent']],
    [
      { unsent: 1, oldestUnsent: Date.now() - 120_000 },
      ['export  tcp://192.0.2.10:514, 1 entry of the history not sent yet, the oldest for 2m'],
    ],
    [
      { unsent: 12, oldestUnsent: Date.now() - 7_200_000, pruned: 3 },
      [
        'export  tcp://192.0.2.10:514, 12 entries of the history not sent yet, the oldest for 2h',
        '        PRUNED BEFORE THEY COULD BE SENT: 3 entries',
      ],
    ],
  ] as const) {
    historyExport.now = { ...figures, ...patch }
    const out = await printed('status')
    t.strictSame(out.split('\n').slice(-1 - lines.length, -1), lines)
  }
})

t.test('status of a store that nodes share', async t => {
  const store = openSharedStore(t, new EngineDouble().connect(), `${t.testdir({})}/journal.db`)
  const { story, printed } = await servedTool(t, store)
  await until('all is heard', () => story.service.ledger.isHeard())
  const shown = async (status: Partial<StoreStatus>): Promise<string> => {
    story.service.ledger.storeStatus = () => ({ state: 'ready', owed: 0, ...status })
    const out = await printed('status')
    return out.slice(out.indexOf('store '), out.indexOf('leases '))
  }
  const since = Date.now() - 120_000
  const lost = { state: 'incomplete', reason: 'it is another cluster than before', since } as const
  const first = 'store   memory memory\n'
  const goesOn =
    '        pods on this node keep their addresses; new claims wait until every node has reported what it holds\n'
  t.equal(await shown({}), first)
  t.equal(
    await shown({ state: 'away', reason: 'ECONNREFUSED', since, owed: 1 }),
    `${first}        away for 2m: ECONNREFUSED
        pods on this node keep their addresses; new claims wait until the store is back
        1 pending write
`,
  )
  t.equal(
    await shown({ reason: 'no watch is open', since, lacks: 'no records of nodes are kept' }),
    `${first}        no contact for 2m: no watch is open\n        no records of nodes are kept\n`,
  )
  t.equal(
    await shown({ ...lost, owed: 3 }),
    `${first}        incomplete for 2m: it is another cluster than before
${goesOn}        3 pending writes
`,
  )
  t.equal(
    await shown({ ...lost, waitsFor: ['n3'] }),
    `${first}        incomplete for 2m: it is another cluster than before
${goesOn}        waiting for n3
        next: start its daemon; if the node is gone for good: ipkeeperctl forget-node n3
`,
  )
  t.match(
    await shown({ ...lost, waitsFor: ['n3', 'n4'] }),
    /waiting for n3, n4\n +next: start their daemons; .*: ipkeeperctl forget-node n3\n$/,
  )
  const reply = JSON.parse(await printed('status', '-o', 'json')) as StatusReply
  t.match(reply.store, { state: 'incomplete', reason: lost.reason, waitsFor: ['n3', 'n4'] })
})

t.test('forget-node', async t => {
  const engine = new EngineDouble()
  const put = (name: string, more: Partial<NodeRecord>): void => {
    engine.put('node', name, nodeText(name, more))
  }
  for (const name of ['n1', 'n3', 'n4']) put(name, {})
  put('n5', { gone: { since: 1_700_000_000_000, by: 'n4' } })
  const store = openSharedStore(t, engine.connect(), `${t.testdir({})}/journal.db`)
  const { story, socket, control, printed } = await servedTool(t, store)
  await until('all is heard', () => story.service.ledger.isHeard())
  t.equal(await story.add({ pod: 'web-0', container: 'c1', node: 'n3', ip: '10.22.0.50' }), '10.22.0.50')
  put('n1', { generation: 2, epoch: 2 })
  await until('it waits', () => story.service.ledger.storeStatus()?.waitsFor?.length === 2)
  t.match(
    await run(['__complete', 'fish', 'ipkeeperctl', 'forget-node', ''], { IPKEEPER_SOCKET: socket }),
    { exit: 0, err: '', out: /^words\nn3\t.+\nn4\t.+\n$/ },
    'neither this node nor one that is gone',
  )
  let asked = ''
  const declined = await runTool(['forget-node', 'n3', '--socket', socket], {
    err: text => (asked += text),
    ask: text => {
      asked += `${text}\n`
      return 'n'
    },
  })
  t.match(declined, { exit: 1, out: '' })
  t.match(
    asked,
    /^bound on node n3: 10\.22\.0\.50 \(shop\/web-0\)\nWARNING: .*\ndeclare node n3 gone for good\? \[y\/N\] \nerror: nothing was changed \[IPK_INTERRUPTED\]\nhint: to go on/,
  )
  t.equal(
    await printed('forget-node', 'n3'),
    [
      'node n3 is now gone for good: the store no longer waits for it',
      'no daemon has claimed this name in the store: there was none to ask if it is alive',
      '1 address is bound on it: the next pods with the same names or workloads get them',
      'the store still waits for n4',
      '',
    ].join('\n'),
  )
  t.match(await printed('leases'), /10\.22\.0\.50\/24 +bound/, 'whose address it is, is not changed by that')
  t.match(
    await printed('forget-node', 'n5'),
    /^nothing was changed: node n5 was already declared gone for good, on node n4 at 2023-11-14T22:13:20Z\nno address is bound on it\n/,
  )
  t.match(JSON.parse(await printed('forget-node', 'n3', '-o', 'json')), {
    ...{ node: 'n3', gone: { by: 'n1' }, changed: false, bound: 1, waitsFor: ['n4'] },
  })
  t.strictSame(await control('forget-node', 'n33'), {
    ...{ exit: 1, out: '' },
    err: 'error: no node n33 is known; there are, beside this one: n4 [IPK_NODE_UNKNOWN]\nhint: see which nodes there are: ipkeeperctl nodes\n',
  })
  t.match(await control('forget-node', 'n1'), { exit: 1, err: /n1 is this very node/ })
  t.match(await control('forget-node'), { exit: 2 })
  t.match(await control('forget-node', ''), { exit: 1 })
  put('n4', { generation: 2, epoch: 2 })
  await until('n4 has told again what it holds', () => story.service.ledger.node('n4')?.epoch === 2)
  t.match(await printed('forget-node', 'n3'), /the store waits for no other node\n$/)
})

t.test('flights, without a daemon', async t => {
  const shop = { containerId: 'c0ffee'.repeat(10), ifname: 'eth0', pod: 'shop/web-0' }
  const more = { durationMs: 3.5, pid: 7, pluginVersion: '0.1.0' }
  const records = [
    {
      at: '2026-11-21T10:00:00.000Z',
      verb: 'ADD',
      ...shop,
      exit: 0,
      printed: 140,
      addresses: ['10.22.0.50/16'],
    },
    {
      at: '2026-11-21T10:00:01.000Z',
      verb: 'DEL',
      ...shop,
      exit: 0,
      printed: 0,
      queued: true,
      message: 'away',
    },
    {
      ...{ at: '2026-11-21T10:00:02.000Z', verb: 'ADD', exit: 1, printed: 99, cniCode: 101 },
      ...{ code: 'IPK_ADDRESS_HELD', message: 'held\n\u001b[2J by another' },
    },
  ].map(record => ({ ...record, ...more }))
  const stateDir = t.testdir({
    flights: { '000001.jsonl': `${records.map(record => JSON.stringify(record)).join('\n')}\n{"at":` },
  })
  const env = { IPKEEPER_STATE_DIR: stateDir, IPKEEPER_SOCKET: '/nowhere' }
  const table = [
    'AT                        VERB  CONTAINER      IFNAME  POD         EXIT  CODE              PRINTED  MS   WHAT',
    '2026-11-21T10:00:00.000Z  ADD   c0ffeec0ffeec  eth0    shop/web-0  0     -                 140      3.5  10.22.0.50/16',
    '2026-11-21T10:00:01.000Z  DEL   c0ffeec0ffeec  eth0    shop/web-0  0     -                 0        3.5  queued: away',
    '2026-11-21T10:00:02.000Z  ADD   -              -       -           1     IPK_ADDRESS_HELD  99       3.5  held??[2J by another',
    '',
  ].join('\n')
  t.strictSame(await run(['flights'], env), { exit: 0, out: table, err: 'note: 1 line could not be read\n' })
  t.equal((await run(['flights', '--state-dir', stateDir], { IPKEEPER_STATE_DIR: '/nowhere' })).out, table)
  const json = await run(['flights', '-o', 'json', '--failed'], env)
  t.strictSame(JSON.parse(json.out), { flights: [records[2]] })
  const ofPod = await run(['-o', 'json', 'flights', '--container=c0ffee', '--limit', '1'], env)
  t.strictSame(JSON.parse(ofPod.out), { flights: [records[1]], more: 1 })
  t.match(await run(['flights'], { IPKEEPER_STATE_DIR: t.testdir({}) }), {
    ...{ exit: 0, out: /^no flights: /, err: '' },
  })
  const absent = folder.file('none')
  for (const [argv, given] of [
    [['flights'], { IPKEEPER_STATE_DIR: absent }],
    [['flights', '--state-dir', absent], env],
  ] as const)
    t.match(await run(argv, given), {
      ...{ exit: 1, out: '' },
      err: /^error: there is no state folder \S+\/none \[IPK_FLIGHTS_UNREADABLE\]\nhint: .*--state-dir DIR\n$/,
    })
  t.match(await run(['flights', '--state-dir', '/dev/null']), {
    ...{ exit: 1, out: '' },
    err: /^error: the flight record \/dev\/null\/flights cannot be read \(ENOTDIR\) \[IPK_FLIGHTS_UNREADABLE\]\nhint: /,
  })
})

t.test('where options may stand, and where the socket comes from', async t => {
  const { socket } = await servedTool(t)
  const env = { IPKEEPER_SOCKET: socket }
  for (const [argv, given] of [
    [['leases'], env],
    [['leases', '--socket', socket], {}],
    [['leases', `--socket=${socket}`], { IPKEEPER_SOCKET: '/nowhere' }],
    [['--socket', socket, 'leases'], {}],
    [[`--socket=${socket}`, 'leases'], {}],
    [['-o', 'table', '--socket', socket, 'leases'], {}],
    [['--output=table', 'leases'], env],
    [['-otable', 'leases'], env],
    [['--socket', socket, 'leases', '-o', 'table'], {}],
  ] as const) {
    t.strictSame(await run(argv, given), { exit: 0, out: 'no leases\n', err: '' }, argv.join(' '))
  }
  for (const argv of [
    ['-o', 'json', 'leases'],
    ['-ojson', 'leases'],
    ['leases', '--output', 'json'],
  ]) {
    t.strictSame(JSON.parse((await run(argv, env)).out), { leases: [] }, argv.join(' '))
  }
})

/** What is wrapped into two columns reads on in the next line. */
const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

const tooLong = (text: string): string[] => text.split('\n').filter(line => line.length > 110)

t.test('help of a group of commands', async t => {
  const help = await run(['cache', '--help'])
  t.equal(help.exit, 0)
  for (const { name, summary } of commands.filter(command => command.name.startsWith('cache ')))
    t.ok(help.out.includes(`${name} `) && help.out.includes(summary), name)
  t.strictSame(tooLong(help.out), [], 'fits a terminal')
  t.strictSame(await run(['help', 'cache']), help)
})

t.test('help: the overview, and that of each command, without a daemon', async t => {
  const { exit, out, err } = await run(['--help'])
  t.equal(exit, 0)
  t.equal(err, '')
  for (const { name, summary } of commands) t.ok(out.includes(name) && inOneLine(out).includes(summary), name)
  for (const argv of [['-h'], ['help'], ['--socket', '/nowhere', '--help']])
    t.strictSame(await run(argv), { exit, out, err }, argv.join(' '))
  t.strictSame(
    await run([]),
    { exit: 2, out: '', err: out },
    'called without anything: the same, as an error',
  )
  t.strictSame(await run(['--socket', '/nowhere']), { exit: 2, out: '', err: out })
  t.strictSame(tooLong(out), [], 'fits a terminal')
  for (const { name, summary, options, arguments: words, examples } of commands) {
    const path = name.split(' ')
    const help = await run([...path, '--help'])
    t.equal(help.exit, 0, name)
    for (const part of [
      summary,
      ...examples.flatMap(({ line, does }) => (examples.length > 1 ? [line, does] : [line])),
      '--socket',
      '-o, --output json|yaml|table',
      ...Object.keys(options).map(key => `--${key}`),
      ...words.flatMap(word => [word.name, word.text]),
    ])
      t.ok(inOneLine(help.out).includes(part), `${name} --help has "${part}"`)
    t.strictSame(await run(['help', ...path]), help)
    t.strictSame(await run([...path, '-h']), help)
    const lines = help.out.split('\n')
    // A line to type stays one line.
    const typed = examples.map(({ line }) => `  ${line}`)
    t.strictSame(
      tooLong(help.out).filter(line => !typed.includes(line)),
      [],
      `${name}: fits a terminal`,
    )
    t.match(lines[0], /^ipkeeperctl \S.*\S: \S/)
    t.strictSame(
      new Set(lines.flatMap(line => /^ {2}-.*? {2,}(?=\S)/.exec(line)?.[0].length ?? [])).size,
      1,
      'all texts begin in one column',
    )
  }
})

t.test('version', async t => {
  for (const word of ['--version', 'version'])
    t.match(await run([word]), { exit: 0, out: /^ipkeeperctl \d+\.\d+\.\d+\S* \(commit \S+\)\n$/, err: '' })
})

t.test('usage errors: exit 2, one line that says what, one that helps', async t => {
  const { socket } = await servedTool(t)
  const rows: readonly (readonly [argv: readonly string[], message: string, option?: string])[] = [
    [['lease'], 'unknown command "lease"; did you mean leases?'],
    [['LEASES'], 'unknown command "LEASES"; did you mean leases?'],
    [['frobnicate'], 'unknown command "frobnicate"'],
    [['-v'], 'unknown option -v'],
    [['help', 'stats'], 'unknown command "stats"; did you mean status?'],
    [['toString'], 'unknown command "toString"'],
    [['delete', '10.22.0.5'], 'unknown command "delete"; did you mean release?'],
    [['RM'], 'unknown command "RM"; did you mean release?'],
    [['logs'], 'unknown command "logs"; did you mean flights?'],
    [['leases', '--limt', '1'], 'unknown option --limt; did you mean --limit?', '--limit N'],
    [['leases', '--json'], 'unknown option --json; did you mean --output?', '--output json|yaml|table'],
    [['leases', '--follow'], 'unknown option --follow; did you mean --watch?', '--watch'],
    [['who', '10.22.0.5', '--sort', 'x'], 'unknown option --sort'],
    [['leases', '-x'], 'unknown option -x'],
    [['leases', '--limit'], '--limit needs a value', '--limit N'],
    [['leases', '--limit', '--help'], '--limit needs a value', '--limit N'],
    [['leases', '--help=yes'], '--help takes no value', '--help'],
    [['leases', '--limit', '-1'], '--limit "-1" is not a whole number above 0', '--limit N'],
    [['leases', '--limit', '0'], '--limit "0" is not a whole number above 0', '--limit N'],
    [['leases', '--limit', '1.5'], '--limit "1.5" is not a whole number above 0', '--limit N'],
    [['leases', '--pool', 'a', '--pool=b'], '--pool is given twice: "a" and "b"', '--pool NAME'],
    [['leases', '--limit=abc'], '--limit "abc" is not a whole number above 0', '--limit N'],
    [
      ['leases', '-o', 'jsn'],
      '-o jsn is none of json, yaml, table, wide, csv, name; did you mean json?',
      '-o json|yaml|table',
    ],
    [['status', '-o', 'wide'], '-o wide is none of json, yaml, table', '-o json|yaml|table'],
    [['status', '--no-headers'], 'unknown option --no-headers'],
    [
      ['leases', '--state', 'heldd'],
      '--state heldd is none of bound, held, cooling; did you mean held?',
      '--state STATE',
    ],
    [['attachments', '--state', 'held'], 'unknown option --state'],
    [['leases', 'all'], 'leases takes no arguments; got all'],
    [
      ['reserve', '10.22.0.5'],
      'for whom is 10.22.0.5 meant? OWNER is NAMESPACE/POD, NAMESPACE/KIND/NAME, or external:NAME',
    ],
    [['unreserve'], 'no address is named'],
    [
      ['release', '10.22.0.5', '-n', 'shop'],
      'either ADDRESS or --namespace, not both',
      '--namespace NAMESPACE',
    ],
    [['status', '--note', 'x'], 'unknown option --note'],
    [['leases', '--failed'], 'unknown option --failed'],
    [['who'], 'who takes ADDRESS|POD; got none'],
    [['who', '10.22.0.5', '10.22.0.6'], 'who takes ADDRESS|POD; got 10.22.0.5 10.22.0.6'],
    [['who', 'shop/web-0/eth0'], '"shop/web-0/eth0" is neither an address, NAMESPACE/POD nor POD'],
    [['who', ''], 'the address or the segment is empty'],
    [['release', '10.22.0.5', '--segment='], 'the address or the segment is empty'],
    [['history', '10.22.0.5', '--limit', '1001'], '--limit 1001 is more than 1000', '--limit N'],
    [
      ['leases', '--limit', '99999999999999999999'],
      '--limit 99999999999999999999 is more than 1000000000',
      '--limit N',
    ],
    [['history', '10.22.0.5', '--before', '0'], '--before "0" is not the ID of an entry', '--before ID'],
    [['history'], 'name an ADDRESS, or --pod, --owner or --namespace', '--pod POD'],
    [
      ['history', '-n', 'shop', '--before', '5'],
      '--before goes with an ADDRESS; without one, use --until',
      '--before ID',
    ],
    [
      ['history', '10.22.0.5', '--at', 'noon'],
      '--at "noon" is no time; write 2026-11-21T14:00, 2026-11-21T14:00Z, 2026-11-21, or how long ago: 2h, 7d',
      '--at TIME',
    ],
    [
      ['history', '10.22.0.5', '--at', '2h', '--since', '3h'],
      '--at is one moment: it does not go with --since or --until',
      '--at TIME',
    ],
    [
      ['history', '10.22.0.5', '--verify'],
      '--verify looks at the whole history of this node, and takes nothing else but --file',
      '--verify',
    ],
    ...[['--verify'], ['-n', 'shop'], ['10.22.0.5'], ['-o', 'json'], ['--watch']].map(
      words =>
        [
          ['history', '--export', ...words],
          words[0] === '--verify'
            ? '--verify looks at the whole history of this node, and takes nothing else but --file'
            : '--export prints the whole history of this node as JSON Lines, and takes --since alone',
          words[0] === '--verify' ? '--verify' : '--export',
        ] as const,
    ),
    [['history', '--file', '/tmp/a'], '--file goes with --verify, and takes nothing else', '--file FILE'],
    [['history', '--verify', '--file', ''], '--file is empty', '--file FILE'],
    [['flights', '--failed=yes'], '--failed takes no value', '--failed'],
    [['flights', '--verb', 'ad'], '--verb "ad" is not one of ADD, CHECK, DEL, GC, STATUS, VERSION'],
    [['flights', 'c1'], 'flights takes no arguments; got c1'],
  ]
  for (const [argv, message, option] of rows) {
    const { exit, out, err } = await run(argv, { IPKEEPER_SOCKET: socket })
    t.equal(exit, 2, argv.join(' '))
    t.equal(out, '')
    const known = commands.find(({ name }) => name === argv[0])
    const help = known ? `see: ipkeeperctl ${known.name} --help` : 'see: ipkeeperctl --help'
    const [said = '', hint = ''] = err.split('\n')
    t.equal(said, `error: ${message} [IPK_USAGE]`)
    t.match(hint, new RegExp(`(^hint: |; )${help}$`))
    if (option !== undefined) t.ok(hint.startsWith(`hint: ${option}: `), hint)
    else if (known) t.ok(hint.startsWith(`hint: for example: ${known.examples[0].line}; `), hint)
  }
})

t.test('refused by the daemon: exit 1, with its words', async t => {
  const { story, control } = await servedTool(t)
  await story.add({ pod: 'a', container: 'c1' })
  for (const [argv, text] of [
    [
      ['reserve', '10.22.0.2', 'shop/b'],
      /^error: 10\.22\.0\.2 is held by shop\/a on node n1 \[IPK_ADDRESS_HELD\]\nhint: /,
    ],
    [['reserve', 'x', 'shop/b'], /"x" is no IP address \[IPK_ADDRESS_INVALID\]/],
    [['reserve', '10.22.0.9', 'shop/'], /owner "shop\/" has no valid name: "".*\nhint: write for example/],
    [['unreserve', '10.22.0.9'], /not reserved in segment default \[IPK_RESERVATION_MISSING\]/],
    [['unreserve', '../leases'], /"\.\.\/leases" is no IP address/],
  ] as const) {
    const { exit, out, err } = await control(...argv)
    t.equal(exit, 1, argv.join(' '))
    t.equal(out, '')
    t.match(err, text)
  }
})

t.test('no daemon: which socket, why, and how to start one', async t => {
  const stale = newPath()
  leaveStaleSocket(stale)
  for (const [socket, why] of [
    [folder.file('none'), 'there is no such socket'],
    [stale, 'no process is listening on it'],
  ] as const) {
    const { exit, out, err } = await run(['leases', '--socket', socket])
    t.equal(exit, 1)
    t.equal(out, '')
    t.equal(
      err,
      `error: cannot reach the daemon at ${socket}: ${why} [IPK_DAEMON_UNREACHABLE]\n` +
        `hint: systemctl restart ipkeeper, then see: ipkeeperctl status --socket ${socket}\n`,
    )
  }
})

t.test('a socket that is not for this user', async t => {
  const { socket } = await servedTool(t)
  chmodSync(dirname(socket), 0o755)
  chmodSync(socket, 0)
  // Root would be let in all the same.
  if (process.geteuid?.() === 0) {
    process.seteuid?.(65_534)
    t.teardown(() => process.seteuid?.(0))
  }
  t.strictSame(await run(['leases', '--socket', socket]), {
    ...{ exit: 1, out: '' },
    err: `error: cannot reach the daemon at ${socket}: permission denied [IPK_DAEMON_UNREACHABLE]\nhint: run as root\n`,
  })
})

const answer =
  (text: string): Script =>
  connection => {
    connection.end(text)
  }

t.test('something else answers, or a daemon of another version', async t => {
  const unknown = {
    code: 'IPK_FROM_THE_FUTURE',
    message: 'news',
    hint: '',
    retryable: false,
    cniCode: 1,
    details: '',
  }
  for (const [name, script, message] of [
    [
      'no JSON',
      answer(replyText(200, '<html>')),
      /is not ipkeeper-server \(HTTP 200\) \[IPK_DAEMON_REPLY_INVALID\]/,
    ],
    ['nothing', answer(replyText(200, '')), /is not ipkeeper-server \(HTTP 200\)/],
    ['an empty object', answer(replyText(500, {})), /answered HTTP 500 with an unknown error/],
    [
      'an unknown code',
      answer(replyText(409, unknown)),
      /HTTP 409 with an unknown error.*\n.*IPK_FROM_THE_FUTURE.*news/,
    ],
    [
      'cut off',
      answer(replyText(200, { leases: [] }).slice(0, -3)),
      /cannot reach the daemon at|other side closed/,
    ],
    ['no HTTP', answer('SSH-2.0-OpenSSH\r\n'), /^error: /],
  ] as const) {
    const socket = newPath()
    const server = await listenScripted(socket, script)
    const { exit, out, err } = await run(['leases', '--socket', socket])
    await server.close()
    t.equal(exit, 1, name)
    t.equal(out, '', name)
    t.match(err, message, name)
    t.match(err, /\nhint: .+\n$/, name)
  }
})

t.test('alive: who answers, be it with a refusal', async t => {
  const { printed } = await servedTool(t)
  t.equal(await printed('alive'), 'the daemon answers\n')
  const refusal = (code: string): object => ({ code, message: 'M', hint: 'H', details: '' })
  for (const [name, script, exit, says] of [
    [
      'refused its name',
      answer(replyText(409, refusal('IPK_NODE_NAME_TAKEN'))),
      0,
      /M \[IPK_NODE_NAME_TAKEN\]\nhint: H/,
    ],
    ['a ledger that is lost', answer(replyText(503, refusal('IPK_STORE_LOST'))), 0, /does not serve: M/],
    ['a bug', answer(replyText(500, refusal('IPK_INTERNAL'))), 1, /IPK_INTERNAL/],
    ['something else', answer(replyText(200, 'hello')), 1, /IPK_DAEMON_REPLY_INVALID/],
  ] as const) {
    const socket = newPath()
    const server = await listenScripted(socket, script)
    const ran = await run(['alive', '--socket', socket])
    await server.close()
    t.equal(ran.exit, exit, name)
    t.match(ran.out + ran.err, says, name)
  }
  t.match(await run(['alive', '--socket', newPath()]), { exit: 1, err: /IPK_DAEMON_UNREACHABLE/ })
})

t.test('one pool', async t => {
  const { story, control, printed } = await servedTool(t)
  await story.add({ pod: 'a', container: 'c1' })
  const lab = parseCidr('10.23.0.0/24')!
  await story.add({ pod: 'b', container: 'c2', pool: canonicalPool('lab', 'lab', [[{ subnet: lab }]]) })
  t.equal(
    (await printed('pools', 'lab', '--free', '2')).replace(/^POOL .*\nlab .*\n/, 'TABLE\n'),
    [
      'TABLE',
      '',
      'range      10.23.0.1-10.23.0.254 of 10.23.0.0/24: 253 of 254 addresses can be assigned',
      '           not 10.23.0.1: the gateway',
      'from       the ranges of a network',
      'rules      none: every pod may use it',
      'retention  release',
      'cool-down  1m; 10m for an address that was asked for by name',
      'strategy   lowest-free',
      'free       10.23.0.3',
      '           10.23.0.4',
      '',
    ].join('\n'),
  )
  t.match(await control('pools', '--free', '2'), { exit: 2, err: /--free goes with POOL/ })
  t.match(await control('pools', 'lab', '--free', '1001'), { exit: 2, err: /--free 1001 is more than 1000/ })
  t.match(await printed('leases', '--pool', 'lab', '--limit', '5'), /^ADDRESS .*\n10\.23\.0\.2\/24 .*\n$/)
  t.match(await control('pools', 'prod'), {
    exit: 1,
    err: 'error: there is no pool prod [IPK_REQUEST_INVALID]\nhint: a pool of a network appears with its first ADD; see: ipkeeperctl pools\n',
  })
})

t.test('completion: what the daemon knows, and nothing of it when it is away', async t => {
  const { story, socket } = await servedTool(t)
  await story.add({ pod: 'web-0', container: 'c1', ip: '10.22.0.50' })
  await story.add({ pod: 'web-1', container: 'c2', ip: '10.22.0.61', retain: '30m' })
  await story.del('c2')
  const env = { IPKEEPER_SOCKET: socket }
  for (const [argv, out, given] of [
    [
      ['fish', 'ipkeeperctl', 'who', '10.22.0.'],
      'words\n10.22.0.50\tbound, shop/web-0\n10.22.0.61\theld, shop/web-1\n',
    ],
    [['fish', 'ipkeeperctl', 'who', 'shop/web-0'], 'words\nshop/web-0\t10.22.0.50\n'],
    [['bash', 'ipkeeperctl release ', ':='], 'words\n10.22.0.61\n'],
    [['bash', 'A=b /usr/bin/ipkeeperctl leases --pool=n', ':='], 'words\nnet\n'],
    [['bash', 'ipkeeperctl leases --pool=n', ''], 'words\n--pool=net\n'],
    [['zsh', 'ipkeeperctl', 'explain', ''], 'words\nshop/web-0\t10.22.0.50\nshop/web-1\t10.22.0.61\n'],
    [['zsh', 'ipkeeperctl', 'flights', '--container', ''], 'words\nc1\tshop/web-0\n'],
    [['zsh', 'ipkeeperctl', 'explain', '--network', ''], 'words\nnet\t\n'],
    [['fish', 'ipkeeperctl', 'who', '--segment', ''], 'words\ndefault\t\n'],
    [['fish', 'ipkeeperctl', 'leases', '-n', ''], 'words\nshop\t\n'],
    [['fish', 'ipkeeperctl', 'leases', '--node', ''], 'words\nn1\t\n'],
    [['bash', 'ipkeeperctl leases --state ', ':='], 'words\nbound\nheld\ncooling\n'],
    [['bash', 'ipkeeperctl leases --sort-by s', ':='], 'words\nsince\nstate\n'],
    [['fish', 'ipkeeperctl', 'restore-uplink', ''], 'words\n'],
    [['fish', 'ipkeeperctl', '--socket', socket, 'unreserve', ''], 'words\n', {}],
    [['fish', 'ipkeeperctl', 'who', ''], 'words\n', { IPKEEPER_SOCKET: folder.file('none') }],
    [['fish', 'ipkeeperctl', 'lint', ''], 'file\n', {}],
    [['fish', 'ipkeeper-server', 'serve', '--state-dir', ''], 'folder\n', {}],
    [['fish', 'ipkeeper-server', 'serve', '--store', 'k'], 'open\nkubernetes:\t\n', {}],
    [['bash', 'ipkeeperctl lea', ''], 'words\nleases\n', {}],
  ] as const)
    t.strictSame(await run(['__complete', ...argv], given ?? env), { exit: 0, out, err: '' }, argv.join(' '))
  // One that takes the connection and says nothing.
  const silent = newPath()
  const server = await listenScripted(silent, () => undefined)
  t.strictSame(await run(['__complete', 'fish', 'ipkeeperctl', 'who', ''], { IPKEEPER_SOCKET: silent }), {
    ...{ exit: 0, out: 'words\n', err: '' },
  })
  await server.close()
})

t.test('completion: the scripts', async t => {
  for (const shell of ['bash', 'zsh', 'fish'])
    t.match(await run(['completion', shell]), { exit: 0, out: /__complete/, err: '' }, shell)
  t.match(await run(['completion', 'csh']), {
    exit: 2,
    err: 'error: "csh" is not one of bash, zsh, fish [IPK_USAGE]\nhint: for example: source <(ipkeeperctl completion bash); see: ipkeeperctl completion --help\n',
  })
})

t.test('usage errors, every command says what to type', async t => {
  for (const { name, examples } of commands) {
    const { exit, err } = await run([...name.split(' '), '--no-such-option'])
    t.equal(exit, 2, name)
    t.ok(err.endsWith(`hint: for example: ${examples[0].line}; see: ipkeeperctl ${name} --help\n`), err)
  }
  t.match(await run(['migrate', 'memory:', 'etcd:http://127.0.0.1:2379']), {
    exit: 2,
    err: /memory: keeps nothing/,
  })
})

t.test('--watch: a line of JSON with each change, until the interruption', async t => {
  const { story, socket } = await servedTool(t)
  const interruption = new AbortController()
  const lines: string[] = []
  const watched = runIpkeeperctl(['leases', '-w', '-o', 'json', '--interval', '0.1', '--socket', socket], {
    env: {},
    out: text => {
      lines.push(text)
      if (lines.length === 2) interruption.abort()
    },
    err: text => {
      t.fail(text)
    },
    interruption: () => interruption.signal,
  })
  await until('the first document', () => lines.length === 1)
  await story.add({ pod: 'web-0', container: 'c1' })
  t.equal(await watched, 0)
  t.equal(lines[0], '{"leases":[]}\n')
  t.match(lines[1], /^\{"leases":\[\{"address":"10\.22\.0\.2",.*\}\]\}\n$/)
})

t.test('--watch, --color, and what another command calls an option: usage errors', async t => {
  for (const [argv, message] of [
    [['leases', '--interval', '5'], '--interval goes with --watch'],
    [['leases', '-w', '--interval', '0'], '--interval 0 is not a number of seconds from 0.1 to 3600'],
    [['doctor', '--net-dir', 'd'], 'unknown option --net-dir; did you mean --conf-dir?'],
    [['try', '--conf-dir', 'd'], 'unknown option --conf-dir; did you mean --net-dir?'],
    [['leases', '--color', 'blue'], '--color blue is none of auto, always, never'],
    [['doctor', '--watch'], 'unknown option --watch'],
  ] as const)
    t.match(await run(argv), { exit: 2, err: `error: ${message}` }, argv.join(' '))
})

t.test('colours: on a terminal alone', async t => {
  const { story, socket } = await servedTool(t)
  await story.add({ pod: 'web-0', container: 'c1' })
  for (const [argv, isTerminal, coloured] of [
    [[], true, true],
    [[], false, false],
    [['--color', 'never'], true, false],
    [['--color', 'always'], false, true],
    [['-o', 'json'], true, false],
  ] as const) {
    const { out } = await runTool(['leases', ...argv, '--socket', socket], {
      isTerminal: { out: isTerminal, err: isTerminal },
    })
    t.equal(out.includes('\u001b['), coloured, `${argv.join(' ')} ${isTerminal}`)
    t.ok(out.includes('bound'), 'the word is there as well')
  }
})
