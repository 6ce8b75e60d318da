import { showJson } from '../../shared/json/fold.ts'
import { parseMac } from '../../shared/net/mac.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { nearestWord } from '../../shared/text/nearest-word.ts'
import { parseAddressRequest } from '../ipam/parse-address-request.ts'
import type { AddressRequest, PodRequest } from '../ipam/request.ts'
import { parseRetention } from '../ipam/retention.ts'

const prefix = 'ipkeeper.io/'

/** The interface that a key without ".IFNAME" speaks of: the pod's first one. */
const firstInterface = 'eth0'

type Reader = (key: string, value: string) => Partial<PodRequest>

const invalid = (key: string, value: string, expected: string): Problem =>
  new Problem('IPK_ANNOTATION_INVALID', `annotation ${key}: ${showJson(value)} ${expected}`)

const notYet: Reader = key => {
  throw new Problem('IPK_UNSUPPORTED', `annotation ${key} is not supported by this version of ipkeeper`, {
    hint: 'remove the annotation, or upgrade ipkeeper',
  })
}

function readAddresses(key: string, value: string): Partial<PodRequest> {
  const addresses: AddressRequest[] = value.split(',').map(part => {
    const request = parseAddressRequest(part.trim(), `annotation ${key}`, 'annotation')
    if (!request) {
      throw new Problem(
        'IPK_ADDRESS_INVALID',
        `annotation ${key}: ${showJson(part.trim())} is no IP address (value ${showJson(value)})`,
      )
    }
    return request
  })
  for (const family of [4, 6]) {
    if (addresses.filter(request => request.address.family === family).length > 1) {
      throw invalid(key, value, `names more than one IPv${family} address`)
    }
  }
  return { addresses }
}

/** Every key under ipkeeper.io/, and how its value is read. */
const readers: Readonly<Record<string, Reader>> = {
  ip: readAddresses,
  ips: notYet,
  pool: notYet,
  retain: (key, value) => {
    const retain = parseRetention(value)
    if (retain === undefined) {
      throw invalid(
        key,
        value,
        'is no retention: release, while-owner-exists, forever, or a duration such as 30m',
      )
    }
    return { retain }
  },
  mac: (key, value) => {
    const mac = parseMac(value)
    if (mac === undefined) throw invalid(key, value, 'is no unicast MAC address such as 02:42:ac:11:00:02')
    return { mac }
  },
}

/** Keys that this version obeys: only these are worth proposing. */
const working = Object.keys(readers).filter(word => readers[word] !== notYet)

/**
 * What a pod's annotations ask for on one interface. Keys of other interfaces (".IFNAME") are checked for spelling only.
 * Throws IPK_ANNOTATION_INVALID, IPK_ADDRESS_INVALID or IPK_UNSUPPORTED, naming key and value; keys outside ipkeeper.io/
 * are nobody's business here.
 */
export function readPodAnnotations(
  annotations: Readonly<Record<string, string>>,
  ifname: string,
): Partial<PodRequest> {
  const requests: Partial<PodRequest>[] = []
  const spokenFor = new Map<string, { key: string; value: string }>()
  for (const [key, value] of Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!key.startsWith(prefix)) continue
    const [word = '', ...rest] = key.slice(prefix.length).split('.')
    const reader = Object.hasOwn(readers, word) ? readers[word] : undefined
    if (!reader) {
      const meant = nearestWord(word, working)
      const suffix = rest.length > 0 ? `.${rest.join('.')}` : ''
      throw new Problem(
        'IPK_ANNOTATION_INVALID',
        `unknown annotation ${key}${meant ? `; did you mean ${prefix}${meant}${suffix}?` : ''}`,
        {
          details: `value ${showJson(value)}; known keys: ${working.map(known => prefix + known).join(', ')}`,
        },
      )
    }
    if (rest.length > 0 && rest.join('.') === '')
      throw invalid(key, value, 'is for no interface: a name has to follow the dot')
    const target = rest.length > 0 ? rest.join('.') : firstInterface
    if (target !== ifname) continue
    if (value.trim() === '') throw invalid(key, value, 'is empty')
    const earlier = spokenFor.get(word)
    if (earlier && earlier.value !== value.trim()) {
      throw new Problem(
        'IPK_REQUESTS_DISAGREE',
        `annotations ${earlier.key} (${showJson(earlier.value)}) and ${key} (${showJson(value)}) disagree`,
      )
    }
    spokenFor.set(word, { key, value: value.trim() })
    requests.push(reader(key, value.trim()))
  }
  return Object.assign({}, ...requests) as Partial<PodRequest>
}

export type Dialect = string
export function readPodRequest(asked: {
  podAnnotations: Readonly<Record<string, string>>
  namespace: { readonly name: string; readonly annotations: Readonly<Record<string, string>> } | undefined
  ifname: string
  dialects: readonly Dialect[]
}): Partial<PodRequest> {
  return readPodAnnotations(asked.podAnnotations, asked.ifname)
}
