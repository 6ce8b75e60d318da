/** One file of an archive; its name is ASCII, of at most 100 characters. */
export interface ArchivedFile {
  readonly name: string
  readonly content: Uint8Array
}

const blockSize = 512

/** A number as tar has it: octal, with zeros before it and a NUL behind it. */
const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`

const padding = (length: number): Buffer => Buffer.alloc((blockSize - (length % blockSize)) % blockSize)

interface Entry {
  readonly folder: string
  readonly name: string
  readonly size: number
  readonly type: '0' | '5'
  readonly mode: number
}

function header({ folder, name, size, type, mode }: Entry, seconds: number): Buffer {
  if (Buffer.byteLength(name) > 100 || Buffer.byteLength(folder) > 155)
    throw new Error(`the name ${folder}/${name} is too long for an archive`)
  const block = Buffer.alloc(blockSize)
  block.write(name, 0)
  block.write(octal(mode, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  block.write(octal(size, 12), 124)
  block.write(octal(seconds, 12), 136)
  block.write(type, 156)
  block.write('ustar\u000000', 257)
  block.write(folder, 345)
  // The checksum counts its own field as spaces.
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

/**
 * A POSIX ustar archive of files that only their owner may read, in one folder.
 *
 * @param at milliseconds since the epoch, which is when the files were written
 */
export function tarArchive(folder: string, files: readonly ArchivedFile[], at: number): Buffer {
  const seconds = Math.floor(at / 1000)
  return Buffer.concat([
    header({ folder: '', name: `${folder}/`, size: 0, type: '5', mode: 0o700 }, seconds),
    ...files.flatMap(({ name, content }) => [
      header({ folder, name, size: content.length, type: '0', mode: 0o600 }, seconds),
      content,
      padding(content.length),
    ]),
    Buffer.alloc(2 * blockSize),
  ])
}
