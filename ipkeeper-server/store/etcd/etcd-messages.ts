import { BinaryWriter, WireType, type BinaryReader } from '@bufbuild/protobuf/wire'
import { readMessage, taken } from '../../host/protobuf.ts'

/**
 * The messages of etcd's interface (etcdserverpb and mvccpb, version 3) that are used, as far as they are used. Field
 * numbers are those of rpc.proto and kv.proto; unknown fields are skipped, absent ones have protobuf's defaults.
 */

export interface KeyValue {
  readonly key: string
  readonly value: string
  /** Revision of the whole store at which it was written last. */
  readonly modRevision: number
}

/** `rangeEnd` (exclusive) absent: the one key. `limit` absent: all. `revision` absent: as it is now, linearizable. */
export interface RangeRequest {
  readonly key: string
  readonly rangeEnd?: string
  readonly limit?: number
  readonly revision?: number
  /** Whether values are left out. */
  readonly keysOnly?: boolean
}

/** What etcd says of itself in each answer. */
export interface EtcdPosition {
  /** ID of the cluster, in decimal digits; made anew with its data, unless members, URLs and token are the same. */
  readonly cluster: string
  /** Of the whole store: grows with each write. */
  readonly revision: number
}

export interface RangeReply extends EtcdPosition {
  readonly kvs: readonly KeyValue[]
  /** Whether there are further ones beyond the limit. */
  readonly more: boolean
}

export type Operation =
  { readonly put: string; readonly value: string } | { readonly delete: string } | { readonly get: string }

/** `modRevision` 0: there is no such key. `version` below 0 holds never. */
export type Comparison =
  { readonly key: string; readonly modRevision: number } | { readonly key: string; readonly versionBelow: 0 }

/** Writes `success` when all comparisons hold, else does `failure`. */
export interface TxnRequest {
  readonly compare: readonly Comparison[]
  readonly success: readonly Operation[]
  readonly failure: readonly Operation[]
}

export interface TxnReply extends EtcdPosition {
  readonly succeeded: boolean
  /** One for each `get` that was done. */
  readonly found: readonly (KeyValue | undefined)[]
}

export type WatchEvent =
  { readonly type: 'put'; readonly kv: KeyValue } | { readonly type: 'delete'; readonly kv: KeyValue }

export interface WatchReply extends EtcdPosition {
  /** -1 in answers to a request for progress. */
  readonly watchId: number
  readonly created: boolean
  readonly canceled: boolean
  /** Oldest revision that is left; 0 unless the one that was asked for is older. */
  readonly compactRevision: number
  readonly cancelReason: string
  /** Whether more of the same revisions comes in the next message. */
  readonly fragment: boolean
  readonly events: readonly WatchEvent[]
}

const equal = 0
const less = 2
const compareVersion = 0
const compareModRevision = 2

const text = (writer: BinaryWriter, field: number, value: string): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).string(value)

const number = (writer: BinaryWriter, field: number, value: number): BinaryWriter =>
  writer.tag(field, WireType.Varint).int64(value)

const message = (writer: BinaryWriter, field: number, bytes: Uint8Array): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).bytes(bytes)

