import t from 'tap'
import { aboutView } from '../../../../../ipkeeper-server/http/page/client/about-view.ts'
import { addressView, timelineItems } from '../../../../../ipkeeper-server/http/page/client/address-view.ts'
import {
  commandsOfAddress,
  commandsOfSearch,
} from '../../../../../ipkeeper-server/http/page/client/command-view.ts'
import { findingsView } from '../../../../../ipkeeper-server/http/page/client/finding-view.ts'
import { freeingView } from '../../../../../ipkeeper-server/http/page/client/freeing-view.ts'
import { poolRows, poolTotals } from '../../../../../ipkeeper-server/http/page/client/pool-view.ts'
import type { AddressReply, TenureItem } from '../../../../../shared/api/address.schema.ts'
import type { AuditReply, Finding } from '../../../../../shared/api/audit.schema.ts'
import type { LeaseItem } from '../../../../../shared/api/listing.schema.ts'
import type { PoolDescription } from '../../../../../shared/api/pool-description.schema.ts'

const since = '2026-01-01T00:00:00.000Z'
const until = '2026-01-01T01:00:00.000Z'

const lease: LeaseItem = {
  ...{ address: '10.22.0.7', prefixLength: 16, segment: 'default', pool: 'net', network: 'net' },
  ...{ containerId: null, ifname: 'eth0', owner: null, node: 'n1', source: 'dynamic', mac: null },
  pod: { namespace: 'shop', name: 'web-0', uid: null },
  ...{ state: 'held', retain: '1h', since, until },
}

const known: AddressReply = {
  ...{ segment: 'default', address: '10.22.0.7', state: 'held', sentence: 'is kept', pool: 'net' },
  ...{ unusable: null, lease, holderSince: since, attachment: null, nodeSilence: null, reservation: null },
  ...{ tenures: [], elsewhere: [] },
}

const textsOf = (reply: AddressReply): string[] =>
  addressView(reply).facts.map(({ name, text }) => `${name}: ${text}`)

t.test('what is known of an address; what is not known is left away', t => {
  t.strictSame(textsOf(known), [
    'State: held',
    'Pool: net',
    'Who had it: shop/web-0',
    'Without a gap since: 2026-01-01 00:00:00 UTC',
    'In this state since: 2026-01-01 00:00:00 UTC',
    'Comes free: 2026-01-01 01:00:00 UTC',
    'Asked by: dynamic',
    'Retention: 1h',
    'Node: n1',
    'Interface: eth0',
  ])
  t.strictSame(
    textsOf({
      ...known,
      state: 'unusable',
      unusable: 'excluded',
      lease: null,
      holderSince: null,
      segment: 'lab',
    }),
    ['State: never given', 'Pool: net', 'Segment: lab', 'Cannot be given: excluded'],
  )
  t.end()
})

t.test('tenures', t => {
  const tenure: TenureItem = {
    ...{
      id: 7,
      segment: 'default',
      address: '10.22.0.7',
      from: since,
      to: null,
      state: 'bound',
      pool: 'net',
    },
    ...{ network: 'net', pod: null, containerId: '3f2a91c0d1e2aaaa', ifname: 'eth0', node: 'n1' },
    ...{ source: 'dynamic', until: null, holderSince: since, ended: null },
  }
  const later = '2026-01-01T03:00:00.000Z'
  const pod = { namespace: 'shop', name: 'web-0', uid: null }
  t.strictSame(
    timelineItems([
      { ...tenure, id: 9, from: later, pod },
      { ...tenure, id: 6, state: 'cooling', from: since, to: until, ended: 'given to shop/web-0' },
      { ...tenure, id: 5, from: since, to: since },
    ]),
    [
      {
        ...{ key: '9', state: 'bound', word: 'leased', when: 'since 2026-01-01 03:00:00 UTC', lasted: '' },
        ...{ since: later, who: 'shop/web-0 on n1', containerId: '3f2a91c0d1e2aaaa', ended: '' },
      },
      {
        ...{ key: '9 free', state: 'free', word: 'free', lasted: '2 h', since: undefined },
        when: '2026-01-01 01:00:00 UTC to 2026-01-01 03:00:00 UTC',
        ...{ who: '', containerId: null, ended: '' },
      },
      {
        ...{ key: '6', state: 'cooling', word: 'cooling', lasted: '1 h', since: undefined },
        when: '2026-01-01 00:00:00 UTC to 2026-01-01 01:00:00 UTC',
        ...{ who: 'n1', containerId: '3f2a91c0d1e2aaaa', ended: 'given to shop/web-0' },
      },
      {
        ...{ key: '5', state: 'bound', word: 'leased', lasted: '0 s', since: undefined },
        when: '2026-01-01 00:00:00 UTC to 2026-01-01 00:00:00 UTC',
        ...{ who: 'n1', containerId: '3f2a91c0d1e2aaaa', ended: '' },
      },
    ],
  )
  t.end()
})

