import t from 'tap'
import { invocationStart, parseInvocation } from '../../../../ipkeeper-server/leases/verbs/invocation.ts'
import type { CniRequest } from '../../../../shared/api/cni.schema.ts'
import { readPlainly } from '../../http/app-parts.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { mainRole, sampleNetconf, sampleFacts, sampleRequest } from './sample-request.ts'

const add = (patch: Partial<CniRequest> = {}) => readPlainly(sampleRequest(patch), sampleFacts)

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

t.test('an allocation of Nomad, which is called as its container is', t => {
  const id = '5b0ff3f4-6f0c-4d4f-9b0e-0c5b2b1f6a11'
  const args = `IgnoreUnknown=true;NOMAD_NAMESPACE=default;NOMAD_JOB_ID=web;NOMAD_GROUP_NAME=cache;NOMAD_ALLOC_ID=${id}`
  const held = (name: string) => ({ kind: 'pod', network: 'net', namespace: 'default', name, ifname: 'eth0' })
  t.match(add({ args, containerId: id }), { holder: held(`web.cache[${id}]`), podUid: null })
  t.match(add({ args: `${args};NOMAD_ALLOC_INDEX=3`, containerId: id }), { holder: held('web.cache[3]') })
  const forged = sampleRequest({ args, containerId: 'c1' })
  t.match(parseInvocation(forged), { holder: container, args: { args: {} } }, 'a DEL goes on')
  t.throws(() => readPlainly(forged, sampleFacts), {
    code: 'IPK_ARGS_INVALID',
    message: `ARGS: NOMAD_ALLOC_ID=${id} is not the container, which is c1`,
  })
  const twice = sampleRequest({ args: `${args};NOMAD_JOB_ID=x`, containerId: id })
  t.match(parseInvocation(twice).holder, { kind: 'container', containerId: id })
  t.throws(() => readPlainly(twice, sampleFacts), { message: 'ARGS: NOMAD_JOB_ID is given twice' })
  t.end()
})

t.test('what this node adds', t => {
  t.match(add(), { node: 'n1', bootId: 'boot-1', netnsInode: '4026531840', dns: {}, startedAt: null })
  t.match(add({ netns: '/run/netns/none' }), { netns: '/run/netns/none', netnsInode: null })
  const withDns = { ...sampleNetconf, ipam: { ...sampleNetconf.ipam, resolvConf: '/etc/resolv.conf' } }
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
  t.strictSame(invocationStart(sampleRequest({ startedAt: 5 }), 'boot-1'), { bootId: 'boot-1', startedAt: 5 })
  t.strictSame(invocationStart(sampleRequest({ startedAt: 0 }), 'boot-1'), { bootId: 'boot-1', startedAt: 0 })
  t.equal(invocationStart(sampleRequest(), 'boot-1'), undefined)
  t.equal(
    invocationStart(sampleRequest({ startedAt: 5 }), undefined),
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
    [{ config: { ...sampleNetconf, name: '' } }, 'IPK_NETWORK_NAME', 'missing network name'],
    [
      { config: { ...sampleNetconf, name: 'a/b' } },
      'IPK_NETWORK_NAME',
      'invalid characters found in network name',
    ],
  ] as const) {
    for (const read of [parseInvocation, (asked: CniRequest) => readPlainly(asked, sampleFacts)]) {
      t.match(await thrownProblem(() => read(sampleRequest(patch))), { code, message })
    }
  }
  t.match(await thrownProblem(() => add({ config: { ...sampleNetconf, ...mainRole, promiscMode: true } })), {
    code: 'IPK_UNSUPPORTED',
  })
  t.match(add({ config: { ...sampleNetconf, ...mainRole } }).main, { mode: 'bridge', bridge: 'ipk0' })
  t.equal(add().main, undefined)
  t.strictSame(
    parseInvocation(sampleRequest({ config: { ...sampleNetconf, ...mainRole, mode: 'vlan' } })).key,
    { network: 'net', containerId: 'c1', ifname: 'eth0' },
    'a DEL of it is understood all the same',
  )
})
