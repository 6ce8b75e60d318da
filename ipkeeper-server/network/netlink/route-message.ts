/**
 * Messages of rtnetlink as bytes (linux/netlink.h, linux/rtnetlink.h). Numbers are in the byte order of the machine, which is
 * little-endian on both architectures that ipkeeper is built for.
 */

/** An attribute: its type, and its value or, in a nested one, what is inside. */
export type Attribute = readonly [type: number, value: Uint8Array | Nest]

export interface Nest {
  /** A fixed part before the attributes, as the peer of a veth has. */
  readonly header?: Uint8Array
  readonly attributes: readonly Attribute[]
}

export interface RouteMessage extends Nest {
  /** RTM_NEWLINK, ... */
  readonly type: number
  /** Besides NLM_F_REQUEST and NLM_F_ACK, which every message has. */
  readonly flags: number
}

/** Values of linux/rtnetlink.h. */
export const messageTypes = {
  newLink: 16,
  deleteLink: 17,
  getLink: 18,
  newAddress: 20,
  deleteAddress: 21,
  newRoute: 24,
  deleteRoute: 25,
  newNeighbour: 28,
  deleteNeighbour: 29,
} as const

/** Flags of messages that make something. */
export const creation = { create: 0x400, exclusive: 0x200, replace: 0x100 } as const

const requestAndAck = 0x01 | 0x04
const headerLength = 16
const errorType = 2
const ackTlvs = 0x200
const capped = 0x100
const ackMessage = 1

const aligned = (length: number): number => (length + 3) & ~3

export function bytesOf8(value: number): Uint8Array {
  return Uint8Array.of(value)
}

export function bytesOf32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  view(bytes).setUint32(0, value, true)
  return bytes
}

