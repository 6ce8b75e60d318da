import t from 'tap'
import {
  ownWords,
  readOwnKeys,
  type Group,
} from '../../../../ipkeeper-server/kubernetes/annotations/own-keys.ts'
import { catalogue } from '../../../../shared/problem/catalogue.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { showRequest, type ShownRequest } from './shown-request.ts'

type Annotations = Readonly<Record<string, string>>

const all = (): boolean => true

const good: readonly (readonly [name: string, Annotations, ifname: string, ...expected: ShownRequest[]])[] = [
  ['none', {}, 'eth0'],
  ['others only', { 'example.com/ip': 'x', 'ipkeeper.iox/ip': 'y' }, 'eth0'],
  ['one address', { 'ipkeeper.io/ip': '10.22.0.50' }, 'eth0', { ip: ['10.22.0.50'] }],
  ['white space', { 'ipkeeper.io/ip': ' 10.22.0.50 , fd00::5 ' }, 'eth0', { ip: ['10.22.0.50', 'fd00::5'] }],
  ['prefix', { 'ipkeeper.io/ip': '10.22.0.50/16' }, 'eth0', { ip: ['10.22.0.50/16'] }],
  ['first interface only', { 'ipkeeper.io/ip': '10.22.0.50' }, 'net1'],
  [
    'per interface',
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ip.net1': '10.23.0.7' },
    'net1',
    { ip: ['10.23.0.7'] },
  ],
  [
    'dots in the interface name',
    { 'ipkeeper.io/ip.eth0.100': '10.23.0.7' },
    'eth0.100',
    { ip: ['10.23.0.7'] },
  ],
  [
    'candidates of both families',
    { 'ipkeeper.io/ips': '10.22.0.50-10.22.0.52, fd00:22::50-fd00:22::52' },
    'eth0',
    { ips: ['10.22.0.50-10.22.0.52', 'fd00:22::50-fd00:22::52'] },
  ],
  ['one candidate', { 'ipkeeper.io/ips': '10.22.0.50' }, 'eth0', { ips: ['10.22.0.50'] }],
  [
    'candidates of another interface',
    { 'ipkeeper.io/ips.net1': '10.23.0.0/29' },
    'net1',
    { ips: ['10.23.0.1-10.23.0.6'] },
  ],
  ['pool', { 'ipkeeper.io/pool': 'prod' }, 'eth0', { pool: ['prod'] }],
  ['pool per family', { 'ipkeeper.io/pool': 'prod.v4 , prod-v6' }, 'eth0', { pool: ['prod.v4', 'prod-v6'] }],
  ['longest pool', { 'ipkeeper.io/pool': 'a'.repeat(253) }, 'eth0', { pool: ['a'.repeat(253)] }],
  ['retain', { 'ipkeeper.io/retain': '30m' }, 'eth0', { retain: '30m' }],
  ['retain forever', { 'ipkeeper.io/retain': 'forever' }, 'eth0', { retain: 'forever' }],
  ['mac', { 'ipkeeper.io/mac': '02:42:AC:11:00:02' }, 'eth0', { mac: '02:42:ac:11:00:02' }],
  [
    'twice the same',
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ip.eth0': ' 10.22.0.50' },
    'eth0',
    { ip: ['10.22.0.50'] },
    { ip: ['10.22.0.50'] },
  ],
  [
    'address on one interface, candidates on another',
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ips.net1': '10.23.0.7' },
    'eth0',
    { ip: ['10.22.0.50'] },
  ],
  ['a value of another interface is not looked at', { 'ipkeeper.io/ips.net1': 'banana' }, 'eth0'],
]
for (const [name, annotations, ifname, ...expected] of good) {
  t.test(`read: ${name}`, t => {
    t.strictSame(readOwnKeys({ annotations }, ifname, all).map(showRequest), expected)
    t.end()
  })
}

