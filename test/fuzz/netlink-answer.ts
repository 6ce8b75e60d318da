/** The daemon's reader of what the kernel answers to messages of rtnetlink, fed with anything. */
import fc from 'fast-check'
import {
  MalformedAnswer,
  readAnswer,
  type Answer,
} from '../../ipkeeper-server/network/netlink/route-message.ts'
import { property } from './property.ts'

const sequence = 7

function message(type: number, flags: number, its: number, body: Buffer): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32LE(16 + body.length, 0)
  header.writeUInt16LE(type, 4)
  header.writeUInt16LE(flags, 6)
  header.writeUInt32LE(its, 8)
  return Buffer.concat([header, body, Buffer.alloc(-body.length & 3)])
}

function attribute(type: number, value: Buffer): Buffer {
  const header = Buffer.alloc(4)
  header.writeUInt16LE(4 + value.length, 0)
  header.writeUInt16LE(type, 2)
  return Buffer.concat([header, value, Buffer.alloc(-value.length & 3)])
}

const whose = fc.constantFrom(sequence, sequence, sequence, 8)
const acknowledgement = fc
  .record({
    errno: fc.nat(133),
    text: fc.option(fc.string({ maxLength: 30 })),
    its: whose,
    other: fc.boolean(),
  })
  .map(({ errno, text, its, other }) => {
    const body = Buffer.alloc(20)
    body.writeInt32LE(-errno, 0)
    body.writeUInt32LE(16, 4)
    const attributes = [
      ...(other ? [attribute(2, Buffer.alloc(4))] : []),
      ...(text === null ? [] : [attribute(1, Buffer.from(`${text.replaceAll('\0', '')}\0`))]),
    ]
    return message(2, 0x100 | (attributes.length > 0 ? 0x200 : 0), its, Buffer.concat([body, ...attributes]))
  })
const link = fc
  .record({ index: fc.integer({ min: 1, max: 2 ** 31 - 1 }), its: whose })
  .map(({ index, its }) => {
    const body = Buffer.alloc(16)
    body.writeInt32LE(index, 4)
    return message(16, 0, its, body)
  })
const datagram = fc
  .array(fc.oneof(acknowledgement, link), { maxLength: 4 })
  .map(parts => Buffer.concat(parts))

/** Bytes written over, or a datagram that is cut off. */
const damaged = fc
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

/** What is not within its limits would be believed by who asked. */
function judge({ acknowledgement: ack, linkIndex }: Answer): void {
  if (ack && (!Number.isInteger(ack.errno) || ack.errno < 0)) throw new Error(`error ${ack.errno}`)
  if (ack?.text?.includes('\0')) throw new Error('a text goes on behind its end')
  if (linkIndex !== undefined && !(Number.isInteger(linkIndex) && linkIndex > 0))
    throw new Error(`link ${linkIndex}`)
}

export const wholeAnswers = property({
  name: 'answers of the kernel',
  runs: 400,
  cases: datagram,
  check: bytes => {
    const answer = readAnswer(bytes, sequence)
    judge(answer)
    return answer.acknowledgement ? 'acknowledged' : 'other'
  },
  shares: { acknowledged: 20, other: 10 },
})

export const damagedAnswers = property({
  name: 'damaged answers of the kernel',
  runs: 800,
  cases: fc.oneof(
    { weight: 4, arbitrary: damaged },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 120 }).map(bytes => Buffer.from(bytes)) },
  ),
  check: bytes => {
    try {
      judge(readAnswer(bytes, sequence))
      return 'read'
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error
      return 'refused'
    }
  },
  shares: { read: 20, refused: 20 },
})
