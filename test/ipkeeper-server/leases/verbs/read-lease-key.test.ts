import t from 'tap'
import { readLeaseKey } from '../../../../ipkeeper-server/leases/verbs/read-lease-key.ts'

for (const [segment, text, address] of [
  ['default', '10.22.0.50', '10.22.0.50'],
  ['lab', 'FD00:22:0::0050', 'fd00:22::50'],
  ['lab', '::ffff:10.22.0.9', '10.22.0.9'],
] as const) {
  t.test(`${segment} ${text}`, t => {
    const named = readLeaseKey(segment, text)
    t.strictSame(named.key, { segment, address })
    t.equal(named.address.family, address.includes(':') ? 6 : 4)
    t.end()
  })
}

for (const [segment, text, code, hint] of [
  ['default', '10.22.0.050', 'IPK_ADDRESS_INVALID', /write one address, such as 10\.22\.0\.50/],
  ['default', '10.22.0.50/16', 'IPK_ADDRESS_INVALID', /without "\/prefix"/],
  ['default', '10.22.0.50,fd00::1', 'IPK_ADDRESS_INVALID', /one address/],
  ['default', '', 'IPK_ADDRESS_INVALID', /one address/],
  ['Lab', '10.22.0.50', 'IPK_REQUEST_INVALID', /"ipam\.segment"/],
  ['', '10.22.0.50', 'IPK_REQUEST_INVALID', /"ipam\.segment"/],
] as const) {
  t.test(`refused: "${segment}" "${text}"`, t => {
    t.throws(() => readLeaseKey(segment, text), { code, hint })
    t.end()
  })
}
