/** One file of an archive; folders are implied by names. */
export interface ArchiveFile {
  readonly name: string
  readonly mode: number
  readonly content: Uint8Array
  /** Where it leads, for a symbolic link; its content is empty then. */
  readonly link?: string
}

const blockSize = 512

/** Writes a POSIX ustar archive: as little of the format as an image needs (names of up to 100 bytes). */
export function writeTar(files: readonly ArchiveFile[]): Buffer {
  const blocks = files.flatMap(file => [header(file), file.content, padding(file.content.length)])
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)])
}

function padding(length: number): Buffer {
  return Buffer.alloc((blockSize - (length % blockSize)) % blockSize)
}

function header(file: ArchiveFile): Buffer {
  const block = Buffer.alloc(blockSize)
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`
  if (Buffer.byteLength(file.name) > 100) throw new Error(`name too long for ustar: ${file.name}`)
  block.write(file.name, 0)
  block.write(octal(file.mode, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  block.write(octal(file.content.length, 12), 124)
  block.write(octal(0, 12), 136)
  block.write(file.link === undefined ? '0' : '2', 156)
  block.write(file.link ?? '', 157)
  block.write('ustar\u000000', 257)
  // The checksum is taken with its own field full of spaces.
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