/** As the kernel wants names: with a zero at the end. */
export function zeroEnded(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`)
}

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function nestLength({ header, attributes }: Nest): number {
  const inside = attributes.map(([, value]) => aligned(4 + valueLength(value)))
  return aligned(header?.length ?? 0) + inside.reduce((sum, length) => sum + length, 0)
}

const valueLength = (value: Uint8Array | Nest): number =>
  value instanceof Uint8Array ? value.length : nestLength(value)

function writeNest(into: DataView, at: number, { header, attributes }: Nest): void {
  const bytes = new Uint8Array(into.buffer)
  if (header) bytes.set(header, at)
  let next = at + aligned(header?.length ?? 0)
  for (const [type, value] of attributes) {
    const length = 4 + valueLength(value)
    into.setUint16(next, length, true)
    into.setUint16(next + 2, type, true)
    if (value instanceof Uint8Array) bytes.set(value, next + 4)
    else writeNest(into, next + 4, value)
    next += aligned(length)
  }
}

/** @param sequence by which its answer is known */
export function encodeMessage({ type, flags, ...nest }: RouteMessage, sequence: number): Uint8Array {
  const bytes = new Uint8Array(headerLength + nestLength(nest))
  const into = view(bytes)
  into.setUint32(0, bytes.length, true)
  into.setUint16(4, type, true)
  into.setUint16(6, requestAndAck | flags, true)
  into.setUint32(8, sequence, true)
  writeNest(into, headerLength, nest)
  return bytes
}

/** What the kernel said to a message. */
export interface Acknowledgement {
  /** 0: done. */
  readonly errno: number
  /** Its words, where it has some for the very case. */
  readonly text: string | undefined
}

/** What a datagram of the kernel has to say to the message of a sequence number. */
export interface Answer {
  readonly acknowledgement: Acknowledgement | undefined
  /** Index of the link that was asked for. */
  readonly linkIndex: number | undefined
}

/** Bytes that are no answer of rtnetlink: of them nothing is believed. */
export class MalformedAnswer extends Error {}

/**
 * Reads a datagram. What belongs to another message is passed over.
 *
 * @throws MalformedAnswer
 */
export function readAnswer(bytes: Uint8Array, sequence: number): Answer {
  let answer: Answer = { acknowledgement: undefined, linkIndex: undefined }
  for (const { type, flags, its, body } of readMessages(bytes)) {
    if (its !== sequence) continue
    if (type === errorType) answer = { ...answer, acknowledgement: readAcknowledgement(body, flags) }
    else if (type === messageTypes.newLink) answer = { ...answer, linkIndex: readLinkIndex(body) }
  }
  return answer
}

interface ReadMessage {
  readonly type: number
  readonly flags: number
  /** Sequence number of what it answers. */
  readonly its: number
  readonly body: Uint8Array
}

/**
 * The messages of a datagram.
 *
 * @throws MalformedAnswer
 */
export function* readMessages(bytes: Uint8Array): Generator<ReadMessage> {
  for (let at = 0; at < bytes.length;) {
    const { length, ...header } = readHeader(bytes, at)
    yield { ...header, body: bytes.subarray(at + headerLength, at + length) }
    at += aligned(length)
  }
}

function readHeader(bytes: Uint8Array, at: number) {
  if (bytes.length - at < headerLength) throw new MalformedAnswer('the header of a message is cut off')
  const from = view(bytes)
  const length = from.getUint32(at, true)
  if (length < headerLength || length > bytes.length - at)
    throw new MalformedAnswer(`a message cannot have ${length} bytes`)
  const [type, flags] = [from.getUint16(at + 4, true), from.getUint16(at + 6, true)]
  return { length, type, flags, its: from.getUint32(at + 8, true) }
}

/** struct ifinfomsg: family, type, index, flags, change. */
function readLinkIndex(body: Uint8Array): number {
  if (body.length < 16) throw new MalformedAnswer('a link is cut off')
  const index = view(body).getInt32(4, true)
  if (index <= 0) throw new MalformedAnswer(`a link cannot have index ${index}`)
  return index
}

/** struct nlmsgerr, and behind it attributes, where the flags say so. */
function readAcknowledgement(body: Uint8Array, flags: number): Acknowledgement {
  if (body.length < 4 + headerLength) throw new MalformedAnswer('an acknowledgement is cut off')
  const from = view(body)
  const errno = 0 - from.getInt32(0, true)
  if (errno < 0) throw new MalformedAnswer(`no error is ${errno}`)
  if ((flags & ackTlvs) === 0) return { errno, text: undefined }
  const asked = (flags & capped) === 0 ? from.getUint32(4, true) : headerLength
  if (asked < headerLength) throw new MalformedAnswer('what was asked is cut off')
  const attributes = body.subarray(Math.min(4 + aligned(asked), body.length))
  const text = readAttributes(attributes, [ackMessage]).get(ackMessage)
  return { errno, text: text && readText(text) }
}

/**
 * Attributes by their types; of several of one type it is the last.
 *
 * @param wanted types of which the values are kept: a link has forty attributes
 * @throws MalformedAnswer
 */
export function readAttributes(
  bytes: Uint8Array,
  wanted: readonly number[],
): ReadonlyMap<number, Uint8Array> {
  const found = new Map<number, Uint8Array>()
  const from = view(bytes)
  for (let at = 0; at < bytes.length;) {
    if (bytes.length - at < 4) throw new MalformedAnswer('an attribute is cut off')
    const length = from.getUint16(at, true)
    if (length < 4 || length > bytes.length - at)
      throw new MalformedAnswer(`an attribute cannot have ${length} bytes`)
    // The two highest bits say how the value is written.
    const type = from.getUint16(at + 2, true) & 0x3fff
    if (wanted.includes(type)) found.set(type, bytes.subarray(at + 4, at + length))
    at += aligned(length)
  }
  return found
}

function readText(value: Uint8Array): string {
  const end = value.indexOf(0)
  if (end < 0) throw new MalformedAnswer('a text has no end')
  return new TextDecoder().decode(value.subarray(0, end))
}
