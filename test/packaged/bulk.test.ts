/** Changes of many addresses by one command, as a person types them, on the packaged executables. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { distFolder, missing } from '../rigs/requirements.ts'
import { openTerminal } from '../rigs/terminal-session.ts'
import { typedSite } from '../rigs/typed-site.ts'

const skip = missing('executables')

/** Rows of the plan: what becomes of each address. */
const plan = (text: string): string[] =>
  text
    .split('\n\n')[0]
    ?.split('\n')
    .slice(1)
    .map(line => line.split(/ {2,}/).slice(0, 2).join(' ')) ?? []

const last = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''

t.test('a range and a list are reserved as a whole, or not at all', { skip }, async t => {
  const { add, daemon, typed } = await typedSite(t, '10.22.0.0/24')
  await add('lab/db-0')
  const all = ['10.22.0.50-10.22.0.52', '10.22.0.60,10.22.0.61/24', 'shop/sts/web']
  const asked = await daemon.control('reserve', ...all)
  t.strictSame(
    plan(asked.stdout),
    [50, 51, 52, 60, 61].map(host => `reserve 10.22.0.${host}`),
  )
  t.match(asked, {
    exit: 1,
    stderr: '',
    stdout: /\nnothing was changed: to reserve 5 addresses, add --yes\n$/,
  })
  t.equal(last(await typed('reserve', ...all, '--dry-run')), 'would reserve 5 addresses; nothing was changed')
  t.equal(await typed('reservations', '-o', 'name'), '', 'nothing was changed so far')

  const refused = await daemon.control('reserve', '10.22.0.1-10.22.0.3', 'shop/sts/web', '--yes')
  t.strictSame(plan(refused.stdout), ['refused 10.22.0.1', 'refused 10.22.0.2', 'reserve 10.22.0.3'])
  t.match(
    refused.stdout,
    /10\.22\.0\.1 .*the gateway[^]*10\.22\.0\.2 .*held by lab\/db-0.*; or: ipkeeperctl move --socket \S+ 10\.22\.0\.2 /,
  )
  t.match(refused, { exit: 1, stdout: /\nnothing was changed: 2 addresses cannot be reserved\n$/ })
  t.equal(await typed('reservations', '-o', 'name'), '', 'not even the one that could be')

  t.equal(last(await typed('reserve', ...all, '--note', 'spare', '--yes')), '5 addresses reserved')
  t.equal((await typed('reservations', '-o', 'csv')).match(/,shop\/statefulset\/web,.*spare/g)?.length, 5)
  t.equal(last(await typed('reserve', ...all, '--yes')), 'nothing to reserve', 'again is no error')
  const json = JSON.parse(
    await typed('reserve', '10.22.0.60-62', 'shop/sts/web', '--yes', '-o', 'json'),
  ) as object
  t.match(json, { applied: true, outcome: 'done', counts: { change: 1, unchanged: 2, refused: 0 } })
})

t.test('a network is its hosts, also where listings could print that address so', { skip }, async t => {
  const { add, daemon, typed } = await typedSite(t, '10.22.0.0/24')
  await add('lab/db-0')
  t.equal(last(await typed('reserve', '10.22.0.64/29', 'shop/sts/web', '--yes')), '6 addresses reserved')
  t.equal(
    last(await typed('reserve', '10.22.0.80/24', 'shop/sts/web')),
    '10.22.0.80 is reserved for shop/statefulset/web',
  )
  t.equal(
    last(await typed('reserve', '10.22.0.81/32', 'shop/sts/web')),
    '10.22.0.81 is reserved for shop/statefulset/web',
  )
  t.match(await daemon.control('unreserve', '10.22.0.64/29'), {
    exit: 1,
    stdout: /\nnothing was changed: to unreserve 6 addresses, add --yes\n$/,
  })
  const { stdout } = await daemon.control('unreserve', '10.22.0.64/26', '--yes')
  t.strictSame(plan(stdout).slice(6), [
    'unchanged 10.22.0.71-10.22.0.79',
    'unreserve 10.22.0.80',
    'unreserve 10.22.0.81',
    'unchanged 10.22.0.82-10.22.0.126',
  ])
  t.equal(await typed('reservations', '-o', 'name'), '')
})

t.test('a call with its words in another order, or with too long a note', { skip }, async t => {
  const { daemon } = await typedSite(t, '10.22.0.0/24')
  for (const [words, says, hint] of [
    [
      ['move', 'lab/new', '10.22.0.2'],
      'OWNER is the last word, and lab/new is not',
      'type: ipkeeperctl move 10.22.0.2 lab/new',
    ],
    [
      ['reserve', 'shop/sts/web', '10.22.0.50', '10.22.0.60/24'],
      'OWNER is the last word, and shop/sts/web is not',
      'type: ipkeeperctl reserve 10.22.0.50 10.22.0.60/24 shop/sts/web',
    ],
    [
      ['reserve', '10.22.0.50', 'shop/web-0', '--note', 'x'.repeat(501)],
      '--note has 501 characters, of which at most 500 are kept',
      '--note TEXT: reason, shown in listings and errors',
    ],
  ] as const) {
    const { exit, stderr } = await daemon.control(...words)
    t.equal(exit, 2, says)
    t.ok(stderr.startsWith(`error: ${says} [IPK_USAGE]\nhint: ${hint}`), stderr)
  }
})

