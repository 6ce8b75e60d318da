import t from 'tap'
import {
  candidateAt,
  candidatesOf,
  countOf,
  firstOutside,
  placeOf,
  usableRuns,
  candidateLists,
  formatCandidates,
  requestWithin,
  sameCandidates,
} from '../../../../ipkeeper-server/ipam/request/candidates.ts'
import { canonicalPool, type RangeSet } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import type { CandidateList, AddressRequest } from '../../../../ipkeeper-server/ipam/request/request.ts'
import { formatAddress, parseAddress, type Address } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { candidatesFrom } from '../../leases/test-service.ts'
import {
  parseAddressList,
  parseAddressRequest,
} from '../../../../ipkeeper-server/ipam/request/parse-addresses.ts'

const address = (text: string): Address => {
  const parsed = parseAddress(text)
  if (!parsed) throw new Error(text)
  return parsed
}
/** Ranges as "10.22.0.0/24", with what is excluded after a "!". */
function rangeSet(...texts: readonly string[]): RangeSet {
  const pool = canonicalPool('net', 'default', [
    texts.map(text => {
      const [cidr = '', ...excluded] = text.split('!')
      const subnet = parseCidr(cidr)
      if (!subnet) throw new Error(text)
      const exclude = excluded.map(run => {
        const [first = '', last = first] = run.split('-')
        return { first: address(first), last: address(last) }
      })
      return { subnet, exclude }
    }),
  ])
  return pool.rangeSets[0] ?? []
}
const list = (text: string): CandidateList => {
  const [only] = candidatesFrom(text, 'test')
  if (!only) throw new Error(text)
  return only
}
const show = (found: { readonly address: Address } | undefined): string =>
  found ? formatAddress(found.address) : 'none'

/** What a range set can give of a list, in order; the Nth is what ordinal N gets. */
for (const [name, ranges, text, expected] of [
  ['one address', ['10.22.0.0/24'], '10.22.0.50', '10.22.0.50'],
  ['a run', ['10.22.0.0/24'], '10.22.0.50-10.22.0.52', '10.22.0.50 10.22.0.51 10.22.0.52'],
  [
    'several runs, in the order in which they are written',
    ['10.22.0.0/24'],
    '10.22.0.60,10.22.0.50-10.22.0.51,10.22.0.10',
    '10.22.0.60 10.22.0.50 10.22.0.51 10.22.0.10',
  ],
  [
    'the gateway, the network and the broadcast address fall away',
    ['10.22.0.0/29'],
    '10.22.0.0-10.22.0.7',
    '10.22.0.2 10.22.0.3 10.22.0.4 10.22.0.5 10.22.0.6',
  ],
  [
    'what is excluded falls away, also in the middle',
    ['10.22.0.0/24!10.22.0.51-10.22.0.52!10.22.0.54'],
    '10.22.0.50-10.22.0.55',
    '10.22.0.50 10.22.0.53 10.22.0.55',
  ],
  [
    'over several ranges of the set',
    ['10.22.0.0/30', '10.22.0.4/30'],
    '10.22.0.2-10.22.0.6',
    '10.22.0.2 10.22.0.6',
  ],
  [
    'ranges of the set in another order than the addresses',
    ['10.22.0.8/29', '10.22.0.0/29'],
    '10.22.0.5-10.22.0.11',
    '10.22.0.5 10.22.0.6 10.22.0.10 10.22.0.11',
  ],
  [
    'IPv6: the highest address may be given',
    ['fd00:22::/126'],
    'fd00:22::1-fd00:22::3',
    'fd00:22::2 fd00:22::3',
  ],
  ['nothing is left', ['10.22.0.0/24!10.22.0.50'], '10.22.0.50', ''],
  ['another family', ['10.22.0.0/24'], 'fd00::5', ''],
] as const) {
  t.test(name, t => {
    const wanted = list(text)
    const runs = usableRuns(rangeSet(...ranges), wanted)
    const all = [...candidatesOf(wanted.family, runs)]
    t.equal(all.map(show).join(' '), expected)
    t.equal(countOf(runs), BigInt(all.length))
    for (const [place, candidate] of all.entries()) {
      t.equal(candidate.index, BigInt(place))
      t.equal(show(candidateAt(wanted.family, runs, BigInt(place))), show(candidate), `the one at ${place}`)
      t.equal(placeOf(runs, candidate.address), BigInt(place), `where ${show(candidate)} is`)
    }
    for (const beyond of [-1n, BigInt(all.length), BigInt(all.length) + 1_000_000n])
      t.equal(candidateAt(wanted.family, runs, beyond), undefined, `none at ${beyond}`)
    t.equal(placeOf(runs, address('10.99.0.1')), undefined)
    t.end()
  })
}

t.test('a prefix length goes with its address alone', t => {
  const wanted = list('10.22.0.50/24,10.22.0.60')
  const runs = usableRuns(rangeSet('10.22.0.0/24'), wanted)
  t.strictSame(
    [...candidatesOf(4, runs)].map(({ prefixLength }) => prefixLength),
    [24, undefined],
  )
  t.equal(candidateAt(4, runs, 0n)?.prefixLength, 24)
  t.equal(candidateAt(4, runs, 1n)?.prefixLength, undefined)
  t.end()
})

