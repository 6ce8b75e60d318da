import type { JsonObject } from '../../shared/json/fold.ts'
import { at, stringMap } from './kube-object.ts'
import type { OwnerKind } from './owner-kinds.ts'

/** An annotation of ours where no pod ever sees it. */
export interface Misplaced {
  readonly key: string
  /** "metadata.annotations". */
  readonly found: string
  /** "spec.template.metadata.annotations". */
  readonly belongs: string
}

const isOurs = (key: string): boolean => key.startsWith('ipkeeper.io/')

/**
 * Keys under ipkeeper.io/ that a workload object bears itself, and its pod template does not: written one level too
 * high, which the API accepts and nobody reads (kube-ovn#5034).
 */
export function misplaced(object: JsonObject, kind: OwnerKind): readonly Misplaced[] {
  const { template, alsoMisleading } = kind
  if (!template) return []
  const wanted = stringMap(at(object, ...template), isOurs)
  const belongs = template.join('.')
  const places = [['metadata', 'annotations'], ...(alsoMisleading ? [alsoMisleading] : [])]
  return places.flatMap(place =>
    Object.keys(stringMap(at(object, ...place), isOurs))
      .filter(key => !Object.hasOwn(wanted, key))
      .map(key => ({ key, found: place.join('.'), belongs })),
  )
}
