import t from 'tap'
import type { AddressBook } from '../../../../ipkeeper-server/ipam/pools/address-book.ts'
import { decideAdd, type AddDecision } from '../../../../ipkeeper-server/ipam/plan/plan-add.ts'
import { canonicalPool, type Pool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { addTerms } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { parseAddress, type Address } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { minute, owned, tellStories, type Step } from '../../leases/story.ts'
import { poolFrom, spell, TestService, type PodWords } from '../../leases/test-service.ts'

const address = (text: string): Address => parseAddress(text) ?? { family: 4, value: 0n }

/** 10.22.0.0/24 without 10.22.0.100-10.22.0.110, beside a second range. */
const pool: Pool = canonicalPool('net', 'default', [
  ['10.22.0.0/24', '10.33.0.0/24'].map(text => ({
    subnet: parseCidr(text)!,
    ...(text.startsWith('10.22') && {
      exclude: [{ first: address('10.22.0.100'), last: address('10.22.0.110') }],
    }),
  })),
])

/** Lists that serve nobody, or shrink: pod web-1, which gets the second of what is left. */
const lists: readonly (readonly [name: string, ips: string, outcome: string, message?: RegExp])[] = [
  ['exclusions within a range fall away', '10.22.0.99-10.22.0.112', '10.22.0.111'],
  ['so does the gateway', '10.22.0.1-10.22.0.5', '10.22.0.3'],
  ['the second range of a set', '10.33.0.50-10.33.0.51', '10.33.0.51'],
  ['both ranges', '10.33.0.50,10.22.0.50', '10.22.0.50'],
  [
    'an address of its own that is excluded is an error',
    '10.22.0.50,10.22.0.100',
    'IPK_ADDRESS_UNUSABLE',
    /^annotation ipkeeper\.io\/ips asks for 10\.22\.0\.100, which is excluded$/,
  ],
  [
    'the same of the gateway, whichever ordinal asks',
    '10.22.0.50,10.22.0.51,10.22.0.1',
    'IPK_ADDRESS_UNUSABLE',
    /asks for 10\.22\.0\.1, which is the gateway of 10\.22\.0\.0\/24/,
  ],
  [
    "and of a prefix length that is not the subnet's",
    '10.22.0.50,10.22.0.51,10.22.0.52/16',
    'IPK_PREFIX_MISMATCH',
    /asks for 10\.22\.0\.52\/16, but the prefix length of its subnet is \/24/,
  ],
  ["one that is the subnet's may follow", '10.22.0.50/24,10.22.0.51/24', '10.22.0.51'],
  [
    'a range of which nothing is left',
    '10.22.0.100-10.22.0.105',
    'IPK_ADDRESS_UNUSABLE',
    /lists 10\.22\.0\.100-10\.22\.0\.105, of which pool net can give none/,
  ],
  [
    'its end is outside',
    '10.22.0.250-10.22.1.5',
    'IPK_ADDRESS_OUTSIDE',
    /asks for 10\.22\.0\.255, which is outside every range of pool net \(10\.22\.0\.1-10\.22\.0\.254,10\.33/,
  ],
  ['its beginning is outside', '10.99.0.1-10.99.0.5', 'IPK_ADDRESS_OUTSIDE', /asks for 10\.99\.0\.1/],
  ['a family that the pool does not have', 'fd00::5-fd00::7', 'IPK_ADDRESS_OUTSIDE', /asks for fd00::5/],
]
for (const [name, ips, outcome, message] of lists) {
  t.test(name, async t => {
    const story = await TestService.open()
    story.pool = pool
    if (message) {
      const problem = await story.problem({ pod: 'web-1', container: 'c1', ips })
      t.equal(problem.code, outcome)
      t.match(problem.message, message)
      t.strictSame(story.leases(), [], 'nothing was allocated')
    } else t.equal(await story.add({ pod: 'web-1', container: 'c1', ips }), outcome)
  })
}

/** A book that counts how often it is asked. */
function counting(book: AddressBook): { readonly book: AddressBook; readonly asked: () => number } {
  let asked = 0
  const proxy = new Proxy(book, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      return (...words: unknown[]): unknown => {
        asked++
        return Reflect.apply(value, target, words)
      }
    },
  })
  return { book: proxy, asked: () => asked }
}

/** Decides an ADD, and says how often the book was asked for it. */
function decide(
  story: TestService,
  words: PodWords,
): AddDecision & { readonly asked: number; readonly outcome: string } {
  const { book, asked } = counting(story.service.ledger)
  const decision = decideAdd(book, story.request(words), addTerms(story.service))
  return {
    ...decision,
    asked: asked(),
    outcome: decision.plan ? spell(decision.plan.answer) : decision.problem.code,
  }
}

