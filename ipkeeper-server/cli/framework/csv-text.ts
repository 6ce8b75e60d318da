/** A value of CSV: text, a number, or nothing. */
export type CsvValue = string | number | null

/** What a spreadsheet takes for a formula, which runs when the file is opened; the texts come from pods and operators. */
const formula = /^[=+\-@\t\r]/

/** The controls that a terminal would obey; line ends and tabs are data, and stand in quotes. */
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const shown = value.replaceAll(controls, '?')
  // Spreadsheets show the apostrophe as what it is for them: the mark of a text.
  const text = formula.test(shown) ? `'${shown}` : shown
  return text === shown && !/[",\r\n]|^\s|\s$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`
}

/** Lines as RFC 4180 has them: separated by commas, ended by CR LF, quotes doubled. */
export function formatCsv(
  header: readonly string[] | undefined,
  rows: readonly (readonly CsvValue[])[],
): string {
  return [...(header ? [header] : []), ...rows].map(row => `${row.map(csvCell).join(',')}\r\n`).join('')
}

/** What formatCsv puts before a text for spreadsheets. */
const guard = /^'(?=[=+\-@\t\r])/

/**
 * Rows of CSV as formatCsv writes it, or a spreadsheet that has saved it again. Lines may end by LF alone.
 *
 * @throws RangeError for a quote that is not closed
 */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  // A cell is quoted as a whole or not at all; what stands between a closing quote and the comma belongs to it.
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex
    const found = cell.exec(text)
    if (!found) throw new RangeError(`quotes are not closed or not doubled at character ${at + 1}`)
    const [whole, quoted, plain = '', end] = found
    row.push((quoted?.replaceAll('""', '"') ?? plain).replace(guard, ''))
    if (end !== ',') {
      rows.push(row)
      row = []
    } else if (cell.lastIndex === text.length) rows.push([...row, ''])
    if (whole === '') break
  }
  return rows
}
