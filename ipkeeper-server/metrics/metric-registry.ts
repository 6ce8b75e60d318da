import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import Registry from 'prom-client/lib/registry.js'
import {
  metricNames,
  metricRow,
  otherValue,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type MetricName,
} from './metric-table.ts'

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels?: Labels
  readonly value: number
}

/** Prometheus text format 0.0.4 and its content type. */
export interface MetricsPage {
  readonly contentType: string
  readonly text: string
}

/** The metrics of the table, at their present values. A label value that its row does not list is counted as "other". */
export class MetricRegistry {
  readonly #registry = new Registry()
  readonly #counters = new Map<MetricName, Counter>()
  readonly #gauges = new Map<MetricName, Gauge>()
  readonly #histograms = new Map<MetricName, Histogram>()
  readonly #closed = new Map<MetricName, ReadonlyMap<string, ReadonlySet<string>>>()

  constructor() {
    for (const name of metricNames) this.#register(name)
  }

  count(name: CounterName, labels: Labels = {}, by = 1): void {
    this.#counters.get(name)?.inc(this.#bounded(name, labels), by)
  }

  observe(name: HistogramName, value: number, labels: Labels = {}): void {
    this.#histograms.get(name)?.observe(this.#bounded(name, labels), value)
  }

  /** The only samples that the gauge has from now on. */
  set(name: GaugeName, samples: readonly Sample[]): void {
    const gauge = this.#gauges.get(name)
    gauge?.reset()
    // By itself a gauge without labels begins at 0, which says something.
    if (samples.length === 0 && metricRow(name).labels === undefined) gauge?.remove()
    for (const { labels = {}, value } of samples) gauge?.set(this.#bounded(name, labels), value)
  }

  /** For a counter that somebody else counts: the only samples that it has from now on. */
  setTotal(name: CounterName, samples: readonly Sample[]): void {
    this.#counters.get(name)?.reset()
    for (const { labels = {}, value } of samples) this.count(name, labels, value)
  }

  async page(): Promise<MetricsPage> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  #register(name: MetricName): void {
    const { type, help, labels = {}, buckets = [] } = metricRow(name)
    const labelNames = Object.keys(labels)
    const closed = new Map<string, ReadonlySet<string>>()
    for (const [label, row] of Object.entries(labels))
      if (Array.isArray(row)) closed.set(label, new Set(row as readonly string[]))
    this.#closed.set(name, closed)
    const options = { name, help, labelNames, registers: [this.#registry] }
    switch (type) {
      case 'counter': {
        const counter = new Counter(options)
        // From zero, so that the first one is seen to come.
        if (labelNames.length === 1)
          for (const [label, values] of closed) for (const value of values) counter.inc({ [label]: value }, 0)
        this.#counters.set(name, counter)
        return
      }
      case 'gauge':
        this.#gauges.set(name, new Gauge(options))
        this.set(name as GaugeName, [])
        return
      case 'histogram':
        this.#histograms.set(name, new Histogram({ ...options, buckets: [...buckets] }))
        return
    }
  }

  #bounded(name: MetricName, labels: Labels): Labels {
    const closed = this.#closed.get(name)
    for (const label in labels) {
      const values = closed?.get(label)
      if (values && !values.has(labels[label] ?? '')) return this.#withOthers(labels, closed)
    }
    return labels
  }

  #withOthers(labels: Labels, closed: ReadonlyMap<string, ReadonlySet<string>> | undefined): Labels {
    return Object.fromEntries(
      Object.entries(labels).map(([label, value]) => [
        label,
        closed?.get(label)?.has(value) === false ? otherValue : value,
      ]),
    )
  }
}
