/** The daemon's reader of what the kernel answers to messages of rtnetlink, fed with anything. */
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import {
  MalformedAnswer,
  readAnswer,
  type Answer,
} from '../../ipkeeper-server/network/netlink/route-message.ts'
import { attribute, damaged, message } from './arbitraries/netlink.ts'
import { property } from './property.ts'

const sequence = 7

/** A message, and what it says to whoever asked with the sequence number; nothing where it is for another one. */
interface Part {
  readonly bytes: Buffer
  readonly says: Partial<Answer>
}

const whose = fc.constantFrom(sequence, sequence, sequence, 8)
const acknowledgement = fc
  .record({
    errno: fc.nat(133),
    text: fc.option(fc.string({ unit: 'grapheme', maxLength: 30 }).map(text => text.replaceAll('\0', ''))),
    its: whose,
    other: fc.boolean(),
    whole: fc.boolean(),
  })
  .map(({ errno, text, its, other, whole }): Part => {
    const body = Buffer.alloc(20)
    body.writeInt32LE(-errno, 0)
    body.writeUInt32LE(whole ? 16 + 12 : 16, 4)
    const attributes = [
      ...(other ? [attribute(2, Buffer.alloc(4))] : []),
      ...(text === null ? [] : [attribute(1, Buffer.from(`${text}\0`))]),
    ]
    // Where it is not capped, all of what was asked stands before the attributes.
    const asked = whole ? [Buffer.alloc(12, 0xff)] : []
    const flags = (whole ? 0 : 0x100) | (attributes.length > 0 ? 0x200 : 0)
    return {
      bytes: message(2, flags, its, Buffer.concat([body, ...asked, ...attributes])),
      says: its === sequence ? { acknowledgement: { errno, text: text ?? undefined } } : {},
    }
  })
const link = fc
  .record({ index: fc.integer({ min: 1, max: 2 ** 31 - 1 }), its: whose })
  .map(({ index, its }): Part => {
    const body = Buffer.alloc(16)
    body.writeInt32LE(index, 4)
    return { bytes: message(16, 0, its, body), says: its === sequence ? { linkIndex: index } : {} }
  })
const parts = fc.array(fc.oneof(acknowledgement, link), { maxLength: 4 })
const datagram = parts.map(list => Buffer.concat(list.map(({ bytes }) => bytes)))

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
  cases: parts,
  check: list => {
    const answer = readAnswer(Buffer.concat(list.map(({ bytes }) => bytes)), sequence)
    const nothing: Answer = { acknowledgement: undefined, linkIndex: undefined }
    deepStrictEqual(
      answer,
      list.reduce<Answer>((said, { says }) => ({ ...said, ...says }), nothing),
    )
    const { acknowledgement: ack, linkIndex } = answer
    if (ack) return ack.text === undefined ? 'acknowledged' : 'with words'
    return linkIndex === undefined ? 'nothing' : 'a link'
  },
  shares: { acknowledged: 3, 'with words': 20, 'a link': 8, nothing: 10 },
})

export const damagedAnswers = property({
  name: 'damaged answers of the kernel',
  runs: 800,
  cases: damaged(datagram),
  check: bytes => {
    try {
      judge(readAnswer(bytes, sequence))
      return 'read'
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error
      return 'refused'
    }
  },
  shares: { read: 25, refused: 20 },
})