/** An int64, which is a number here: at a million writes a second one would be unsafe after 285 years. */
function readNumber(reader: BinaryReader): number {
  const value = Number(reader.int64())
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is larger than a revision can be`)
  return value
}

/** RangeRequest: 1 key, 2 range_end, 3 limit, 4 revision, 8 keys_only. */
export function rangeRequest({ key, rangeEnd, limit, revision, keysOnly }: RangeRequest): Uint8Array {
  const writer = text(new BinaryWriter(), 1, key)
  if (rangeEnd !== undefined) text(writer, 2, rangeEnd)
  if (limit !== undefined) number(writer, 3, limit)
  if (revision !== undefined) number(writer, 4, revision)
  if (keysOnly) writer.tag(8, WireType.Varint).bool(true)
  return writer.finish()
}

/** RequestOp: 1 request_range, 2 request_put (1 key, 2 value), 3 request_delete_range (1 key). */
function operation(op: Operation): Uint8Array {
  const writer = new BinaryWriter()
  if ('get' in op) return message(writer, 1, rangeRequest({ key: op.get })).finish()
  if ('delete' in op) return message(writer, 3, text(new BinaryWriter(), 1, op.delete).finish()).finish()
  return message(writer, 2, text(text(new BinaryWriter(), 1, op.put), 2, op.value).finish()).finish()
}

/** Compare: 1 result, 2 target, 3 key, 4 version, 6 mod_revision. */
function comparison(compare: Comparison): Uint8Array {
  const writer = new BinaryWriter()
  const isMod = 'modRevision' in compare
  number(writer, 1, isMod ? equal : less)
  number(writer, 2, isMod ? compareModRevision : compareVersion)
  text(writer, 3, compare.key)
  return number(writer, isMod ? 6 : 4, isMod ? compare.modRevision : compare.versionBelow).finish()
}

/** TxnRequest: 1 compare, 2 success, 3 failure. */
export function txnRequest({ compare, success, failure }: TxnRequest): Uint8Array {
  const writer = new BinaryWriter()
  for (const one of compare) message(writer, 1, comparison(one))
  for (const one of success) message(writer, 2, operation(one))
  for (const one of failure) message(writer, 3, operation(one))
  return writer.finish()
}

/** WatchRequest: 1 create_request (1 key, 2 range_end, 3 start_revision, 4 progress_notify, 8 fragment). */
export function watchCreateRequest(key: string, rangeEnd: string, startRevision: number): Uint8Array {
  const create = text(text(new BinaryWriter(), 1, key), 2, rangeEnd)
  number(create, 3, startRevision)
  create.tag(4, WireType.Varint).bool(true).tag(8, WireType.Varint).bool(true)
  return message(new BinaryWriter(), 1, create.finish()).finish()
}

/** WatchRequest: 3 progress_request, which is empty. */
export function watchProgressRequest(): Uint8Array {
  return message(new BinaryWriter(), 3, new Uint8Array()).finish()
}

/** AuthenticateRequest: 1 name, 2 password. */
export function authenticateRequest(name: string, password: string): Uint8Array {
  return text(text(new BinaryWriter(), 1, name), 2, password).finish()
}

/** ResponseHeader: 1 cluster_id, 3 revision. */
function readHeader(bytes: Uint8Array): EtcdPosition {
  const header = { cluster: '', revision: 0 }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => (header.cluster = String(reader.uint64())))
    if (field === 3) return taken(() => (header.revision = readNumber(reader)))
    return false
  })
  return header
}

const noHeader: EtcdPosition = { cluster: '', revision: 0 }

/** KeyValue: 1 key, 3 mod_revision, 5 value. */
function readKeyValue(bytes: Uint8Array): KeyValue {
  const kv = { key: '', value: '', modRevision: 0 }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => (kv.key = reader.string()))
    if (field === 3) return taken(() => (kv.modRevision = readNumber(reader)))
    if (field === 5) return taken(() => (kv.value = reader.string()))
    return false
  })
  return kv
}

/** RangeResponse: 1 header, 2 kvs, 3 more. */
export function readRangeReply(bytes: Uint8Array): RangeReply {
  const reply = { ...noHeader, kvs: [] as KeyValue[], more: false }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => Object.assign(reply, readHeader(reader.bytes())))
    if (field === 2) return taken(() => reply.kvs.push(readKeyValue(reader.bytes())))
    if (field === 3) return taken(() => (reply.more = reader.bool()))
    return false
  })
  return reply
}

/** TxnResponse: 1 header, 2 succeeded, 3 responses, each of which has 1 response_range. */
export function readTxnReply(bytes: Uint8Array): TxnReply {
  const reply = { ...noHeader, succeeded: false, found: [] as (KeyValue | undefined)[] }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => Object.assign(reply, readHeader(reader.bytes())))
    if (field === 2) return taken(() => (reply.succeeded = reader.bool()))
    if (field !== 3) return false
    readMessage(
      reader.bytes(),
      (kind, part) => kind === 1 && taken(() => reply.found.push(readRangeReply(part.bytes()).kvs[0])),
    )
    return true
  })
  return reply
}

/** Event: 1 type (0 put, 1 delete), 2 kv. */
function readEvent(bytes: Uint8Array): WatchEvent {
  const event: { type: WatchEvent['type']; kv: KeyValue } = {
    type: 'put',
    kv: { key: '', value: '', modRevision: 0 },
  }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => (event.type = reader.int32() === 1 ? 'delete' : 'put'))
    if (field === 2) return taken(() => (event.kv = readKeyValue(reader.bytes())))
    return false
  })
  return event
}

/** WatchResponse: 1 header, 2 watch_id, 3 created, 4 canceled, 5 compact_revision, 6 cancel_reason, 7 fragment, 11 events. */
export function readWatchReply(bytes: Uint8Array): WatchReply {
  const reply = {
    ...{ ...noHeader, watchId: 0, created: false, canceled: false, compactRevision: 0, cancelReason: '' },
    fragment: false,
    events: [] as WatchEvent[],
  }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => Object.assign(reply, readHeader(reader.bytes())))
    if (field === 2) return taken(() => (reply.watchId = readNumber(reader)))
    if (field === 3) return taken(() => (reply.created = reader.bool()))
    if (field === 4) return taken(() => (reply.canceled = reader.bool()))
    if (field === 5) return taken(() => (reply.compactRevision = readNumber(reader)))
    if (field === 6) return taken(() => (reply.cancelReason = reader.string()))
    if (field === 7) return taken(() => (reply.fragment = reader.bool()))
    if (field === 11) return taken(() => reply.events.push(readEvent(reader.bytes())))
    return false
  })
  return reply
}

/** AuthenticateResponse: 2 token. */
export function readToken(bytes: Uint8Array): string {
  let token = ''
  readMessage(bytes, (field, reader) => field === 2 && taken(() => (token = reader.string())))
  return token
}
