import t from 'tap'
import { canGive, findOffers } from '../../../../ipkeeper-server/ipam/choose/offers.ts'
import { decideAdd } from '../../../../ipkeeper-server/ipam/plan/plan-add.ts'
import type { PoolSettings } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import type { Trace } from '../../../../ipkeeper-server/ipam/choose/add-context.ts'
import { addTerms } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { configured } from '../../leases/story.ts'
import { poolFrom, spell, TestService, type PodWords } from '../../leases/test-service.ts'

const four = configured('four', [['10.22.0.0/24']])
const six = configured('six', [['fd00:22::/64']])
const dual = configured('dual', [['10.23.0.0/24'], ['fd00:23::/64']])
const lab = configured('lab', [['10.24.0.0/24']], { rules: { namespaces: ['lab'] } })
const labelled = configured('labelled', [['10.25.0.0/24']], {
  rules: { namespaceSelector: { matchLabels: { team: 'web' }, matchExpressions: [] } },
})

const pod = (patch: Partial<PodWords> = {}): PodWords => ({ pod: 'a', container: 'c1', ...patch })
/** One whose network leaves the choice to the configuration. */
const open = (patch: Partial<PodWords> = {}): PodWords => pod({ configured: [], network: 'net', ...patch })
const net = poolFrom('net', ['10.9.0.0/24'])

/** "four:0 six:0 | dual:0 dual:1", or the problem; and then what the trace says of pools. */
async function offered(pools: readonly PoolSettings[], words: PodWords) {
  const story = await TestService.open()
  story.pool = net
  story.book = { ...story.book, pools }
  const trace: Trace = []
  const notes = (): string[] => trace.map(({ subject, verdict, text }) => `${subject} ${verdict}: ${text}`)
  try {
    const offers = findOffers(story.request(words), story.book, trace)
    const shown = offers
      .map(offer => offer.map(({ pool, rangeSet, index }) => `${pool.name}:${rangeSet}#${index}`).join(' '))
      .join(' | ')
    return { shown, notes: notes(), hint: '' }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { shown: `${error.code} ${error.message}`, notes: notes(), hint: `${error.details} ${error.hint}` }
  }
}

