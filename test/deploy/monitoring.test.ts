/** Alerts, dashboard and snippets of deploy/monitoring: promtool takes them, and they speak of metrics that exist. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { metricNames, metricRow, type MetricName } from '../../ipkeeper-server/metrics/metric-table.ts'
import { startOwnDaemon } from '../rigs/daemon.ts'
import { containerdMetrics, kubernetesMetrics, prometheusMetrics } from '../rigs/prometheus-metrics.ts'
import { findPromtool, missing } from '../rigs/requirements.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const folder = join(import.meta.dirname, '..', '..', 'deploy', 'monitoring')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}

interface Dashboard {
  readonly title: string
  readonly uid: string
  readonly schemaVersion: number
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] }
  readonly panels: readonly Panel[]
}

const { groups } = parse(read('alerts.yaml')) as { groups: { name: string; rules: Alert[] }[] }
const alerts = groups.flatMap(({ rules }) => rules)
const dashboard = JSON.parse(read('dashboard.json')) as Dashboard
const panels = dashboard.panels.filter(({ type }) => type !== 'row')

const promtool = (args: readonly string[], input = ''): Promise<Finished> =>
  runProgram(findPromtool() ?? '', args, { cwd: folder, input })

/** Words of PromQL that the expressions here use. */
const words = new Set(
  'sum count min max rate increase histogram_quantile label_replace vector time and or unless'.split(' '),
)
const foreign: readonly string[] = [...containerdMetrics, ...kubernetesMetrics, ...prometheusMetrics]
/** Labels that the scrape configuration and Prometheus add. */
const added = ['node', 'job', 'le']

/** The row behind a series: that of a histogram has several. */
function rowOf(series: string): MetricName | undefined {
  return metricNames.find(name =>
    metricRow(name).type === 'histogram'
      ? [`${name}_bucket`, `${name}_count`, `${name}_sum`].includes(series)
      : name === series,
  )
}

interface Selector {
  readonly series: string
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[]
}

/** Every series that an expression names, with what it asks of its labels. */
function selectorsOf(expression: string): readonly Selector[] {
  const found: Selector[] = []
  const rest = expression
    .replaceAll(
      /([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[^}"]|"(?:[^"\\]|\\.)*")*)\}/g,
      (_, series: string, body: string) => {
        const matchers = Array.from(
          body.matchAll(/([a-zA-Z_]+) *(=~|!~|!=|=) *"((?:[^"\\]|\\.)*)"/g),
          ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
        )
        found.push({ series, matchers })
        return ' '
      },
    )
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
  for (const [series] of rest.matchAll(/[a-zA-Z_:][a-zA-Z0-9_:]*/g))
    if (!words.has(series)) found.push({ series, matchers: [] })
  return found
}

/** What is wrong with an expression: metrics that nobody has, labels and values that they do not have. */
function faultsOf(expression: string): readonly string[] {
  return selectorsOf(expression).flatMap(({ series, matchers }) => {
    if (foreign.includes(series)) return []
    const name = rowOf(series)
    if (!name) return [`no metric ${series}`]
    const { labels = {} } = metricRow(name)
    return matchers.flatMap(({ label, operator, value }) => {
      if (added.includes(label)) return []
      const row = labels[label]
      if (!row) return [`${series} has no label ${label}`]
      if ('source' in row || operator.startsWith('!')) return []
      const wanted = operator === '=~' ? value.split('|') : [value]
      return wanted.filter(one => !row.includes(one)).map(one => `${label} of ${series} is never ${one}`)
    })
  })
}

t.test('expressions with a fault are noticed', t => {
  const table: readonly [expression: string, faults: readonly string[]][] = [
    ['ipkeeper_leases{state="bound"}', []],
    ['rate(ipkeeper_cni_verb_duration_seconds_bucket{le="1"}[5m])', []],
    ['ipkeeper_leases{state="gone"}', ['state of ipkeeper_leases is never gone']],
    ['ipkeeper_findings{kind=~"dead-boot|x"}', ['kind of ipkeeper_findings is never x']],
    ['ipkeeper_leases{pod="a"}', ['ipkeeper_leases has no label pod']],
    ['sum by (node) (ipkeeper_lease) > 0', ['no metric ipkeeper_lease']],
    ['ipkeeper_cni_verb_duration_seconds', ['no metric ipkeeper_cni_verb_duration_seconds']],
    ['containerd_cri_sandbox_errors_total > 0', ['no metric containerd_cri_sandbox_errors_total']],
  ]
  for (const [expression, faults] of table) t.strictSame(faultsOf(expression), faults, expression)
  t.end()
})

/** What never passes by itself in a moment, and serves no pod meanwhile. */
const atOnce = ['IpkeeperNodeNameLost']

