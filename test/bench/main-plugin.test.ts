import t from 'tap'
import { linesOf, Series, type Contestant } from '../../bench/main-plugin.ts'
import type { PodSite } from '../../bench/pod-site.ts'
import type { RunFigures } from '../../bench/plugin-runner.ts'

const site: PodSite = {
  fillTo: () => Promise.resolve(),
  addAndDelete: () => Promise.reject(new Error('is not asked')),
  plugIn: () => Promise.reject(new Error('is not asked')),
  close: () => Promise.resolve(),
}

const ours = (plugin: 'static' | 'Node', wiring: 'netlink' | 'ip', isFilled: boolean): Contestant => ({
  site,
  folder: '',
  plugin,
  wiring,
  reference: null,
  isFilled,
})

const reference = (version: string): Contestant => ({
  ...{ site, folder: '', plugin: null, wiring: null, reference: version, isFilled: true },
})

const run = (ms: number): RunFigures => ({ ms, processorMs: ms / 2, pageFaults: 100, peakMebibytes: 3 })

const all = [
  ours('static', 'netlink', true),
  ours('static', 'ip', true),
  ours('Node', 'netlink', true),
  reference('1.1.1'),
  reference('1.9.1'),
  ours('static', 'netlink', false),
  ours('Node', 'netlink', false),
]
const medians = [8, 12, 30, 10, 16, 4, 20]

/** Three samples around each median. */
function seriesOf(sample: (ms: number) => RunFigures | { readonly ms: number }): Series {
  const series = Series.of(all)
  for (const [index, one] of all.entries())
    series.note(one, ...[-1, 0, 50].map(off => sample((medians[index] ?? NaN) + off)))
  return series
}

t.test('each is compared with every reference, and with itself on an empty node', t => {
  const shape = { what: 'ADD', pods: 500, atOnce: 20 } as const
  const lines = linesOf(seriesOf(run), shape)
  t.strictSame(
    lines.map(({ plugin, wiring, reference, times, toReferences, toEmpty }) => [
      ...[plugin, wiring, reference, times.p50, toReferences['1.1.1'], toReferences['1.9.1'], toEmpty],
    ]),
    [
      ['static', 'netlink', null, 8, 0.8, 0.5, 2],
      ['static', 'ip', null, 12, 1.2, 0.75, null],
      ['Node', 'netlink', null, 30, 3, 1.875, 1.5],
      [null, null, '1.1.1', 10, 1, 0.625, null],
      [null, null, '1.9.1', 16, 1.6, 1, null],
    ],
  )
  t.match(lines[0], { ...shape, times: { count: 3, processorMs: 4, pageFaults: 100, peakMebibytes: 3 } })
  t.end()
})

t.test('what is no process of the plugin has times alone', t => {
  const [line] = linesOf(
    seriesOf(ms => ({ ms })),
    { what: 'RunPodSandbox', pods: 0, atOnce: 1 },
  )
  t.strictSame(Object.keys(line?.times ?? {}), ['count', 'p50', 'p95', 'p99', 'max'])
  t.end()
})
