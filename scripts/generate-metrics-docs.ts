/**
 * Writes docs/reference/metrics.generated.md from the table of metrics.
 *
 *   node scripts/generate-metrics-docs.ts
 */
import {
  metricNames,
  metricRow,
  type LabelRow,
  type MetricName,
} from '../ipkeeper-server/metrics/metric-table.ts'
import { table } from './markdown-table.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const introduction = `<!-- Made by scripts/generate-metrics-docs.ts from ipkeeper-server/metrics/metric-table.ts; change that, then: make generate -->

# Metrics

What the daemon tells at \`/metrics\`, on its socket and on \`metrics.listen\`, in the text format of Prometheus (0.0.4).
How to get at it, alerts and a dashboard: [monitoring.md](../operations/monitoring.md).

No label ever holds an address, a pod or a container. A label has the values that are listed here and no others; where
they come from the configuration there is a limit, and what is beyond it is counted as \`other\`. Counters begin at zero
with the daemon. Gauges are measured when somebody asks; nothing is measured in between.
`

/** More values than a reader wants to see in a row: they have a page of their own. */
const codes = '`OK`, or a [code of an error](errors.generated.md)'

function valuesOf(label: string, row: LabelRow): string {
  if ('source' in row) return `${row.source}; at most ${row.atMost}`
  return label === 'code' ? codes : row.map(value => `\`${value}\``).join(', ')
}

function section(name: MetricName): string {
  const { type, unit, help, labels = {}, buckets } = metricRow(name)
  const rows = Object.entries(labels).map(([label, row]) => `- \`${label}\`: ${valuesOf(label, row)}`)
  return [
    `## ${name}`,
    `${type} · ${unit}`,
    help,
    ...(rows.length > 0 ? [rows.join('\n')] : []),
    ...(buckets ? [`Buckets: ${buckets.join(', ')}, +Inf.`] : []),
  ].join('\n\n')
}

function generate(): string {
  const rows = metricNames.map(name => {
    const { type, unit, labels = {} } = metricRow(name)
    return [`[\`${name}\`](#${name})`, type, unit, Object.keys(labels).join(', ')]
  })
  const overview = table(['metric', 'type', 'unit', 'labels'], rows)
  return `${introduction}\n${overview}\n\n${metricNames.map(section).join('\n\n')}\n`
}

export const metricReference: GeneratedFile = { path: 'docs/reference/metrics.generated.md', generate }

if (import.meta.main) await writeGenerated(metricReference)