t.test('what frees next', t => {
  const aside = {
    ...lease,
    address: 'fd00::9',
    state: 'cooling',
    source: 'put aside: x has fd00::9',
  } as const
  const { rows, note } = freeingView('net', { freeing: [lease, aside], more: 1200 })
  t.strictSame(
    rows.map(({ address, href, who, why }) => [address, href, who, why]),
    [
      ['10.22.0.7', '#/net?address=10.22.0.7', 'shop/web-0', 'held: retention 1h'],
      ['fd00::9', '#/net?address=fd00%3A%3A9', 'shop/web-0', 'put aside: x has fd00::9'],
    ],
  )
  t.equal(note, 'and 1,200 more')
  t.match(freeingView('net', { freeing: [], more: 0 }).note, /is released automatically/)
  t.end()
})

t.test('findings, the worst first', t => {
  const finding: Finding = {
    ...{ kind: 'lease-without-sandbox', severity: 'note', says: 'a', why: 'w', remedy: '', action: 'none' },
    ...{ state: 'reported', address: null, pod: null, podUid: null, network: null, containerId: null },
    ...{ ifname: null, link: null },
  }
  const audit: AuditReply = {
    ...{ node: 'n1', mode: 'repair', takenAt: since, attachments: 3 },
    witnesses: [{ name: 'kernel links', state: 'asked', says: '' }],
    findings: [
      finding,
      { ...finding, severity: 'error', says: 'b', state: 'due' },
      { ...finding, severity: 'warning' },
    ],
  }
  const { groups, says, witnesses } = findingsView(audit)
  t.strictSame(
    groups.map(({ severity, title }) => `${severity}: ${title}`),
    [
      'error: lease without sandbox (1)',
      'warning: lease without sandbox (1)',
      'note: lease without sandbox (1)',
    ],
  )
  t.match(groups[0]?.rows, [{ says: 'b', state: 'is repaired in the next pass if the mode is "repair"' }])
  const kinds = (...of: readonly Finding['kind'][]): string[] =>
    findingsView({ ...audit, findings: of.map(kind => ({ ...finding, kind })) }).groups.map(
      ({ title }) => title,
    )
  t.strictSame(
    kinds('foreign-link', 'two-sandboxes', 'two-sandboxes'),
    ['two sandboxes (2)', 'foreign link (1)'],
    'of one severity those of which there are most',
  )
  t.equal(says, 'Node n1, 2026-01-01 00:00:00 UTC: 3 found with 3 attachments. Mode: repair.')
  t.strictSame(witnesses, ['kernel links: asked'])
  t.match(findingsView({ ...audit, findings: [] }).says, /nothing found/)
  t.end()
})

t.test('pools', t => {
  const four = {
    family: 'IPv4' as const,
    ranges: [],
    capacity: 5,
    used: 5,
    held: 0,
    free: 0,
    nextFreeAt: null,
  }
  const six = {
    ...{ family: 'IPv6' as const, ranges: [], capacity: '18446744073709551614', used: 5, held: 2 },
    ...{ free: '18446744073709551607', nextFreeAt: null },
  }
  const pool = { ...six, name: 'a/b', segment: 'default', families: [four, six] }
  t.match(poolRows([pool], 'a/b'), [
    {
      ...{ name: 'a/b', family: 'IPv4', href: '#/a%2Fb', current: true, used: '5', kept: '0', free: '0' },
      fullAt: 'now',
    },
    {
      name: 'a/b',
      family: 'IPv6',
      href: '#/a%2Fb',
      used: '5',
      kept: '2',
      free: '18,446,744,073,709,551,607',
      fullAt: null,
    },
  ])
  t.match(poolRows([pool], undefined), [{ current: false }, { current: false }])
  const forecast = { fullAt: until, says: 'it grows' }
  t.match(poolRows([{ ...pool, families: [{ ...six, forecast }] }], undefined), [{ fullAt: until }])
  t.match(poolRows([{ ...pool, families: [{ ...four, drains: true }] }], undefined), [{ fullAt: null }])
  t.strictSame(poolTotals([pool]), [], 'of one pool there is no sum')
  const figures = { kept: '0', free: '0', capacity: '10' }
  t.strictSame(poolTotals([pool, { ...pool, families: [four] }]), [
    { family: 'IPv4', used: '10', ...figures },
  ])
  t.match(poolTotals([pool, pool]), [
    { family: 'IPv4' },
    { family: 'IPv6', used: '10', kept: '4', capacity: '36,893,488,147,419,103,228' },
  ])
  t.end()
})

