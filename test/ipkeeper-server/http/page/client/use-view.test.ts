import t from 'tap'
import { useViews } from '../../../../../ipkeeper-server/http/page/client/use-view.ts'
import type { PoolUse } from '../../../../../shared/api/pool-use.schema.ts'

const at = (hours: number): string => new Date(Date.UTC(2026, 0, 1, hours)).toISOString()

const pool: PoolUse = {
  ...{ name: 'net', segment: 'default', family: 'IPv4', capacity: 10, free: 6 },
  samples: [
    { at: at(0), used: 0, held: 0 },
    { at: at(2), used: 3, held: 1 },
  ],
  forecast: { fullAt: at(5), says: 'it grew by 48 addresses a day in the last 2h' },
}

t.test('lines of what was, and where they lead', t => {
  const [view] = useViews([pool, { ...pool, name: 'other' }], 'net')
  t.match(view, {
    title: 'IPv4, 10 addresses',
    forecast:
      'Full on 2026-01-01 05:00:00 UTC at the present rate: it grew by 48 addresses a day in the last 2h',
    fullAt: at(5),
    rows: [
      ['2026-01-01 02:00:00 UTC', '3', '1'],
      ['2026-01-01 00:00:00 UTC', '0', '0'],
    ],
    chart: {
      taken: 'M0.0,160.0L300.0,97.6',
      area: 'M0.0,160.0L300.0,97.6L300.0,160L0,160Z',
      used: 'M0.0,160.0L300.0,113.2',
      // The future gets as much room as the past: at 4 h it has 4 + 6 * 2 / 3 addresses.
      forecast: 'M300.0,97.6L600.0,35.2',
      size: 'M0,4.0L600,4.0',
      top: '10',
      to: '2026-01-01 04:00:00 UTC',
    },
  })
  t.end()
})

t.test('what cannot be drawn is told', t => {
  const { samples } = pool
  const unknown = { fullAt: null, says: 'not known yet: 1 sample over 0s; it takes 4 over 1h' }
  const [short] = useViews([{ ...pool, samples: samples.slice(1), forecast: unknown }], 'net')
  t.equal(short?.chart, undefined)
  t.equal(short?.forecast, `Day it is full: ${unknown.says}`)
  const [full] = useViews([{ ...pool, free: 0, forecast: { fullAt: at(2), says: 'it is full' } }], 'net')
  t.match(full, {
    isFull: true,
    forecast: 'It is full now',
    fullAt: undefined,
    chart: { forecast: undefined },
  })
  const emptied = { fullAt: null, says: 'it is being drained: no new pod gets an address' }
  t.match(useViews([{ ...pool, free: 0, drains: true, forecast: emptied }], 'net'), [
    { isFull: false, forecast: 'It is being drained: no new pod gets an address' },
  ])
  const huge = { capacity: '18446744073709551613', free: '18446744073709551609', forecast: unknown }
  const [wide] = useViews([{ ...pool, ...huge, family: 'IPv6' }], 'net')
  t.match(wide, {
    title: 'IPv6, 18,446,744,073,709,551,613 addresses',
    chart: { size: undefined, top: '4', taken: 'M0.0,160.0L600.0,4.0' },
  })
  t.strictSame(useViews([pool], 'nobody'), [])
  t.end()
})

t.test('of many samples some are told, the last one among them', t => {
  const samples = Array.from({ length: 400 }, (_, hour) => ({ at: at(hour), used: hour, held: 0 }))
  const [view] = useViews([{ ...pool, samples }], 'net')
  t.ok((view?.rows.length ?? 0) <= 24)
  t.equal(view?.rows[0]?.[1], '399')
  t.end()
})