const cases: readonly (readonly [
  name: string,
  pools: readonly PoolSettings[],
  words: PodWords,
  shown: string,
  notes?: readonly string[],
])[] = [
  ["the network's own ranges", [four], pod(), 'net:0#0', ['net chosen: named by the ranges of the network']],
  [
    'the pool that the network names',
    [four, dual],
    pod({ configured: ['dual'] }),
    'dual:0#0 dual:1#1',
    ['dual chosen: named by "ipam.pool"'],
  ],
  [
    "a pool by annotation replaces the network's as a whole",
    [four, six, dual],
    pod({ configured: ['dual'], pools: ['four'] }),
    'four:0#0',
    ['four chosen: named by annotation ipkeeper.io/pool'],
  ],
  ["and the network's own ranges", [four], pod({ pools: ['four'] }), 'four:0#0'],
  [
    'one pool per family, in the order in which they are named',
    [four, six],
    pod({ pools: ['six', 'four'] }),
    'six:0#0 four:0#1',
  ],
  [
    'two pools of one family',
    [four, six, dual],
    pod({ pools: ['dual', 'six'] }),
    'IPK_REQUESTS_DISAGREE annotation ipkeeper.io/pool names pools dual and six, which both have IPv6 addresses',
  ],
  [
    'a pool that does not exist, with the one that was meant',
    [four, six],
    pod({ pools: ['fuor'] }),
    'IPK_POOL_UNKNOWN annotation ipkeeper.io/pool asks for pool "fuor", which does not exist; did you mean "four"?',
  ],
  [
    'a pool that the network names and that does not exist; none is near',
    [four],
    pod({ configured: ['production'] }),
    'IPK_POOL_UNKNOWN "ipam.pool" asks for pool "production", which does not exist',
  ],
  ["an annotation may name the network's own pool", [four], pod({ pools: ['net'] }), 'net:0#0'],
  [
    "own ranges that are those of a configured pool of the network's name: that pool",
    [{ ...four, pool: net, rules: { namespaces: ['shop'] } }],
    pod(),
    'net:0#0',
  ],
  [
    'and its rules hold',
    [{ ...four, pool: net, rules: { namespaces: ['lab'] } }],
    pod(),
    'IPK_NAMESPACE_REFUSED pool net: namespace shop may not use it; its namespaces are lab',
    ['net dropped: pool net: namespace shop may not use it; its namespaces are lab'],
  ],
  [
    'own ranges that differ from it',
    [configured('net', [['10.9.0.0/25']])],
    pod(),
    "IPK_CONFIG_INVALID network net has ranges of its own, but the daemon's configuration has another pool of that name",
  ],
  [
    'rules hold, whoever names the pool',
    [lab],
    pod({ pools: ['lab'] }),
    'IPK_NAMESPACE_REFUSED pool lab: namespace shop may not use it; its namespaces are lab',
    ['lab dropped: pool lab: namespace shop may not use it; its namespaces are lab'],
  ],
  [
    'without a name every pool that allows the pod, in the order of the file, each by itself',
    [lab, four, dual],
    open(),
    'four:0#0 | dual:0#0 dual:1#1',
    [
      'lab dropped: pool lab: namespace shop may not use it; its namespaces are lab',
      'four noted: its rules allow this pod',
      'dual noted: its rules allow this pod',
    ],
  ],
  [
    'none allows it: every reason is told',
    [lab, configured('edge', [['10.26.0.0/24']], { rules: { nodes: ['edge-*'] } })],
    open(),
    'IPK_NAMESPACE_REFUSED no pool serves this pod: pool lab: namespace shop may not use it; its namespaces are lab; pool edge: it is not for node n1; its nodes are edge-*',
  ],
  [
    'none allows it, of one it is only not known: waiting may help',
    [lab, labelled],
    open(),
    'IPK_FACTS_MISSING no pool serves this pod: pool lab: namespace shop may not use it; its namespaces are lab; pool labelled: the labels of namespace shop are not known; its namespaces are those with labels team=web',
  ],
  ['what is not known of one does not matter where another allows it', [labelled, four], open(), 'four:0#0'],
  ['labels that allow it', [labelled], open({ namespaceLabels: { team: 'web' } }), 'labelled:0#0'],
  [
    'of those that allow the pod, the one that has what it asks for',
    [four, dual],
    open({ ip: '10.23.0.9' }),
    'dual:0#0 dual:1#1',
    [
      'four dropped: has no 10.23.0.9, which annotation ipkeeper.io/ip asks for',
      'dual noted: its rules allow this pod',
    ],
  ],
  [
    'a list is looked for by its first address',
    [four, dual],
    open({ ips: '10.23.0.9-10.23.0.12' }),
    'dual:0#0 dual:1#1',
    [
      'four dropped: has no 10.23.0.9, which annotation ipkeeper.io/ips asks for',
      'dual noted: its rules allow this pod',
    ],
  ],
  [
    'no pool that allows it has what it asks for',
    [four, lab],
    open({ ip: '10.24.0.9' }),
    'IPK_ADDRESS_OUTSIDE annotation ipkeeper.io/ip asks for 10.24.0.9, which is outside every range of pool four (10.22.0.1-10.22.0.254)',
  ],
  [
    'each address is in a pool, but not in one together',
    [four, dual],
    open({ ip: '10.22.0.9,fd00:23::9' }),
    'IPK_ADDRESS_OUTSIDE annotation ipkeeper.io/ip asks for 10.22.0.9 and fd00:23::9, which no pool has together: pool four has 10.22.0.1-10.22.0.254; pool dual has 10.23.0.1-10.23.0.254 and fd00:23::1-fd00:23::ffff:ffff:ffff:ffff',
  ],
]
for (const [name, pools, words, shown, notes] of cases) {
  t.test(name, async t => {
    const got = await offered(pools, words)
    t.equal(got.shown, shown)
    if (notes) t.strictSame(got.notes, notes)
  })
}

