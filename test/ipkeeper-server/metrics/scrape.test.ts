import t from 'tap'
import { MetricRegistry } from '../../../ipkeeper-server/metrics/metric-registry.ts'
import { conflistLimit } from '../../../ipkeeper-server/metrics/metric-table.ts'
import type { MetricSources } from '../../../ipkeeper-server/metrics/metric-sources.ts'
import { Scraper } from '../../../ipkeeper-server/metrics/scrape.ts'
import { readPage, valueOf, type PageSample } from '../../rigs/metrics-page.ts'

const quiet: MetricSources = {
  version: '1.2.3',
  startedAt: 5_000,
  monotonic: () => 0,
  usage: () => Promise.resolve({ rangeSets: [], leases: { bound: 0, held: 0, cooling: 0 } }),
  counts: () => ({ attachment: 0, reservation: 0 }),
  operationsUnderWay: () => 3,
  deferredDels: () => Promise.resolve({ waiting: 0, quarantined: 0 }),
  config: () => ({ loadedAt: 7_000, problem: null }),
  cluster: () => undefined,
  sharedStore: () => undefined,
  disk: () => undefined,
  certificateEnds: () => undefined,
  busyMs: () => 1_500,
}

async function pageOf(sources: Partial<MetricSources>): Promise<readonly PageSample[]> {
  return readPage((await new Scraper(new MetricRegistry(), { ...quiet, ...sources }).page()).text)
}

const samplesOf = (page: readonly PageSample[], name: string): object =>
  Object.fromEntries(
    page
      .filter(sample => sample.name === name)
      .map(({ labels, value }) => [Object.values(labels).join(' '), value]),
  )

t.test('what nobody has looked at yet has no sample', async t => {
  const page = await pageOf({})
  for (const name of [
    'ipkeeper_findings',
    'ipkeeper_cache_bad_files',
    'ipkeeper_conflist_valid',
    'ipkeeper_conflist_findings',
    'ipkeeper_kubernetes_watch_up',
  ])
    t.strictSame(samplesOf(page, name), {}, name)
  t.equal(valueOf(page, 'ipkeeper_build_info', { version: '1.2.3', commit: 'unknown' }), 1)
  t.equal(valueOf(page, 'process_start_time_seconds'), 5)
  t.equal(valueOf(page, 'ipkeeper_config_loaded_timestamp_seconds'), 7)
  t.equal(valueOf(page, 'ipkeeper_operations_under_way'), 3)
  t.equal(valueOf(page, 'ipkeeper_event_loop_busy_seconds_total'), 1.5)
})

t.test('a store that nodes share', async t => {
  const names = ['away', 'incomplete', 'awaited_nodes', 'owed_records'].map(name => `ipkeeper_store_${name}`)
  const valuesOf = (page: readonly PageSample[]): readonly (number | undefined)[] =>
    names.map(name => page.find(sample => sample.name === name)?.value)
  const quietStore = { away: false, incomplete: false, awaited: 0, owed: 0, elected: undefined }
  t.strictSame(valuesOf(await pageOf({})), [undefined, undefined, undefined, undefined])
  t.strictSame(valuesOf(await pageOf({ sharedStore: () => quietStore })), [0, 0, 0, 0])
  const lost = { ...quietStore, incomplete: true, awaited: 2, owed: 5 }
  t.strictSame(valuesOf(await pageOf({ sharedStore: () => lost })), [0, 1, 2, 5])
})

t.test('each source has its metric', async t => {
  const page = await pageOf({
    findings: () => ({ 'ip-differs': 2 }),
    repairs: () => ({ 'dead-boot': 4 }),
    badCacheFiles: () => ({ 'zero-byte': 3 }),
    conflists: () => ({
      files: [
        { name: '10-a.conflist', valid: true },
        { name: '20-b.conf', valid: false },
      ],
      findings: { error: 1, note: 5 },
    }),
    cluster: () => ({
      watches: [
        { resource: 'pods', connected: true, synced: true, lastContact: 9_000 },
        { resource: 'nodes', connected: true, synced: false, lastContact: undefined },
      ],
      events: { queued: 1, written: 2, dropped: 3 },
    }),
    config: () => ({ loadedAt: 0, problem: {} }),
    disk: () => ({ folder: '/state', reserved: 5, wanted: 9, refuses: { reason: 'full', since: 0 } }),
  })
  const table: readonly [name: string, samples: object][] = [
    ['ipkeeper_conflist_valid', { '10-a.conflist': 1, '20-b.conf': 0 }],
    ['ipkeeper_conflist_findings', { error: 1, note: 5 }],
    ['ipkeeper_kubernetes_watch_up', { pods: 1, nodes: 0 }],
    ['ipkeeper_kubernetes_last_contact_timestamp_seconds', { pods: 9 }],
    ['ipkeeper_kubernetes_events_queued', { '': 1 }],
    ['ipkeeper_kubernetes_events_total', { written: 2, dropped: 3 }],
    ['ipkeeper_config_valid', { '': 0 }],
    ['ipkeeper_disk_full', { '': 1 }],
    ['ipkeeper_disk_reserve_bytes', { '': 5 }],
  ]
  for (const [name, samples] of table) t.strictSame(samplesOf(page, name), samples, name)
  t.match(samplesOf(page, 'ipkeeper_cache_bad_files'), { 'zero-byte': 3, truncated: 0 })
  t.match(samplesOf(page, 'ipkeeper_findings'), { 'ip-differs': 2, 'dead-boot': 0 })
  t.match(samplesOf(page, 'ipkeeper_repairs_total'), { 'dead-boot': 4, 'link-without-lease': 0 })
})

t.test('files beyond the limit are one, which is valid when all of them are', async t => {
  for (const broken of [false, true]) {
    const files = Array.from({ length: conflistLimit + 3 }, (_, index) => ({
      name: `${String(index)}.conflist`,
      valid: !(broken && index === conflistLimit + 1),
    }))
    const page = await pageOf({ conflists: () => ({ files, findings: {} }) })
    t.equal(Object.keys(samplesOf(page, 'ipkeeper_conflist_valid')).length, conflistLimit + 1)
    t.equal(valueOf(page, 'ipkeeper_conflist_valid', { file: 'other' }), broken ? 0 : 1)
  }
})

t.test('many who ask at a time are answered by one measurement, and a failure is not kept', async t => {
  let measured = 0
  let broken = false
  const usage = (): ReturnType<MetricSources['usage']> => {
    measured++
    return broken ? Promise.reject(new Error('no')) : quiet.usage()
  }
  const scraper = new Scraper(new MetricRegistry(), { ...quiet, usage })
  await Promise.all([scraper.page(), scraper.page(), scraper.page()])
  t.equal(measured, 1)
  broken = true
  await t.rejects(scraper.page(), { message: 'no' })
  broken = false
  await scraper.page()
  t.equal(measured, 3)
})
