import t from 'tap'
import type { Grant } from '../../../../ipkeeper-server/ipam/choose/plan-grants.ts'
import { checkQuota } from '../../../../ipkeeper-server/ipam/choose/pool-quota.ts'
import type { Holder, LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { parseAddress } from '../../../../shared/net/address.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { poolFrom } from '../../leases/test-service.ts'

const pool = poolFrom('prod', ['10.0.0.0/24'], ['fd00::/64'])
const shop = (name: string): Holder => ({
  kind: 'pod',
  network: 'net',
  namespace: 'shop',
  name,
  ifname: 'eth0',
})

const now = Date.parse('2026-01-01T00:00:00Z')
/** When what is kept ends. */
const ends: Readonly<Record<string, number>> = { soon: now + 1, over: now }

/**
 * Addresses with what they are: "10.0.0.2 bound", "10.0.0.3 held", "10.0.0.4 cooling", "10.0.0.5 lab"; "soon" and "over" are
 * held until a moment.
 */
function records(text: string): LeaseRecord[] {
  return text
    .split(', ')
    .filter(Boolean)
    .map(item => {
      const [address = '', what = ''] = item.split(' ')
      const until = ends[what] ?? null
      const state = until !== null ? 'held' : what === 'held' || what === 'cooling' ? what : 'bound'
      const holder = { ...shop('x'), ...(what === 'lab' && { namespace: 'lab' }) } as Holder
      return lease(address, 1, {
        pool: 'prod',
        state,
        holder,
        until,
        ...(state !== 'bound' && { attachment: null }),
      })
    })
}

function grants(text: string, quotaPerNamespace: number | undefined): Grant[] {
  return text.split(',').map((item, index) => {
    const address = parseAddress(item)
    if (!address) throw new Error(item)
    const rangeSet = address.family === 4 ? 0 : 1
    const set = pool.rangeSets[rangeSet] ?? []
    const [range] = set
    if (!range) throw new Error(item)
    const rules = quotaPerNamespace === undefined ? {} : { quotaPerNamespace }
    return {
      slot: { pool, rules, set, rangeSet, index },
      ...{ address, range, named: false, source: 'dynamic', reason: '' },
    }
  })
}

/** What is there, what a pod of shop is to get, what it gives back, the quota, and what comes of it. */
for (const [name, present, given, freed, quota, expected] of [
  ['no quota', '10.0.0.2 bound, 10.0.0.3 bound', '10.0.0.9', '', undefined, 'fine'],
  ['room for one', '10.0.0.2 bound', '10.0.0.9', '', 2, 'fine'],
  [
    'no room',
    '10.0.0.2 bound, 10.0.0.3 bound',
    '10.0.0.9',
    '',
    2,
    'may have 2 IPv4 addresses of pool prod, and has 2',
  ],
  ['a quota of one', '10.0.0.2 bound', '10.0.0.9', '', 1, 'may have 1 IPv4 address of pool prod, and has 1'],
  ['a quota of none', '', '10.0.0.9', '', 0, 'may have 0 IPv4 addresses of pool prod, and has 0'],
  [
    'kept ones count',
    '10.0.0.2 held, 10.0.0.3 bound',
    '10.0.0.9',
    '',
    2,
    'may have 2 IPv4 addresses of pool prod, and has 2',
  ],
  [
    'kept ones whose time is not over',
    '10.0.0.2 soon, 10.0.0.3 bound',
    '10.0.0.9',
    '',
    2,
    'may have 2 IPv4 addresses of pool prod, and has 2',
  ],
  ['kept ones whose time is over do not', '10.0.0.2 over, 10.0.0.3 bound', '10.0.0.9', '', 2, 'fine'],
  [
    'nor do they make room twice',
    '10.0.0.2 over, 10.0.0.3 bound, 10.0.0.4 bound',
    '10.0.0.9',
    '10.0.0.2 over',
    2,
    'may have 2 IPv4 addresses of pool prod, and has 2',
  ],
  [
    'what was kept until now counts as new',
    '10.0.0.2 over, 10.0.0.3 bound, 10.0.0.4 bound',
    '10.0.0.2',
    '',
    2,
    'may have 2 IPv4 addresses of pool prod, and has 2',
  ],
  ['resting ones do not', '10.0.0.2 cooling, 10.0.0.3 bound', '10.0.0.9', '', 2, 'fine'],
  ["other namespaces' do not", '10.0.0.2 lab, 10.0.0.3 bound', '10.0.0.9', '', 2, 'fine'],
  ['the other family does not', 'fd00::2 bound, fd00::3 bound', '10.0.0.9', '', 2, 'fine'],
  [
    'each family by itself',
    'fd00::2 bound, fd00::3 bound',
    '10.0.0.9,fd00::9',
    '',
    2,
    'may have 2 IPv6 addresses of pool prod, and has 2',
  ],
  ['what the namespace had counts once', '10.0.0.2 bound, 10.0.0.3 held', '10.0.0.3', '', 2, 'fine'],
  [
    'what rested counts as new',
    '10.0.0.2 bound, 10.0.0.3 bound, 10.0.0.4 cooling',
    '10.0.0.4',
    '',
    2,
    'may have 2 IPv4 addresses of pool prod, and has 2',
  ],
  [
    'what another namespace had counts as new',
    '10.0.0.2 bound, 10.0.0.3 lab',
    '10.0.0.3',
    '',
    1,
    'may have 1 IPv4 address of pool prod, and has 1',
  ],
  ['one is given back for it', '10.0.0.2 bound, 10.0.0.3 held', '10.0.0.9', '10.0.0.3 held', 2, 'fine'],
  [
    'what was given back had rested',
    '10.0.0.2 bound, 10.0.0.3 bound, 10.0.0.4 cooling',
    '10.0.0.9',
    '10.0.0.4 cooling',
    2,
    'may have 2 IPv4 addresses of pool prod, and has 2',
  ],
  [
    'one of the other family is given back',
    '10.0.0.2 bound, fd00::3 held',
    '10.0.0.9',
    'fd00::3 held',
    1,
    'may have 1 IPv4 address of pool prod, and has 1',
  ],
  ['lowered, and none is added', '10.0.0.2 bound, 10.0.0.3 bound, 10.0.0.4 bound', '10.0.0.4', '', 1, 'fine'],
  [
    'lowered, and one is moved',
    '10.0.0.2 bound, 10.0.0.3 bound, 10.0.0.4 held',
    '10.0.0.9',
    '10.0.0.4 held',
    1,
    'fine',
  ],
] as const) {
  t.test(name, async t => {
    const ledger = await Ledger.open(new MemoryStore())
    await ledger.commit(records(present).map(record => putLease(record, null)))
    const check = (holder: Holder): string => {
      try {
        checkQuota(
          { book: ledger, request: { holder }, terms: { now } },
          grants(given, quota),
          records(freed),
        )
        return 'fine'
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'IPK_QUOTA') throw error
        return error.message.replace('namespace shop ', '')
      }
    }
    t.equal(check(shop('a')), expected)
    t.equal(check({ kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' }), 'fine')
  })
}

t.test('each ADD under a quota moves its guard on, so that one of another node decides again', async t => {
  const ledger = await Ledger.open(new MemoryStore())
  const check = () =>
    checkQuota({ book: ledger, request: { holder: shop('a') }, terms: { now } }, grants('10.0.0.9', 3), [])
  t.match(check(), [{ kind: 'quota', expect: null, record: { namespace: 'shop', generation: 1 } }])
  await ledger.commit(check())
  t.match(check(), [{ kind: 'quota', expect: 1, record: { namespace: 'shop', generation: 2 } }])
})
