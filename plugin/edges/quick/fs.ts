/** As much of node:fs as the plugin uses: each function is one call of the kernel. The build puts it in the other's place. */
import { Buffer } from './buffer.ts'
import { system, systemError, type SystemStats } from './system.ts'

export const { constants } = system

const fileType = 0o170000
const types = { fifo: 0o010000, character: 0o020000, file: 0o100000, socket: 0o140000 } as const

class Stats {
  readonly dev: number
  readonly ino: number
  readonly rdev: number
  readonly size: number
  readonly atimeMs: number
  readonly mtimeMs: number
  readonly #type: number

  constructor({ dev, ino, mode, rdev, size, atimeMs, mtimeMs }: SystemStats) {
    this.dev = Number(dev)
    this.ino = Number(ino)
    this.rdev = rdev
    this.size = size
    this.atimeMs = atimeMs
    this.mtimeMs = mtimeMs
    this.#type = mode & fileType
  }

  isFIFO(): boolean {
    return this.#type === types.fifo
  }
  isCharacterDevice(): boolean {
    return this.#type === types.character
  }
  isFile(): boolean {
    return this.#type === types.file
  }
  isSocket(): boolean {
    return this.#type === types.socket
  }
}

function done<Value>(result: Value | number, call: string, path?: string): Value {
  if (typeof result === 'number' && result < 0) throw systemError(-result, call, path)
  return result as Value
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants
const namedFlags = { r: O_RDONLY, wx: O_WRONLY | O_CREAT | O_EXCL } as const

export function openSync(path: string, flags: number | keyof typeof namedFlags, mode = 0o666): number {
  const numbers = typeof flags === 'number' ? flags : namedFlags[flags]
  return done<number>(system.open(path, numbers, mode), 'open', path)
}

export function closeSync(file: number): void {
  done(system.close(file), 'close')
}

export function readSync(file: number, bytes: Uint8Array): number {
  return done<number>(system.read(file, bytes, 0), 'read')
}

export function writeSync(file: number, what: string | Uint8Array, offset = 0): number {
  const bytes = typeof what === 'string' ? Buffer.from(what) : what
  return done<number>(system.write(file, bytes, offset), 'write')
}

export function readFileSync(path: string | number, encoding: 'utf8' | 'latin1'): string {
  const file = typeof path === 'number' ? path : openSync(path, O_RDONLY)
  const chunks: Uint8Array[] = []
  try {
    for (;;) {
      const chunk = Buffer.alloc(16 * 1024)
      const count = readSync(file, chunk)
      if (count === 0) return Buffer.concat(chunks).toString(encoding)
      chunks.push(chunk.subarray(0, count))
    }
  } finally {
    if (file !== path) closeSync(file)
  }
}

export function fsyncSync(file: number): void {
  done(system.fsync(file), 'fsync')
}

export function unlinkSync(path: string): void {
  done(system.unlink(path), 'unlink', path)
}

export function mkdirSync(path: string, { mode }: { readonly mode: number }): void {
  done(system.mkdir(path, mode), 'mkdir', path)
}

export function renameSync(from: string, to: string): void {
  done(system.rename(from, to), 'rename', from)
}

export function utimesSync(path: string, accessed: number, changed: number): void {
  done(system.utimes(path, accessed, changed, false), 'utime', path)
}

export function lutimesSync(path: string, accessed: number, changed: number): void {
  done(system.utimes(path, accessed, changed, true), 'lutime', path)
}

export function readdirSync(path: string): string[] {
  return done<string[]>(system.readdir(path), 'scandir', path)
}

export function statSync(path: string, options: { readonly bigint: true }): SystemStats
export function statSync(path: string): Stats
export function statSync(path: string, options?: { readonly bigint: true }): Stats | SystemStats {
  const stats = done<SystemStats>(system.stat(path, false), 'stat', path)
  return options?.bigint ? stats : new Stats(stats)
}

export function lstatSync(path: string): Stats {
  return new Stats(done<SystemStats>(system.stat(path, true), 'lstat', path))
}

export function fstatSync(file: number): Stats {
  return new Stats(done<SystemStats>(system.fstat(file), 'fstat'))
}
