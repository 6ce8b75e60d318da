import t from 'tap'
import { judgeResult, type ResultInPlace } from '../../../../ipkeeper-server/diagnose/try/judge-result.ts'
import { readResult } from '../../../../ipkeeper-server/diagnose/try/plugin-result.ts'

const netns = '/run/netns/a'
const eth0 = { name: 'eth0', mac: '02:00:00:00:00:01', sandbox: netns }
const sound = {
  interfaces: [{ name: 'cni0' }, eth0],
  ips: [{ interface: 1, address: '10.1.1.2/24', gateway: '10.1.1.1' }],
  routes: [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }],
}
const view: ResultInPlace['view'] = {
  links: [
    { name: 'lo', mac: '00:00:00:00:00:00', addresses: ['127.0.0.1/8'] },
    {
      name: 'eth0',
      mac: '02:00:00:00:00:01',
      addresses: ['10.1.1.2/24', '10.1.1.0/24', '10.1.1.255/24', '10.1.1.2/32', 'fd00::/64'],
    },
    { name: 'eth1', mac: '02:00:00:00:00:02', addresses: ['10.1.1.9/24'] },
  ],
  routes: [
    { dst: '10.1.1.0/24', gateway: undefined },
    { dst: '169.254.1.1/32', gateway: undefined },
    { dst: '0.0.0.0/0', gateway: '10.1.1.1' },
  ],
}
const ip = (more: object): object => ({ ...sound, ips: [{ ...sound.ips[0], ...more }] })

interface Row {
  readonly what: string
  readonly result: object
  readonly place?: Partial<ResultInPlace>
  /** Of each finding, in order. */
  readonly says: readonly RegExp[]
}

const rows: readonly Row[] = [
  { what: 'a sound Result', result: sound, says: [] },
  { what: 'addresses without an interface', result: { ips: [{ address: '10.1.1.2/24' }] }, says: [] },
  {
    what: 'the loopback plugin',
    result: {
      interfaces: [{ name: 'lo', mac: '00:00:00:00:00:00', sandbox: netns }],
      ips: [{ address: '127.0.0.1/8', interface: 0 }],
    },
    says: [],
  },
  {
    what: 'a host address with a gateway by its own route',
    result: ip({ address: '10.1.1.2/32', gateway: '169.254.1.1' }),
    says: [],
  },
  {
    what: 'the address of the network',
    result: ip({ address: '10.1.1.0/24' }),
    says: [/of the network itself/],
  },
  { what: 'the broadcast address', result: ip({ address: '10.1.1.255/24' }), says: [/broadcast/] },
  { what: 'the anycast address', result: ip({ address: 'fd00::/64', gateway: '' }), says: [/anycast/] },
  {
    what: 'an index too far',
    result: ip({ interface: 2 }),
    says: [/ips\[0\]\.interface is 2, and there are 2/],
  },
  {
    what: 'an address that is not there',
    result: ip({ address: '10.1.1.7/24' }),
    says: [/10\.1\.1\.7\/24 is not on eth0/],
  },
  { what: 'an address on another interface', result: ip({ address: '10.1.1.9/24' }), says: [/but on eth1/] },
  {
    what: 'an address on no interface',
    result: { ips: [{ address: '10.1.1.7/24' }] },
    says: [/on no interface/],
  },
  {
    what: 'a gateway outside',
    result: ip({ gateway: '10.2.0.1' }),
    says: [/gateway 10\.2\.0\.1 is outside/],
  },
  {
    what: 'a gateway that is the pod',
    result: ip({ gateway: '10.1.1.2' }),
    says: [/both the address of the pod and its gateway/],
  },
  {
    what: 'a next hop out of reach',
    result: { ...sound, routes: [{ dst: '0.0.0.0/0', gw: '10.9.9.9' }] },
    says: [/10\.9\.9\.9, which the pod cannot reach/],
  },
  {
    what: 'a route that is not there',
    result: { ...sound, routes: [{ dst: '10.8.0.0/16' }] },
    says: [/no route to 10\.8\.0\.0\/16/],
  },
  {
    what: 'another MAC',
    result: { ...sound, interfaces: [{ name: 'cni0' }, { ...eth0, mac: '02:00:00:00:00:99' }] },
    says: [/has MAC 02:00:00:00:00:01/],
  },
  {
    what: 'no MAC',
    result: { ...sound, interfaces: [{ name: 'cni0' }, { name: 'eth0', sandbox: netns }] },
    says: [/without a MAC/],
  },
  {
    what: 'another sandbox',
    result: { ...sound, interfaces: [{ name: 'cni0' }, { ...eth0, sandbox: '/run/netns/b' }] },
    says: [/reported in \/run\/netns\/b/],
  },
  {
    what: 'an interface of another name',
    result: { interfaces: [{ ...eth0, name: 'net0' }], ips: [] },
    place: { isLast: false, asksForAddresses: false },
    says: [/net0 is not in the namespace/, /names no interface eth0/],
  },
  {
    what: 'a nameserver that is none',
    result: { ...sound, dns: { nameservers: ['dns.example'] } },
    says: [/nameserver "dns\.example"/],
  },
  { what: 'no address where one was asked for', result: {}, says: [/has no address/] },
  {
    what: 'no address, and nobody asked',
    result: {},
    place: { asksForAddresses: false, listAsksForAddresses: false },
    says: [/no plugin of the list is configured to assign one/],
  },
  { what: 'no address yet', result: {}, place: { asksForAddresses: false, isLast: false }, says: [] },
  {
    what: 'addresses dropped',
    result: {},
    place: { previous: readResult(sound, '1.0.0') },
    says: [/dropped the addresses that it was given: 10\.1\.1\.2\/24/],
  },
]

for (const { what, result, place = {}, says } of rows) {
  t.test(what, t => {
    const findings = judgeResult({
      ...{ result: readResult({ ...result }, '1.0.0'), previous: null, view },
      ...{ asksForAddresses: true, listAsksForAddresses: true, isLast: true, ifname: 'eth0', netns },
      ...place,
    })
    const messages = findings.map(({ message }) => message)
    t.equal(messages.length, says.length, messages.join('\n'))
    for (const [index, pattern] of says.entries()) t.match(messages[index], pattern)
    t.end()
  })
}
