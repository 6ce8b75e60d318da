import { BinaryReader } from '@bufbuild/protobuf/wire'

/** Reading messages of protobuf field by field, for the few that are used of an interface: no code is generated. */

export type ReadField = (field: number, reader: BinaryReader) => boolean

/** Reads all fields; `read` tells whether it has taken one, else it is skipped. */
export function readMessage(bytes: Uint8Array, read: ReadField): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (!read(field, reader)) reader.skip(wireType, field)
  }
}

/** Shorthand for a field that is taken. */
export function taken(work: () => void): true {
  work()
  return true
}
