import fc from 'fast-check'
import t from 'tap'
import { leaseName, leaseOfName } from '../../../../ipkeeper-server/store/shared/lease-name.ts'
import { formatAddress } from '../../../../shared/net/address.ts'

const dns1123 = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/

const names: readonly (readonly [segment: string, address: string, name: string | RegExp])[] = [
  ['default', '10.22.0.50', 'default-010-022-000-050'],
  ['default', 'fd00:22::50', 'default-fd00-0022-0000-0000-0000-0000-0000-0050'],
  ['rack-7', '0.0.0.0', 'rack-7-000-000-000-000'],
  ['a', '255.255.255.255', 'a-255-255-255-255'],
  ['x-001', '10.0.0.1', 'x-001-010-000-000-001'],
  ['x-0001', '::1', 'x-0001-0000-0000-0000-0000-0000-0000-0000-0001'],
  ['Rack_7', '10.22.0.50', /^rack-7-010-022-000-050-[0-9a-f]{16}$/],
  ['rack_7', '10.22.0.50', /^rack-7-010-022-000-050-[0-9a-f]{16}$/],
  ['-a', '10.22.0.50', /^a-010-022-000-050-[0-9a-f]{16}$/],
  ['', '10.22.0.50', /^010-022-000-050-[0-9a-f]{16}$/],
  ['büro', '10.22.0.50', /^b-ro-010-022-000-050-[0-9a-f]{16}$/],
  ['s'.repeat(237), '10.22.0.50', `${'s'.repeat(237)}-010-022-000-050`],
  ['s'.repeat(238), '10.22.0.50', new RegExp(`^s{63}-010-022-000-050-[0-9a-f]{16}$`)],
  ['default', '010.22.0.50', /^default-010-22-0-50-[0-9a-f]{16}$/],
  ['default', '::ffff:10.22.0.50', /^default-ffff-10-22-0-50-[0-9a-f]{16}$/],
]

t.test('names', t => {
  for (const [segment, address, name] of names) {
    const made = leaseName({ segment, address })
    if (typeof name === 'string') {
      t.equal(made, name)
      t.strictSame(leaseOfName(made), { segment, address })
    } else {
      t.match(made, name)
      t.equal(leaseOfName(made), undefined, 'a hash leads nowhere')
    }
    t.match(made, dns1123)
    t.ok(made.length <= 253)
  }
  t.equal(new Set(names.map(([segment, address]) => leaseName({ segment, address }))).size, names.length)
  t.end()
})

t.test('what is no name', t => {
  for (const name of ['', 'default', 'default-10-22-0-50', 'default-010-022-000-999', '-010-022-000-050'])
    t.equal(leaseOfName(name), undefined, name)
  t.equal(leaseOfName('default-0000-0000-0000-0000-0000-ffff-0a16-0032'), undefined, 'an address of IPv4')
  t.end()
})

t.test('two keys never share a name', t => {
  const address = fc.oneof(
    fc.bigInt(0n, (1n << 32n) - 1n).map(value => formatAddress({ family: 4, value })),
    fc.bigInt(0n, (1n << 128n) - 1n).map(value => formatAddress({ family: 6, value })),
  )
  const segment = fc.oneof(
    fc.stringMatching(/^[a-z0-9-]{1,12}$/),
    fc.stringMatching(/^[a-f0-9]{1,4}(-[0-9a-f]{3,4}){1,8}$/),
    fc.string({ maxLength: 12 }),
  )
  const key = fc.record({ segment, address })
  fc.assert(
    fc.property(key, key, (a, b) => {
      const name = leaseName(a)
      const back = leaseOfName(name)
      const same = a.segment === b.segment && a.address === b.address
      return (
        dns1123.test(name) &&
        (back === undefined || (back.segment === a.segment && back.address === a.address)) &&
        (same || name !== leaseName(b))
      )
    }),
  )
  t.end()
})
