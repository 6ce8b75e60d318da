import t from 'tap'
import { holderKey, leaseKey, type Holder } from '../../../../ipkeeper-server/ipam/records/records.ts'
import {
  holderObjectName,
  leaseObjectName,
  namedObjectName,
} from '../../../../ipkeeper-server/store/kubernetes/object-name.ts'

const pod = (patch: Partial<Holder> = {}): string =>
  holderKey({
    ...{ kind: 'pod', network: 'net', namespace: 'shop', name: 'web-0', ifname: 'eth0' },
    ...patch,
  } as Holder)
const container = (containerId: string): string =>
  holderKey({ kind: 'container', network: 'net', containerId, ifname: 'eth0' })

const names: readonly (readonly [what: string, name: string, wanted: string | RegExp])[] = [
  [
    'a lease',
    leaseObjectName(leaseKey({ segment: 'default', address: '10.22.0.5' })),
    'default-010-022-000-005',
  ],
  [
    'a lease of IPv6',
    leaseObjectName(leaseKey({ segment: 'lab', address: 'fd00:22::1' })),
    'lab-fd00-0022-0000-0000-0000-0000-0000-0001',
  ],
  ['a pod', holderObjectName(pod()), /^shop\.web-0\.net\.eth0-[0-9a-f]{20}$/],
  ['a container', holderObjectName(container('3f2a'.repeat(16))), /^3f2a3f2a3f2a3\.net\.eth0-[0-9a-f]{20}$/],
  [
    'what no name can have',
    holderObjectName(pod({ network: 'Föhn_Net', ifname: '.' })),
    /^shop\.web-0\.f-hn-net-[0-9a-f]{20}$/,
  ],
  ['a very long one', holderObjectName(pod({ name: 'x'.repeat(253) })), /^shop\.x{175}-[0-9a-f]{20}$/],
  ['a pool', namedObjectName('prod.eu-1'), 'prod.eu-1'],
  ['a pool that no object can be called', namedObjectName('Fixed_Net'), /^fixed-net-[0-9a-f]{20}$/],
]
for (const [what, name, wanted] of names) {
  t.test(what, t => {
    if (typeof wanted === 'string') t.equal(name, wanted)
    else t.match(name, wanted)
    t.match(name, /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/)
    t.ok(name.length <= 253)
    t.end()
  })
}

t.test('two keys never have one name', t => {
  const keys = [
    pod({ name: 'a-b', namespace: 'c' }),
    pod({ name: 'a.b', namespace: 'c' }),
    pod({ name: 'A-b', namespace: 'c' }),
    pod({ name: 'b', namespace: 'c.a' }),
    pod({ name: `${'x'.repeat(200)}1` }),
    pod({ name: `${'x'.repeat(200)}2` }),
    container('1'.repeat(13)),
    container('1'.repeat(14)),
  ]
  t.equal(new Set(keys.map(holderObjectName)).size, keys.length)
  const pools = ['fixed-net', 'Fixed-net', 'fixed_net', 'fixed net']
  t.equal(new Set(pools.map(namedObjectName)).size, pools.length)
  t.end()
})
