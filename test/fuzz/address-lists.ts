/** Lists of addresses in annotations, ours and other projects': read as they are meant, or refused with a reason. */
import fc from 'fast-check'
import { candidateLists, formatCandidates } from '../../ipkeeper-server/ipam/request/candidates.ts'
import { parseAddressList, type AddressRun } from '../../ipkeeper-server/ipam/request/parse-addresses.ts'
import type { CandidateList, CandidateRun, PodRequest } from '../../ipkeeper-server/ipam/request/request.ts'
import { readPodRequest } from '../../ipkeeper-server/kubernetes/annotations/read-pod-request.ts'
import { dialectNames, dialects } from '../../ipkeeper-server/kubernetes/dialects/dialects.ts'
import { addressBits } from '../../shared/net/address.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { oddList, writtenList, type WrittenRun } from './arbitraries/address-list-text.ts'
import { oddOrHugeText } from './arbitraries/odd-text.ts'
import { property } from './property.ts'

const meet = (a: CandidateRun, b: CandidateRun): boolean => a.first <= b.last && b.first <= a.last

/** Whether some address is named twice, by comparing each with each. */
const namesTwice = (runs: readonly WrittenRun[]): boolean =>
  runs.some((run, index) =>
    runs.slice(index + 1).some(other => other.family === run.family && meet(run, other)),
  )

/** Whether a run has IPv6 addresses in it that are IPv4 ones, written otherwise. */
const isMixed = ({ family, first, last }: WrittenRun): boolean =>
  family === 6 && first >> 32n <= 0xffffn && last >> 32n >= 0xffffn

const plain = ({ family, first, last, prefixLength }: AddressRun | WrittenRun): string =>
  [family, first, last, prefixLength ?? ''].join(' ')

/** What holds of every list of candidates; throws what does not. */
function checkLists(lists: readonly CandidateList[]): void {
  if (new Set(lists.map(({ family }) => family)).size < lists.length)
    throw new Error('two lists of one family')
  for (const { family, runs } of lists) {
    if (runs.length === 0) throw new Error('a list of nothing')
    for (const [index, run] of runs.entries()) {
      if (run.first < 0n || run.first > run.last || run.last >> BigInt(addressBits[family]) > 0n) {
        throw new Error(`no run: ${run.first}-${run.last}`)
      }
      if (runs.slice(index + 1).some(other => meet(run, other))) throw new Error('an address twice')
    }
  }
}

/** A list as it is printed means the same. */
function checkPrinted(lists: readonly CandidateList[]): void {
  for (const list of lists) {
    const text = formatCandidates(list)
    const again = parseAddressList(text)
    if ('fault' in again) throw new Error(`${text} cannot be read again: ${again.reason}`)
    const [only, ...more] = candidateLists(again, list.source)
    if (!only || more.length > 0 || formatCandidates(only) !== text) throw new Error(`${text} changed`)
    const numbers = ({ runs }: CandidateList): string => runs.map(run => `${run.first}-${run.last}`).join()
    if (numbers(only) !== numbers(list)) throw new Error(`${text} means something else`)
  }
}

export const writtenLists = property({
  name: 'address lists',
  runs: 1000,
  cases: writtenList,
  check: ({ runs, text }) => {
    const read = parseAddressList(text)
    const twice = namesTwice(runs)
    if (runs.some(isMixed)) {
      if (!('fault' in read)) throw new Error('IPv4 addresses in a run of IPv6')
      return 'two families in one'
    }
    if ('fault' in read) {
      if (!twice) throw new Error(read.reason)
      if (read.fault !== 'list' || !read.reason.includes(' both name ')) throw new Error(read.reason)
      return 'an address twice'
    }
    if (twice) throw new Error('an address is named twice, and nobody noticed')
    const [was, is] = [runs.map(plain).join(), read.map(plain).join()]
    if (was !== is) throw new Error(`${was} was read as ${is}`)
    const lists = candidateLists(read, 'x')
    checkLists(lists)
    checkPrinted(lists)
    return lists.length === 2 ? 'both families' : 'one family'
  },
  shares: { 'an address twice': 5, 'two families in one': 0.1, 'both families': 15, 'one family': 25 },
})

