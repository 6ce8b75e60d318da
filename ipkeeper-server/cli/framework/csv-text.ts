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
