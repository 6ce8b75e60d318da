import t from 'tap'
import { masqueradedPods } from '../../../ipkeeper-server/network/masqueraded-pods.ts'
import type { LeaseRecord } from '../../../ipkeeper-server/ipam/records/records.ts'
import { sampleWiring } from './plan/sample-job.ts'

const lease = (address: string, pool: string): LeaseRecord => ({
  generation: 1,
  segment: 'default',
  address,
  state: 'bound',
  pool,
  network: 'net',
  rangeSet: 0,
  prefixLength: 16,
  gateway: '10.22.0.1',
  holder: { kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' },
  podUid: null,
  attachment: { network: 'net', containerId: 'c1', ifname: 'eth0' },
  node: 'n1',
  named: false,
  source: 'dynamic',
  retain: 'release',
  mac: null,
  since: 0,
  until: null,
})

const subnetsOf = (pool: string): readonly string[] => [`subnets of ${pool}`]

t.test('addresses by their pools', t => {
  const leases = [lease('10.22.0.50', 'a'), lease('10.23.0.50', 'b'), lease('fd00:22::50', 'a')]
  const of = (pool: string, ...addresses: readonly string[]) => ({ pool, ranges: subnetsOf(pool), addresses })
  for (const [what, masqueraded, expected] of [
    ['none', [], []],
    ['one', ['10.23.0.50'], [of('b', '10.23.0.50')]],
    [
      'all',
      ['10.22.0.50', '10.23.0.50', 'fd00:22::50'],
      [of('a', '10.22.0.50', 'fd00:22::50'), of('b', '10.23.0.50')],
    ],
    ['one that is leased no more', ['10.24.0.50'], []],
  ] as const)
    t.strictSame(masqueradedPods({ ...sampleWiring, masqueraded }, leases, subnetsOf), expected, what)
  t.strictSame(
    masqueradedPods({ ...sampleWiring, masqueraded: ['10.22.0.50'] }, [], subnetsOf),
    [],
    'what another sandbox took over is not of this one',
  )
  t.end()
})
