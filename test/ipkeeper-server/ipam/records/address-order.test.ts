import t from 'tap'
import { inAddressOrder } from '../../../../ipkeeper-server/ipam/records/address-order.ts'

t.test('by segment, IPv4 before IPv6, then by number', t => {
  const ordered = [
    ['default', 'no address'],
    ['default', '10.22.0.9'],
    ['default', '10.22.0.10'],
    ['default', '10.22.0.10'],
    ['default', 'fd00::2'],
    ['lab', '10.22.0.2'],
  ].map(([segment = '', address = '']) => ({ segment, address }))
  t.strictSame(inAddressOrder(ordered.toReversed()), ordered)
  t.strictSame(inAddressOrder(ordered), ordered)
  t.end()
})
