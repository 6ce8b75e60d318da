import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { readMessage, taken, type ReadField } from '../host/protobuf.ts'
import type { RuntimeCondition, RuntimeVersion, Sandbox } from './sandboxes.ts'

/**
 * The messages of the CRI (runtime.v1 of k8s.io/cri-api) that are used, as far as they are used. Field numbers are those
 * of the interface; unknown fields are skipped, absent ones have protobuf's defaults.
 */

/** Reads the message that is field 1 of a response. */
function readFirst(bytes: Uint8Array, read: ReadField): void {
  readMessage(
    bytes,
    (field, reader) =>
      field === 1 &&
      taken(() => {
        readMessage(reader.bytes(), read)
      }),
  )
}

/** ListPodSandboxRequest without a filter, StatusRequest that is not verbose, VersionRequest. */
export const emptyMessage = (): Uint8Array => new Uint8Array()

/** PodSandboxStatusRequest. */
export function sandboxStatusRequest(id: string): Uint8Array {
  // 1: pod_sandbox_id
  return new BinaryWriter()
    .uint32((1 << 3) | 2)
    .string(id)
    .finish()
}

/** ListPodSandboxResponse. */
export function readSandboxList(bytes: Uint8Array): readonly Sandbox[] {
  const sandboxes: Sandbox[] = []
  readMessage(
    bytes,
    (field, reader) => field === 1 && taken(() => sandboxes.push(readSandbox(reader.bytes()))),
  )
  return sandboxes
}

/** PodSandbox: 1 id, 2 metadata (1 name, 2 uid, 3 namespace), 3 state (0 is ready), 4 created_at in nanoseconds. */
function readSandbox(bytes: Uint8Array): Sandbox {
  const found = { id: '', namespace: '', name: '', uid: '', ready: true, createdAt: 0 }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => (found.id = reader.string()))
    if (field === 2) return taken(() => Object.assign(found, readMetadata(reader.bytes())))
    if (field === 3) return taken(() => (found.ready = reader.int32() === 0))
    if (field === 4) return taken(() => (found.createdAt = Number(BigInt(reader.int64()) / 1_000_000n)))
    return false
  })
  return found
}

function readMetadata(bytes: Uint8Array): Pick<Sandbox, 'name' | 'uid' | 'namespace'> {
  const found = { name: '', uid: '', namespace: '' }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => (found.name = reader.string()))
    if (field === 2) return taken(() => (found.uid = reader.string()))
    if (field === 3) return taken(() => (found.namespace = reader.string()))
    return false
  })
  return found
}

/** PodSandboxStatusResponse: 1 status, of which 5 is network: 1 ip, 2 additional_ips (1 ip). */
export function readSandboxAddresses(bytes: Uint8Array): readonly string[] {
  const addresses: string[] = []
  const readPodIp: ReadField = (field, reader) => field === 1 && taken(() => addresses.push(reader.string()))
  const readNetwork: ReadField = (field, reader) => {
    if (field === 2)
      return taken(() => {
        readMessage(reader.bytes(), readPodIp)
      })
    return readPodIp(field, reader)
  }
  const readStatus: ReadField = (field, reader) =>
    field === 5 &&
    taken(() => {
      readMessage(reader.bytes(), readNetwork)
    })
  readFirst(bytes, readStatus)
  return addresses.filter(address => address !== '')
}

/** StatusResponse: 1 status, of which 1 is a condition: 1 type, 2 status, 3 reason, 4 message. */
export function readConditions(bytes: Uint8Array): readonly RuntimeCondition[] {
  const conditions: RuntimeCondition[] = []
  const readStatus: ReadField = (field, reader) =>
    field === 1 && taken(() => conditions.push(readCondition(reader.bytes())))
  readFirst(bytes, readStatus)
  return conditions
}

function readCondition(bytes: Uint8Array): RuntimeCondition {
  const found = { type: '', holds: false, reason: '', message: '' }
  readMessage(bytes, (field, reader) => {
    if (field === 1) return taken(() => (found.type = reader.string()))
    if (field === 2) return taken(() => (found.holds = reader.bool()))
    if (field === 3) return taken(() => (found.reason = reader.string()))
    if (field === 4) return taken(() => (found.message = reader.string()))
    return false
  })
  return found
}

/** VersionResponse: 2 runtime_name, 3 runtime_version. */
export function readVersion(bytes: Uint8Array): RuntimeVersion {
  const found = { name: '', version: '' }
  readMessage(bytes, (field, reader) => {
    if (field === 2) return taken(() => (found.name = reader.string()))
    if (field === 3) return taken(() => (found.version = reader.string()))
    return false
  })
  return found
}
