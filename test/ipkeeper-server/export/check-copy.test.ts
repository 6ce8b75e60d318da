import t from 'tap'
import { CopyCheck, type CopyReport } from '../../../ipkeeper-server/export/check-copy.ts'
import { entryLine, prunedLine } from '../../../ipkeeper-server/export/plan/syslog-line.ts'
import { exportedEntries, type ExportedEntry } from '../../../ipkeeper-server/ipam/records/exported-entry.ts'
import { linked } from '../../../ipkeeper-server/store/history-chain.ts'
import { exported, linkedHistory } from './linked-history.ts'

function check(lines: readonly string[]): CopyReport {
  const copy = new CopyCheck()
  for (const line of lines) copy.add(line)
  return copy.report()
}

const json = (entries: readonly ExportedEntry[]): string[] => entries.map(entry => JSON.stringify(entry))
const syslog = (entries: readonly ExportedEntry[]): string[] => entries.map(entryLine)

const five = exported(5)
const without = (...ids: readonly number[]): ExportedEntry[] => five.filter(({ id }) => !ids.includes(id))
const patched = (id: number, patch: Partial<ExportedEntry>): ExportedEntry[] =>
  five.map(entry => (entry.id === id ? { ...entry, ...patch } : entry))
/** Of a ledger that was put back as it was after the second entry, and then went another way. */
const otherWay = ((): ExportedEntry[] => {
  const put = linkedHistory(2)
  for (const entry of linkedHistory(4).slice(2)) put.push(linked({ ...entry, pool: 'other' }, put.at(-1)))
  return exportedEntries(put, undefined, 'n1')
})()

const cases: readonly (readonly [
  what: string,
  entries: readonly ExportedEntry[],
  faults: readonly string[],
  more?: object,
])[] = [
  ['all of it', five, [], { entries: 5, repeated: 0, pruned: 0, first: { id: 1 }, last: { id: 5 } }],
  ['the first ones are elsewhere', five.slice(2), [], { entries: 3, first: { id: 3 } }],
  ['some were sent twice', [...five.slice(0, 4), ...five.slice(1)], [], { entries: 5, repeated: 3 }],
  ['one was changed', patched(3, { pool: 'other' }), ['3 changed 3-3']],
  ['one was given to another pod', patched(2, { podUid: 'u-2' }), ['2 changed 2-2']],
  ['one was taken out', without(3), ['3 missing 3-3']],
  ['two were taken out', without(2, 3), ['2 missing 2-3']],
  [
    'another one was put in its place',
    [...five.slice(0, 2), ...otherWay.slice(2, 3), ...five.slice(3)],
    ['4 changed 3-3'],
  ],
  [
    'pruning took some before',
    exportedEntries(
      linkedHistory(5)
        .map(entry => (entry.id === 4 ? { ...entry, follows: five[2]?.link } : entry))
        .toSpliced(1, 2),
      undefined,
      'n1',
    ),
    [],
    { entries: 3, pruned: 2 },
  ],
  [
    'of a version without links',
    exportedEntries(
      linkedHistory(5).map(entry => ({ ...entry, link: undefined })),
      undefined,
      'n1',
    ),
    [],
    { unlinked: 5 },
  ],
]

for (const [what, entries, faults, more = {}] of cases)
  for (const [how, lines] of [
    ['JSON Lines', json(entries)],
    ['syslog', syslog(entries)],
  ] as const)
    t.test(`${what}: ${how}`, t => {
      const { histories, cutLines, otherLines } = check(lines)
      t.match({ otherLines, cutLines, histories }, { otherLines: 0, cutLines: [], histories: { length: 1 } })
      const [history] = histories
      t.strictSame(
        history?.faults.map(({ line, kind, from, to }) => `${line} ${kind} ${from}-${to}`),
        faults,
      )
      t.match(history, { recorder: 'n1', ...more })
      t.end()
    })

t.test('a ledger that was put back begins again, and is no fault', t => {
  const lines = json([...five, ...otherWay.slice(2)])
  t.match(check(lines).histories, [{ entries: 7, begins: [{ id: 3 }], faults: [], last: { id: 4 } }])
  t.end()
})

t.test('many nodes and other programs in one file', t => {
  const other = exportedEntries(linkedHistory(3), undefined, 'n2')
  const lines = five.flatMap((entry, index) => [
    entryLine(entry),
    ...other.slice(index, index + 1).map(entryLine),
    '<13>1 - n1 su - - - hello',
  ])
  t.match(check([...lines, '', prunedLine('n1', 1, 6, 7), syslog(five)[0]?.slice(0, 400) ?? '']), {
    histories: [
      { recorder: 'n1', entries: 5, faults: [] },
      { recorder: 'n2', entries: 3, faults: [] },
    ],
    ...{ otherLines: 6, cutLines: [16] },
  })
  t.end()
})

t.test('a line that says something else than its entry', t => {
  const lines = syslog(five).map((line, index) =>
    index === 1 ? line.replace('pod="web-0"', 'pod="web-1"') : line,
  )
  t.match(check(lines).histories, [{ entries: 5, faults: [{ kind: 'changed', from: 2, to: 2, line: 2 }] }])
  t.end()
})

t.test('of very many faults the first ones are listed', t => {
  const entries = exported(2500).filter(({ id }) => id % 2 === 0)
  t.match(check(json(entries)).histories, [{ entries: 1250, faults: { length: 1000 }, moreFaults: 249 }])
  t.end()
})
