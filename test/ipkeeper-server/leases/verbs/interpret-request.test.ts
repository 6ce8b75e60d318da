import t from 'tap'
import {
  interpretBegan,
  interpretCheck,
  interpretKey,
  interpretStatus,
  type NodeFacts,
} from '../../../../ipkeeper-server/leases/verbs/interpret-request.ts'
import type { CniRequest } from '../../../../shared/api/cni.schema.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { interpretPlainly, noPools } from '../../http/app-parts.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const facts: NodeFacts = {
  node: 'n1',
  bootId: 'boot-1',
  namespaceAt: path =>
    path === '/run/netns/there' ? { kind: 'namespace', inode: '4026531840' } : { kind: 'absent' },
  reachNetns: () => Promise.resolve(),
  readResolvConf: path => ({ search: [path] }),
  nodeLabels: () => undefined,
  sharedWithOtherNodes: () => false,
}

const config = { cniVersion: '1.0.0', name: 'net', type: 'bridge', ipam: { subnet: '10.22.0.0/24' } }
const request = (patch: Partial<CniRequest> = {}): CniRequest => ({
  ...{ containerId: 'c1', netns: '/run/netns/there', ifname: 'eth0', path: '/opt/cni/bin' },
  args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=u1',
  config,
  ...patch,
})
const add = (patch: Partial<CniRequest> = {}) => interpretPlainly(request(patch), facts)

/** Of a netconf whose own type is ours. */
const mainRole = { type: 'ipkeeper', ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] } }