const bad: readonly (readonly [Annotations, code: string, message: RegExp])[] = [
  [
    { 'ipkeeper.io/ip': '10.22.1.050' },
    'IPK_ADDRESS_INVALID',
    /^annotation ipkeeper\.io\/ip: "10\.22\.1\.050" is no IP address \(value "10\.22\.1\.050"\)$/,
  ],
  [{ 'ipkeeper.io/ip': 'banana' }, 'IPK_ADDRESS_INVALID', /ipkeeper\.io\/ip: "banana"/],
  [{ 'ipkeeper.io/ip': '' }, 'IPK_ANNOTATION_INVALID', /^annotation ipkeeper\.io\/ip: "" is empty$/],
  [{ 'ipkeeper.io/ips': ' ' }, 'IPK_ANNOTATION_INVALID', /ipkeeper\.io\/ips: "" is empty/],
  [{ 'ipkeeper.io/ip': '10.22.0.50,' }, 'IPK_ADDRESS_INVALID', /"" is no IP address/],
  [{ 'ipkeeper.io/ip': '10.22.0.50,10.22.0.51' }, 'IPK_ANNOTATION_INVALID', /more than one IPv4 address/],
  [{ 'ipkeeper.io/ip': '10.22.0.50/33' }, 'IPK_ADDRESS_INVALID', /10\.22\.0\.50\/33/],
  [{ 'ipkeeper.io/ip': '10.22.0.50-52' }, 'IPK_ADDRESS_INVALID', /10\.22\.0\.50-52/],
  [
    { 'ipkeeper.io/ips': '10.22.0.50-10.22.0.52,banana' },
    'IPK_ADDRESS_INVALID',
    /^annotation ipkeeper\.io\/ips: "banana" is no IP address, range \(FIRST-LAST\) or CIDR \(value "10\.22\.0\.50-10\.22\.0\.52,banana"\)$/,
  ],
  [
    { 'ipkeeper.io/ips.eth0': '10.22.0.52-50' },
    'IPK_ANNOTATION_INVALID',
    /^annotation ipkeeper\.io\/ips\.eth0: "10\.22\.0\.52-50" runs backwards/,
  ],
  [
    { 'ipkeeper.io/ips': '10.22.0.50,10.22.0.48-52' },
    'IPK_ANNOTATION_INVALID',
    /"10\.22\.0\.50" and "10\.22\.0\.48-52" both name 10\.22\.0\.50 \(value/,
  ],
  [
    { 'ipkeeper.io/pool': 'Prod' },
    'IPK_ANNOTATION_INVALID',
    /ipkeeper\.io\/pool: "Prod" names "Prod", which is no pool/,
  ],
  [{ 'ipkeeper.io/pool': 'a,' }, 'IPK_ANNOTATION_INVALID', /"a," names "", which is no pool/],
  [{ 'ipkeeper.io/pool': '../x' }, 'IPK_ANNOTATION_INVALID', /which is no pool/],
  [{ 'ipkeeper.io/pool': 'a'.repeat(254) }, 'IPK_ANNOTATION_INVALID', /which is no pool/],
  [{ 'ipkeeper.io/pool': 'a,a' }, 'IPK_ANNOTATION_INVALID', /"a,a" names a pool twice/],
  [{ 'ipkeeper.io/pool': 'a,b,c' }, 'IPK_ANNOTATION_INVALID', /"a,b,c" names more than one pool per family/],
  [{ 'ipkeeper.io/ip ': '10.22.0.50' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/ip\?/],
  [{ 'ipkeeper.io/IP': '10.22.0.50' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/ip\?/],
  [
    { 'ipkeeper.io/ipp': '10.22.0.50' },
    'IPK_ANNOTATION_INVALID',
    /^unknown annotation ipkeeper\.io\/ipp; did you mean ipkeeper\.io\/ip\?$/,
  ],
  [{ 'ipkeeper.io/retian': 'forever' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/retain\?/],
  [{ 'ipkeeper.io/mca.net1': 'x' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/mac\.net1\?/],
  [{ 'ipkeeper.io/ipss': 'x' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/ips\?$/],
  [{ 'ipkeeper.io/pools': 'x' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/pool\?$/],
  [
    { 'ipkeeper.io/zzzzzzzzzzz': 'x' },
    'IPK_ANNOTATION_INVALID',
    /^unknown annotation ipkeeper\.io\/zzzzzzzzzzz$/,
  ],
  [{ 'ipkeeper.io/constructor': 'x' }, 'IPK_ANNOTATION_INVALID', /unknown annotation/],
  [{ 'ipkeeper.io/ip.': '10.22.0.50' }, 'IPK_ANNOTATION_INVALID', /ipkeeper\.io\/ip\.: .*no interface/],
  [{ 'ipkeeper.io/retain': '0s' }, 'IPK_ANNOTATION_INVALID', /ipkeeper\.io\/retain: "0s"/],
  [{ 'ipkeeper.io/retain': 'for ever' }, 'IPK_ANNOTATION_INVALID', /"for ever"/],
  [{ 'ipkeeper.io/mac': '01:00:5e:00:00:01' }, 'IPK_ANNOTATION_INVALID', /no unicast MAC/],
  [
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ip.eth0': '10.22.0.51' },
    'IPK_REQUESTS_DISAGREE',
    /^annotation ipkeeper\.io\/ip \("10\.22\.0\.50"\) and annotation ipkeeper\.io\/ip\.eth0 \("10\.22\.0\.51"\) disagree$/,
  ],
  [
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ips': '10.22.0.50-10.22.0.52' },
    'IPK_REQUESTS_DISAGREE',
    /^annotation ipkeeper\.io\/ip \("10\.22\.0\.50"\) and annotation ipkeeper\.io\/ips \("10\.22\.0\.50-10\.22\.0\.52"\) disagree$/,
  ],
  [
    { 'ipkeeper.io/ip.eth0': 'fd00::5', 'ipkeeper.io/ips': '10.22.0.50-10.22.0.52' },
    'IPK_REQUESTS_DISAGREE',
    /ip\.eth0 .* and annotation ipkeeper\.io\/ips /,
  ],
]
for (const [annotations, code, message] of bad) {
  t.test(`refused: ${JSON.stringify(annotations).slice(0, 90)}`, async t => {
    t.match(await thrownProblem(() => readOwnKeys({ annotations }, 'eth0', all)), { code, message })
  })
}

t.test('every key is proposed, and named by the hint', async t => {
  const unknown = await thrownProblem(() =>
    readOwnKeys({ annotations: { 'ipkeeper.io/zzzzzzz': 'x' } }, 'eth0', all),
  )
  const keys = [
    'ipkeeper.io/ip',
    'ipkeeper.io/ips',
    'ipkeeper.io/pool',
    'ipkeeper.io/retain',
    'ipkeeper.io/mac',
  ]
  t.strictSame(
    ownWords.map(word => `ipkeeper.io/${word}`),
    keys,
  )
  t.equal(unknown.details, `value "x"; known keys: ${keys.join(', ')}`)
  for (const key of keys) t.match(catalogue.IPK_ANNOTATION_INVALID.hint, new RegExp(`${key}\\b`))
})

t.test('what to write into ips is said where it is wrong', async t => {
  const wrong = await thrownProblem(() =>
    readOwnKeys({ annotations: { 'ipkeeper.io/ips': 'x' } }, 'eth0', all),
  )
  t.match(wrong.hint, '10.22.0.50-10.22.0.52')
})

t.test('of a namespace: sources and errors name it', async t => {
  const read = (annotations: Annotations) => readOwnKeys({ annotations, namespace: 'shop' }, 'eth0', all)
  t.match(read({ 'ipkeeper.io/pool': 'prod' }), [
    {
      source: 'annotation ipkeeper.io/pool of namespace shop',
      pools: [{ name: 'prod', source: 'annotation ipkeeper.io/pool of namespace shop' }],
    },
  ])
  for (const [annotations, code, message] of [
    [
      { 'ipkeeper.io/ip': 'x' },
      'IPK_ADDRESS_INVALID',
      'annotation ipkeeper.io/ip of namespace shop: "x" is no IP address (value "x")',
    ],
    [
      { 'ipkeeper.io/poll': 'prod' },
      'IPK_ANNOTATION_INVALID',
      'unknown annotation ipkeeper.io/poll of namespace shop; did you mean ipkeeper.io/pool?',
    ],
    [
      { 'ipkeeper.io/mac': '02:42:ac:11:00:02' },
      'IPK_ANNOTATION_INVALID',
      'annotation ipkeeper.io/mac of namespace shop: "02:42:ac:11:00:02" belongs to one interface of one pod: a namespace cannot give it',
    ],
    [{ 'ipkeeper.io/mac.net1': 'x' }, 'IPK_ANNOTATION_INVALID', /ipkeeper\.io\/mac\.net1 of namespace shop/],
    [
      { 'ipkeeper.io/ip': '10.22.0.5', 'ipkeeper.io/ips': '10.22.0.5' },
      'IPK_REQUESTS_DISAGREE',
      /ip of namespace shop \("10\.22\.0\.5"\) and annotation ipkeeper\.io\/ips of namespace shop/,
    ],
  ] as const) {
    t.match(await thrownProblem(() => read(annotations)), { code, message })
  }
  const misspelt = await thrownProblem(() => read({ 'ipkeeper.io/mca': 'x' }))
  t.notMatch(misspelt.details, 'ipkeeper.io/mac', 'a key that a namespace cannot have is not proposed')
})

t.test('groups that are not wanted are checked for spelling only', async t => {
  const annotations = { 'ipkeeper.io/ips': 'banana', 'ipkeeper.io/pool': 'prod' }
  const butAddresses = (group: Group): boolean => group !== 'addresses'
  t.strictSame(readOwnKeys({ annotations }, 'eth0', butAddresses).map(showRequest), [{ pool: ['prod'] }])
  t.match(
    await thrownProblem(() => readOwnKeys({ annotations: { 'ipkeeper.io/ipps': 'x' } }, 'eth0', () => false)),
    { code: 'IPK_ANNOTATION_INVALID' },
  )
})
