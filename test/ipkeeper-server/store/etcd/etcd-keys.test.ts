import fc from 'fast-check'
import t from 'tap'
import { endOfPrefix, fromEtcdKey, toEtcdKey } from '../../../../ipkeeper-server/store/etcd/etcd-keys.ts'
import type { SharedKind } from '../../../../ipkeeper-server/store/shared/engine.ts'

const standardPrefix = '/ipkeeper/v1/'

const places: readonly (readonly [kind: SharedKind, key: string, place: string])[] = [
  ['lease', '["default","10.22.0.50"]', 'leases/default-010-022-000-050'],
  ['lease', '["default","fd00:22::50"]', 'leases/default-fd00-0022-0000-0000-0000-0000-0000-0050'],
  ['lease', '["Rack_7","10.22.0.50"]', 'leases/Rack_7/10.22.0.50'],
  ['lease', '["a/b","10.22.0.50"]', 'leases/a%2Fb/10.22.0.50'],
  ['lease', 'default-010-022-000-050', 'leases/=default-010-022-000-050'],
  ['reservation', '["default","10.22.0.50"]', 'reservations/default/10.22.0.50'],
  ['holder', '["pod","net","shop","web-0","eth0"]', 'holders/pod/net/shop/web-0/eth0'],
  ['holder', '["container","net","3f2a","eth0"]', 'holders/container/net/3f2a/eth0'],
  ['holder', '["a/","b"]', 'holders/a%2F/b'],
  ['holder', '["a","/b"]', 'holders/a/%2Fb'],
  ['holder', '["",""]', 'holders//'],
  ['holder', '["a",4]', 'holders/a/#4'],
  ['holder', '["a","#4"]', 'holders/a/%234'],
  ['holder', '["a","\\ud800"]', 'holders/=%5B%22a%22%2C%22%5Cud800%22%5D'],
  ['holder', '["a", "b"]', 'holders/=%5B%22a%22%2C%20%22b%22%5D'],
  ['pool', 'prod', 'pools/prod'],
  ['pool', '["a","b"]', 'pools/%5B%22a%22%2C%22b%22%5D'],
  ['quota', '["prod","shop",4]', 'quotas/prod/shop/#4'],
  ['mac', '["default",2]', 'macs/default/#2'],
]

t.test('where records are', t => {
  for (const [kind, key, place] of places) {
    t.equal(toEtcdKey(standardPrefix, kind, key), standardPrefix + place)
    t.strictSame(fromEtcdKey(standardPrefix, standardPrefix + place), { kind, key })
  }
  t.end()
})

t.test('what is none of ours', t => {
  for (const place of [
    ...['', 'probe', 'leases', 'leases/', 'leases/default', 'leases/default-10-022-000-050', 'other/x'],
    ...[
      'holders/a/%2f',
      'holders/%',
      'holders/a/#04',
      'holders/a/#x',
      'pools/%2',
      'leases/default/10.22.0.50',
    ],
  ])
    t.equal(fromEtcdKey(standardPrefix, standardPrefix + place), undefined, place)
  t.equal(fromEtcdKey(standardPrefix, '/elsewhere/pools/prod'), undefined)
  t.end()
})

t.test('the end of a prefix', t => {
  t.equal(endOfPrefix('/ipkeeper/v1/'), '/ipkeeper/v10')
  t.end()
})

t.test('no two keys meet, and each is found again', t => {
  const part = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.integer())
  const key = fc.oneof(
    fc.array(part, { maxLength: 5 }).map(parts => JSON.stringify(parts)),
    fc.string(),
  )
  const kind = fc.constantFrom<SharedKind>('lease', 'holder', 'reservation', 'pool', 'quota', 'mac')
  fc.assert(
    fc.property(kind, key, (kind, key) => {
      const found = fromEtcdKey('/p/', toEtcdKey('/p/', kind, key))
      return found?.kind === kind && found.key === key
    }),
  )
  t.end()
})