t.test('a list of a /8 or a /48 costs what a small one costs', async t => {
  const small = await TestService.open()
  const cost = (name: string, words: Partial<PodWords>, story: TestService): number => {
    const { asked, outcome } = decide(story, { pod: name, container: 'c1', ...words })
    t.notMatch(outcome, /IPK/, `${name}: ${outcome}`)
    return asked
  }
  const huge = await TestService.open()
  huge.pool = poolFrom('net', ['10.0.0.0/8'], ['fd00:22::/48'])
  small.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/120'])
  for (const story of [small, huge]) {
    for (const index of [1, 2, 3]) await story.add({ pod: `p${index}`, container: `p${index}` })
  }
  const smallList = { ips: '10.22.0.1-10.22.0.254,fd00:22::1-fd00:22::ff' }
  const hugeList = { ips: '10.0.0.1-10.255.255.254,fd00:22::1-fd00:22:0:ffff:ffff:ffff:ffff:ffff' }
  for (const name of ['a', 'web-7', 'api-6d4cf56db6-x2x5z']) {
    t.equal(cost(name, hugeList, huge), cost(name, smallList, small), `${name} with a list`)
    t.equal(cost(name, {}, huge), cost(name, {}, small), `${name} without`)
  }
  t.equal(
    decide(huge, { pod: 'web-16777000', container: 'c1', ips: '10.0.0.1-10.255.255.254' }).outcome,
    '10.255.255.42,fd00:22::5',
    'the millionth ordinal is looked up, not counted to',
  )
})

t.test('an explanation names those that were passed over, but not all of many', async t => {
  const story = await TestService.open()
  for (let index = 0; index < 30; index++)
    await story.add({ pod: `p${index}a`, container: `c${index}`, ip: `10.22.0.${50 + index}` })
  const { trace, outcome } = decide(story, { pod: 'last', container: 'c99', ips: '10.22.0.50-10.22.0.99' })
  t.equal(outcome, '10.22.0.80')
  const dropped = trace.filter(({ verdict }) => verdict === 'dropped')
  t.equal(dropped.length, 20)
  t.match(dropped[0], { about: 'address', subject: '10.22.0.50', text: /^held by shop\/p0a on node n1/ })
  t.match(trace.at(-1), { subject: '10.22.0.80', verdict: 'chosen', text: /first free of 50 candidates/ })
  const none = decide(story, { pod: 'last', container: 'c99', ips: '10.22.0.50-10.22.0.79' })
  t.equal(none.problem?.code, 'IPK_CANDIDATES_TAKEN')
  t.match(
    none.problem?.message,
    /all 30 addresses are taken: (10\.22\.0\.5[0-4] by [^,]*, since [^,]*(, )?){5}.* and 25 more$/,
  )
})

t.test('an ordinal is one step of the explanation', async t => {
  const story = await TestService.open()
  const { trace } = decide(story, { pod: 'web-1', container: 'c1', ips: '10.22.0.50-10.22.0.52' })
  t.match(trace, [
    { about: 'workload', subject: 'StatefulSet shop/web' },
    { about: 'pool', subject: 'net', verdict: 'chosen' },
    { about: 'workload', subject: '10.22.0.51', verdict: 'chosen', text: 'candidate 1 of 3 for ordinal 1' },
    {
      about: 'address',
      subject: '10.22.0.51',
      verdict: 'chosen',
      text: 'annotation ipkeeper.io/ips: candidate 1 of 3 for ordinal 1',
    },
  ])
})

t.test('the record says which channel and which ordinal', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'web-1', container: 'c1', ips: '10.22.0.50-10.22.0.52' })
  await story.add({ pod: 'printer', container: 'c2', ips: '10.22.0.50-10.22.0.52' })
  t.strictSame(
    [...story.service.ledger.leases()]
      .map(({ address: text, source, named }) => [text, source, named])
      .sort(),
    [
      ['10.22.0.50', 'annotation ipkeeper.io/ips', true],
      ['10.22.0.51', 'annotation ipkeeper.io/ips (ordinal 1)', true],
    ],
  )
})

/** A pod of Deployment api, which has a list of three. */
const three = '10.22.0.50-10.22.0.52'
const copy = (suffix: string, container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: `api-6d4cf56db6-${suffix}`,
  container,
  ips: three,
  ...patch,
})
const printer = (container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'printer',
  container,
  ips: three,
  ...patch,
})
const dual = {
  pool: poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64']),
  ips: '10.22.0.50-10.22.0.52,fd00:22::50-fd00:22::52',
}