t.test('a file: what -o csv has printed, and one address or range a line', { skip }, async t => {
  const { add, daemon, folder, typed } = await typedSite(t, '10.22.0.0/24')
  await add('lab/db-0')
  await typed('reserve', '10.22.0.50', 'shop/web-0', '--note', '=SUM(A1), "room"')
  await typed('reserve', '10.22.0.51', 'external:printer-3')
  const before = await typed('reservations', '-o', 'json')
  const csv = folder.file('reservations.csv')
  writeFileSync(csv, await typed('reservations', '-o', 'csv'))
  t.equal(last(await typed('unreserve', '--file', csv, '--yes')), '2 addresses unreserved')
  t.equal(await typed('reservations', '-o', 'name'), '')
  t.equal(last(await typed('reserve', '--file', csv, '--yes')), '2 addresses reserved')
  const withoutSince = (text: string): string => text.replaceAll(/"since": .*/g, '')
  t.equal(
    withoutSince(await typed('reservations', '-o', 'json')),
    withoutSince(before),
    'with note and owner',
  )

  const list = folder.file('list.txt')
  writeFileSync(list, '# printers\n10.22.0.60-10.22.0.61\n\n10.22.0.70  # third floor\n')
  t.equal(last(await typed('reserve', '--file', list, 'external:printers', '-y')), '3 addresses reserved')
  for (const [text, error] of [
    ['10.22.0.80\n10.22.0.8o\n', /"10\.22\.0\.8o" is no IP address/],
    [
      '10.22.0.80-10.22.0.82\n10.22.0.81\n',
      /10\.22\.0\.81 is named twice: by 10\.22\.0\.80-10\.22\.0\.82 and 10\.22\.0\.81/,
    ],
    ['# nothing\n', /names no address/],
    ['address,owner\n"10.22.0.80,shop/web\n', /quotes are not closed/],
    ['10.0.0.0-10.255.255.255\n', /more than 4096 addresses at once/],
  ] as const) {
    writeFileSync(list, text)
    const finished = await daemon.control('reserve', '--file', list, 'external:printers', '--yes')
    t.match(finished, { exit: 1, stdout: '', stderr: error }, text)
  }
  for (const words of [
    ['reserve'],
    ['reserve', '10.22.0.80-10.22.0.81'],
    ['unreserve'],
    ['unreserve', '10.22.0.50', '--pool', 'net'],
  ])
    t.match(await daemon.control(...words), { exit: 2, stdout: '', stderr: /IPK_USAGE/ }, words.join(' '))
})

t.test('what filters choose is unreserved', { skip }, async t => {
  const { add, typed } = await typedSite(t, '10.22.0.0/24')
  await add('lab/db-0')
  await typed('reserve', '10.22.0.50-10.22.0.52', 'shop/sts/web', '--yes')
  await typed('reserve', '10.22.0.60', 'external:printer-3')
  t.equal(last(await typed('unreserve', '-n', 'shop', '--yes')), '3 addresses unreserved')
  t.equal(last(await typed('unreserve', '-n', 'shop', '--yes')), 'nothing to unreserve')
  t.equal(last(await typed('unreserve', '--owner', 'external:printer-3', '--yes')), '1 address unreserved')
})

t.test('a person on a terminal is asked, and only "y" is yes', { skip }, async t => {
  const { daemon, typed } = await typedSite(t, '10.22.0.0/24')
  const line = `${join(distFolder, 'ipkeeperctl')} reserve 10.22.0.50-52 shop/web-0 --socket ${daemon.socket}`
  for (const [keys, exit, reserved] of [
    ['\r', 1, ''],
    ['no\r', 1, ''],
    ['y\r', 0, '10.22.0.50\n10.22.0.51\n10.22.0.52\n'],
  ] as const) {
    const session = openTerminal(line, {})
    t.teardown(session.kill)
    t.match(
      await session.see(/reserve 3 addresses\? \[y\/N\] /),
      /10\.22\.0\.52 +for shop\/web-0/,
      'after the plan',
    )
    session.type(keys)
    t.equal(await session.ended, exit, JSON.stringify(keys))
    t.equal(await typed('reservations', '-o', 'name'), reserved)
  }
})

t.test('everything kept of a namespace, an owner, a node or a pool is released', { skip }, async t => {
  const { add, del, daemon, typed } = await typedSite(t, { node: 'n1' }, '10.22.0.0/24')
  const kept = { 'ipkeeper.io/retain': 'forever' }
  for (const pod of ['shop/web-0', 'shop/web-1', 'lab/web-0', 'lab/db-0', 'ops/x-0', 'ops/y-0'])
    await add(pod, kept)
  for (const pod of ['shop/web-1', 'lab/web-0', 'lab/db-0', 'ops/x-0', 'ops/y-0']) await del(pod)
  const shop = await typed('release', '-n', 'shop', '--yes')
  t.strictSame(plan(shop), ['stays 10.22.0.2', 'release 10.22.0.3'])
  t.match(
    shop,
    /10\.22\.0\.2 +bound to shop\/web-0 on node n1: .*delete shop\/web-0\n[^]*\n1 address released\n$/,
  )
  t.strictSame(plan(await typed('release', '--owner', 'lab/sts/web', '--yes')), ['release 10.22.0.4'])
  t.match(await daemon.control('release', '--node', 'n1'), {
    exit: 1,
    stdout: /to release 3 addresses, add --yes\n$/,
  })
  t.strictSame(plan(await typed('release', '--pod', 'lab/db-0', '--dry-run')), ['release 10.22.0.5'])
  t.match(await daemon.control('release', '--pool', 'nett'), { exit: 1, stderr: /did you mean net\?/ })
  const json = JSON.parse(
    await typed('release', '--node', 'n1', '--pool', 'net', '--yes', '-o', 'json'),
  ) as object
  t.match(json, { outcome: 'done', counts: { change: 3, stays: 1, refused: 0 } })
  t.equal(await typed('leases', '-o', 'name'), '10.22.0.2\n')
  t.equal(await typed('release', '-n', 'ops', '--yes'), 'nothing to release\n')
})
