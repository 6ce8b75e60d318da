import { Problem } from '../../../shared/problem/problem.ts'
import { showJson } from '../../../shared/json/fold.ts'
import { misspeltWord } from '../../../shared/text/nearest-word.ts'
import type { StringMap } from '../../ipam/records/pod-facts.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { dialects, type DialectName } from '../dialects/dialects.ts'
import { invalidAnnotation, type Annotation, type Wish } from './annotation-reader.ts'

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
