import type { FoundAllocation } from '../../../../shared/api/import.schema.ts'

/** An allocation as its source tells of it, before anything else is asked. */
export type ToldAllocation = Omit<FoundAllocation, 'runtime' | 'netns'>

/** What of a source cannot be read. */
export interface Unreadable {
  readonly origin: string
  /** As far as it can be told. */
  readonly address: string | null
  readonly why: string
}

export interface Findings {
  readonly allocations: readonly ToldAllocation[]
  readonly unreadable: readonly Unreadable[]
}

/** An allocation of which a source tells nothing but where and what. */
export function toldOnly(origin: string, address: string): ToldAllocation {
  return {
    ...{ origin, address },
    ...{ network: null, containerId: null, ifname: null, pod: null, node: null, mac: null, since: null },
    keeps: false,
  }
}

export function joinFindings(parts: readonly Findings[]): Findings {
  return {
    allocations: parts.flatMap(({ allocations }) => allocations),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
  }
}

/** "shop/web-0" as a pod; null for anything else. */
export function parsePodReference(text: string): { namespace: string; name: string; uid: null } | null {
  const [namespace = '', name = '', ...rest] = text.split('/')
  return namespace === '' || name === '' || rest.length > 0 ? null : { namespace, name, uid: null }
}
