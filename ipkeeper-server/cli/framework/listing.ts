import { visible } from '../../../shared/text/visible.ts'
import { command, type CtlCommand, type CommandRow, type ReadCall } from './command.ts'
import { formatCsv, type CsvValue } from './csv-text.ts'
import type { DaemonClient } from './daemon-client.ts'
import { type Cell, formatTable, type Paint } from './terminal-text.ts'
import type { Terminal } from './terminal.ts'

/** What a listing is printed as, beside documents: -o table, wide and csv. */
export type ColumnPlace = 'table' | 'wide' | 'csv'

/** A column of a listing. */
export interface Column<Row> {
  /** Above it in a table. */
  readonly title: string
  /** In the first line of CSV: the key of -o json, as far as there is one. */
  readonly key: string
  readonly value: (row: Row) => CsvValue
  /** For people, where that differs: "12m" of a moment. A value that is not there is "-". */
  readonly text?: (row: Row) => Cell
  /** Where it stands; everywhere unless given. */
  readonly in?: readonly ColumnPlace[]
}

/** Columns with less room than in a table, or for programs alone. */
export const wideOnly: readonly ColumnPlace[] = ['wide', 'csv']
export const csvOnly: readonly ColumnPlace[] = ['csv']
export const peopleOnly: readonly ColumnPlace[] = ['table', 'wide']

/** A value that stands in CSV alone. */
export const csvColumn = <Row>(key: string, value: (row: Row) => CsvValue): Column<Row> => ({
  ...{ title: key, key, value },
  in: csvOnly,
})

interface Listing<Data, Row> extends CommandRow {
  readonly run: (daemon: DaemonClient, args: ReadCall, terminal: Terminal) => Promise<Data>
  readonly exitCode?: (data: Data) => 0 | 1
  readonly rows: (data: Data) => readonly Row[]
  readonly columns: readonly Column<Row>[]
  /** What -o name prints: the word by which other commands know the row. */
  readonly nameOf: (row: Row) => string
  /** How many rows the daemon has beyond the limit. */
  readonly more?: (data: Data) => number | undefined
  /** Where that is not by leaving --limit away. */
  readonly howToSeeMore?: (data: Data, more: number) => string
  /** What else is to be said, below a table. */
  readonly below?: (data: Data) => string
  /** Instead of a table without rows. */
  readonly empty: string | ((data: Data) => string)
}

const clean = (cell: Cell): Cell =>
  typeof cell === 'object' ? { ...cell, text: visible(cell.text) } : visible(cell)

function cellOf<Row>({ value, text }: Column<Row>, row: Row): Cell {
  if (text) return clean(text(row))
  const said = value(row)
  return said === null || said === '' ? '-' : visible(String(said))
}

const columnsIn = <Row>(place: ColumnPlace, columns: readonly Column<Row>[]): readonly Column<Row>[] =>
  columns.filter(column => column.in === undefined || column.in.includes(place))

/** A table of these rows, also within another text. */
export function tableOf<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { place = 'table', headers = true, empty = '', paint }: TableTerms = {},
): string {
  if (!headers && rows.length === 0) return ''
  const shown = columnsIn(place, columns)
  const titles = headers ? shown.map(({ title }) => title) : undefined
  const lines = rows.map(row => shown.map(column => cellOf(column, row)))
  return formatTable(titles, lines, empty, paint)
}

interface TableTerms {
  readonly place?: 'table' | 'wide'
  readonly headers?: boolean
  readonly empty?: string
  readonly paint?: Paint
}

const textOf = <Data>(text: string | ((data: Data) => string), data: Data): string =>
  typeof text === 'string' ? text : text(data)

/** A command whose answer is a list: all listings take the same formats, and are watched alike. */
export function listing<Data, Row>(of: Listing<Data, Row>): CtlCommand {
  const { rows, columns, nameOf, empty, more, below, ...row } = of
  const { howToSeeMore = () => 'without --limit all are shown' } = of
  const table =
    (place: 'table' | 'wide') =>
    (data: Data, paint: Paint, headers: boolean): string => {
      const left = headers ? more?.(data) : undefined
      const rest = left === undefined ? '' : paint('faint', `${left} more; ${howToSeeMore(data, left)}`)
      return [
        tableOf(columns, rows(data), { place, headers, empty: textOf(empty, data), paint }),
        rest && `${rest}\n`,
        (headers && below?.(data)) || '',
      ].join('')
    }
  return command<Data>({
    ...row,
    keys: columns.map(({ key }) => key),
    watch: true,
    options: {
      ...row.options,
      'no-headers': { text: 'print rows alone, without the line of titles' },
    },
    print: table('table'),
    formats: {
      wide: table('wide'),
      csv: (data, _paint, headers) => {
        const shown = columnsIn('csv', columns)
        const lines = rows(data).map(line => shown.map(({ value }) => value(line)))
        return formatCsv(headers ? shown.map(({ key }) => key) : undefined, lines)
      },
      name: data => [...new Set(rows(data).map(nameOf))].map(name => `${visible(name)}\n`).join(''),
    },
  })
}