export const oddLists = property({
  name: 'texts in place of address lists',
  runs: 1000,
  cases: oddList,
  check: text => {
    const read = parseAddressList(text)
    if ('fault' in read) {
      if (read.reason === '' || read.reason.length > 1000) throw new Error(`reason: ${read.reason}`)
      return read.fault
    }
    const lists = candidateLists(read, 'x')
    checkLists(lists)
    checkPrinted(lists)
    return 'read'
  },
  shares: { read: 20, item: 20, list: 4 },
})

/** Values as the projects document them, by the last word of the key; the hosts are those of one small network. */
const documented: Readonly<Record<string, (hosts: readonly number[]) => readonly string[]>> = {
  ip_address: ([host = 0]) => [`10.22.0.${host}`, `10.22.0.${host}/24`, `10.22.0.${host},fd00::${host}`],
  'pod-ips': ([host = 0]) => [`10.22.0.${host}`, `10.22.0.${host}, fd00::${host}`],
  ipAddrs: ([host = 0]) => [`["10.22.0.${host}"]`, `["10.22.0.${host}", "fd00::${host}"]`],
  ip_pool: hosts => [
    hosts.map(host => `10.22.0.${host}`).join(','),
    hosts.map(host => `10.22.0.${host}/24`).join(','),
    hosts.map(host => `10.22.0.${host},fd00::${host}`).join(';'),
    'pool-1',
  ],
  'ip-pool': hosts => [
    hosts.map(host => `10.22.0.${host}`).join(','),
    hosts.map(host => `10.22.0.${host}/fd00::${host}`).join(','),
  ],
  gateway: () => ['10.22.0.1'],
  mac_address: () => ['00:00:00:53:6B:B6'],
  hwAddr: () => ['1c:0c:0a:c0:ff:ee'],
}

const hosts = fc.array(fc.nat(9), { minLength: 1, maxLength: 4 })

const foreignAnnotation = (key: string): fc.Arbitrary<[key: string, value: string]> => {
  const values = documented[key.slice(key.indexOf('/') + 1)] ?? (() => ['["10.22.0.5"]'])
  const value = fc.oneof(
    { weight: 12, arbitrary: hosts.chain(some => fc.constantFrom(...values(some))) },
    { weight: 3, arbitrary: oddList },
    { weight: 2, arbitrary: writtenList.map(({ runs }) => JSON.stringify(runs.map(({ text }) => text))) },
    { weight: 1, arbitrary: oddOrHugeText },
  )
  return value.map(text => [key, text])
}

/** Keys of one dialect, mostly with values of their kind. */
const foreign = fc.constantFrom(...dialectNames).chain(name =>
  fc
    .subarray(Object.keys(dialects[name]), { minLength: 1 })
    .chain(keys => fc.tuple(...keys.map(foreignAnnotation)))
    .map(pairs => ({ name, annotations: Object.fromEntries(pairs) })),
)

export const dialectValues = property({
  name: 'annotations of other projects',
  runs: 1000,
  cases: foreign,
  check: ({ name, annotations }) => {
    let request: PodRequest
    try {
      request = readPodRequest({
        podAnnotations: annotations,
        namespace: undefined,
        ifname: 'eth0',
        dialects: new Set([name]),
      })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (!Object.keys(annotations).some(key => error.message.includes(key))) {
        throw new Error('the annotation is not named', { cause: error })
      }
      if (error.message.length > 2000) throw new Error(`a message of ${error.message.length} characters`)
      return error.code
    }
    const { addresses, candidates } = request
    checkLists(candidates)
    const families = [
      ...addresses.map(({ address }) => address.family),
      ...candidates.map(({ family }) => family),
    ]
    if (new Set(families).size < families.length) throw new Error('two answers for one family')
    if (candidates.length > 0) return 'candidates'
    return addresses.length > 0 ? 'addresses' : 'something else'
  },
  shares: {
    candidates: 5,
    addresses: 5,
    'something else': 1,
    IPK_ADDRESS_INVALID: 10,
    IPK_ANNOTATION_INVALID: 5,
    IPK_REQUESTS_DISAGREE: 0.5,
  },
})
