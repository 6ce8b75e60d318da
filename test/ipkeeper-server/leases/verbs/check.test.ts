import t from 'tap'
import { parseInvocation } from '../../../../ipkeeper-server/leases/verbs/invocation.ts'
import { noPools } from '../../http/app-parts.ts'
import { mainRole, sampleNetconf, sampleRequest } from './sample-request.ts'
import { checkAttachment, readCheck } from '../../../../ipkeeper-server/leases/verbs/check.ts'
import type { PreviousInterface } from '../../../../ipkeeper-server/ipam/request/network-config.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { sampleConfig as main } from '../../network/plan/sample-job.ts'
import { TestService } from '../test-service.ts'

const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
const netns = '/run/netns/c1'
const previous: PreviousInterface = { sandbox: netns, mac: '0a:58:0a:16:00:02' }

/** One wired pod with 10.22.0.2, of which the kernel differs so. */
async function checked(...differences: readonly string[]): Promise<TestService> {
  const story = await TestService.open()
  await story.add({ pod: 'web-0', container: 'c1', main })
  story.network.differences = () => Promise.resolve(differences)
  return story
}

t.test('what is as ADD left it', async t => {
  const { service } = await checked()
  for (const [what, expected, seen] of [
    ['with prevResult', ['10.22.0.2/24'], previous],
    ['with more addresses of later plugins', ['192.0.2.1/24', '10.22.0.2/24'], previous],
    ['without the sandbox', ['10.22.0.2/24'], { ...previous, sandbox: undefined }],
    ['without the interface', ['10.22.0.2/24'], undefined],
  ] as const)
    t.strictSame(
      await checkAttachment(service, {
        key,
        expected,
        wired: { netns, previous: seen },
      }),
      { delegatedTo: null },
      what,
    )
})

t.test('leases', async t => {
  const { service } = await checked()
  for (const [what, request, message] of [
    [
      'a container that nobody added',
      { key: { ...key, containerId: 'c9' }, expected: ['10.22.0.2/24'] },
      /Failed to find address added by container c9$/,
    ],
    [
      'another address',
      { key, expected: ['10.22.0.3/24'] },
      'lease 10.22.0.2/24 of container c1 is missing in prevResult',
    ],
    ['another prefix', { key, expected: ['10.22.0.2/16'] }, /is missing in prevResult$/],
    ['none', { key, expected: [] }, /is missing in prevResult$/],
  ] as const) {
    const problem = await thrownProblem(() =>
      checkAttachment(service, { wired: { netns, previous }, ...request }),
    )
    t.equal(problem.code, 'IPK_LEASE_MISSING', what)
    t.match(problem.message, message, what)
  }
})

t.test('every difference in one error', async t => {
  for (const [what, differences, seen, message, details] of [
    ['one', ['eth0 is down'], previous, 'eth0 is down', 'eth0 is down'],
    [
      'three',
      ['eth0 is down', 'no route', 'no port'],
      previous,
      'eth0 is down, and 2 more',
      'eth0 is down; no route; no port',
    ],
    [
      'another sandbox',
      [],
      { ...previous, sandbox: '/run/netns/c7' },
      'prevResult has the interface in /run/netns/c7, CNI_NETNS is /run/netns/c1',
      'prevResult has the interface in /run/netns/c7, CNI_NETNS is /run/netns/c1',
    ],
    [
      'another sandbox, and the kernel',
      ['eth0 is down'],
      { ...previous, sandbox: '/run/netns/c7' },
      /CNI_NETNS is \/run\/netns\/c1, and 1 more$/,
      /; eth0 is down$/,
    ],
  ] as const) {
    const { service } = await checked(...differences)
    const problem = await thrownProblem(() =>
      checkAttachment(service, { key, expected: ['10.22.0.2/24'], wired: { netns, previous: seen } }),
    )
    t.equal(problem.code, 'IPK_WIRING_DIFFERS', what)
    t.match([problem.message, problem.details], [message, details], what)
  }
})

t.test('what the kernel is asked about', async t => {
  const story = await checked()
  const asked: unknown[] = []
  story.network.differences = (...args) => {
    asked.push(args)
    return Promise.resolve([])
  }
  await checkAttachment(story.service, { key, expected: undefined, wired: { netns, previous } })
  t.match(asked, [[{ ...key, wiring: { mode: 'bridge' } }, [{ address: '10.22.0.2' }], previous]])
  await checkAttachment(story.service, { key, expected: undefined })
  t.equal(asked.length, 1, 'nothing in the IPAM role')
})

t.test('it changes nothing', async t => {
  const story = await checked('eth0 is down')
  const before = JSON.stringify([...story.service.ledger.leases(), ...story.service.ledger.attachments()])
  await thrownProblem(() =>
    checkAttachment(story.service, { key, expected: undefined, wired: { netns, previous } }),
  )
  t.equal(JSON.stringify([...story.service.ledger.leases(), ...story.service.ledger.attachments()]), before)
  t.strictSame(story.network.calls, ['wire'])
})

t.test('CHECK: what it is about, and what an ADD would refuse', t => {
  const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
  const prevResult = { cniVersion: '1.0.0', ips: [{ address: '10.22.0.2/24' }] }
  t.strictSame(readCheck(parseInvocation(sampleRequest()), noPools), { key, expected: undefined })
  const withResult = sampleRequest({ config: { ...sampleNetconf, prevResult } })
  t.strictSame(readCheck(parseInvocation(withResult), noPools), { key, expected: ['10.22.0.2/24'] })
  for (const [patch, code] of [
    [{ containerId: '../x' }, 'IPK_ENVIRONMENT'],
    [{ args: 'FOO=bar' }, 'IPK_ARGS_INVALID'],
    [{ config: { ...sampleNetconf, ipam: null } }, 'IPK_CONFIG_INVALID'],
    [{ config: { ...sampleNetconf, ipam: { subnet: '10.22.0.0/31' } } }, 'IPK_CONFIG_INVALID'],
    [{ config: { ...sampleNetconf, ...mainRole, mode: 'vlan' } }, 'IPK_CONFIG_INVALID'],
  ] as const) {
    t.throws(() => readCheck(parseInvocation(sampleRequest(patch)), noPools), { code }, JSON.stringify(patch))
  }
  t.end()
})

t.test('CHECK of the main role: what prevResult says of the interface', t => {
  const wired = (prevResult?: object) =>
    readCheck(
      parseInvocation(
        sampleRequest({ config: { ...sampleNetconf, ...mainRole, ...(prevResult && { prevResult }) } }),
      ),
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
