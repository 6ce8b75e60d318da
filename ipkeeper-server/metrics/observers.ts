import type { VerbObserver } from '../leases/verbs/verb-observer.ts'
import type { MetricRegistry } from './metric-registry.ts'
import type { StoreObserver } from './observed-store.ts'

/** Counts what becomes of verbs. */
export function verbObserver(registry: MetricRegistry): VerbObserver {
  return {
    ended: (verb, code, seconds) => {
      registry.observe('ipkeeper_cni_verb_duration_seconds', seconds, { verb, code })
    },
    tookOver: from => {
      registry.count('ipkeeper_takeovers_total', { from })
    },
    lateDel: how => {
      registry.count('ipkeeper_late_dels_total', { how })
    },
    undone: reason => {
      registry.count('ipkeeper_adds_undone_total', { reason })
    },
  }
}

/** Counts and times what the store does. */
export function storeObserver(registry: MetricRegistry): StoreObserver {
  return {
    committed: seconds => {
      registry.observe('ipkeeper_store_commit_seconds', seconds)
    },
    failed: operation => {
      registry.count('ipkeeper_store_failures_total', { operation })
    },
  }
}
