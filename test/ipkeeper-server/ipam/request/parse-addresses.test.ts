import t from 'tap'
import { candidateLists, formatCandidates } from '../../../../ipkeeper-server/ipam/request/candidates.ts'
import {
  parseAddressList,
  parseAddressRun,
  parseAddressRange,
} from '../../../../ipkeeper-server/ipam/request/parse-addresses.ts'
import { formatAddress } from '../../../../shared/net/address.ts'

/** What a list means, printed per family. */
function meaning(text: string): readonly string[] | string {
  const runs = parseAddressList(text)
  return 'fault' in runs ? runs.reason : candidateLists(runs, 'x').map(formatCandidates)
}

const good: readonly (readonly [name: string, text: string, ...lists: string[]])[] = [
  ['an address', '10.22.0.50', '10.22.0.50'],
  ['addresses in their order', '10.22.0.52,10.22.0.50, 10.22.0.51', '10.22.0.52, 10.22.0.50, 10.22.0.51'],
  ['address with prefix', '10.22.0.50/16,fd00::5/64', '10.22.0.50/16', 'fd00::5/64'],
  ['range with -', '10.22.0.50-10.22.0.52', '10.22.0.50-10.22.0.52'],
  ['range with ..', '10.22.0.50..10.22.0.52', '10.22.0.50-10.22.0.52'],
  ['range with ~', '10.22.0.50~10.22.0.52', '10.22.0.50-10.22.0.52'],
  ['range with blanks', ' 10.22.0.50 -\t10.22.0.52 ', '10.22.0.50-10.22.0.52'],
  ['range with blanks and dots', '10.22.0.50 .. 10.22.0.52', '10.22.0.50-10.22.0.52'],
  ['range of one', '10.22.0.50-10.22.0.50', '10.22.0.50'],
  ['range by last octet', '10.22.0.50-52', '10.22.0.50-10.22.0.52'],
  ['range by last octet, dots', '10.22.0.50..255', '10.22.0.50-10.22.0.255'],
  ['range by last octet, zero', '10.22.0.0~0', '10.22.0.0'],
  ['IPv6 range', 'fd00::50-fd00::52', 'fd00::50-fd00::52'],
  ['IPv6 range, dots and tilde', 'fd00::50..fd00::52,fd01::~fd01::1', 'fd00::50-fd00::52, fd01::-fd01::1'],
  ['CIDR', '10.22.0.48/29', '10.22.0.49-10.22.0.54'],
  ['/30', '10.22.0.48/30', '10.22.0.49-10.22.0.50'],
  ['/31 whole', '10.22.0.48/31', '10.22.0.48-10.22.0.49'],
  ['/31 with host bit is an address', '10.22.0.49/31', '10.22.0.49/31'],
  ['/32 whole', '10.22.0.48/32', '10.22.0.48'],
  ['/0', '0.0.0.0/0', '0.0.0.1-255.255.255.254'],
  ['IPv6 /48', 'fd00:22::/48', 'fd00:22::1-fd00:22:0:ffff:ffff:ffff:ffff:ffff'],
  ['IPv6 /126', 'fd00::/126', 'fd00::1-fd00::3'],
  ['IPv6 /127 whole', 'fd00::/127', 'fd00::-fd00::1'],
  ['IPv6 /128 whole', 'fd00::/128', 'fd00::'],
  [
    'both families, each in its order',
    'fd00::9, 10.22.0.9, fd00::1-fd00::2, 10.22.0.1',
    'fd00::9, fd00::1-fd00::2',
    '10.22.0.9, 10.22.0.1',
  ],
  ['neighbours do not overlap', '10.22.0.1-5,10.22.0.6', '10.22.0.1-10.22.0.5, 10.22.0.6'],
  ['equal numbers of two families', '0.0.0.5,::5', '0.0.0.5', '::5'],
  ['IPv6 beside what is IPv4', '::/81,::1:0:0:0', '::1-::7fff:ffff:ffff, ::1:0:0:0'],
  ['IPv4 written as IPv6', '::ffff:10.22.0.5', '10.22.0.5'],
]
for (const [name, text, ...lists] of good) {
  t.test(`read: ${name}`, t => {
    t.strictSame(meaning(text), lists)
    t.end()
  })
}

