export const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``)

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** A table of Markdown; a bar in a cell is part of its text. */
export const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [
    row(header),
    `|${header.map(() => '---|').join('')}`,
    ...rows.map(cells => row(cells.map(text => text.replaceAll('|', '\\|')))),
  ].join('\n')