t.test('problems say what to do', async t => {
  t.match((await offered([four, six], pod({ pools: ['x'] }))).hint, /^pools: four, six, net /)
  t.match((await offered([], pod({ configured: ['x'], pools: [] }))).hint, /^pools: none /)
  t.match(
    (await offered([configured('net', [['10.9.0.0/25']])], pod())).hint,
    /write "ipam": \{ "type": "ipkeeper", "pool": "net" \}/,
  )
  t.match(
    (await offered([four, dual], open({ ip: '10.22.0.9,fd00:23::9' }))).hint,
    /name the pools, one per family: ipkeeper\.io\/pool/,
  )
})

t.test('what an offer can give', async t => {
  const story = await TestService.open()
  story.book = { ...story.book, pools: [dual] }
  const [offer = []] = findOffers(story.request(open()), story.book, [])
  const key = (address: string, segment = 'default') => [{ segment, address }]
  t.equal(canGive(offer, key('10.23.0.9')), true)
  t.equal(canGive(offer, key('fd00:23::9')), true)
  t.equal(canGive(offer, key('10.23.0.1')), false, 'the gateway')
  t.equal(canGive(offer, key('10.22.0.9')), false)
  t.equal(canGive(offer, key('10.23.0.9', 'lab')), false, 'another segment')
  t.equal(canGive(offer, []), false)
})

t.test('the trace tells every step, to the answer or the problem', async t => {
  const story = await TestService.open()
  story.book = {
    ...story.book,
    pools: [lab, configured('small', [['10.26.0.0/30']]), configured('large', [['10.27.0.0/24']])],
  }
  const decide = (words: PodWords): { readonly outcome: string; readonly steps: readonly string[] } => {
    const { ledger } = story.service
    const { plan, problem, trace } = decideAdd(ledger, story.request(words), addTerms(story.service))
    return {
      outcome: plan ? spell(plan.answer) : problem.code,
      steps: trace.map(({ about, subject, verdict, text }) => `${about} ${subject} ${verdict}: ${text}`),
    }
  }
  await story.add(open({ pod: 'first', container: 'c0' }))
  t.strictSame(decide(open({ pod: 'web-0' })), {
    outcome: '10.27.0.2',
    steps: [
      "workload StatefulSet shop/web noted: as the pod's name says",
      'pool lab dropped: pool lab: namespace shop may not use it; its namespaces are lab',
      'pool small noted: its rules allow this pod',
      'pool large noted: its rules allow this pod',
      'pool small dropped: failed to allocate for range 0: no IP addresses available in range set: 10.26.0.1-10.26.0.2',
      'address 10.27.0.2 chosen: lowest free address',
    ],
  })
  t.strictSame(decide(open({ pod: 'b', owner: null, ips: '10.26.0.2' })), {
    outcome: 'IPK_CANDIDATES_TAKEN',
    steps: [
      'workload Pod shop/b noted: as the API says',
      'pool lab dropped: pool lab: namespace shop may not use it; its namespaces are lab',
      'pool large dropped: has no 10.26.0.2, which annotation ipkeeper.io/ips asks for',
      'pool small noted: its rules allow this pod',
      'address 10.26.0.2 dropped: held by shop/first on node n1 (container c0, since 2026-01-01T00:00:00Z); it comes free when that pod is deleted',
    ],
  })
  t.strictSame(decide(open({ pod: 'first', uid: 'another', container: 'c9' })).steps.slice(-2), [
    'pool small dropped: failed to allocate for range 0: no IP addresses available in range set: 10.26.0.1-10.26.0.2',
    'address 10.27.0.2 chosen: lowest free address',
  ])
  t.equal(story.leases().length, 1, 'nothing was changed')
})