const bad: readonly (readonly [name: string, text: string, fault: 'item' | 'list', reason: string])[] = [
  ['nothing', '', 'item', '"" is no IP address, range (FIRST-LAST) or CIDR'],
  ['an empty item', '10.22.0.1,,10.22.0.2', 'item', '"" is no IP address, range (FIRST-LAST) or CIDR'],
  ['a comma at the end', '10.22.0.1,', 'item', '"" is no IP address, range (FIRST-LAST) or CIDR'],
  ['a word', 'banana', 'item', '"banana" is no IP address, range (FIRST-LAST) or CIDR'],
  ['a zero in front', '10.22.1.050', 'item', '"10.22.1.050" is no IP address, range (FIRST-LAST) or CIDR'],
  [
    'a prefix too long',
    '10.22.0.0/33',
    'item',
    '"10.22.0.0/33" is no IP address, range (FIRST-LAST) or CIDR',
  ],
  ['half a range', '10.22.0.50-', 'item', '"10.22.0.50-" is no IP address, range (FIRST-LAST) or CIDR'],
  ['the other half', '-10.22.0.50', 'item', '"-10.22.0.50" is no IP address, range (FIRST-LAST) or CIDR'],
  ['two signs', '10.22.0.1-2-3', 'item', '"10.22.0.1-2-3" is no IP address, range (FIRST-LAST) or CIDR'],
  ['three dots', '10.22.0.1...3', 'item', '"10.22.0.1...3" is no IP address, range (FIRST-LAST) or CIDR'],
  ['octet too high', '10.22.0.1-256', 'item', '"10.22.0.1-256" is no IP address, range (FIRST-LAST) or CIDR'],
  ['octet with zero', '10.22.0.1-05', 'item', '"10.22.0.1-05" is no IP address, range (FIRST-LAST) or CIDR'],
  ['two octets', '10.22.0.1-1.5', 'item', '"10.22.0.1-1.5" is no IP address, range (FIRST-LAST) or CIDR'],
  ['last group of IPv6', 'fd00::1-52', 'item', '"fd00::1-52" is no IP address, range (FIRST-LAST) or CIDR'],
  ['mapped', '::ffff:10.0.0.1-9', 'item', '"::ffff:10.0.0.1-9" is no IP address, range (FIRST-LAST) or CIDR'],
  [
    'prefix in a range',
    '10.0.0.1/24-9',
    'item',
    '"10.0.0.1/24-9" is no IP address, range (FIRST-LAST) or CIDR',
  ],
  [
    'semicolons',
    '10.0.0.1;10.0.0.2',
    'item',
    '"10.0.0.1;10.0.0.2" is no IP address, range (FIRST-LAST) or CIDR',
  ],
  [
    'backwards',
    '10.22.0.52-10.22.0.50',
    'list',
    '"10.22.0.52-10.22.0.50" runs backwards: 10.22.0.52 is above 10.22.0.50',
  ],
  [
    'backwards, short',
    '10.22.0.52-50',
    'list',
    '"10.22.0.52-50" runs backwards: 10.22.0.52 is above 10.22.0.50',
  ],
  ['two families', '10.22.0.1-fd00::5', 'list', '"10.22.0.1-fd00::5" begins in IPv4 and ends in IPv6'],
  [
    'IPv4 within IPv6',
    '::/80',
    'list',
    '"::/80" has IPv4 addresses written as IPv6 (::ffff:0.0.0.0/96) within it',
  ],
  [
    'IPv4 at the end of IPv6',
    '::1-::ffff:10.0.0.1',
    'list',
    '"::1-::ffff:10.0.0.1" begins in IPv6 and ends in IPv4',
  ],
  ['twice', '10.22.0.1,10.22.0.2,10.22.0.1', 'list', '"10.22.0.1" and "10.22.0.1" both name 10.22.0.1'],
  ['twice, otherwise spelt', 'fd00::1,FD00:0::1', 'list', '"fd00::1" and "FD00:0::1" both name fd00::1'],
  ['in a later range', '10.22.0.5, 10.22.0.1-9', 'list', '"10.22.0.5" and "10.22.0.1-9" both name 10.22.0.5'],
  [
    'in an earlier one',
    '10.22.0.1-9, 10.22.0.5/16',
    'list',
    '"10.22.0.1-9" and "10.22.0.5/16" both name 10.22.0.5',
  ],
  ['by its end', '10.22.0.1-5,10.22.0.5-9', 'list', '"10.22.0.1-5" and "10.22.0.5-9" both name 10.22.0.5'],
  [
    'a block in a block',
    'fd00::/48, fd00:0:0:1::/64',
    'list',
    '"fd00::/48" and "fd00:0:0:1::/64" both name fd00:0:0:1::1',
  ],
  [
    'too many items',
    Array.from({ length: 1025 }, (_, index) => `::${index.toString(16)}`).join(','),
    'list',
    'has 1025 items, of which at most 1024 are read',
  ],
  [
    'too many characters',
    ' '.repeat(65_537),
    'list',
    'has 65537 characters, of which at most 65536 are read',
  ],
]
for (const [name, text, fault, reason] of bad) {
  t.test(`refused: ${name}`, t => {
    t.strictSame(parseAddressList(text), { fault, reason })
    t.end()
  })
}

t.test('as many items as are read', t => {
  const runs = parseAddressList(
    Array.from({ length: 1024 }, (_, index) => `::${index.toString(16)}`).join(','),
  )
  t.equal('fault' in runs ? runs.reason : runs.length, 1024)
  t.end()
})

t.test('a run keeps the text of its item', t => {
  t.match(parseAddressRun(' 10.22.0.1 - 9 '), { family: 4, text: '10.22.0.1 - 9' })
  t.end()
})

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
  const parsed = parseAddressRange(text)
  t.equal(parsed && `${formatAddress(parsed.first)}-${formatAddress(parsed.last)}`, run, `"${text}"`)
}
