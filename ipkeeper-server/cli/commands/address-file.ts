import { Problem } from '../../../shared/problem/problem.ts'
import { parseCsv } from '../framework/csv-text.ts'
import { readTextFile } from '../framework/read-input.ts'

/** What a line of a file names, and what it says besides. */
export interface AddressLine {
  /** An address or a range. */
  readonly addresses: string
  readonly segment?: string
  readonly owner?: string
  readonly note?: string
}

export const fileForm =
  'one address or range a line ("#" begins a comment), or CSV whose first line names its columns: address, and as in "ipkeeperctl reservations -o csv" segment, owner and note; "-" is standard input'

const columns = ['address', 'segment', 'owner', 'note'] as const

const isHeader = (line: string): boolean =>
  line.split(',').some(word => word.trim().replaceAll('"', '').toLowerCase() === 'address')

function readCsv(text: string, name: string): AddressLine[] {
  let rows: string[][]
  try {
    rows = parseCsv(text)
  } catch (error) {
    throw new Problem('IPK_REQUEST_INVALID', `${name}: ${(error as Error).message}`, {
      hint: 'save it again as CSV',
    })
  }
  const [header = [], ...lines] = rows
  const places = columns.map(
    column => [column, header.findIndex(title => title.trim().toLowerCase() === column)] as const,
  )
  return lines.flatMap(cells => {
    const said = places.flatMap(([column, place]) => {
      const value = cells[place]?.trim() ?? ''
      return value === '' ? [] : [[column, value] as const]
    })
    const { address, ...rest } = Object.fromEntries(said) as Partial<Record<(typeof columns)[number], string>>
    return address === undefined ? [] : [{ addresses: address, ...rest }]
  })
}

/**
 * What a file names: one address or range a line, or CSV with a line of titles.
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function readAddressFile(path: string): readonly AddressLine[] {
  const text = readTextFile(path).replace(/^\uFEFF/, '')
  const name = path === '-' ? 'standard input' : path
  const lines = text.split(/\r?\n/).map(line => line.replace(/(^|\s)#.*$/, '').trim())
  const first = lines.find(line => line !== '') ?? ''
  const found = isHeader(first)
    ? readCsv(text, name)
    : lines.flatMap(line => (line === '' ? [] : [{ addresses: line }]))
  if (found.length > 0) return found
  throw new Problem('IPK_REQUEST_INVALID', `${name} names no address`, { hint: `write ${fileForm}` })
}
