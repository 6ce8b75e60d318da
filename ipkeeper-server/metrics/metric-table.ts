import { cacheReasonNames } from '../../shared/cache-reasons.ts'
import { findingKindNames, repairableKinds } from '../../shared/findings.ts'
import { catalogue } from '../../shared/problem/catalogue.ts'
import { optionalPartNames } from '../host/optional-part.ts'
import { lateDels, observedVerbs, undoReasons } from '../leases/verbs/verb-observer.ts'

/** Every value that a label may have, or where its values come from, and how many there may be. */
export type LabelRow = readonly string[] | { readonly source: string; readonly atMost: number }

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Base unit, as Prometheus wants it. */
  readonly unit:
    | 'seconds'
    | 'bytes'
    | 'addresses'
    | 'records'
    | 'operations'
    | 'files'
    | 'findings'
    | 'events'
    | 'nodes'
    | '0 or 1'
  readonly help: string
  readonly labels?: Readonly<Record<string, LabelRow>>
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[]
}

/** What a label says for everything beyond its list or its limit. */
export const otherValue = 'other'

/** Pools with figures of their own; the rest is counted together, so that a page stays readable for everybody. */
export const poolLimit = 1_000
/** Range sets of a pool with figures of their own: one or two, but a file may say anything. */
export const rangeSetLimit = 8
export const conflistLimit = 100

/** Also on one that is answered at once, since a delegate's whole run is about 20 ms; 60 s is the plugin's own patience. */
const verbBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** A durable write of the embedded store is about 0.2 ms where the disk is quick. */
const commitBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

const ofPool = {
  pool: { source: 'names of pools, in their order', atMost: poolLimit + 1 },
  segment: { source: 'segment of the pool', atMost: poolLimit + 1 },
  set: {
    source: 'index of the range set in its pool; a pod needs an address of each',
    atMost: rangeSetLimit + 1,
  },
  family: ['ipv4', 'ipv6'],
} as const

export const admissionAnswers = ['admitted', 'warned', 'refused'] as const

export const storeFaultKinds = ['lost', 'damaged', 'history'] as const

export const storeOperations = ['load', 'read', 'commit', 'history', 'prune', 'probe'] as const

/**
 * Every metric of the daemon. The registry, docs/reference/metrics.generated.md and the checks of alerts and dashboard are
 * made from it. No label ever holds an address, a pod, a container or a path outside the folder of conflists.
 */
