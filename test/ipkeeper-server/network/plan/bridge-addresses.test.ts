import t from 'tap'
import { judgeAddresses, removeAddresses } from '../../../../ipkeeper-server/network/plan/bridge-addresses.ts'
import { spellCommands } from './sample-job.ts'

interface Row {
  readonly what: string
  /** What the bridge has, and which of it ipkeeper put there. */
  readonly has: readonly string[]
  readonly ours?: readonly string[]
  /** Gateways of known pools, without prefix, and those that pods have. */
  readonly pools?: readonly string[]
  readonly used?: readonly string[]
  readonly stale?: readonly string[]
  readonly inTheWay?: readonly string[]
}

const old = '10.60.0.1/24'
const old6 = 'fd00:60::1/64'

const rows: readonly Row[] = [
  { what: 'nothing', has: [] },
  { what: 'what it is to have', has: ['10.22.0.1/16', 'fd00:22::1/64'] },
  { what: 'the gateway of another pool', has: [old], pools: ['10.60.0.1'] },
  {
    what: 'that of another pool, which is ours and has no pod',
    has: [old],
    ours: [old],
    pools: ['10.60.0.1'],
  },
  { what: 'that of a pod whose pool is gone', has: [old], ours: [old], used: [old] },
  { what: 'the same, put there by somebody else', has: [old], used: [old] },
  {
    what: 'ours, which nobody uses',
    has: ['10.22.0.1/16', old, old6],
    ours: [old, old6],
    stale: [old, old6],
  },
  { what: 'of one family used', has: [old, old6], ours: [old, old6], used: [old6], stale: [old] },
  { what: 'somebody else’s', has: [old], inTheWay: [old] },
  { what: 'ours and somebody else’s', has: [old, old6], ours: [old], stale: [old], inTheWay: [old6] },
  {
    what: 'the former gateway of the subnet',
    has: ['10.22.0.9/16'],
    ours: ['10.22.0.9/16'],
    stale: ['10.22.0.9/16'],
  },
  {
    what: 'which pods still have',
    has: ['10.22.0.9/16'],
    ours: ['10.22.0.9/16'],
    used: ['10.22.0.9/16'],
    inTheWay: ['10.22.0.9/16'],
  },
  { what: 'or a known pool', has: ['10.22.0.9/16'], pools: ['10.22.0.9'], inTheWay: ['10.22.0.9/16'] },
  {
    what: 'the gateway under its former prefix',
    has: ['10.22.0.1/24'],
    ours: ['10.22.0.1/24'],
    stale: ['10.22.0.1/24'],
  },
  { what: 'under a wider one', has: ['10.0.0.1/8'], ours: ['10.0.0.1/8'], stale: ['10.0.0.1/8'] },
  {
    what: 'ours, with which the kernel would take away another one',
    has: [old, '10.60.0.7/24'],
    ours: [old],
    used: ['10.60.0.7/24'],
    inTheWay: [old],
  },
  {
    what: 'two of one subnet that both go',
    has: [old, '10.60.0.7/24'],
    ours: [old, '10.60.0.7/24'],
    stale: [old, '10.60.0.7/24'],
  },
]

t.test('what becomes of the addresses of a bridge', t => {
  for (const { what, has, ours = [], pools = [], used = [], stale = [], inTheWay = [] } of rows) {
    const judged = judgeAddresses(
      { bridge: 'ipk0' },
      { addresses: has, ours },
      ['10.22.0.1/16', 'fd00:22::1/64'],
      {
        isGateway: address => pools.includes(address),
        podsBehind: (cidr, bridge) => (bridge === 'ipk0' && used.includes(cidr) ? ['shop/web-0'] : []),
      },
    )
    t.strictSame(judged, { stale, inTheWay }, what)
  }
  t.end()
})

t.test('how they go', t => {
  const commands = removeAddresses([old, old6], 'ipk0')
  t.strictSame(spellCommands(commands), [
    'address delete 10.60.0.1/24 dev ipk0',
    'address delete fd00:60::1/64 dev ipk0',
  ])
  t.ok(commands.every(({ missing }) => missing === 'fine'))
  t.end()
})
