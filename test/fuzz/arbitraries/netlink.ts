/** Datagrams of netlink as the kernel writes them, and what is left of them when something went wrong. */
import fc from 'fast-check'

export function message(type: number, flags: number, its: number, body: Buffer): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32LE(16 + body.length, 0)
  header.writeUInt16LE(type, 4)
  header.writeUInt16LE(flags, 6)
  header.writeUInt32LE(its, 8)
  return Buffer.concat([header, body, Buffer.alloc(-body.length & 3)])
}

export function attribute(type: number, value: Buffer): Buffer {
  const header = Buffer.alloc(4)
  header.writeUInt16LE(4 + value.length, 0)
  header.writeUInt16LE(type, 2)
  return Buffer.concat([header, value, Buffer.alloc(-value.length & 3)])
}

/** Bytes written over, a datagram that is cut off, or anything. */
export function damaged(datagram: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const marked = fc
    .record({
      bytes: datagram,
      marks: fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }),
      cut: fc.nat(200),
    })
    .map(({ bytes, marks, cut }) => {
      const copy = Buffer.from(bytes)
      for (const [at, value] of marks) if (at < copy.length) copy[at] = value
      return copy.subarray(0, copy.length - Math.min(cut < 100 ? 0 : cut - 100, copy.length))
    })
  return fc.oneof(
    { weight: 4, arbitrary: marked },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 120 }).map(bytes => Buffer.from(bytes)) },
  )
}