export const metricTable = {
  ipkeeper_cni_verb_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time from the begin of a CNI verb in the daemon to its answer, by outcome. Its count is the number of verbs.',
    labels: { verb: observedVerbs, code: ['OK', ...Object.keys(catalogue)] },
    buckets: verbBuckets,
  },
  ipkeeper_operations_under_way: {
    type: 'gauge',
    unit: 'operations',
    help: 'Verbs that are being served, or wait for another one of their attachment.',
  },
  ipkeeper_takeovers_total: {
    type: 'counter',
    unit: 'operations',
    help: 'ADDs that took addresses over from an older sandbox: of the same pod (equal UID), or of another pod of that name or workload whose sandbox is proved dead.',
    labels: { from: ['same_pod', 'other_pod'] },
  },
  ipkeeper_false_answers_total: {
    type: 'counter',
    unit: 'events',
    help: 'Times that a pod of this node answered an address probe for an address that it was not given. The answer was ignored; see: ipkeeperctl audit.',
  },
  ipkeeper_late_dels_total: {
    type: 'counter',
    unit: 'operations',
    help: 'DELs that did not end the newest sandbox of their pod: of an unknown attachment (runtimes repeat DELs), of one whose pod has a newer sandbox, or sent before the ADD of the same container ID.',
    labels: { how: lateDels },
  },
  ipkeeper_adds_undone_total: {
    type: 'counter',
    unit: 'operations',
    help: 'ADDs that were undone because their answer was not received: the client disconnected, or daemon or plugin stopped before it.',
    labels: { reason: undoReasons },
  },
  ipkeeper_clock_jumps_total: {
    type: 'counter',
    unit: 'events',
    help: 'How often the wall clock was set by a second or more while the daemon ran. The times that addresses are kept or cool down do not change.',
    labels: { direction: ['back', 'forward'] },
  },
  ipkeeper_deferred_dels: {
    type: 'gauge',
    unit: 'files',
    help: 'DELs in the queue of the state folder, which came while the daemon was not reachable, and those quarantined because they are invalid.',
    labels: { state: ['waiting', 'quarantined'] },
  },
  ipkeeper_deferred_dels_done_total: {
    type: 'counter',
    unit: 'operations',
    help: 'DELs of the queue that were completed.',
  },
  ipkeeper_pool_capacity_addresses: {
    type: 'gauge',
    unit: 'addresses',
    help: 'Addresses that a range set of the pool can give: used + held + free.',
    labels: ofPool,
  },
  ipkeeper_pool_used_addresses: {
    type: 'gauge',
    unit: 'addresses',
    help: 'Addresses that pods have.',
    labels: ofPool,
  },
  ipkeeper_pool_held_addresses: {
    type: 'gauge',
    unit: 'addresses',
    help: 'Addresses that are kept by retention, reserved, or cooling down after a pod had asked for them by name.',
    labels: ofPool,
  },
  ipkeeper_pool_free_addresses: {
    type: 'gauge',
    unit: 'addresses',
    help: 'Addresses that can be assigned dynamically, including those that are cooling down.',
    labels: ofPool,
  },
  ipkeeper_pool_cooling_addresses: {
    type: 'gauge',
    unit: 'addresses',
    help: 'Free addresses that are cooling down; they are assigned dynamically only when there are no others.',
    labels: ofPool,
  },
  ipkeeper_pool_exhaustion_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Time until a range set of the pool is full if used and held addresses keep growing as in the scrapes of the last hour; +Inf when they do not grow, or when it is not known yet.',
    labels: ofPool,
  },
  ipkeeper_leases: {
    type: 'gauge',
    unit: 'records',
    help: 'Leases by state, including those outside every pool.',
    labels: { state: ['bound', 'held', 'cooling'] },
  },
  ipkeeper_attachments: {
    type: 'gauge',
    unit: 'records',
    help: 'Attachments that were added and not deleted yet.',
  },
  ipkeeper_reservations: { type: 'gauge', unit: 'records', help: 'Reserved addresses.' },
  ipkeeper_findings: {
    type: 'gauge',
    unit: 'findings',
    help: 'Confirmed differences between the leases and the node, by kind.',
    labels: { kind: findingKindNames },
  },
  ipkeeper_repairs_total: {
    type: 'counter',
    unit: 'operations',
    help: 'Findings that were repaired.',
    labels: { kind: repairableKinds },
  },
  ipkeeper_cache_bad_files: {
    type: 'gauge',
    unit: 'files',
    help: 'Bad files in result caches, by reason.',
    labels: { reason: cacheReasonNames },
  },
  ipkeeper_conflist_valid: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether a runtime can load the network configuration file.',
    labels: {
      file: {
        source: 'names of files in the folder of conflists, in their order',
        atMost: conflistLimit + 1,
      },
    },
  },
  ipkeeper_conflist_findings: {
    type: 'gauge',
    unit: 'findings',
    help: 'Findings of the linter in the network configurations.',
    labels: { severity: ['error', 'warning', 'note'] },
  },
  ipkeeper_store_commit_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time until a change was durable.',
    buckets: commitBuckets,
  },
  ipkeeper_store_failures_total: {
    type: 'counter',
    unit: 'operations',
    help: 'Operations that the store refused. A change that lost to another writer does not count.',
    labels: { operation: storeOperations },
  },
  ipkeeper_store_file_faults: {
    type: 'gauge',
    unit: 'findings',
    help: "What is wrong with the file of the ledger, or of this node's journal. lost: what is written would not be found again, and nothing is acknowledged. damaged: its content has changed, and nothing is acknowledged. history: the number of damaged history entries. No sample for a store without a file.",
    labels: { kind: storeFaultKinds },
  },
  ipkeeper_disk_full: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether no pod is added because the disk of the store is full: the space reserved for DELs is being used, or cannot be reserved. 0 where nothing is written.',
  },
  ipkeeper_disk_reserve_bytes: {
    type: 'gauge',
    unit: 'bytes',
    help: 'Space reserved on the disk of the store for DELs when it is full. 0 where nothing is written.',
  },
  ipkeeper_store_away: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether the shared store is unreachable: 1 while only pods that already have their addresses here are served. No sample where the store is not shared.',
  },
  ipkeeper_store_incomplete: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether the shared store has lost records: 1 while no new address is assigned until all nodes have reported what they hold. No sample where the store is not shared.',
  },
  ipkeeper_store_awaited_nodes: {
    type: 'gauge',
    unit: 'nodes',
    help: 'Other nodes that have not yet reported what they hold to a shared store that lost records; ipkeeperctl status names them. No sample where the store is not shared.',
  },
  ipkeeper_store_owed_records: {
    type: 'gauge',
    unit: 'records',
    help: 'Pending writes: records that changed while the shared store was unreachable. No sample where the store is not shared.',
  },
  ipkeeper_node_name_lost: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether another running machine has the name of this node, or a copy of its state folder: 1 while no ADD is served here for that reason. No sample where the store is not shared.',
  },
  ipkeeper_node_name_challenges_total: {
    type: 'counter',
    unit: 'operations',
    help: 'How often another machine claimed the name of this node, or had a copy of its state folder, and was refused.',
  },
  ipkeeper_elected: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether this daemon is the elected leader of those that share the store. No sample where the store is not shared.',
  },
  ipkeeper_admission_reviews_total: {
    type: 'counter',
    unit: 'operations',
    help: 'Admission reviews, by answer.',
    labels: { answer: admissionAnswers },
  },
  ipkeeper_optional_part_up: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether a configured optional part works; no sample for one that is not configured.',
    labels: { part: optionalPartNames },
  },
  ipkeeper_history_unsent_entries: {
    type: 'gauge',
    unit: 'records',
    help: 'Entries of the history that the syslog receiver does not have. No sample where the history is sent to none.',
  },
  ipkeeper_history_export_lag_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Age of the oldest entry of the history that the syslog receiver does not have; 0 when it has all. No sample where the history is sent to none.',
  },
  ipkeeper_history_sent_entries_total: {
    type: 'counter',
    unit: 'records',
    help: 'Entries of the history that were sent to the syslog receiver.',
  },
  ipkeeper_history_pruned_unsent_entries_total: {
    type: 'counter',
    unit: 'records',
    help: 'Entries of the history that were pruned before the syslog receiver had taken them.',
  },
  ipkeeper_webhook_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'When the certificate of the webhook expires, in seconds since the epoch; no sample without a usable one.',
  },
  ipkeeper_kubernetes_watch_up: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether the watch of the Kubernetes API is connected and has seen all objects; no sample without an API.',
    labels: { resource: ['pods', 'nodes', 'namespaces', otherValue] },
  },
  ipkeeper_kubernetes_last_contact_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Last contact of the watch with the Kubernetes API, in seconds since the epoch.',
    labels: { resource: ['pods', 'nodes', 'namespaces', otherValue] },
  },
  ipkeeper_kubernetes_events_queued: {
    type: 'gauge',
    unit: 'events',
    help: 'Events waiting to be written.',
  },
  ipkeeper_kubernetes_events_total: {
    type: 'counter',
    unit: 'events',
    help: 'Events that were written, and those that were dropped because too many came or the API refused them.',
    labels: { outcome: ['written', 'dropped'] },
  },
  ipkeeper_config_valid: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether the configuration file is what is in force; 0: it has a fault, and the last good one is.',
  },
  ipkeeper_config_loaded_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'When the configuration in force was read, since the epoch.',
  },
  ipkeeper_build_info: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Always 1; version and commit are in the labels.',
    labels: {
      version: { source: 'version of the daemon', atMost: 1 },
      commit: { source: 'commit it was built from', atMost: 1 },
    },
  },
  ipkeeper_event_loop_busy_seconds_total: {
    type: 'counter',
    unit: 'seconds',
    help: 'Time in which the daemon was working, not waiting. Its rate is the share of its one thread in use.',
  },
  process_resident_memory_bytes: { type: 'gauge', unit: 'bytes', help: 'Resident memory of the daemon.' },
  process_cpu_seconds_total: {
    type: 'counter',
    unit: 'seconds',
    help: 'Processor time of the daemon, user and system.',
  },
  process_start_time_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'When the daemon was started, since the epoch.',
  },
} as const satisfies Readonly<Record<string, MetricRow>>

export type MetricName = keyof typeof metricTable

export const metricNames = Object.keys(metricTable) as readonly MetricName[]

/** The row of a metric; rows are typed as MetricRow so that optional columns can be read. */
export function metricRow(name: MetricName): MetricRow {
  return metricTable[name]
}

type NamesOf<Type extends MetricRow['type']> = {
  [Name in MetricName]: (typeof metricTable)[Name]['type'] extends Type ? Name : never
}[MetricName]

export type CounterName = NamesOf<'counter'>
export type GaugeName = NamesOf<'gauge'>
export type HistogramName = NamesOf<'histogram'>
