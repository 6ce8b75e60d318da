import t from 'tap'
import { gatewayCidrs } from '../../../../ipkeeper-server/network/plan/gateway-address.ts'

t.test('gateways with the prefix of their subnets', t => {
  for (const [what, ips, expected] of [
    ['none', [], []],
    ['an address without a gateway', [{ address: '10.22.0.50/16' }], []],
    [
      'both families, in their order',
      [
        { address: 'fd00:22::50/64', gateway: 'fd00:22::1' },
        { address: '10.22.0.50/16', gateway: '10.22.0.1' },
      ],
      ['fd00:22::1/64', '10.22.0.1/16'],
    ],
    [
      'two addresses of one subnet',
      [
        { address: '10.22.0.50/16', gateway: '10.22.0.1' },
        { address: '10.22.0.51/16', gateway: '10.22.0.1' },
      ],
      ['10.22.0.1/16'],
    ],
    [
      'one gateway, two lengths',
      [
        { address: '10.22.0.50/16', gateway: '10.22.0.1' },
        { address: '10.22.0.51/24', gateway: '10.22.0.1' },
      ],
      ['10.22.0.1/16', '10.22.0.1/24'],
    ],
  ] as const)
    t.strictSame(gatewayCidrs(ips), expected, what)
  t.end()
})
