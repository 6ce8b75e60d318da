import t from 'tap'
import { checkUplink } from '../../../../ipkeeper-server/network/plan/check-host.ts'
import type { Survey, UplinkFacts } from '../../../../ipkeeper-server/network/plan/wiring-job.ts'
import type { JsonObject } from '../../../../shared/json/fold.ts'
import { configOf, plainSurvey, plainUplink } from './example-job.ts'

const macvlan = { mode: 'macvlan', uplink: 'eth1' }
const underlay = { mode: 'underlay', uplink: 'eth1', bridge: 'br0' }
const joined = { master: 'br0', portKind: 'bridge' }

interface Case {
  readonly what: string
  readonly settings: JsonObject
  readonly uplink?: Partial<UplinkFacts>
  readonly survey?: Partial<Survey>
  /** Of the message and the hint; undefined: it is fine. */
  readonly words?: readonly [message: RegExp, hint: RegExp]
}

const cases: readonly Case[] = [
  { what: 'macvlan on a plain link', settings: macvlan },
  { what: 'macvlan on a link with addresses', settings: macvlan, uplink: { addresses: ['10.0.0.1/24'] } },
  { what: 'macvlan on a bridge', settings: macvlan, uplink: { kind: 'bridge' } },
  { what: 'macvlan on a link of a VRF', settings: macvlan, uplink: { master: 'red', portKind: 'vrf' } },
  {
    what: 'macvlan on a port of a bond',
    settings: macvlan,
    uplink: { master: 'bond0', portKind: 'bond' },
    words: [/eth1 is a port of bond bond0/, /^name that one: "uplink": "bond0"$/],
  },
  {
    what: 'macvlan on a port of a bridge',
    settings: macvlan,
    uplink: joined,
    words: [/eth1 is a port of bridge br0/, /"uplink": "br0"; or write "mode": "underlay"/],
  },
  {
    what: 'macvlan on a tunnel',
    settings: macvlan,
    uplink: { ethernet: false },
    words: [/no Ethernet frames/, /"ptp"/],
  },
  {
    what: 'macvlan without an uplink',
    settings: { mode: 'macvlan' },
    survey: { uplink: undefined },
    words: [/no default route/, /"uplink": "eth1"/],
  },
  { what: 'underlay on a plain link', settings: underlay },
  {
    what: 'underlay on a port of its bridge',
    settings: underlay,
    uplink: { ...joined, addresses: ['10.0.0.1/24'] },
    survey: { foreignPorts: ['tap0'] },
  },
  {
    what: 'underlay on a tunnel',
    settings: underlay,
    uplink: { ethernet: false },
    words: [/no Ethernet frames/, /"ptp"/],
  },
  {
    what: 'underlay on a bridge',
    settings: underlay,
    uplink: { kind: 'bridge' },
    words: [/is a bridge itself/, /"bridge": "eth1", "isGateway": false/],
  },
  {
    what: 'underlay on a port of another bridge',
    settings: underlay,
    uplink: { master: 'br9', portKind: 'bridge' },
    words: [/port of bridge br9 already/, /"bridge": "br9"; or take it out: ip link set dev eth1 nomaster/],
  },
  {
    what: 'underlay on a port of a bond',
    settings: underlay,
    uplink: { master: 'bond0', portKind: 'bond' },
    words: [/port of bond bond0 already/, /^write "uplink": "bond0"$/],
  },
  {
    what: 'underlay with a bridge that has ports',
    settings: underlay,
    survey: { foreignPorts: ['tap0', 'eth9'] },
    words: [/has others: tap0, eth9/, /ip link set dev eth1 master br0/],
  },
  {
    what: 'underlay on a link with addresses',
    settings: underlay,
    uplink: { addresses: ['10.0.0.1/24', 'fd00::1/64'] },
    words: [/addresses of the host \(10\.0\.0\.1\/24, fd00::1\/64\)/, /"moveHostAddresses": true/],
  },
  {
    what: 'underlay on a link with the default route',
    settings: underlay,
    uplink: { carriesDefaultRoute: true },
    words: [/carries the default route/, /"moveHostAddresses": true/],
  },
  {
    what: 'underlay on a link whose addresses may move',
    settings: { ...underlay, moveHostAddresses: true },
    uplink: { addresses: ['10.0.0.1/24'], carriesDefaultRoute: true },
  },
  { what: 'bridge, which has none', settings: { mode: 'bridge' }, survey: { uplink: undefined } },
  {
    what: 'ptp on whatever there is',
    settings: { mode: 'ptp', uplink: 'eth1' },
    uplink: { ethernet: false },
  },
]

t.test('which uplinks can carry pods', t => {
  for (const { what, settings, uplink, survey, words } of cases) {
    const check = (): void => {
      checkUplink(configOf(settings), { ...plainSurvey, uplink: { ...plainUplink, ...uplink }, ...survey })
    }
    if (words) t.throws(check, { code: 'IPK_LINK_CONFLICT', message: words[0], hint: words[1] }, what)
    else t.doesNotThrow(check, what)
  }
  t.throws(
    () => {
      checkUplink(configOf({ ...underlay, vlan: 7, isGateway: true }), plainSurvey)
    },
    { code: 'IPK_CONFIG_INVALID', message: /"isGateway"/ },
  )
  t.end()
})
