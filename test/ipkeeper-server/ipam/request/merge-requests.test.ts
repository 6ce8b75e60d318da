import t from 'tap'
import { parseCniArgs } from '../../../../shared/cni/cni-args.ts'
import { candidateLists, formatCandidates } from '../../../../ipkeeper-server/ipam/request/candidates.ts'
import { mergeRequests } from '../../../../ipkeeper-server/ipam/request/merge-requests.ts'
import { readIdentity, readIpamConfig } from '../../../../ipkeeper-server/ipam/request/network-config.ts'
import { parseAddressList } from '../../../../ipkeeper-server/ipam/request/parse-addresses.ts'
import type { PodRequest } from '../../../../ipkeeper-server/ipam/request/request.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

/** The channels by their CNI names, as they arrive. */
interface Channels {
  readonly runtimeConfig?: readonly string[]
  readonly args?: readonly string[]
  readonly cniArgs?: string
}

function merge(ips: string, { runtimeConfig, args, cniArgs = '' }: Channels): PodRequest {
  const config = {
    name: 'net',
    type: 'bridge',
    cniVersion: '1.0.0',
    ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/16' }], [{ subnet: 'fd00:22::/64' }]] },
    ...(runtimeConfig && { runtimeConfig: { ips: runtimeConfig } }),
    ...(args && { args: { cni: { ips: args } } }),
  }
  const { channels } = readIpamConfig(config, readIdentity(config), parseCniArgs(cniArgs))
  const runs = parseAddressList(ips)
  if ('fault' in runs) throw new Error(runs.reason)
  return mergeRequests({ candidates: candidateLists(runs, 'annotation ipkeeper.io/ips') }, channels)
}

const outcome = (request: PodRequest): object => ({
  addresses: request.addresses.map(
    ({ source, address, prefixLength }) =>
      `${source} ${formatAddress(address)}${prefixLength === undefined ? '' : `/${prefixLength}`}`,
  ),
  candidates: request.candidates.map(formatCandidates),
})

const both = '10.22.0.50-52,fd00:22::50-fd00:22::52'

for (const [name, ips, channels, addresses, candidates] of [
  ['no channel asks', both, {}, [], ['10.22.0.50-10.22.0.52', 'fd00:22::50-fd00:22::52']],
  [
    'runtimeConfig.ips takes one',
    both,
    { runtimeConfig: ['10.22.0.51/16'] },
    ['runtimeConfig.ips 10.22.0.51/16'],
    ['fd00:22::50-fd00:22::52'],
  ],
  [
    'args.cni.ips takes one of each family',
    both,
    { args: ['fd00:22::52', '10.22.0.50'] },
    ['args.cni.ips fd00:22::52', 'args.cni.ips 10.22.0.50'],
    [],
  ],
  [
    'CNI_ARGS takes one',
    both,
    { cniArgs: 'IP=10.22.0.52' },
    ['CNI_ARGS IP 10.22.0.52'],
    ['fd00:22::50-fd00:22::52'],
  ],
  [
    'CNI_ARGS takes one, with prefix',
    both,
    { cniArgs: 'IgnoreUnknown=1;K8S_POD_NAME=web-0;IP=10.22.0.52/16' },
    ['CNI_ARGS IP 10.22.0.52/16'],
    ['fd00:22::50-fd00:22::52'],
  ],
  [
    'a family without a list',
    '10.22.0.50-52',
    { runtimeConfig: ['fd00:22::99'] },
    ['runtimeConfig.ips fd00:22::99'],
    ['10.22.0.50-10.22.0.52'],
  ],
  [
    'the prefix of the list is kept for the check',
    '10.22.0.50/16',
    { runtimeConfig: ['10.22.0.50'] },
    ['runtimeConfig.ips 10.22.0.50/16'],
    [],
  ],
] as const) {
  t.test(`merged: ${name}`, t => {
    t.strictSame(outcome(merge(ips, channels)), { addresses, candidates })
    t.end()
  })
}

for (const [name, ips, channels, message] of [
  [
    'outside the list',
    both,
    { runtimeConfig: ['10.22.0.53'] },
    'runtimeConfig.ips (10.22.0.53) is not one of annotation ipkeeper.io/ips (10.22.0.50-10.22.0.52)',
  ],
  [
    'one of two outside the list',
    both,
    { cniArgs: 'IP=10.22.0.51,10.22.0.53' },
    'CNI_ARGS IP (10.22.0.53) is not one of annotation ipkeeper.io/ips (10.22.0.50-10.22.0.52)',
  ],
  [
    'another prefix',
    '10.22.0.50/16',
    { args: ['10.22.0.50/24'] },
    'args.cni.ips (10.22.0.50/24) is not one of annotation ipkeeper.io/ips (10.22.0.50/16)',
  ],
] as const) {
  t.test(`refused: ${name}`, async t => {
    t.match(await thrownProblem(() => merge(ips, channels)), { code: 'IPK_REQUESTS_DISAGREE', message })
  })
}

t.test('only the winner has to agree; what was not used is noted', t => {
  const merged = merge(both, { runtimeConfig: ['10.22.0.51'], cniArgs: 'IP=10.22.0.99' })
  t.strictSame(merged.ignored, ['CNI_ARGS IP (10.22.0.99)'])
  t.end()
})

t.test('the rest of what the annotations ask for stays', t => {
  const rest = {
    pools: [{ name: 'prod', source: 'annotation ipkeeper.io/pool' }],
    gateways: [{ address: { family: 4, value: 1n }, source: 'x' }],
    retain: 'forever',
    mac: '02:42:ac:11:00:02',
  } as const
  t.strictSame(mergeRequests(rest, []), { addresses: [], candidates: [], ...rest, ignored: [] })
  t.end()
})
