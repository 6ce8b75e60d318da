import { engines } from '../engines.ts'
import { fills, delays, loads, type Meeting, type Routes } from './collisions.ts'
import { nodesAtBandwidth, podCost, trafficCost, type ClusterShape, type PodTraffic } from './cost-model.ts'
import type { Measured } from './measure.ts'

const shape: ClusterShape = { nodes: 1_000, podsPerNode: 100, families: 1 }

const traffics: readonly PodTraffic[] = [
  { name: 'churn: each node has a new pod a minute', podsPerSecond: shape.nodes / 60 },
  {
    name: 'storm: every pod is replaced within 10 minutes',
    podsPerSecond: (shape.nodes * shape.podsPerNode) / 600,
  },
]

/** 10 Gbit/s. */
const link = 1.25e9

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

const count = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
const bytes = (value: number): string =>
  value >= 1e9
    ? `${count(value / 1e9)} GB`
    : value >= 1e6
      ? `${count(value / 1e6)} MB`
      : `${count(value / 1e3)} kB`
const percent = (share: number): string =>
  `${(share * 100).toLocaleString('en', { maximumFractionDigits: share < 0.1 ? 1 : 0 })} %`

function calls(): string {
  const rows = engines.flatMap(engine =>
    ([1, 2] as const).map(families => {
      const { add, del, rested } = podCost(engine, families)
      const events = [add, del, rested].reduce((sum, { changes }) => sum + changes.lease + changes.holder, 0)
      return [engine, count(families), ...[add, del, rested].map(verb => count(verb.calls)), count(events)]
    }),
  )
  const header = ['engine', 'families', 'ADD', 'DEL', 'end of the rest', 'changes that nodes hear of']
  return table(header, rows)
}

function traffic({ recordBytes }: Measured): string {
  const rows = engines.flatMap(engine => {
    const sizes = recordBytes[engine]
    if (!sizes) return []
    return traffics.map(load => {
      const cost = trafficCost(engine, shape, load, sizes)
      return [
        engine,
        load.name,
        count(cost.callsPerSecond),
        count(cost.eventsPerSecond),
        bytes(cost.bytesPerNode),
        bytes(cost.bytesOfEngine),
      ]
    })
  })
  const header = [
    'engine',
    'load',
    'calls/s',
    'changes/s',
    'to each node, per second',
    'from the engine, per second',
  ]
  return table(header, rows)
}

function ends({ recordBytes }: Measured): string {
  const rows = engines.flatMap(engine => {
    const sizes = recordBytes[engine]
    if (!sizes) return []
    return [
      [
        engine,
        `${sizes.lease} + ${sizes.holder}`,
        ...traffics.map(({ podsPerSecond }) =>
          count(nodesAtBandwidth(engine, shape, podsPerSecond / shape.nodes, sizes, link)),
        ),
      ],
    ]
  })
  return table(['engine', 'bytes of a lease + a holder', 'nodes in churn', 'nodes in the storm'], rows)
}

function memory({ memory: figures }: Measured): string {
  const rows = figures.map(figure => [
    count(figure.pods),
    bytes(figure.textBytes),
    bytes(figure.afterStart),
    bytes(figure.afterChanges),
    count(figure.afterChanges / figure.pods),
    `${count(figure.residentMebibytes)} MiB`,
  ])
  const header = [
    'pods',
    'JSON',
    'heap after the start',
    'heap after a change of each',
    'bytes per pod',
    'resident, at most',
  ]
  return table(header, rows)
}

function meetings(all: readonly Meeting[], first: string): string {
  const names = [...new Set(all.map(({ chooser }) => chooser))]
  const rows = [...new Set(all.map(({ fill }) => fill))].flatMap(fill =>
    loads.flatMap(load =>
      delays.map(delayMs => [
        percent(fill),
        `${load.name}, ${load.perSecond}/s`,
        `${count(delayMs)} ms`,
        ...names.map(name => {
          const met = all.find(
            its =>
              its.chooser === name && its.fill === fill && its.delayMs === delayMs && its.load === load.name,
          )
          if (!met) return ''
          const failed = met.failed > 0 ? `, ${percent(met.failed)} failed` : ''
          return `${met.conflicts.toFixed(3)}${failed}`
        }),
      ]),
    ),
  )
  return table([first, 'ADDs', 'news comes after', ...names], rows)
}

function routes(all: readonly Routes[]): string {
  const names = [...new Set(all.map(({ chooser }) => chooser))]
  const rows = fills.map(fill => [
    percent(fill),
    ...names.map(name => {
      const its = all.find(line => line.chooser === name && line.fill === fill)
      return its ? `${count(its.stripes)} + ${count(its.strays)}` : ''
    }),
  ])
  return table(['pool full', ...names], rows)
}

/** docs/operations/scale.generated.md. */
export function scaleTables(
  measured: Measured,
  free: { readonly meetings: readonly Meeting[]; readonly routes: readonly Routes[] },
  resting: readonly Meeting[],
): string {
  const parts: readonly (readonly [title: string, text: string])[] = [
    ['Calls for a pod', calls()],
    ['Calls and news, 1,000 nodes with 100 pods each, one family', traffic(measured)],
    ['Nodes at which the news fill 10 Gbit/s of the engine', ends(measured)],
    ['Memory of a daemon that hears of all pods', memory(measured)],
    ['Conflicts for each ADD, 1,000 nodes, a /16', meetings(free.meetings, 'pool full')],
    ['Conflicts for each ADD when only resting addresses are left', meetings(resting, 'pool full')],
    ['Routes to all pods of the /16: stripes + single addresses', routes(free.routes)],
  ]
  const notice = '<!-- Made by bench/scale/main.ts; change that, then run it: node bench/scale/main.ts -->\n'
  return `${notice}\n${parts.map(([title, text]) => `## ${title}\n\n${text}\n`).join('\n')}`
}
