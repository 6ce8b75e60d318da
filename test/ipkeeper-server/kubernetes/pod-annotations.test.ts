import t from 'tap'
import { readPodAnnotations } from '../../../ipkeeper-server/kubernetes/pod-annotations.ts'
import { formatAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

type Annotations = Readonly<Record<string, string>>

const good: readonly (readonly [name: string, Annotations, ifname: string, expected: object])[] = [
  ['none', {}, 'eth0', {}],
  ['others only', { 'example.com/ip': 'x', 'ipkeeper.iox/ip': 'y' }, 'eth0', {}],
  ['one address', { 'ipkeeper.io/ip': '10.22.0.50' }, 'eth0', { ips: ['10.22.0.50'] }],
  ['white space', { 'ipkeeper.io/ip': ' 10.22.0.50 , fd00::5 ' }, 'eth0', { ips: ['10.22.0.50', 'fd00::5'] }],
  ['prefix', { 'ipkeeper.io/ip': '10.22.0.50/16' }, 'eth0', { ips: ['10.22.0.50/16'] }],
  ['first interface only', { 'ipkeeper.io/ip': '10.22.0.50' }, 'net1', {}],
  [
    'per interface',
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ip.net1': '10.23.0.7' },
    'net1',
    { ips: ['10.23.0.7'] },
  ],
  [
    'dots in the interface name',
    { 'ipkeeper.io/ip.eth0.100': '10.23.0.7' },
    'eth0.100',
    { ips: ['10.23.0.7'] },
  ],
  ['retain', { 'ipkeeper.io/retain': '30m' }, 'eth0', { retain: { milliseconds: 1_800_000 } }],
  ['retain forever', { 'ipkeeper.io/retain': 'forever' }, 'eth0', { retain: 'forever' }],
  ['mac', { 'ipkeeper.io/mac': '02:42:AC:11:00:02' }, 'eth0', { mac: '02:42:ac:11:00:02' }],
  [
    'twice the same',
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ip.eth0': '10.22.0.50' },
    'eth0',
    { ips: ['10.22.0.50'] },
  ],
]
for (const [name, annotations, ifname, expected] of good) {
  t.test(`read: ${name}`, t => {
    const { addresses, ...rest } = readPodAnnotations(annotations, ifname)
    const ips = addresses?.map(
      request =>
        formatAddress(request.address) +
        (request.prefixLength === undefined ? '' : `/${request.prefixLength}`),
    )
    t.strictSame({ ...(ips && { ips }), ...rest }, expected)
    t.end()
  })
}

const bad: readonly (readonly [Annotations, code: string, message: RegExp])[] = [
  [
    { 'ipkeeper.io/ip': '10.22.1.050' },
    'IPK_ADDRESS_INVALID',
    /ipkeeper\.io\/ip: "10\.22\.1\.050" is no IP address/,
  ],
  [{ 'ipkeeper.io/ip': 'banana' }, 'IPK_ADDRESS_INVALID', /ipkeeper\.io\/ip: "banana"/],
  [{ 'ipkeeper.io/ip': '' }, 'IPK_ANNOTATION_INVALID', /ipkeeper\.io\/ip: "" is empty/],
  [{ 'ipkeeper.io/ip': '10.22.0.50,' }, 'IPK_ADDRESS_INVALID', /"" is no IP address/],
  [{ 'ipkeeper.io/ip': '10.22.0.50,10.22.0.51' }, 'IPK_ANNOTATION_INVALID', /more than one IPv4 address/],
  [{ 'ipkeeper.io/ip': '10.22.0.50/33' }, 'IPK_ADDRESS_INVALID', /10\.22\.0\.50\/33/],
  [{ 'ipkeeper.io/ip ': '10.22.0.50' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/ip\?/],
  [{ 'ipkeeper.io/IP': '10.22.0.50' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/ip\?/],
  [
    { 'ipkeeper.io/ipp': '10.22.0.50' },
    'IPK_ANNOTATION_INVALID',
    /unknown annotation ipkeeper\.io\/ipp; did you mean ipkeeper\.io\/ip/,
  ],
  [{ 'ipkeeper.io/retian': 'forever' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/retain\?/],
  [{ 'ipkeeper.io/mca.net1': 'x' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/mac\.net1\?/],
  [{ 'ipkeeper.io/ipss': 'x' }, 'IPK_ANNOTATION_INVALID', /did you mean ipkeeper\.io\/ip\?$/],
  [{ 'ipkeeper.io/pools': 'x' }, 'IPK_ANNOTATION_INVALID', /^unknown annotation ipkeeper\.io\/pools$/],
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
  [{ 'ipkeeper.io/pool': 'prod' }, 'IPK_UNSUPPORTED', /ipkeeper\.io\/pool is not supported/],
  [
    { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ip.eth0': '10.22.0.51' },
    'IPK_REQUESTS_DISAGREE',
    /disagree/,
  ],
]
for (const [annotations, code, message] of bad) {
  t.test(`refused: ${JSON.stringify(annotations)}`, t => {
    try {
      readPodAnnotations(annotations, 'eth0')
      t.fail('nothing was thrown')
    } catch (error) {
      t.ok(error instanceof Problem)
      t.match(error, { code, message })
    }
    t.end()
  })
}

t.test('only keys that work are proposed; what is not there yet is to be removed', async t => {
  const unknown = await thrownProblem(() => readPodAnnotations({ 'ipkeeper.io/zzzzzzz': 'x' }, 'eth0'))
  const works = ['ipkeeper.io/ip', 'ipkeeper.io/retain', 'ipkeeper.io/mac']
  t.equal(unknown.details, `value "x"; known keys: ${works.join(', ')}`)
  for (const key of works) t.match(unknown.hint, key)
  const later = await thrownProblem(() => readPodAnnotations({ 'ipkeeper.io/ips': '10.0.0.1' }, 'eth0'))
  t.match(later, { code: 'IPK_UNSUPPORTED', hint: 'remove the annotation, or upgrade ipkeeper' })
})
