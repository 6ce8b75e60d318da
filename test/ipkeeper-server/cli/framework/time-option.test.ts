import t from 'tap'
import { readTimeOption } from '../../../../ipkeeper-server/cli/framework/time-option.ts'

const now = Date.parse('2026-11-29T12:00:00Z')
const local = (text: string): string => new Date(text).toISOString()

const good: readonly (readonly [text: string, moment: string])[] = [
  ['2026-11-21T14:00Z', '2026-11-21T14:00:00.000Z'],
  ['2026-11-21T14:00:07.25Z', '2026-11-21T14:00:07.250Z'],
  ['2026-11-21T14:00+02:00', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21T14:00', local('2026-11-21T14:00')],
  ['2026-11-21 14:00', local('2026-11-21T14:00')],
  ['2026-11-21', local('2026-11-21T00:00')],
  ['2024-02-29', local('2024-02-29T00:00')],
  ['2h', '2026-11-29T10:00:00.000Z'],
  ['7d', '2026-11-22T12:00:00.000Z'],
]
for (const [text, moment] of good) {
  t.test(text, t => {
    t.equal(readTimeOption('--at', text, now), moment)
    t.end()
  })
}

for (const text of [
  '',
  'yesterday',
  '2026-13-01',
  '2026-02-30',
  '2026-11-21T25:00',
  '14:00',
  '-2h',
  '2',
  '2026',
]) {
  t.test(`none: "${text}"`, t => {
    t.throws(() => readTimeOption('--at', text, now), { code: 'IPK_USAGE', option: '--at' })
    t.end()
  })
}
