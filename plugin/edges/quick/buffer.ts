import { system } from './system.ts'

/** Characters that one call of String.fromCharCode takes; more arguments would need more stack. */
const mostAtOnce = 4096

/** Without the static side, whose `from` takes other things than text. */
const Bytes = Uint8Array as new (what: number | ArrayBuffer) => Uint8Array<ArrayBuffer>

/** As much of Node's Buffer as the plugin uses. */
export class Buffer extends Bytes {
  static alloc(size: number, fill = '\0'): Buffer {
    return new Buffer(size).fill(fill.charCodeAt(0))
  }

  static allocUnsafe(size: number): Buffer {
    return new Buffer(size)
  }

  static from(text: string): Buffer {
    return new Buffer(system.encode(text.toWellFormed()).buffer)
  }

  static byteLength(text: string): number {
    return system.byteLength(text.toWellFormed())
  }

  static concat(pieces: readonly Uint8Array[]): Buffer {
    const whole = new Buffer(pieces.reduce((length, piece) => length + piece.length, 0))
    let at = 0
    for (const piece of pieces) {
      whole.set(piece, at)
      at += piece.length
    }
    return whole
  }

  override toString(encoding: 'utf8' | 'latin1' = 'utf8', start = 0, end = this.length): string {
    if (encoding === 'utf8')
      return system.decode(this, start, Math.max(0, Math.min(end, this.length) - start))
    let text = ''
    for (let at = start; at < end; at += mostAtOnce)
      text += String.fromCharCode(...this.subarray(at, Math.min(at + mostAtOnce, end)))
    return text
  }

  /** @param mark a number, or a text of ASCII characters */
  override indexOf(mark: number | string, from = 0): number {
    if (typeof mark === 'number') return super.indexOf(mark, from)
    const first = mark.charCodeAt(0)
    for (let at = super.indexOf(first, from); at >= 0; at = super.indexOf(first, at + 1)) {
      let same = 1
      while (same < mark.length && this[at + same] === mark.charCodeAt(same)) same++
      if (same === mark.length) return at
    }
    return -1
  }

  copy(target: Uint8Array, targetStart: number, start: number, end: number): void {
    target.set(this.subarray(start, end), targetStart)
  }

  write(text: string): void {
    this.set(Buffer.from(text))
  }
}
