import t from 'tap'
import { guardedLinks } from '../../../../ipkeeper-server/network/plan/guarded-links.ts'
import type { Survey } from '../../../../ipkeeper-server/network/plan/survey.ts'
import type { JsonObject } from '../../../../shared/json/fold.ts'
import { jobOf } from './example-job.ts'

const bridge = (...addresses: readonly string[]): Survey['bridge'] => ({
  ...{ state: 'bridge', mac: '0e:00:00:00:00:02', filtersVlans: false },
  addresses,
})
const absent = { state: 'absent', mac: '0e:00:00:00:00:02' } as const
const underlay = { mode: 'underlay', uplink: 'eth1', bridge: 'br0' }

const rows: readonly (readonly [what: string, JsonObject, Partial<Survey>, readonly string[]])[] = [
  ['a bridge that is new', { bridge: 'br0' }, { bridge: absent }, ['br0']],
  ['one that is there', { bridge: 'br0' }, { bridge: bridge() }, ['br0']],
  ['one with our gateways', { bridge: 'br0' }, { bridge: bridge('10.22.0.1/16') }, ['br0']],
  [
    'one of the node, which is no gateway',
    { bridge: 'br0', isGateway: false },
    { bridge: bridge('192.0.2.9/24') },
    [],
  ],
  ['one that is no gateway and new', { bridge: 'br0', isGateway: false }, { bridge: absent }, ['br0']],
  ['the host side of a routed link', { mode: 'ptp' }, {}, ['ipk0123456789ab']],
  ['that alone, not the uplink', { mode: 'ptp', uplink: 'eth1' }, {}, ['ipk0123456789ab']],
  ['there is none', { mode: 'macvlan', uplink: 'eth1' }, {}, []],
  ['an underlay', underlay, { bridge: absent }, ['br0']],
  ['an underlay that the node lives by', underlay, { nodeAddresses: ['192.0.2.9/24'] }, []],
  ['one that the node is about to live by', { ...underlay, moveHostAddresses: true }, { bridge: absent }, []],
]

t.test('links that pods could send announcements to', t => {
  for (const [what, settings, survey, expected] of rows) {
    const job = jobOf(settings, survey)
    t.strictSame(guardedLinks(job.config, job.survey, job.wiring), expected, what)
  }
  t.end()
})
