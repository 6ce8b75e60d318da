import t from 'tap'
import { MetricRegistry } from '../../../ipkeeper-server/metrics/metric-registry.ts'
import { metricNames, metricRow } from '../../../ipkeeper-server/metrics/metric-table.ts'
import { readPage, valueOf } from '../../rigs/metrics-page.ts'

t.test('names follow the conventions of Prometheus', t => {
  for (const name of metricNames) {
    const { type, unit, help, labels = {}, buckets } = metricRow(name)
    t.match(name, /^(ipkeeper|process)_[a-z_]+$/)
    t.equal(name.endsWith('_total'), type === 'counter', `${name}: _total is for counters`)
    if (unit === 'seconds' || unit === 'bytes' || unit === 'addresses')
      t.match(name, new RegExp(`_${unit}(_total)?$`), `${name} says its unit`)
    t.match(help, /^[A-Z].*\.$/, `${name}: help is a sentence`)
    t.equal(buckets !== undefined, type === 'histogram', `${name}: buckets`)
    t.strictSame(buckets, buckets && [...new Set(buckets)].sort((a, b) => a - b), `${name}: buckets in order`)
    for (const [label, row] of Object.entries(labels)) {
      t.match(label, /^[a-z]+$/)
      t.notMatch(label, /^(le|quantile|instance|job)$/, 'a word of Prometheus')
      if ('source' in row) t.ok(row.atMost > 0 && row.atMost <= 1_001)
      else t.equal(new Set(row).size, row.length, `${name}: values of ${label} are different`)
    }
  }
  t.end()
})

t.test('the page holds every metric of the table, and no other', async t => {
  const { contentType, text } = await new MetricRegistry().page()
  t.equal(contentType, 'text/plain; version=0.0.4; charset=utf-8')
  const types = Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, type]) => `${name} ${type}`)
  t.strictSame(
    types,
    metricNames.map(name => `${name} ${metricRow(name).type}`),
  )
  t.ok(text.endsWith('\n'))
})

t.test('counters begin at zero, for each value of their label', async t => {
  const page = readPage((await new MetricRegistry().page()).text)
  t.equal(valueOf(page, 'ipkeeper_takeovers_total', { from: 'same_pod' }), 0)
  t.equal(valueOf(page, 'ipkeeper_deferred_dels_done_total'), 0)
})

t.test('a value beyond the list is counted as other', async t => {
  const registry = new MetricRegistry()
  registry.set('ipkeeper_cache_bad_files', [
    { labels: { reason: 'zero-byte' }, value: 2 },
    { labels: { reason: '10.22.0.5' }, value: 3 },
  ])
  for (const verb of ['add', 'shop/web-0'])
    registry.observe('ipkeeper_cni_verb_duration_seconds', 0.02, { verb, code: 'OK' })
  const { text } = await registry.page()
  const page = readPage(text)
  t.equal(valueOf(page, 'ipkeeper_cache_bad_files', { reason: 'zero-byte' }), 2)
  t.equal(valueOf(page, 'ipkeeper_cache_bad_files', { reason: 'other' }), 3)
  t.equal(valueOf(page, 'ipkeeper_cni_verb_duration_seconds_count', { verb: 'other' }), 1)
  const bucket = (le: string): number | undefined =>
    valueOf(page, 'ipkeeper_cni_verb_duration_seconds_bucket', { verb: 'add', le })
  t.strictSame([bucket('0.01'), bucket('0.025'), bucket('60'), bucket('+Inf')], [0, 1, 1, 1])
  t.notMatch(text, /10\.22|web-0/)
})

t.test('a gauge has the samples that it was set to last', async t => {
  const registry = new MetricRegistry()
  const valid = (file: string, value: number) => ({ labels: { file }, value })
  registry.set('ipkeeper_conflist_valid', [valid('10-a.conflist', 1), valid('20-"b"\n.conf', 0)])
  t.equal(
    valueOf(readPage((await registry.page()).text), 'ipkeeper_conflist_valid', {
      file: '20-\\"b\\"\\n.conf',
    }),
    0,
    'a name cannot break out of its line',
  )
  registry.set('ipkeeper_conflist_valid', [valid('10-a.conflist', 0)])
  const page = readPage((await registry.page()).text)
  t.strictSame(
    page.filter(({ name }) => name === 'ipkeeper_conflist_valid').map(({ labels, value }) => [labels, value]),
    [[{ file: '10-a.conflist' }, 0]],
  )
  const ends = 'ipkeeper_webhook_certificate_expiry_timestamp_seconds'
  const endsNow = async (): Promise<number | undefined> =>
    valueOf(readPage((await registry.page()).text), ends)
  t.equal(await endsNow(), undefined, 'nor any before it was set')
  registry.set(ends, [{ value: 9 }])
  t.equal(await endsNow(), 9)
  registry.set(ends, [])
  t.equal(await endsNow(), undefined, 'none is not 0, which alerts would take for a moment long ago')
  registry.setTotal('process_cpu_seconds_total', [{ value: 5 }])
  registry.setTotal('process_cpu_seconds_total', [{ value: 7 }])
  t.equal(valueOf(readPage((await registry.page()).text), 'process_cpu_seconds_total'), 7)
})
