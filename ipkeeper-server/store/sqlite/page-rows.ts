/** Rows out of single pages of a database, for one whose trees cannot be walked any more (sqlite.org/fileformat2.html, 1.6 and 2.1). */

/** Kinds of pages that hold rows. */
const indexInterior = 0x02
const indexLeaf = 0x0a
const tableLeaf = 0x0d

/** Bytes of the header of the file, which stands in the first page. */
const fileHeader = 100

/** More columns than any table of ours has: then it is no row. */
const mostColumns = 16

type Value = string | number | null

export interface PageRow {
  /** Of a row of a table with row IDs. */
  readonly rowId: number | undefined
  readonly values: readonly Value[]
}

class Cut extends Error {}

/** A variable-length integer; bytes beyond what a number holds are of no use here. */
function varint(bytes: Buffer, at: number): readonly [value: number, length: number] {
  let value = 0
  for (let length = 1; length <= 9; length++) {
    const byte = bytes[at + length - 1]
    if (byte === undefined) throw new Cut()
    if (length === 9) return [value * 256 + byte, 9]
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return [value, length]
  }
  throw new Cut()
}

/** Bytes of the integers of serial types 1 to 6. */
const integerSizes = [0, 1, 2, 3, 4, 6, 8]

function valueAt(bytes: Buffer, at: number, type: number): readonly [value: Value, length: number] {
  if (type >= 12) {
    const length = Math.floor((type - 12) / 2)
    if (at + length > bytes.length) throw new Cut()
    return [bytes.toString('utf8', at, at + length), length]
  }
  if (type === 0) return [null, 0]
  if (type === 8 || type === 9) return [type - 8, 0]
  const size = integerSizes[type]
  // No column of ours is a float.
  if (size === undefined || at + size > bytes.length) throw new Cut()
  return [size === 8 ? Number(bytes.readBigInt64BE(at)) : bytes.readIntBE(at, size), size]
}

function readRecord(payload: Buffer): readonly Value[] {
  const [headerSize, first] = varint(payload, 0)
  if (headerSize > payload.length) throw new Cut()
  const values: Value[] = []
  let [typeAt, valueFrom] = [first, headerSize]
  while (typeAt < headerSize) {
    const [type, length] = varint(payload, typeAt)
    const [value, size] = valueAt(payload, valueFrom, type)
    values.push(value)
    if (values.length > mostColumns) throw new Cut()
    typeAt += length
    valueFrom += size
  }
  return values
}

/** A payload from its beginning in a cell on, with what overflows to further pages. */
function readPayload(image: Buffer, pageSize: number, from: number, size: number, isTable: boolean): Buffer {
  if (size > image.length) throw new Cut()
  const most = isTable ? pageSize - 35 : Math.floor(((pageSize - 12) * 64) / 255) - 23
  const least = Math.floor(((pageSize - 12) * 32) / 255) - 23
  if (size <= most) return image.subarray(from, from + size)
  const surplus = least + ((size - least) % (pageSize - 4))
  const local = surplus <= most ? surplus : least
  const parts = [image.subarray(from, from + local)]
  let left = size - local
  let page = image.readUInt32BE(from + local)
  while (left > 0) {
    const at = (page - 1) * pageSize
    if (page === 0 || at + pageSize > image.length) throw new Cut()
    const part = Math.min(left, pageSize - 4)
    parts.push(image.subarray(at + 4, at + 4 + part))
    left -= part
    page = image.readUInt32BE(at)
  }
  return Buffer.concat(parts)
}

/** Every row that stands in a page of its own kind, also in pages that no table has any more: checksums tell which are whole. */
export function* pageRows(image: Buffer, pageSize: number): Generator<PageRow> {
  for (let start = 0; start + pageSize <= image.length; start += pageSize) {
    const header = start === 0 ? fileHeader : start
    const kind = image[header]
    if (kind !== indexInterior && kind !== indexLeaf && kind !== tableLeaf) continue
    const pointers = header + (kind === indexInterior ? 12 : 8)
    const cells = image.readUInt16BE(header + 3)
    for (let cell = 0; cell < cells; cell++) {
      const pointer = pointers + 2 * cell
      if (pointer + 2 > start + pageSize) break
      const row = rowAt(image, pageSize, start + image.readUInt16BE(pointer), kind)
      if (row) yield row
    }
  }
}

/** undefined: what stands there is none. */
function rowAt(image: Buffer, pageSize: number, cell: number, kind: number): PageRow | undefined {
  try {
    let at = cell + (kind === indexInterior ? 4 : 0)
    const [size, sizeLength] = varint(image, at)
    at += sizeLength
    let rowId: number | undefined
    if (kind === tableLeaf) {
      const [id, idLength] = varint(image, at)
      at += idLength
      rowId = id
    }
    return { rowId, values: readRecord(readPayload(image, pageSize, at, size, kind === tableLeaf)) }
  } catch (error) {
    if (error instanceof Cut || error instanceof RangeError) return undefined
    throw error
  }
}
