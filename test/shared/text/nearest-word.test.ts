import t from 'tap'
import { misspeltWord, nearestWord } from '../../../shared/text/nearest-word.ts'

const commands = ['leases', 'pools', 'reservations', 'reserve', 'unreserve', 'status']
const keys = ['ip', 'ips', 'pool', 'retain', 'mac']

const cases: readonly (readonly [word: string, known: readonly string[], meant: string | undefined])[] = [
  ['lease', commands, 'leases'],
  ['leaess', commands, 'leases'],
  ['LEASES', commands, 'leases'],
  ['pol', commands, 'pools'],
  ['reservation', commands, 'reservations'],
  ['resreve', commands, 'reserve'],
  ['stat', commands, 'status'],
  ['ipp', keys, 'ip'],
  ['retian', keys, 'retain'],
  ['retain-for', keys, undefined],
  ['mca', keys, 'mac'],
  ['frobnicate', commands, undefined],
  ['xxxxxxxxx', keys, undefined],
  ['x'.repeat(100_000), commands, undefined],
  ['', [], undefined],
  ['pools', [], undefined],
]
for (const [word, known, meant] of cases) {
  t.test(`${word.slice(0, 20)} -> ${String(meant)}`, t => {
    t.equal(nearestWord(word, known), meant)
    t.end()
  })
}

t.test('one slip away', t => {
  const known = ['ranges', 'type', 'gateway', 'rangeStart', 'rangeEnd']
  const cases: readonly [word: string, meant: string | undefined][] = [
    ['ranges', undefined],
    ['RANGES', undefined],
    ['range', 'ranges'],
    ['Rnages', 'ranges'],
    ['gatway', 'gateway'],
    ['gateways', 'gateway'],
    ['rangeStat', 'rangeStart'],
    ['typ', undefined],
    ['gtwy', undefined],
    ['', undefined],
    ['mtu', undefined],
  ]
  for (const [word, meant] of cases) t.equal(misspeltWord(word, known), meant, word)
  t.end()
})