const stories: Readonly<Record<string, readonly Step[]>> = {
  'an ordinal counts from where its StatefulSet begins': [
    [
      'add',
      { pod: 'web-5', container: 'c1', ips: three, owner: owned('StatefulSet', 'web', 'w1', 4) },
      '10.22.0.51',
      /candidate 1 of 3 for ordinal 5 with start 4/,
    ],
  ],
  'an ordinal that the list does not reach': [
    ['add', { pod: 'web-3', container: 'c1', ips: three }, 'IPK_ORDINAL_BEYOND_LIST'],
    ['leases', []],
  ],
  'a pod that comes again has what it had, though an earlier one is free': [
    ['add', printer('c1', { ips: '10.22.0.52' }), '10.22.0.52'],
    ['add', printer('c2', { uid: 'uid-of-c1' }), '10.22.0.52', /the one this pod had/],
  ],
  'unless it is reserved for somebody else since': [
    ['add', printer('c1', { ips: '10.22.0.50', retain: '30m' }), '10.22.0.50'],
    ['del', 'c1'],
    ['clock', 31 * minute],
    ['reserve', '10.22.0.50', 'shop/scanner'],
    ['add', printer('c2'), '10.22.0.51', /first free of 3 candidates/],
  ],
  'what is reserved for the pod comes before the first free one': [
    ['reserve', '10.22.0.52', 'shop/printer'],
    ['reserve', '10.22.0.60', 'shop/printer'],
    ['add', printer('c1'), '10.22.0.52', /the one reserved for this pod/],
  ],
  'what is reserved for its workload as well': [
    ['reserve', '10.22.0.51', 'shop/deployment/api'],
    ['add', copy('x2x5z', 'c1'), '10.22.0.51', /the one reserved for this workload/],
  ],
  'a reservation outside the list is no candidate': [
    ['reserve', '10.22.0.60', 'shop/printer'],
    ['add', printer('c1'), '10.22.0.50', /first free of 3 candidates/],
  ],
  'what is reserved for others is passed over': [
    ['reserve', '10.22.0.50', 'shop/scanner'],
    ['add', printer('c1'), '10.22.0.51', /first free of 3 candidates/],
  ],
  'all of them': [
    ['reserve', '10.22.0.50', 'shop/scanner'],
    [
      'add',
      printer('c1', { ips: '10.22.0.50' }),
      'IPK_CANDIDATES_TAKEN',
      /10\.22\.0\.50 reserved for shop\/scanner/,
    ],
  ],
  'what is kept for the workload comes before the first free one': [
    ['add', copy('x2x5z', 'c1', { ips: '10.22.0.51', retain: 'forever' }), '10.22.0.51'],
    ['del', 'c1'],
    [
      'add',
      copy('b4d5f', 'c2'),
      '10.22.0.51',
      /kept for Deployment shop\/api since shop\/api-6d4cf56db6-x2x5z is gone/,
    ],
  ],
  'but not what is kept outside the list': [
    ['add', copy('x2x5z', 'c1', { ips: '10.22.0.60', retain: 'forever' }), '10.22.0.60'],
    ['del', 'c1'],
    ['add', copy('b4d5f', 'c2'), '10.22.0.50', /first free of 3 candidates/],
  ],
  'what a sandbox has that is only proved gone': [
    ['add', copy('x2x5z', 'c1', { ips: '10.22.0.50' }), '10.22.0.50'],
    ['netns', 'c1', 'gone'],
    [
      'add',
      copy('b4d5f', 'c2', { ips: '10.22.0.50' }),
      '10.22.0.50',
      /takes it over from shop\/api-6d4cf56db6-x2x5z on node n1/,
    ],
  ],
  'a place of both families, as long as both are free': [
    ['add', printer('c1', { ...dual, ips: 'fd00:22::50' }), '10.22.0.2,fd00:22::50'],
    [
      'add',
      { pod: 'scanner', container: 'c2', ...dual },
      '10.22.0.50,fd00:22::51',
      /first free of 3 candidates/,
    ],
    ['add', { pod: 'fax', container: 'c3', ...dual }, '10.22.0.51,fd00:22::52', /first free of 3 candidates/],
  ],
  'beside what the pod got of the other family': [
    ['add', printer('c1', { ...dual, ips: '10.22.0.50' }), '10.22.0.50,fd00:22::2'],
    [
      'add',
      { pod: 'scanner', container: 'c2', ...dual },
      '10.22.0.51,fd00:22::51',
      /the one beside that of the other family/,
    ],
  ],
  'one that rests is better than none': [
    ['add', printer('c1', { ips: '10.22.0.50' }), '10.22.0.50'],
    ['del', 'c1'],
    [
      'add',
      { pod: 'scanner', container: 'c2', ips: '10.22.0.50' },
      '10.22.0.50',
      /first of 1 candidates that is only cooling down/,
    ],
  ],
}
tellStories(t, stories)

t.test('what somebody else reserved is named to who asks why it was passed over', async t => {
  const story = await TestService.open()
  await reserve(story.service, { segment: 'default', address: '10.22.0.50', owner: 'shop/scanner', note: '' })
  await story.add({ pod: 'fax', container: 'c1', ip: '10.22.0.51' })
  const { trace, outcome } = decide(story, { pod: 'printer', container: 'c2', ips: three })
  t.equal(outcome, '10.22.0.52')
  t.match(
    trace.filter(({ verdict }) => verdict === 'dropped'),
    [
      { subject: '10.22.0.50', text: 'reserved for shop/scanner' },
      { subject: '10.22.0.51', text: /^held by shop\/fax on node n1/ },
    ],
  )
})
