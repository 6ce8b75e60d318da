import { isSetAside, type LeaseOutline, type LeaseRecord } from '../../ipam/records/records.ts'

/** So many outlines are shared; namespaces come and go, and those of old must not stay for ever. */
const mostShared = 4_096

export function outlineOf(lease: LeaseRecord): LeaseOutline {
  const { state, named, until, holder } = lease
  const namespace = holder.kind === 'pod' ? holder.namespace : null
  return { state, named, until, namespace, aside: isSetAside(lease) }
}

/**
 * Outlines of leases by key, so that a full pool, or all of a cluster, is counted without parsing its records. Most are
 * alike but for the namespace, and those share one object: an outline then costs an entry in a map.
 */
export class LeaseOutlines {
  readonly #outlines = new Map<string, LeaseOutline>()
  readonly #shared = new Map<string, LeaseOutline>()

  get(key: string): LeaseOutline | undefined {
    return this.#outlines.get(key)
  }

  set(key: string, lease: LeaseRecord): void {
    this.#outlines.set(key, this.#share(outlineOf(lease)))
  }

  delete(key: string): void {
    this.#outlines.delete(key)
  }

  #share(outline: LeaseOutline): LeaseOutline {
    const { state, named, until, namespace, aside } = outline
    if (until !== null) return outline
    const alike = JSON.stringify([state, named, namespace, aside])
    const found = this.#shared.get(alike)
    if (found) return found
    if (this.#shared.size >= mostShared) this.#shared.clear()
    this.#shared.set(alike, outline)
    return outline
  }
}
