import type { StringMap } from '../../ipam/records/pod-facts.ts'
import type { PodRequest, UnreadAnnotation } from '../../ipam/request/request.ts'
import { type DialectName, dialectNames, dialects } from '../dialects/dialects.ts'
import { type Wish, invalidAnnotation, type Annotation, type Dialect } from './annotation-reader.ts'
import { combineWishes } from './combine-wishes.ts'
import { firstInterface, readOwnKeys, type Group } from './own-keys.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { showJson } from '../../../shared/json/fold.ts'
import { misspeltWord } from '../../../shared/text/nearest-word.ts'

/** The texts that a request is read from. */
interface AnnotationTexts {
  readonly podAnnotations: StringMap
  /** The pod's namespace, where its annotations are known and count as defaults. */
  readonly namespace: { readonly name: string; readonly annotations: StringMap } | undefined
  /** Of the interface that the request is for. */
  readonly ifname: string
  /** Which other projects' annotations count beside our own. */
  readonly dialects: ReadonlySet<DialectName>
}

/** Which groups a wish speaks in. A gateway is no wish of its own: it goes with the addresses, whoever names them. */
const speaksIn: Readonly<Record<Group, (wish: Wish) => boolean>> = {
  addresses: wish => wish.addresses !== undefined || wish.candidates !== undefined,
  pool: wish => wish.pools !== undefined,
  retain: wish => wish.retain !== undefined,
  mac: wish => wish.mac !== undefined,
}

/**
 * What a pod's annotations ask for on one interface: a whole request, ready for `mergeRequests`; `ignored` is empty.
 *
 * What a namespace says in a group (addresses, pool, retention) counts where the pod says nothing at all in that group: a
 * pod that names an IPv4 address does not get an IPv6 address from its namespace. `ipkeeper.io/ip` of a namespace is one
 * address for all its pods, and so for one of them at a time. Dialects are read on the pod only, since none of those
 * projects documents its keys for namespaces.
 *
 * Throws IPK_ANNOTATION_INVALID, IPK_ADDRESS_INVALID or IPK_REQUESTS_DISAGREE, naming key and value, and the namespace
 * where the key stands there.
 */
export function readPodRequest(texts: AnnotationTexts): PodRequest {
  const { podAnnotations, namespace, ifname, dialects } = texts
  const own = readOwnKeys({ annotations: podAnnotations }, ifname, () => true)
  const foreign = ifname === firstInterface ? readDialectKeys(podAnnotations, dialects) : []
  const spoken = [...own, ...foreign]
  const isLeftOpen = (group: Group): boolean => !spoken.some(speaksIn[group])
  const place = namespace && { annotations: namespace.annotations, namespace: namespace.name }
  const defaults = place ? readOwnKeys(place, ifname, isLeftOpen) : []
  const unread = ifname === firstInterface ? unreadKeys(podAnnotations, dialects) : []
  return { ...combineWishes([...spoken, ...defaults]), ...(unread.length > 0 && { unread }) }
}

/** Which dialect knows a key. */
const dialectOfKey = new Map(
  dialectNames.flatMap(name => Object.keys(dialects[name]).map(key => [key, name] as const)),
)

/** Keys of dialects that are not switched on: a pod that moved here with them gets a dynamic address, and nobody says why. */
export function unreadKeys(annotations: StringMap, names: ReadonlySet<DialectName>): UnreadAnnotation[] {
  return Object.keys(annotations).flatMap(key => {
    const dialect = dialectOfKey.get(key)
    return dialect === undefined || names.has(dialect) ? [] : [{ key, dialect }]
  })
}

/** The known key that another was most likely meant to be: the same but for its case, or one slip away. */
function meantKey(key: string, known: readonly string[]): string | undefined {
  const folded = key.toLowerCase()
  return known.find(candidate => candidate.toLowerCase() === folded) ?? misspeltWord(key, known)
}

/**
 * What a pod's annotations in other projects' dialects ask for on its first interface, of which alone they speak. Only the
 * dialects that are switched on are looked at. A key that is a letter away from one of theirs is refused, as it would
 * otherwise ask for nothing; all other keys of those projects are left alone.
 *
 * Throws IPK_ANNOTATION_INVALID or IPK_ADDRESS_INVALID, naming key, value and dialect.
 */
export function readDialectKeys(annotations: StringMap, names: ReadonlySet<DialectName>): readonly Wish[] {
  return [...names].flatMap(name => {
    const dialect: Dialect = dialects[name]
    const known = Object.keys(dialect)
    const hint = `correct the annotation, or take "${name}" out of "annotations" in the daemon's configuration`
    return Object.entries(annotations).flatMap(([key, text]): Wish[] => {
      const read = Object.hasOwn(dialect, key) ? dialect[key] : undefined
      if (!read) {
        const meant = meantKey(key, known)
        if (meant === undefined) return []
        const message = `unknown annotation ${key}; did you mean ${meant}?`
        throw new Problem('IPK_ANNOTATION_INVALID', message, { hint, details: `value ${showJson(text)}` })
      }
      const annotation: Annotation = { source: `annotation ${key}`, value: text.trim(), hint }
      if (annotation.value === '') throw invalidAnnotation(annotation, 'is empty')
      return [{ ...annotation, ...read(annotation) }]
    })
  })
}
