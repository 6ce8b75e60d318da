import t from 'tap'
import { toPoolRecord } from '../../../../ipkeeper-server/ipam/pools/pool-record.ts'
import {
  describeLeftOut,
  isInUse,
  planConfiguredPools,
  type ConfiguredPoolsBook,
} from '../../../../ipkeeper-server/ipam/plan/plan-configured-pools.ts'
import { canonicalPool, type Pool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import type {
  AttachmentRecord,
  LeaseRecord,
  PoolRecord,
  ReservationRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { parseAddress } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { lease as leaseRecord, podHolder, reservationRecord } from '../../../rigs/records.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

/** "prod 10.22.0.0/24", "prod@lab 10.22.0.0/24 fd00::/64" (a set each), "prod 10.22.0.0/24:10.22.0.10-10.22.0.20". */
function pool(words: string): Pool {
  const [title = '', ...sets] = words.split(' ')
  const [name = '', segment = 'default'] = title.split('@')
  return canonicalPool(
    name,
    segment,
    sets.map(text => {
      const [, subnet = '', start, end] =
        /^([^:]+(?:::)?[^:-]*\/\d+)(?::([\d.]+)-([\d.]+))?$/.exec(text) ?? []
      const rangeStart = parseAddress(start ?? '')
      const rangeEnd = parseAddress(end ?? '')
      return [
        { subnet: parseCidr(subnet)!, ...(rangeStart && { rangeStart }), ...(rangeEnd && { rangeEnd }) },
      ]
    }),
  )
}

/** The same with "config:" in front for a pool of the configuration, "api:" for an IPPool; others are ranges of a network. */
function record(words: string): PoolRecord {
  const [, origin, rest = ''] = /^(?:(config|api):)?(.*)$/.exec(words) ?? []
  return toPoolRecord(pool(rest), 3, origin as PoolRecord['origin'])
}

/** "prod 10.22.0.50", "held prod 10.22.0.50", "dead prod 10.22.0.50", "prod@lab 10.22.0.50"; the pod is named after it. */
function lease(words: string): LeaseRecord & { readonly live: boolean } {
  const [, state, title = '', address = ''] = /^(?:(held|cooling|dead) )?(\S+) (\S+)$/.exec(words) ?? []
  const [name = '', segment = 'default'] = title.split('@')
  const record = leaseRecord(address, 1, {
    segment,
    pool: name,
    state: state === 'held' || state === 'cooling' ? state : 'bound',
    holder: podHolder(`web-${address.split('.').at(-1)}`),
    attachment: null,
  })
  return { ...record, live: state !== 'dead' && state !== 'cooling' }
}

const reservation = (address: string): ReservationRecord => reservationRecord(address, 'db-0')

interface Before {
  readonly pools?: readonly string[]
  readonly leases?: readonly string[]
  readonly reserved?: readonly string[]
}

function book({ pools = [], leases = [], reserved = [] }: Before): ConfiguredPoolsBook {
  return {
    pools: () => pools.map(record),
    leases: () => leases.map(lease),
    reservations: () => reserved.map(reservation),
  }
}

const plan = (before: Before, next: readonly string[]) =>
  planConfiguredPools(
    book(before),
    next.map(words => ({ pool: pool(words) })),
    one => (one as ReturnType<typeof lease>).live,
  )

interface Outcome {
  readonly added?: readonly string[]
  readonly changed?: readonly string[]
  readonly removed?: readonly string[]
  readonly displaced?: readonly string[]
  readonly notes?: readonly string[]
}

const accepted: readonly (readonly [
  name: string,
  before: Before,
  next: readonly string[],
  outcome: Outcome,
])[] = [
  ['nothing to nothing', {}, [], {}],
  ['an IPPool of the API stays where it is', { pools: ['api:a 10.1.0.0/24'] }, [], {}],
  [
    'an IPPool that overlaps a configured pool does not count',
    { pools: ['api:b 10.1.0.0/16'] },
    ['a 10.1.0.0/24'],
    {
      added: ['a'],
      notes: ['IPPool b of the Kubernetes API overlaps pool a of the configuration, which counts'],
    },
  ],
  ['the first pools', {}, ['a 10.1.0.0/24', 'b@lab 10.1.0.0/24'], { added: ['a', 'b'] }],
  ['no change', { pools: ['config:a 10.1.0.0/24'], leases: ['a 10.1.0.5'] }, ['a 10.1.0.0/24'], {}],
  ['removed, unused', { pools: ['config:a 10.1.0.0/24'] }, [], { removed: ['a'] }],
  [
    'removed, with what nobody relies on',
    { pools: ['config:a 10.1.0.0/24'], leases: ['dead a 10.1.0.5', 'cooling a 10.1.0.6'] },
    [],
    { removed: ['a'] },
  ],
  [
    'enlarged, in use',
    { pools: ['config:a 10.1.0.0/24'], leases: ['a 10.1.0.5'] },
    ['a 10.1.0.0/16'],
    { changed: ['a'] },
  ],
  [
    'shrunk to what is in use',
    { pools: ['config:a 10.1.0.0/24'], leases: ['a 10.1.0.5', 'held a 10.1.0.9'] },
    ['a 10.1.0.0/24:10.1.0.5-10.1.0.9'],
    { changed: ['a'] },
  ],
  [
    'a second range set before the first',
    { pools: ['config:a 10.1.0.0/24'], leases: ['a 10.1.0.5'] },
    ['a 10.2.0.0/24 10.1.0.0/24'],
    { changed: ['a'] },
  ],
  [
    'a network of its own ranges elsewhere stays',
    { pools: ['net 10.9.0.0/24'], leases: ['net 10.9.0.5'] },
    ['a 10.1.0.0/24'],
    { added: ['a'] },
  ],
  [
    'overlapping ranges of another segment stay',
    { pools: ['net@lab 10.1.0.0/24'], leases: ['net@lab 10.1.0.5'] },
    ['a 10.1.0.0/24'],
    { added: ['a'] },
  ],
  [
    'unused ranges of a network make room',
    { pools: ['net 10.1.0.0/24', 'far 10.2.0.0/24'], leases: ['dead net 10.1.0.5', 'far 10.2.0.5'] },
    ['a 10.1.0.0/16'],
    { added: ['a'], displaced: ['net'] },
  ],
  [
    'ranges of a network become a pool',
    { pools: ['net 10.1.0.0/24'], leases: ['net 10.1.0.5'] },
    ['net 10.1.0.0/24'],
    { added: ['net'] },
  ],
  [
    'ranges of a network become a larger pool',
    { pools: ['net 10.1.0.0/24'], leases: ['net 10.1.0.5'] },
    ['net 10.1.0.0/16'],
    { changed: ['net'] },
  ],
  [
    'reservations: inside, outside, and never inside',
    { pools: ['config:a 10.1.0.0/24'], reserved: ['10.1.0.5', '10.1.0.20', '10.7.0.1'] },
    ['a 10.1.0.0/24:10.1.0.2-10.1.0.9'],
    { changed: ['a'], notes: ['10.1.0.20, reserved for shop/db-0, is in no pool any more'] },
  ],
  [
    'a reservation that another pool takes over',
    { pools: ['config:a 10.1.0.0/24'], reserved: ['10.1.0.5'] },
    ['b 10.1.0.0/24'],
    { added: ['b'], removed: ['a'] },
  ],
]
for (const [name, before, next, outcome] of accepted) {
  t.test(`accepted: ${name}`, t => {
    const { change, ...said } = plan(before, next)
    t.strictSame(said, { added: [], changed: [], removed: [], displaced: [], notes: [], ...outcome })
    // Carried out, the pools are those of the file, and a second look finds nothing to do.
    const records = new Map((before.pools ?? []).map(record).map(one => [one.name, one]))
    for (const write of change) {
      t.equal(write.kind, 'pool')
      t.equal(write.expect, records.get(write.key)?.generation ?? null)
      if (write.record) records.set(write.key, write.record as PoolRecord)
      else records.delete(write.key)
    }
    const configured = [...records.values()].filter(({ origin }) => origin === 'config')
    t.strictSame(configured.map(one => one.name).sort(), next.map(words => pool(words).name).sort())
    const again = planConfiguredPools(
      { ...book(before), pools: () => records.values() },
      next.map(words => ({ pool: pool(words) })),
      () => false,
    )
    t.strictSame(again.change, [])
    t.end()
  })
}

const refused: readonly (readonly [
  name: string,
  before: Before,
  next: readonly string[],
  code: string,
  message: string,
  details?: string,
])[] = [
  [
    'removed',
    { pools: ['config:a 10.1.0.0/24'], leases: ['a 10.1.0.5'] },
    [],
    'IPK_POOLS_ORPHAN',
    'pool a goes, which would leave out 1 address in use: 10.1.0.5 (shop/web-5)',
  ],
  [
    'renamed',
    { pools: ['config:a 10.1.0.0/24'], leases: ['held a 10.1.0.5'] },
    ['b 10.1.0.0/24'],
    'IPK_POOLS_ORPHAN',
    'pool a goes, which would leave out 1 address in use: 10.1.0.5 (kept for shop/web-5)',
  ],
  [
    'moved',
    { pools: ['config:a 10.1.0.0/24'], leases: ['a 10.1.0.5'] },
    ['a@lab 10.1.0.0/24'],
    'IPK_POOLS_ORPHAN',
    'pool a moves from segment default to lab, which would leave out 1 address in use: 10.1.0.5 (shop/web-5)',
  ],
  [
    'shrunk, with many outside',
    {
      pools: ['config:a 10.1.0.0/24'],
      leases: [24, 3, 25, 21, 20, 23, 22].map(last => `a 10.1.0.${last}`),
    },
    ['a 10.1.0.0/24:10.1.0.2-10.1.0.9'],
    'IPK_POOLS_ORPHAN',
    'pool a changes to 10.1.0.2-10.1.0.9, which would leave out 6 addresses in use: 10.1.0.20 (shop/web-20), 10.1.0.21 (shop/web-21), 10.1.0.22 (shop/web-22), 10.1.0.23 (shop/web-23), 10.1.0.24 (shop/web-24) and 1 more',
  ],
  [
    'an address in use becomes the gateway',
    { pools: ['config:a 10.1.0.0/16:10.1.0.5-10.1.0.9'], leases: ['a 10.1.0.5', 'a 10.1.0.6'] },
    ['a 10.1.0.4/30'],
    'IPK_POOLS_ORPHAN',
    'pool a changes to 10.1.0.5-10.1.0.6, which would leave out 1 address in use: 10.1.0.5 (shop/web-5)',
  ],
  [
    'two pools swap their ranges',
    { pools: ['config:a 10.1.0.0/24', 'config:b 10.2.0.0/24'], leases: ['b 10.2.0.5', 'a 10.1.0.5'] },
    ['a 10.2.0.0/24', 'b 10.1.0.0/24'],
    'IPK_POOLS_ORPHAN',
    'pool a changes to 10.2.0.1-10.2.0.254, which would leave out 1 address in use: 10.1.0.5 (shop/web-5)',
    'pool b changes to 10.1.0.1-10.1.0.254, which would leave out 1 address in use: 10.2.0.5 (shop/web-5)',
  ],
  [
    'ranges of a network are in use',
    { pools: ['net 10.1.0.0/24'], leases: ['dead net 10.1.0.4', 'net 10.1.0.6', 'net 10.1.0.5'] },
    ['b 10.7.0.0/24', 'a 10.1.0.0/16'],
    'IPK_POOL_OVERLAP',
    'the ranges of pool a (10.1.0.1-10.1.255.254) overlap those of network net (10.1.0.1-10.1.0.254), which has leases, such as 10.1.0.5 of shop/web-5',
  ],
  [
    'ranges of a network become a smaller pool',
    { pools: ['net 10.1.0.0/24'], leases: ['net 10.1.0.200'] },
    ['net 10.1.0.0/25'],
    'IPK_POOLS_ORPHAN',
    'pool net changes to 10.1.0.1-10.1.0.126, which would leave out 1 address in use: 10.1.0.200 (shop/web-200)',
  ],
]
for (const [name, before, next, code, message, details = ''] of refused) {
  t.test(`refused: ${name}`, t => {
    try {
      plan(before, next)
      t.fail('nothing was thrown')
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      t.strictSame([error.code, error.message, error.details], [code, message, details])
    }
    t.end()
  })
}

t.test('it is said how to free each pool', async t => {
  const before: Before = {
    pools: ['config:a 10.1.0.0/24', 'config:b 10.2.0.0/24'],
    leases: ['a 10.1.0.5', 'held b 10.2.0.5'],
  }
  const commands = ['a', 'b'].flatMap(name => [
    `ipkeeperctl leases --pool ${name};`,
    `ipkeeperctl release --pool ${name};`,
  ])
  const { hint } = await thrownProblem(() => plan(before, []))
  t.match(hint, new RegExp(commands.join('.*')))
})

t.test('where nodes share the records, a pool of another file stays while it is in use', t => {
  const ofOthers = (leases: readonly string[], next: readonly string[]) =>
    planConfiguredPools(
      { ...book({ pools: ['config:a 10.1.0.0/24'], leases }), isShared: true },
      next.map(words => ({ pool: pool(words) })),
      one => (one as ReturnType<typeof lease>).live,
    )
  for (const state of ['', 'held ']) {
    const { change, removed, added } = ofOthers([`${state}a 10.1.0.5`], ['b 10.2.0.0/24'])
    t.strictSame([removed, added, change.map(({ key }) => key)], [[], ['b'], ['b']], `${state}a`)
  }
  t.match(ofOthers(['dead a 10.1.0.5'], []), { removed: ['a'], change: [{ key: 'a', record: null }] })
  t.throws(() => ofOthers(['a 10.1.0.200'], ['a 10.1.0.0/25']), { code: 'IPK_POOLS_ORPHAN' }, 'its own')
  t.throws(
    () => ofOthers(['a 10.1.0.5'], ['b 10.1.0.0/24']),
    { code: 'IPK_POOLS_ORPHAN' },
    'it has another name',
  )
  t.end()
})

t.test('every lease is looked at once, and the machine asked only about those that would be outside', t => {
  const many = Array.from({ length: 50 }, (_, index) => index)
  const before: Before = {
    pools: many.map(index => `config:p${index} 10.${index}.0.0/24`),
    leases: many.flatMap(index => [`p${index} 10.${index}.0.5`, `dead p${index} 10.${index}.0.200`]),
  }
  let looked = 0
  const asked: string[] = []
  const counting: ConfiguredPoolsBook = {
    ...book(before),
    *leases() {
      for (const one of book(before).leases()) {
        looked++
        yield one
      }
    },
  }
  const next = many.map(index => ({ pool: pool(`p${index} 10.${index}.0.0/25`) }))
  const { changed } = planConfiguredPools(counting, next, ({ address }) => {
    asked.push(address)
    return false
  })
  t.equal(changed.length, 50)
  t.equal(looked, 100)
  t.strictSame(
    asked,
    many.map(index => `10.${index}.0.200`),
  )
  looked = 0
  planConfiguredPools(
    counting,
    many.map(index => ({ pool: pool(`p${index} 10.${index}.0.0/24`) })),
    () => true,
  )
  t.equal(looked, 0, 'without a change none')
  t.end()
})

t.test('the size of a pool does not matter', t => {
  const before: Before = {
    pools: ['config:a 10.0.0.0/8', 'config:b fd00::/48'],
    leases: ['a 10.200.3.4', 'b fd00:0:0:ffff::1'],
  }
  t.strictSame(plan(before, ['a 10.128.0.0/9', 'b fd00::/47']).changed, ['a', 'b'])
  t.throws(() => plan(before, ['a 10.0.0.0/9', 'b fd00::/48']), { code: 'IPK_POOLS_ORPHAN' })
  t.end()
})

t.test('what is in use', t => {
  const attachment = { network: 'net', containerId: 'c1', ifname: 'eth0' }
  const known = { ...attachment } as AttachmentRecord
  const bound: LeaseRecord = { ...lease('a 10.1.0.5'), attachment }
  const held: LeaseRecord = { ...lease('held a 10.1.0.5'), until: 1000 }
  for (const [name, one, now, dead, expected] of [
    ['bound', bound, 0, false, true],
    ['bound to a dead sandbox', bound, 0, true, false],
    ['bound to nobody knows what', { ...bound, attachment: null }, 0, true, true],
    ['held', held, 999, false, true],
    ['held until now', held, 1000, false, false],
    ['held for ever', { ...held, until: null }, 1e15, false, true],
    ['cooling', lease('cooling a 10.1.0.5'), 0, false, false],
  ] as const) {
    const liveness = () => (dead ? 'dead' : 'unknown')
    t.equal(isInUse({ attachment: () => known }, one, now, liveness), expected, name)
  }
  t.end()
})

t.test('a pool that the configuration of this node does not have', t => {
  const book: ConfiguredPoolsBook = {
    pools: () => [record('config:theirs 10.40.0.0/24')],
    leases: () => [lease('theirs 10.40.0.9')],
    reservations: () => [],
  }
  const plan = (next: string, mayRemove: boolean): string => {
    try {
      const { change, removed, displaced } = planConfiguredPools(
        book,
        [{ pool: pool(next) }],
        ({ address }) => address === '10.40.0.9',
        { mayRemove: () => mayRemove },
      )
      return JSON.stringify([change.map(({ key }) => key), removed, displaced])
    } catch (error) {
      return error instanceof Problem ? error.code : String(error)
    }
  }
  t.equal(plan('prod 10.22.0.0/24', false), '[["prod"],[],[]]', 'it is of another node')
  t.equal(plan('prod 10.22.0.0/24', true), 'IPK_POOLS_ORPHAN', 'it was of this one')
  t.equal(plan('prod 10.40.0.0/16', false), 'IPK_POOL_OVERLAP', 'it is in the way')
  t.end()
})

t.test('why a pool cannot become another one of its name', t => {
  const rows: readonly (readonly [name: string, leases: readonly string[], after: string, why?: string])[] = [
    ['it has the same ranges', ['a 10.1.0.5'], 'a 10.1.0.0/24'],
    ['nobody uses what it leaves out', ['a 10.1.0.5', 'dead a 10.1.0.200'], 'a 10.1.0.0/25'],
    [
      'somebody does',
      ['a 10.1.0.5', 'held a 10.1.0.200'],
      'a 10.1.0.0/25',
      'pool a changes to 10.1.0.1-10.1.0.126, which would leave out 1 address in use: 10.1.0.200 (kept for shop/web-200)',
    ],
    [
      'it moves to another link',
      ['a 10.1.0.5'],
      'a@lab 10.1.0.0/24',
      'pool a moves from segment default to lab, which would leave out 1 address in use: 10.1.0.5 (shop/web-5)',
    ],
  ]
  for (const [name, leases, after, why] of rows) {
    const isLive = (one: LeaseRecord): boolean => (one as ReturnType<typeof lease>).live
    t.equal(describeLeftOut(book({ leases }), pool('a 10.1.0.0/24'), pool(after), isLive), why, name)
  }
  t.end()
})

t.test('an IPPool of the name of a configured pool does not count, and no daemon changes it', t => {
  const { change, notes } = plan({ pools: ['api:a 10.9.0.0/24'] }, ['a 10.1.0.0/24'])
  t.strictSame(change, [])
  t.strictSame(notes, [
    'pool a is in the configuration and, as an IPPool, in the Kubernetes API: the configuration counts',
  ])
  t.end()
})
