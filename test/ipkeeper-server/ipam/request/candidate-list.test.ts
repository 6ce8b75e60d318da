import t from 'tap'
import {
  candidateLists,
  formatCandidates,
  requestWithin,
  sameCandidates,
} from '../../../../ipkeeper-server/ipam/request/candidate-list.ts'
import { parseAddressList } from '../../../../ipkeeper-server/ipam/request/parse-address-list.ts'
import { parseAddressRequest } from '../../../../ipkeeper-server/ipam/request/parse-address-request.ts'
import type { AddressRequest, CandidateList } from '../../../../ipkeeper-server/ipam/request/request.ts'

function list(text: string): CandidateList {
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
    const within = requestWithin(list(candidates), request(wanted))
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
    t.equal(sameCandidates(list(one), list(other)), same)
    t.equal(sameCandidates(list(other), list(one)), same)
    t.end()
  })
}

t.test('printed in one spelling', t => {
  t.equal(
    formatCandidates(list('10.22.0.50..52,10.22.0.60/16 ,10.22.1.0/30')),
    '10.22.0.50-10.22.0.52, 10.22.0.60/16, 10.22.1.1-10.22.1.2',
  )
  t.end()
})