t.test('alerts', t => {
  t.ok(alerts.length >= 20)
  for (const { alert, expr, labels, annotations, ...rest } of alerts) {
    t.strictSame(faultsOf(expr), [], alert)
    if (!atOnce.includes(alert)) t.match(rest.for, /^[1-9][0-9]*m$/, `${alert} waits`)
    else t.equal(rest.for, undefined, `${alert} does not wait`)
    t.match(labels, { severity: /^(warning|critical)$/, component: /^(ipkeeper|containerd|kubelet)$/ }, alert)
    t.match(
      annotations,
      { summary: /\{\{ \$labels\.node \}\}/, description: /\.$/, next: /^[^\n]{10,}$/ },
      alert,
    )
  }
  const used = (names: readonly string[]): readonly string[] =>
    names.filter(name =>
      [...alerts, ...panels.flatMap(({ targets = [] }) => targets)].some(({ expr }) => expr.includes(name)),
    )
  t.strictSame(used(foreign), foreign, 'the list of metrics of others holds no more than is used')
  const { tests } = parse(read('rules.test.yaml')) as { tests: { promql_expr_test?: object }[] }
  const tested = JSON.stringify(tests)
  for (const { alert } of alerts) t.ok(tested.includes(`"${alert}\\"`), `${alert} is tested`)
  t.end()
})

t.test('the dashboard', t => {
  t.match(dashboard, { title: 'ipkeeper', uid: 'ipkeeper', schemaVersion: 39 })
  t.strictSame(
    dashboard.templating.list.map(({ name }) => name),
    ['datasource', 'node'],
  )
  const ids = dashboard.panels.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length, 'each panel has an ID of its own')
  const cells = new Set<string>()
  for (const { title, type, gridPos, targets = [] } of dashboard.panels) {
    const { h, w, x, y } = gridPos
    t.ok(x + w <= 24, `${title} is within the grid`)
    for (let row = y; row < y + h; row++)
      for (let column = x; column < x + w; column++) {
        const cell = `${column}/${row}`
        if (cells.has(cell)) t.fail(`${title} lies over another panel at ${cell}`)
        cells.add(cell)
      }
    t.equal(targets.length > 0, type !== 'row', title)
    t.strictSame(
      targets.flatMap(({ expr }) => faultsOf(expr)),
      [],
      title,
    )
  }
  t.strictSame(
    metricNames.filter(
      name => name.startsWith('ipkeeper_') && !JSON.stringify([dashboard, alerts]).includes(name),
    ),
    [
      'ipkeeper_operations_under_way',
      'ipkeeper_false_answers_total',
      'ipkeeper_attachments',
      'ipkeeper_reservations',
      'ipkeeper_disk_reserve_bytes',
      'ipkeeper_store_awaited_nodes',
      'ipkeeper_elected',
      'ipkeeper_admission_reviews_total',
      'ipkeeper_history_unsent_entries',
      'ipkeeper_history_sent_entries_total',
      'ipkeeper_kubernetes_last_contact_timestamp_seconds',
      'ipkeeper_kubernetes_events_total',
      'ipkeeper_config_loaded_timestamp_seconds',
    ],
    'what nobody looks at is known',
  )
  t.end()
})

t.test('promtool', { skip: missing('promtool') }, async t => {
  const passes = async (what: string, args: readonly string[]): Promise<void> => {
    const { exit, stdout, stderr } = await promtool(args)
    t.equal(exit, 0, `${what}: ${stdout}${stderr}`)
  }
  await passes('alerts', ['check', 'rules', 'alerts.yaml'])
  await passes('tests of alerts', ['test', 'rules', 'rules.test.yaml'])
  await passes('scrape configuration', [
    'check',
    'config',
    '--agent',
    '--syntax-only',
    'prometheus-agent.yaml',
  ])
  // Grafana puts a duration in its place.
  const expressions = panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
  )
  const rules = expressions.map((expr, index) => ({ record: `panel_${index}`, expr }))
  const temp = tempFolder(t)
  writeFileSync(temp.file('rules.yaml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  await passes('expressions of the dashboard', ['check', 'rules', temp.file('rules.yaml')])
})

t.test('a page of the daemon', { skip: missing('promtool', 'executables') }, async t => {
  const { daemon } = await startOwnDaemon(t)
  const { status } = await daemon.ask('POST', '/v1/cni/add', {
    ...{ containerId: 'c1', netns: '/run/netns/none', ifname: 'eth0', args: '', path: '/opt/cni/bin' },
    config: {
      ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge' },
      ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
    },
  })
  t.equal(status, 200)
  const { body } = await daemon.ask('GET', '/metrics')
  const { exit, stdout, stderr } = await promtool(['check', 'metrics'], body)
  t.strictSame([exit, stdout, stderr], [0, '', ''], 'promtool has nothing to say')
})
