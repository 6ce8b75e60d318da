/** docs/operations/changes.md says what the table of changes says, which is what the daemon does. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { catalogue } from '../../shared/problem/catalogue.ts'
import type { Kind, Outcome, Row } from './row.ts'
import { elsewhere, rows } from './rows.ts'

const page = join(import.meta.dirname, '..', '..', 'docs', 'operations', 'changes.md')
const files = {
  ...{ file: "the daemon's file", conflist: 'the conflist', both: 'both' },
  neither: 'neither, where the daemon is upgraded',
} as const
const kinds = ['live', 'kept', 'cooling', 'reserved', 'fresh'] as const satisfies readonly Kind[]

/** Where a DEL with the new conflist ends nothing. */
const swept = '; pods of before are ended by the sweeper, as below'

const words = (outcome: Outcome): string =>
  ({ same: 'it', other: 'another one', any: 'one' })[outcome as string] ?? `\`${outcome}\``

function cell({ gets, inMain, onShared }: Row, kind: Kind): string {
  const own = inMain?.[kind]
  const shared = onShared?.gets[kind]
  return (
    words(gets[kind]) +
    (own === undefined ? '' : `; wired by ipkeeper: ${words(own)}`) +
    (shared === undefined || shared === gets[kind] ? '' : `; shared store: ${words(shared)}`)
  )
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`

const table = (where: Row['where']): string =>
  line(['change', 'in force', ...kinds.map(kind => (kind === 'fresh' ? 'a new pod' : kind)), 'what to do']) +
  line(Array.from({ length: 8 }, () => '---')) +
  rows
    .filter(row => row.where === where)
    .map(row =>
      line([
        row.what,
        row.refused !== undefined
          ? `refused: \`${row.refused}\``
          : row.gets.fresh.startsWith('IPK_')
            ? 'refused at each ADD'
            : 'at once',
        ...kinds.map(kind => cell(row, kind)),
        row.type + (row.swept === true ? swept : ''),
      ]),
    )
    .join('')

const text = (['file', 'conflist', 'both', 'neither'] as const)
  .map(where => `### In ${files[where]}\n\n${table(where)}`)
  .join('\n')

/** Between the headings of the page. */
const made = /(?<=^## What becomes of addresses\n\n)[^]*?(?=^## )/m

t.test('the page has the table', t => {
  const before = readFileSync(page, 'utf8')
  const tidy = (given: string): string => given.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---').trim()
  t.equal(tidy(made.exec(before)?.[0] ?? ''), tidy(text))
  // After a row was changed: PAGE=write node test/changes/page.test.ts, then make format
  if (process.env['PAGE'] === 'write')
    writeFileSync(
      page,
      before.replace(made, () => `${text}\n`),
    )
  t.end()
})

t.test('codes are those of the catalogue, and tests of other rows are there', t => {
  for (const { gets, inMain, onShared, refused = 'same' } of rows)
    for (const word of [...[gets, inMain, onShared?.gets].flatMap(all => Object.values(all ?? {})), refused])
      if (word.startsWith('IPK_')) t.ok(word in catalogue, word)
  for (const [what, path] of elsewhere)
    t.ok(readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8').length > 0, what)
  t.end()
})
