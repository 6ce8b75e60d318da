import t from 'tap'
import {
  abandonedTables,
  guardScript,
  readHeard,
} from '../../../../ipkeeper-server/network/plan/answer-rules.ts'

t.test('the rules', t => {
  const probe = { port: 'ipk000000000001', others: ['ipk000000000002', 'ipk000000000003'], at: 7_123 }
  const between = 'oifname "ipk000000000001" iifname { "ipk000000000002", "ipk000000000003" }'
  const ofIpv4 = (list: string): string =>
    `    ${between} ether type arp arp saddr ip { ${list} } add @heard { iifname } drop`
  const ofIpv6 = ['icmpv6 type nd-neighbor-advert', 'ip6 saddr :: icmpv6 type nd-neighbor-solicit'].map(
    claim =>
      `    ${between} ${claim} @th,64,128 { 0xfd000022000000000000000000000050 } add @heard { iifname } drop`,
  )
  for (const [addresses, rules] of [
    [['10.22.0.50'], [ofIpv4('10.22.0.50')]],
    [['fd00:22::50'], ofIpv6],
    [
      ['10.22.0.50', '10.23.0.50', 'fd00:22::50'],
      [ofIpv4('10.22.0.50, 10.23.0.50'), ...ofIpv6],
    ],
  ] as const) {
    const lines = guardScript({ ...probe, addresses }).split('\n')
    t.equal(lines[0], 'table bridge ipkeeper-probe-ipk000000000001-7 {')
    t.strictSame(
      lines.filter(line => line.includes('drop')),
      rules,
    )
  }
  t.end()
})

t.test('what nft shows', t => {
  const info = { metainfo: { version: '1.0.6' } }
  const set = { family: 'bridge', name: 'heard', table: 'ipkeeper-probe-ipk000000000001', type: 'ifname' }
  t.same(readHeard({ nftables: [info, { set }] }), [])
  t.same(readHeard({ nftables: [info, { set: { ...set, elem: ['ipk1', 'ipk2'] } }] }), ['ipk1', 'ipk2'])
  t.same(readHeard({ nftables: [info, { set: { ...set, elem: [{ elem: { val: 7 } }] } }] }), [])
  t.same(readHeard({}), [])
  t.end()
})

t.test('tables that nobody takes away any more', t => {
  const shown = {
    nftables: [
      { metainfo: { version: '1.0.6' } },
      ...[
        ['bridge', 'ipkeeper-probe-ipk000000000001-39'],
        ['bridge', 'ipkeeper-probe-ipk000000000002-40'],
        ['bridge', 'ipkeeper-probe-ipk000000000003'],
        ['inet', 'ipkeeper-probe-ipk000000000004-1'],
        ['bridge', 'ipkeeper'],
        ['bridge', 'filter-1'],
      ].map(([family, name]) => ({ table: { family, name, handle: 1 } })),
    ],
  }
  t.same(
    abandonedTables(shown, 100_000),
    ['bridge ipkeeper-probe-ipk000000000001-39', 'bridge ipkeeper-probe-ipk000000000003'],
    'and those of versions whose tables do not say when',
  )
  t.same(abandonedTables({}, 100_000), [])
  t.end()
})