const container = { kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' }

t.test('who the address is to belong to', t => {
  for (const [args, holder, podUid] of [
    [
      'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=u1',
      { kind: 'pod', network: 'net', namespace: 'shop', name: 'web-0', ifname: 'eth0' },
      'u1',
    ],
    [
      'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=',
      { kind: 'pod', network: 'net', namespace: 'shop', name: 'web-0', ifname: 'eth0' },
      null,
    ],
    ['', container, null],
    ['K8S_POD_NAMESPACE=shop', container, null],
    ['K8S_POD_NAMESPACE=;K8S_POD_NAME=web-0', container, null],
    ['IgnoreUnknown=1;FOO=bar', container, null],
  ] as const) {
    const read = add({ args })
    t.strictSame(read.holder, holder, args)
    t.equal(read.podUid, podUid, args)
  }
  t.end()
})

t.test('CHECK: what it is about, and what an ADD would refuse', t => {
  const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
  const prevResult = { cniVersion: '1.0.0', ips: [{ address: '10.22.0.2/24' }] }
  t.strictSame(interpretCheck(request(), noPools), { key, expected: undefined })
  const withResult = request({ config: { ...config, prevResult } })
  t.strictSame(interpretCheck(withResult, noPools), { key, expected: ['10.22.0.2/24'] })
  for (const [patch, code] of [
    [{ containerId: '../x' }, 'IPK_ENVIRONMENT'],
    [{ args: 'FOO=bar' }, 'IPK_ARGS_INVALID'],
    [{ config: { ...config, ipam: null } }, 'IPK_CONFIG_INVALID'],
    [{ config: { ...config, ipam: { subnet: '10.22.0.0/31' } } }, 'IPK_CONFIG_INVALID'],
    [{ config: { ...config, ...mainRole, mode: 'vlan' } }, 'IPK_CONFIG_INVALID'],
  ] as const) {
    t.throws(() => interpretCheck(request(patch), noPools), { code }, JSON.stringify(patch))
  }
  t.end()
})

t.test('CHECK of the main role: what prevResult says of the interface', t => {
  const wired = (prevResult?: object) =>
    interpretCheck(
      request({ config: { ...config, ...mainRole, ...(prevResult && { prevResult }) } }),
      noPools,
    )
  const ips = [{ address: '10.22.0.2/24' }]
  const netns = '/run/netns/there'
  for (const [what, interfaces, previous] of [
    ['none', undefined, undefined],
    ['those of the host', [{ name: 'eth0', mac: '02:00:00:00:00:01' }], undefined],
    ['one of another name', [{ name: 'eth1', sandbox: netns }], undefined],
    [
      'its own',
      [{ name: 'ipk0' }, { name: 'eth0', mac: '02:00:00:00:00:01', sandbox: '/other' }],
      { mac: '02:00:00:00:00:01', sandbox: '/other' },
    ],
  ] as const)
    t.match(
      wired({ cniVersion: '1.0.0', ips, ...(interfaces && { interfaces }) }),
      { expected: ['10.22.0.2/24'], wired: { netns, previous } },
      what,
    )
  t.throws(() => wired(), { code: 'IPK_CONFIG_INVALID', message: 'Required prevResult missing' })
  t.end()
})

t.test('what this node adds', t => {
  t.match(add(), { node: 'n1', bootId: 'boot-1', netnsInode: '4026531840', dns: {}, startedAt: null })
  t.match(add({ netns: '/run/netns/none' }), { netns: '/run/netns/none', netnsInode: null })
  const withDns = { ...config, ipam: { ...config.ipam, resolvConf: '/etc/resolv.conf' } }
  t.strictSame(add({ config: withDns }).dns, { search: ['/etc/resolv.conf'] })
  t.match(add({ invocationId: 'i1', startedAt: 5 }), { invocationId: 'i1', startedAt: 5 })
  t.end()
})

t.test(
  'an ADD runs in the present boot, whatever its request says: else it would be proved dead at once',
  t => {
    t.equal(add({ bootId: 'invented', startedAt: 5 }).bootId, 'boot-1')
    t.end()
  },
)

t.test('when a run began', t => {
  t.strictSame(interpretBegan(request({ startedAt: 5 }), 'boot-1'), { bootId: 'boot-1', startedAt: 5 })
  t.strictSame(interpretBegan(request({ startedAt: 0 }), 'boot-1'), { bootId: 'boot-1', startedAt: 0 })
  t.equal(interpretBegan(request(), 'boot-1'), undefined)
  t.equal(
    interpretBegan(request({ startedAt: 5 }), undefined),
    undefined,
    'a queued one that does not say its boot',
  )
  t.end()
})

t.test('refused', async t => {
  for (const [patch, code, message] of [
    [{ containerId: '../c1' }, 'IPK_ENVIRONMENT', 'invalid characters in containerID'],
    [{ containerId: '' }, 'IPK_ENVIRONMENT', 'invalid characters in containerID'],
    [{ ifname: '' }, 'IPK_ENVIRONMENT', 'interface name is empty'],
    [{ ifname: 'a/b' }, 'IPK_ENVIRONMENT', 'interface name contains / or : or whitespace characters'],
    [{ config: { ...config, name: '' } }, 'IPK_NETWORK_NAME', 'missing network name'],
    [{ config: { ...config, name: 'a/b' } }, 'IPK_NETWORK_NAME', 'invalid characters found in network name'],
  ] as const) {
    for (const read of [interpretKey, (asked: CniRequest) => interpretPlainly(asked, facts)]) {
      t.match(await thrownProblem(() => read(request(patch))), { code, message })
    }
  }
  t.match(await thrownProblem(() => add({ config: { ...config, ...mainRole, promiscMode: true } })), {
    code: 'IPK_UNSUPPORTED',
  })
  t.match(add({ config: { ...config, ...mainRole } }).main, { mode: 'bridge', bridge: 'ipk0' })
  t.equal(add().main, undefined)
  t.strictSame(
    interpretKey(request({ config: { ...config, ...mainRole, mode: 'vlan' } })),
    { network: 'net', containerId: 'c1', ifname: 'eth0' },
    'a DEL of it is understood all the same',
  )
})

t.test('STATUS: a configuration is read as for an ADD', async t => {
  const status = (patch: object, readResolvConf = facts.readResolvConf) =>
    interpretStatus(
      { containerId: '', netns: '', ifname: '', args: '', path: '', config: { ...config, ...patch } },
      { ...facts, readResolvConf },
      noPools,
    )
  const ipam = (more: object) => ({ ipam: { ...config.ipam, ...more } })
  t.strictSame((await status({})).inline, add().inline)
  t.equal((await status({})).statusReportsExhaustion, false)
  t.equal((await status(ipam({ statusReportsExhaustion: true }))).statusReportsExhaustion, true)
  t.equal((await status(ipam({ statusReportsExhaustion: false }))).statusReportsExhaustion, false)
  for (const patch of [
    { name: '../x' },
    { cniVersion: '9.9.9' },
    { type: 'ipkeeper', mode: 'vlan' },
    { ipam: undefined },
    { ipam: {} },
    { ipam: { ranges: [] } },
    ipam({ subnet: '10.22.0.0/31' }),
    ipam({ pool: 'prod' }),
    ipam({ segment: 'A B' }),
    ipam({ routes: [{ dst: 'x' }] }),
    ipam({ statusReportsExhaustion: 'yes' }),
    ipam({ statusReportsExhaustion: 1 }),
  ]) {
    const asAdd = await thrownProblem(() => add({ config: { ...config, ...patch } }))
    const asStatus = await thrownProblem(() => status(patch))
    const text = JSON.stringify(patch)
    t.strictSame([asStatus.code, asStatus.message], [asAdd.code, asAdd.message], text)
    t.ok([1, 2, 6, 7].includes(asStatus.toDocument().cniCode), text)
  }
  const unreadable = (): never => {
    throw new Problem('IPK_CONFIG_INVALID', 'cannot read /x')
  }
  t.match(await thrownProblem(() => status(ipam({ resolvConf: '/x' }), unreadable)), {
    message: 'cannot read /x',
  })
})

t.test('STATUS: ranges that come by runtimeConfig are not there yet', async t => {
  const status = (ipam: object, capabilities: object) =>
    interpretStatus(request({ config: { ...config, ipam, capabilities } }), facts, noPools)
  for (const ipam of [{}, { ranges: [] }])
    t.strictSame(await status(ipam, { ipRanges: true }), {
      main: undefined,
      inline: undefined,
      pools: [],
      statusReportsExhaustion: false,
    })
  t.strictSame((await status(config.ipam, { ipRanges: true })).inline, add().inline, 'its own are there')
  for (const capabilities of [{}, { ipRanges: false }, { ips: true }])
    t.match(await thrownProblem(() => status({}, capabilities)), { message: 'no IP ranges specified' })
})
