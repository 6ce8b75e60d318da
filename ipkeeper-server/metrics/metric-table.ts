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
    help: 'Times that a pod of this node answered, when it was asked who has an address, for one that it was not given. Nobody believed it; see: ipkeeperctl audit.',
  },
  ipkeeper_late_dels_total: {
    type: 'counter',
    unit: 'operations',
    help: 'DELs that ended no newest sandbox: of an attachment that nobody knows (runtimes repeat DELs), of one whose pod has a newer sandbox, or from before the ADD of the same container ID.',
    labels: { how: lateDels },
  },
  ipkeeper_adds_undone_total: {
    type: 'counter',
    unit: 'operations',
    help: 'ADDs that were undone because their answer reached nobody: the client went away, or daemon and plugin ended before it.',
    labels: { reason: undoReasons },
  },
  ipkeeper_clock_jumps_total: {
    type: 'counter',
    unit: 'events',
    help: 'How often the wall clock was set by a second or more while the daemon ran. What is kept or rests goes on for as long as it would have.',
    labels: { direction: ['back', 'forward'] },
  },
  ipkeeper_deferred_dels: {
    type: 'gauge',
    unit: 'files',
    help: 'DELs in the queue of the state folder, which came while the daemon was away, and those put aside because nobody understands them.',
    labels: { state: ['waiting', 'quarantined'] },
  },
  ipkeeper_deferred_dels_done_total: {
    type: 'counter',
    unit: 'operations',
    help: 'DELs of the queue that were carried out.',
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
    help: 'Addresses that are kept by retention, reserved, or resting after somebody had asked for them by name.',
    labels: ofPool,
  },
  ipkeeper_pool_free_addresses: {
    type: 'gauge',
    unit: 'addresses',
    help: 'Addresses that dynamic choice may give, those that rest included.',
    labels: ofPool,
  },
  ipkeeper_pool_cooling_addresses: {
    type: 'gauge',
    unit: 'addresses',
    help: 'Free addresses that rest; dynamic choice takes them when it has no others.',
    labels: ofPool,
  },
  ipkeeper_pool_exhaustion_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'Time until a range set of the pool is full if used and held addresses go on growing as between the scrapes of the last hour; +Inf when they do not grow, or it is not known yet.',
    labels: ofPool,
  },
  ipkeeper_leases: {
    type: 'gauge',
    unit: 'records',
    help: 'Leases by state, those outside of every pool included.',
    labels: { state: ['bound', 'held', 'cooling'] },
  },
  ipkeeper_attachments: {
    type: 'gauge',
    unit: 'records',
    help: 'What ADDs have made and DELs have not ended.',
  },
  ipkeeper_reservations: { type: 'gauge', unit: 'records', help: 'Addresses promised to somebody.' },
  ipkeeper_findings: {
    type: 'gauge',
    unit: 'findings',
    help: 'What is certainly wrong where leases are compared with the node, by kind.',
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
    help: 'Files in result caches that are not as they should be, by what is wrong with them.',
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
    help: 'What the linter has to say about the network configurations.',
    labels: { severity: ['error', 'warning', 'note'] },
  },
  ipkeeper_store_commit_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time until a change was durable, of those that were made.',
    buckets: commitBuckets,
  },
  ipkeeper_store_failures_total: {
    type: 'counter',
    unit: 'operations',
    help: 'Operations that the store refused. A change that somebody else forestalled is none.',
    labels: { operation: storeOperations },
  },
  ipkeeper_store_file_faults: {
    type: 'gauge',
    unit: 'findings',
    help: "What is wrong with the file of the ledger, or of this node's journal. lost: what is written would not be found, and nothing is acknowledged. damaged: it is not as it was written, and nothing is acknowledged. history: so many entries of the history are damaged. No sample for a store without a file.",
    labels: { kind: storeFaultKinds },
  },
  ipkeeper_disk_full: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether no pod is added because the disk of the store is full: what was kept there for ending pods is being used, or cannot be kept. 0 where nothing is written.',
  },
  ipkeeper_disk_reserve_bytes: {
    type: 'gauge',
    unit: 'bytes',
    help: 'What is kept on the disk of the store for ending pods when it is full. 0 where nothing is written.',
  },
  ipkeeper_store_away: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether the engine that nodes share leases in cannot be reached: 1 while only pods that are bound here are served. No sample where this node has its store to itself.',
  },
  ipkeeper_store_incomplete: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether the engine that nodes share leases in has lost records: 1 while new claims wait until all nodes have told it again what they hold. No sample where this node has its store to itself.',
  },
  ipkeeper_store_awaited_nodes: {
    type: 'gauge',
    unit: 'nodes',
    help: 'Other nodes that are waited for, because they have not told an engine that lost records what they hold; ipkeeperctl status names them. No sample where this node has its store to itself.',
  },
  ipkeeper_store_owed_records: {
    type: 'gauge',
    unit: 'records',
    help: 'Records that the engine is still to be told of: what was released while it was away. No sample where this node has its store to itself.',
  },
  ipkeeper_node_name_lost: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether another machine that lives has the name of this node, or a copy of its state folder: 1 while no ADD is served here for it. No sample where this node has its store to itself.',
  },
  ipkeeper_node_name_challenges_total: {
    type: 'counter',
    unit: 'operations',
    help: 'How often another machine wanted the name of this node, or had a copy of its state folder, and was refused.',
  },
  ipkeeper_elected: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether this daemon does what one has to do for all that share a store: one of them has 1. No sample where this node has its store to itself.',
  },
  ipkeeper_admission_reviews_total: {
    type: 'counter',
    unit: 'operations',
    help: 'Objects that API servers asked about, by what was said to them.',
    labels: { answer: admissionAnswers },
  },
  ipkeeper_optional_part_up: {
    type: 'gauge',
    unit: '0 or 1',
    help: 'Whether a part works that is configured and that no pod needs; no sample for one that is not configured.',
    labels: { part: optionalPartNames },
  },
  ipkeeper_webhook_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds',
    help: 'When the certificate of the webhook ends, since the epoch; no sample without one that can be used.',
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
    help: 'When the watch last heard of the Kubernetes API, since the epoch.',
    labels: { resource: ['pods', 'nodes', 'namespaces', otherValue] },
  },
  ipkeeper_kubernetes_events_queued: {
    type: 'gauge',
    unit: 'events',
    help: 'Events that wait to be written.',
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