t.test('what lies in no range', t => {
  for (const [ranges, text, outside] of [
    [['10.22.0.0/24'], '10.22.0.50-10.22.0.52', undefined],
    [['10.22.0.0/24'], '10.22.0.50,10.23.0.1', '10.23.0.1'],
    [['10.22.0.0/24'], '10.22.0.250-10.22.1.5', '10.22.0.255'],
    [['10.22.0.0/24', '10.22.1.0/24'], '10.22.0.250-10.22.0.254,10.22.1.1-10.22.1.5', undefined],
    [['fd00:22::/64'], 'fd00:22::1-fd00:22::ffff:ffff:ffff:ffff', undefined],
    [['fd00:22::/64'], 'fd00:22::1-fd00:22:0:1::', 'fd00:22:0:1::'],
  ] as const) {
    const found = firstOutside(rangeSet(...ranges), list(text))
    t.equal(found && formatAddress(found), outside, text)
  }
  t.end()
})

t.test('a /8 and a /48 are a handful of runs', t => {
  for (const [range, text, last, count] of [
    ['10.0.0.0/8', '10.0.0.1-10.255.255.254', '10.255.255.254', 2n ** 24n - 3n],
    [
      'fd00:22::/48',
      'fd00:22::1-fd00:22:0:ffff:ffff:ffff:ffff:ffff',
      'fd00:22:0:ffff:ffff:ffff:ffff:ffff',
      2n ** 80n - 2n,
    ],
  ] as const) {
    const wanted = list(text)
    t.equal(firstOutside(rangeSet(range), wanted), undefined)
    const runs = usableRuns(rangeSet(range), wanted)
    t.equal(runs.length, 1)
    t.equal(countOf(runs), count)
    t.equal(show(candidateAt(wanted.family, runs, count - 1n)), last)
    t.equal(placeOf(runs, address(last)), count - 1n)
    t.equal(candidateAt(wanted.family, runs, count), undefined)
  }
  t.end()
})

function oneFamily(text: string): CandidateList {
  const runs = parseAddressList(text)
  if ('fault' in runs) throw new Error(runs.reason)
  const [only, ...more] = candidateLists(runs, 'annotation ipkeeper.io/ips')
  if (!only || more.length > 0) throw new Error('not one family')
  return only
}

function request(text: string): AddressRequest {
  const read = parseAddressRequest(text, 'runtimeConfig.ips', 'cni')
  if (!read) throw new Error(text)
  return read
}

for (const [name, candidates, wanted, prefixLength] of [
  ['first', '10.22.0.50-52', '10.22.0.50', null],
  ['last', '10.22.0.50-52', '10.22.0.52', null],
  ['below', '10.22.0.50-52', '10.22.0.49', undefined],
  ['above', '10.22.0.50-52', '10.22.0.53', undefined],
  ['between runs', '10.22.0.50,10.22.0.52', '10.22.0.51', undefined],
  ['in the second run', '10.22.0.50,10.22.0.52', '10.22.0.52', null],
  ['of the other family', '::1', '0.0.0.1', undefined],
  ['prefix of the request', '10.22.0.50', '10.22.0.50/16', 16],
  ['prefix of the list', '10.22.0.50/16', '10.22.0.50', 16],
  ['one prefix', '10.22.0.50/16', '10.22.0.50/16', 16],
  ['two prefixes', '10.22.0.50/16', '10.22.0.50/24', undefined],
] as const) {
  t.test(`within: ${name}`, t => {
    const within = requestWithin(oneFamily(candidates), request(wanted))
    t.strictSame(
      within && { ...within },
      prefixLength === undefined
        ? undefined
        : {
            address: request(wanted).address,
            ...(prefixLength !== null && { prefixLength }),
            source: 'runtimeConfig.ips',
            channel: 'cni',
          },
    )
    t.end()
  })
}

for (const [one, other, same] of [
  ['10.22.0.50-52', '10.22.0.50,10.22.0.51,10.22.0.52', true],
  ['10.22.0.50-51,10.22.0.52-53', '10.22.0.50..53', true],
  ['10.22.0.48/29', '10.22.0.49-54', true],
  ['10.22.0.50/16', '10.22.0.50', true],
  ['10.22.0.50,10.22.0.51', '10.22.0.51,10.22.0.50', false],
  ['10.22.0.50-52', '10.22.0.50-51', false],
  ['10.22.0.50', '10.22.0.50,10.22.0.52', false],
  ['::1', '0.0.0.1', false],
] as const) {
  t.test(`${one} and ${other} are ${same ? '' : 'not '}the same`, t => {
    t.equal(sameCandidates(oneFamily(one), oneFamily(other)), same)
    t.equal(sameCandidates(oneFamily(other), oneFamily(one)), same)
    t.end()
  })
}

t.test('printed in one spelling', t => {
  t.equal(
    formatCandidates(oneFamily('10.22.0.50..52,10.22.0.60/16 ,10.22.1.0/30')),
    '10.22.0.50-10.22.0.52, 10.22.0.60/16, 10.22.1.1-10.22.1.2',
  )
  t.end()
})
