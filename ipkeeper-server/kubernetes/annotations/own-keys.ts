import { showJson } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { candidateLists } from '../../ipam/request/candidates.ts'
import { parseAddressList } from '../../ipam/request/parse-addresses.ts'
import type { StringMap } from '../../ipam/records/pod-facts.ts'
import { isPoolName } from '../../ipam/pools/pool.ts'
import { parseRetention } from '../../ipam/records/retention.ts'
import {
  disagreement,
  invalidAnnotation,
  invalidList,
  type Annotation,
  type AnnotationReader,
  type Wish,
  readAddressPerFamily,
  readMac,
} from './annotation-reader.ts'

const prefix = 'ipkeeper.io/'

/** The interface that a key without ".IFNAME" speaks of: the pod's first one. */
export const firstInterface = 'eth0'

/** Keys about the same thing: what a pod says in a group stands for all that its namespace says there. */
export type Group = 'addresses' | 'pool' | 'retain' | 'mac'

/** A key under ipkeeper.io/ and how its value is read. */
interface OwnKey {
  readonly group: Group
  readonly read: AnnotationReader
}

function readPools(annotation: Annotation): ReturnType<AnnotationReader> {
  const names = annotation.value.split(',').map(part => part.trim())
  const wrong = names.find(name => !isPoolName(name))
  if (wrong !== undefined) {
    throw invalidAnnotation(
      annotation,
      `names ${showJson(wrong)}, which is no pool: lower-case letters, digits, "-" and "."`,
    )
  }
  if (new Set(names).size < names.length) throw invalidAnnotation(annotation, 'names a pool twice')
  if (names.length > 2) throw invalidAnnotation(annotation, 'names more than one pool per family')
  return { pools: names.map(name => ({ name, source: annotation.source })) }
}

const ownKeys: Readonly<Record<string, OwnKey>> = {
  ip: {
    group: 'addresses',
    read: annotation => ({
      addresses: readAddressPerFamily(annotation, annotation.value.split(','), 'with-prefix'),
    }),
  },
  ips: {
    group: 'addresses',
    read: annotation => {
      const runs = parseAddressList(annotation.value)
      if ('fault' in runs) {
        const hint = 'write addresses, ranges and CIDRs, joined by commas: 10.22.0.50-10.22.0.52, fd00:22::50'
        throw invalidList({ hint, ...annotation }, runs)
      }
      return { candidates: candidateLists(runs, annotation.source) }
    },
  },
  pool: { group: 'pool', read: readPools },
  retain: {
    group: 'retain',
    read: annotation => {
      const retain = parseRetention(annotation.value)
      if (retain === undefined) {
        throw invalidAnnotation(
          annotation,
          'is no retention: release, while-owner-exists, forever, or a duration such as 30m',
        )
      }
      return { retain }
    },
  },
  mac: { group: 'mac', read: annotation => ({ mac: readMac(annotation) }) },
}

/** Every key under ipkeeper.io/, without ".IFNAME". */
export const ownWords: readonly string[] = Object.keys(ownKeys)

/** Where annotations stand: on a pod, or on the namespace of this name. */
export interface AnnotationPlace {
  readonly annotations: StringMap
  readonly namespace?: string
}

const placeText = ({ namespace }: AnnotationPlace): string =>
  namespace === undefined ? '' : ` of namespace ${namespace}`

function unknownKey(place: AnnotationPlace, key: string, word: string, suffix: string): Problem {
  const words = place.namespace === undefined ? ownWords : ownWords.filter(own => own !== 'mac')
  const meant = nearestWord(word, words)
  return new Problem(
    'IPK_ANNOTATION_INVALID',
    `unknown annotation ${key}${placeText(place)}${meant ? `; did you mean ${prefix}${meant}${suffix}?` : ''}`,
    {
      details: `value ${showJson(place.annotations[key])}; known keys: ${words.map(own => prefix + own).join(', ')}`,
    },
  )
}

/**
 * What the keys under ipkeeper.io/ ask for on one interface, of the groups that are wanted. Keys of other interfaces
 * (".IFNAME") and other groups are checked for spelling only; keys outside ipkeeper.io/ are nobody's business here.
 *
 * Throws IPK_ANNOTATION_INVALID, IPK_ADDRESS_INVALID or IPK_REQUESTS_DISAGREE, naming key and value: "ip" beside "ips" is
 * a disagreement, and so are a key and the same key with ".IFNAME" that differ.
 */
export function readOwnKeys(
  place: AnnotationPlace,
  ifname: string,
  isWanted: (group: Group) => boolean,
): readonly Wish[] {
  const wishes: Wish[] = []
  const spokenFor = new Map<Group, { readonly word: string; readonly annotation: Annotation }>()
  for (const [key, text] of Object.entries(place.annotations).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!key.startsWith(prefix)) continue
    const [word = '', ...rest] = key.slice(prefix.length).split('.')
    const suffix = rest.length > 0 ? `.${rest.join('.')}` : ''
    const own = Object.hasOwn(ownKeys, word) ? ownKeys[word] : undefined
    if (!own) throw unknownKey(place, key, word, suffix)
    const annotation: Annotation = { source: `annotation ${key}${placeText(place)}`, value: text.trim() }
    if (suffix === '.') {
      throw invalidAnnotation(annotation, 'is for no interface: a name has to follow the dot')
    }
    if (own.group === 'mac' && place.namespace !== undefined) {
      throw invalidAnnotation(annotation, 'belongs to one interface of one pod: a namespace cannot give it')
    }
    const target = suffix === '' ? firstInterface : suffix.slice(1)
    if (target !== ifname || !isWanted(own.group)) continue
    if (annotation.value === '') throw invalidAnnotation(annotation, 'is empty')
    const earlier = spokenFor.get(own.group)
    if (earlier && (earlier.word !== word || earlier.annotation.value !== annotation.value)) {
      throw disagreement(earlier.annotation, annotation)
    }
    spokenFor.set(own.group, { word, annotation })
    wishes.push({ ...annotation, ...own.read(annotation) })
  }
  return wishes
}
