import t from 'tap'
import { parseAddressRun } from '../../../../ipkeeper-server/ipam/request/parse-address-run.ts'
import { formatAddress } from '../../../../shared/net/address.ts'

for (const [text, run] of [
  ['10.0.0.1', '10.0.0.1-10.0.0.1'],
  ['10.0.0.1-10.0.0.9', '10.0.0.1-10.0.0.9'],
  ['10.0.0.1 - 10.0.0.9', '10.0.0.1-10.0.0.9'],
  ['10.0.0.0/30', '10.0.0.0-10.0.0.3'],
  ['10.0.0.2/30', '10.0.0.0-10.0.0.3'],
  ['fd00::1', 'fd00::1-fd00::1'],
  ['fd00::1-fd00::ff', 'fd00::1-fd00::ff'],
  ['fd00::/126', 'fd00::-fd00::3'],
  ['', undefined],
  ['10.0.0', undefined],
  ['10.0.0.01', undefined],
  ['10.0.0.9-10.0.0.1', undefined],
  ['10.0.0.1-fd00::1', undefined],
  ['10.0.0.1-', undefined],
  ['-10.0.0.1', undefined],
  ['10.0.0.1-10.0.0.2-10.0.0.3', undefined],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/8-10.0.0.9', undefined],
] as const) {
  const parsed = parseAddressRun(text)
  t.equal(parsed && `${formatAddress(parsed.first)}-${formatAddress(parsed.last)}`, run, `"${text}"`)
}