t.test('what a pool is', t => {
  const description: PoolDescription = {
    ...{ name: 'a b', segment: 'default', origin: 'config', rules: [], retention: 'release' },
    ...{ cooldown: '1m', preferFor: '10m', strategy: 'lowest-free', free: ['10.22.0.2'] },
    ranges: [
      {
        ...{ set: 0, subnet: '10.22.0.0/27', first: '10.22.0.1', last: '10.22.0.31', gateway: '10.22.0.1' },
        ...{ size: 31, capacity: 29 },
        never: [
          { first: '10.22.0.1', last: '10.22.0.1', why: 'the gateway' },
          { first: '10.22.0.31', last: '10.22.0.31', why: 'the broadcast address' },
        ],
      },
      {
        ...{ set: 1, subnet: 'fd00::/120', first: 'fd00::2', last: 'fd00::3', gateway: 'fd00::1' },
        ...{ size: 2, capacity: 2, never: [] },
      },
    ],
  }
  const { facts, more } = aboutView(description)
  t.strictSame(
    facts.map(({ name, lines }) => [name, ...lines.map(({ text }) => text)]),
    [
      [
        'Range',
        '10.22.0.1-10.22.0.31 of 10.22.0.0/27: 29 of 31 addresses can be assigned',
        'not 10.22.0.1: the gateway',
        'not 10.22.0.31: the broadcast address',
      ],
      ['Range', 'fd00::2-fd00::3 of fd00::/120: 2 of 2 addresses can be assigned'],
      ['From', "the daemon's file"],
      ['Rules', 'none: every pod may use it'],
      ['Retention', 'release'],
      ['Cool-down', '1m; 10m for an address that was asked for by name'],
      ['Strategy', 'lowest-free'],
      ['Next free', '10.22.0.2'],
      ['Next free', 'no IPv6 address is free'],
    ],
  )
  t.equal(facts.at(-2)?.lines[0]?.href, '#/a%20b?address=10.22.0.2')
  t.strictSame(more, ['ipkeeperctl', 'pools', 'a b', '--free', '100'])
  t.end()
})

t.test('what to type of an address, and of a pod that has none', t => {
  const nobody = { ...known, lease: null, reservation: null }
  const reservation = {
    ...{ segment: 'default', address: '10.22.0.7', owner: 'shop/web-9', note: '', since },
  }
  const table: readonly [reply: AddressReply, lines: readonly string[]][] = [
    [
      { ...known, state: 'bound', lease: { ...lease, state: 'bound' } },
      ['doctor --pod shop/web-0', 'explain shop/web-0', 'move 10.22.0.7 NAMESPACE/POD'],
    ],
    [
      known,
      ['doctor --pod shop/web-0', 'explain shop/web-0', 'release 10.22.0.7', 'move 10.22.0.7 NAMESPACE/POD'],
    ],
    [{ ...nobody, state: 'free' }, ['reserve 10.22.0.7 NAMESPACE/POD']],
    [{ ...nobody, state: 'free', segment: 'lab' }, ['reserve 10.22.0.7 --segment lab NAMESPACE/POD']],
    [{ ...nobody, state: 'reserved', reservation }, ['unreserve 10.22.0.7']],
    [{ ...nobody, state: 'unusable' }, []],
    [{ ...nobody, state: 'outside' }, []],
  ]
  for (const [reply, lines] of table)
    t.strictSame(
      commandsOfAddress(reply).map(({ words }) => words.join(' ')),
      lines.map(line => `ipkeeperctl ${line}`),
      `${reply.state} ${reply.segment}`,
    )
  for (const [text, pod, found = []] of [
    ['shop/web-0', 'shop/web-0'],
    ['web-0', 'NAMESPACE/web-0'],
    ['10.22', undefined],
    ['StatefulSet shop/web', undefined],
    ['a/b/c', undefined],
    ['web', 'shop/web-0', ['shop/web-0', 'shop/web-0']],
    ['web', undefined, ['shop/web-0', 'shop/web-1']],
    ['printer', undefined, ['']],
    ["shop/'; reboot", undefined],
  ] as const)
    t.equal(commandsOfSearch({ filters: {}, text }, found)[0]?.words.at(-1), pod, text)
  t.end()
})
