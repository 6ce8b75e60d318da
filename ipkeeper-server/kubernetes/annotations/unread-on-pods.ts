import type { PodEntry } from '../kube-object.ts'
import type { DialectName } from '../dialects/dialects.ts'
import { unreadKeys } from './read-pod-request.ts'

/** What pods of this node say in the annotations of another project, which nobody reads while its dialect is switched off. */
export interface UnreadOnPods {
  readonly dialect: string
  readonly pods: number
  /** One of them, "shop/web-0", and a key that it has. */
  readonly pod: string
  readonly key: string
}

/** @param read dialects that are switched on */
export function unreadOnPods(
  pods: Iterable<PodEntry>,
  read: ReadonlySet<DialectName>,
): readonly UnreadOnPods[] {
  const found = new Map<string, UnreadOnPods>()
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
