import { commit } from '../../shared/build-info.ts'
import { cacheReasonNames } from '../../shared/cache-reasons.ts'
import { findingKindNames, repairableKinds } from '../../shared/findings.ts'
import type { MetricRegistry, MetricsPage, Sample } from './metric-registry.ts'
import { conflistLimit, otherValue } from './metric-table.ts'
import { ExhaustionWatch, poolFigures, type RangeSetFigures } from './pool-samples.ts'
import type { ClusterFigures, ConflistState, HistoryExportFigures, MetricSources } from './metric-sources.ts'

/**
 * Measures and writes the page. Whoever asks while a page is being made gets that one, so that many scrapers cost as
 * much as one.
 */
export class Scraper {
  readonly #registry: MetricRegistry
  readonly #sources: MetricSources
  readonly #exhaustion = new ExhaustionWatch()
  #running: Promise<MetricsPage> | undefined

  constructor(registry: MetricRegistry, sources: MetricSources) {
    this.#registry = registry
    this.#sources = sources
  }

  async page(): Promise<MetricsPage> {
    this.#running ??= this.#make().finally(() => (this.#running = undefined))
    return await this.#running
  }

  async #make(): Promise<MetricsPage> {
    await this.#measure()
    return await this.#registry.page()
  }

  async #measure(): Promise<void> {
    const { usage, deferredDels, cluster, badCacheFiles, conflists, monotonic } = this.#sources
    const [{ rangeSets, leases }, dels] = await Promise.all([usage(), deferredDels()])
    const registry = this.#registry
    this.#setPools(poolFigures(rangeSets), monotonic() / 1e3)
    registry.set('ipkeeper_leases', byLabel('state', leases))
    registry.set('ipkeeper_deferred_dels', byLabel('state', dels))
    this.#setFindings()
    const bad = badCacheFiles?.()
    const files = cacheReasonNames.map(reason => ({ labels: { reason }, value: bad?.[reason] ?? 0 }))
    registry.set('ipkeeper_cache_bad_files', bad ? files : [])
    this.#setConflists(conflists?.())
    this.#setCluster(cluster())
    this.#setStore()
    this.#setDisk()
    this.#setExport(await this.#sources.historyExport?.())
    this.#setDaemon()
  }

  #setExport(figures: HistoryExportFigures | undefined): void {
    const { now = Date.now } = this.#sources
    const { unsent, oldestUnsent, sent = 0, pruned = 0 } = figures ?? {}
    const age = oldestUnsent === undefined ? 0 : Math.max(now() - oldestUnsent, 0)
    const registry = this.#registry
    registry.set('ipkeeper_history_unsent_entries', unsent === undefined ? [] : [{ value: unsent }])
    registry.set('ipkeeper_history_export_lag_seconds', figures ? [{ value: age / 1e3 }] : [])
    registry.setTotal('ipkeeper_history_sent_entries_total', [{ value: sent }])
    registry.setTotal('ipkeeper_history_pruned_unsent_entries_total', [{ value: pruned }])
  }

  #setPools(pools: readonly RangeSetFigures[], at: number): void {
    const of = (pick: (figures: RangeSetFigures) => number): readonly Sample[] =>
      pools.map(figures => ({ labels: figures.labels, value: pick(figures) }))
    const registry = this.#registry
    registry.set(
      'ipkeeper_pool_capacity_addresses',
      of(({ capacity }) => capacity),
    )
    registry.set(
      'ipkeeper_pool_used_addresses',
      of(({ used }) => used),
    )
    registry.set(
      'ipkeeper_pool_held_addresses',
      of(({ held }) => held),
    )
    registry.set(
      'ipkeeper_pool_free_addresses',
      of(({ free }) => free),
    )
    registry.set(
      'ipkeeper_pool_cooling_addresses',
      of(({ cooling }) => cooling),
    )
    registry.set('ipkeeper_pool_exhaustion_seconds', this.#exhaustion.look(pools, at))
  }

  #setFindings(): void {
    const found = this.#sources.findings?.()
    const kinds = found ? findingKindNames : []
    const samples = kinds.map(kind => ({ labels: { kind }, value: found?.[kind] ?? 0 }))
    this.#registry.set('ipkeeper_findings', samples)
    const repaired = this.#sources.repairs?.()
    const repairs = repairableKinds.map(kind => ({ labels: { kind }, value: repaired?.[kind] ?? 0 }))
    this.#registry.setTotal('ipkeeper_repairs_total', repairs)
  }

  #setConflists(state: ReturnType<ConflistState>): void {
    const { files = [], findings = {} } = state ?? {}
    const rest = files.slice(conflistLimit)
    const samples = files
      .slice(0, conflistLimit)
      .map(({ name, valid }) => ({ labels: { file: name }, value: Number(valid) }))
    const together = { labels: { file: otherValue }, value: Number(rest.every(({ valid }) => valid)) }
    this.#registry.set('ipkeeper_conflist_valid', rest.length > 0 ? [...samples, together] : samples)
    this.#registry.set('ipkeeper_conflist_findings', byLabel('severity', findings))
  }

  #setCluster(state: ClusterFigures | undefined): void {
    const registry = this.#registry
    const { watches = [], events } = state ?? {}
    registry.set(
      'ipkeeper_kubernetes_watch_up',
      watches.map(({ resource, connected, synced }) => ({
        labels: { resource },
        value: Number(connected && synced),
      })),
    )
    registry.set(
      'ipkeeper_kubernetes_last_contact_timestamp_seconds',
      watches.flatMap(({ resource, lastContact }) =>
        lastContact === undefined ? [] : { labels: { resource }, value: lastContact / 1e3 },
      ),
    )
    registry.set('ipkeeper_kubernetes_events_queued', [{ value: events?.queued ?? 0 }])
    const { written = 0, dropped = 0 } = events ?? {}
    registry.setTotal('ipkeeper_kubernetes_events_total', byLabel('outcome', { written, dropped }))
  }

  #setStore(): void {
    const registry = this.#registry
    const shared = this.#sources.sharedStore()
    const ends = this.#sources.certificateEnds()
    const sample = (value: number | boolean | undefined): readonly Sample[] =>
      value === undefined ? [] : [{ value: Number(value) }]
    registry.set('ipkeeper_store_away', sample(shared?.away))
    registry.set('ipkeeper_store_incomplete', sample(shared?.incomplete))
    registry.set('ipkeeper_store_awaited_nodes', sample(shared?.awaited))
    registry.set('ipkeeper_store_owed_records', sample(shared?.owed))
    registry.set('ipkeeper_node_name_lost', sample(this.#sources.nameLost?.()))
    registry.set('ipkeeper_elected', sample(shared?.elected))
    const file = this.#sources.storeFile?.()
    const faults = file && {
      lost: Number(file.fault === 'lost'),
      damaged: Number(file.fault === 'damaged'),
      history: file.history,
    }
    registry.set('ipkeeper_store_file_faults', byLabel('kind', faults ?? {}))
    registry.set(
      'ipkeeper_webhook_certificate_expiry_timestamp_seconds',
      sample(ends === undefined ? undefined : ends / 1e3),
    )
  }

  #setDisk(): void {
    const disk = this.#sources.disk()
    this.#registry.set('ipkeeper_disk_reserve_bytes', [{ value: disk?.reserved ?? 0 }])
    this.#registry.set('ipkeeper_disk_full', [{ value: Number(disk?.refuses !== undefined) }])
  }

  #setDaemon(): void {
    const registry = this.#registry
    const { version, startedAt, counts, operationsUnderWay, config, busyMs } = this.#sources
    const { attachment, reservation } = counts()
    const { loadedAt, problem } = config()
    const { user, system } = process.cpuUsage()
    registry.set('ipkeeper_attachments', [{ value: attachment }])
    registry.set('ipkeeper_reservations', [{ value: reservation }])
    registry.set('ipkeeper_operations_under_way', [{ value: operationsUnderWay() }])
    registry.set(
      'ipkeeper_optional_part_up',
      (this.#sources.parts?.() ?? []).map(({ name, problem }) => ({
        labels: { part: name },
        value: Number(problem === undefined),
      })),
    )
    registry.set('ipkeeper_config_valid', [{ value: Number(problem === null) }])
    registry.set('ipkeeper_config_loaded_timestamp_seconds', [{ value: loadedAt / 1e3 }])
    registry.set('ipkeeper_build_info', [{ labels: { version, commit }, value: 1 }])
    registry.set('process_resident_memory_bytes', [{ value: process.memoryUsage.rss() }])
    registry.set('process_start_time_seconds', [{ value: startedAt / 1e3 }])
    registry.setTotal('process_cpu_seconds_total', [{ value: (user + system) / 1e6 }])
    registry.setTotal('ipkeeper_event_loop_busy_seconds_total', [{ value: busyMs() / 1e3 }])
  }
}

/** One sample for each key that has a number. */
function byLabel(label: string, counts: Readonly<Partial<Record<string, number>>>): readonly Sample[] {
  return Object.entries(counts).flatMap(([value, count]) =>
    count === undefined ? [] : { labels: { [label]: value }, value: count },
  )
}
