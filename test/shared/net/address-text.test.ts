import t from 'tap'
import { isIpv6, withoutPrefix } from '../../../shared/net/address-text.ts'

t.test('what an address tells as text', t => {
  for (const [text, ipv6, bare] of [
    ['10.22.0.50/16', false, '10.22.0.50'],
    ['10.22.0.50', false, '10.22.0.50'],
    ['fd00:22::50/64', true, 'fd00:22::50'],
    ['::/0', true, '::'],
    ['0.0.0.0/0', false, '0.0.0.0'],
  ] as const) {
    t.equal(isIpv6(text), ipv6, text)
    t.equal(withoutPrefix(text), bare, text)
  }
  t.end()
})
