import type { UnreadAnnotations } from '../../../shared/api/listing.schema.ts'
import type { PodEntry } from '../kube-object.ts'
import type { DialectName } from '../dialects/dialects.ts'
import { unreadKeys } from './read-pod-request.ts'

/**
 * What pods say in the annotations of other products, which nobody reads.
 *
 * @param read dialects that are switched on
 */
export function unreadOnPods(
  pods: Iterable<PodEntry>,
  read: ReadonlySet<DialectName>,
): readonly UnreadAnnotations[] {
  const found = new Map<string, UnreadAnnotations>()
  for (const { namespace, name, annotations } of pods) {
    const firsts = new Map(
      unreadKeys(annotations, read)
        .reverse()
        .map(({ dialect, key }) => [dialect, key]),
    )
    for (const [dialect, key] of firsts) {
      const before = found.get(dialect)
      found.set(
        dialect,
        before
          ? { ...before, pods: before.pods + 1 }
          : { dialect, pods: 1, pod: `${namespace}/${name}`, key },
      )
    }
  }
  return [...found.values()]
}
