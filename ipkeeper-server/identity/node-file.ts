import { join } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'
import { writeDurablySync } from '../host/durable-file.ts'
import { readRegularFileSync } from '../host/regular-file.ts'
import { asideCommand } from '../host/set-aside.ts'
import type { MachineSight } from './plan/judge-machine.ts'
import { failedBy } from '../../shared/system-code.ts'

/** A name that the node had, and until when: milliseconds since the epoch. */
export interface FormerName {
  readonly name: string
  readonly until: number
}

/** What the state folder says of its node. */
export interface NodeFile extends MachineSight {
  readonly version: 1
  /** Random; of this folder alone, unless somebody copies it. */
  readonly id: string
  /** Under which its records stand. */
  readonly name: string
  /** Others under which there may be records of it, or claims: a change of the name is under way, or was broken off. */
  readonly alsoNames: readonly string[]
  /** It never had a name that was its own: `name` is only what it was to be called. */
  readonly hasTakenNone?: true
  /** For people; the newest first. */
  readonly formerNames: readonly FormerName[]
  /** By which the name was claimed last where nodes share a store: it is of use to this very folder in that boot alone. */
  readonly claimed?: {
    readonly session: string
    readonly bootId: string
    readonly folder: string
    /** Not all of its names, yet: whoever has another one may have a copy of this very disk. */
    readonly isPartial?: true
  }
  /** Under which its transactions are fenced in etcd, where it did so before it had an ID. Absent: its ID. */
  readonly fence?: string
  /** The ID before, of another machine, whose folder this was. */
  readonly copyOf?: string
  /** The folder was that machine's, and this one has not opened a store in it yet: its journal may begin empty. */
  readonly hasOpenedNone?: true
}

/** Under which there may be records of the node: none before it had a name. The one in force comes first. */
export const namesIn = (file: NodeFile | undefined): readonly string[] =>
  file && file.hasTakenNone !== true ? [file.name, ...file.alsoNames] : []

/** Under which its transactions are fenced (etcd-fence.ts): the same as long as the folder is of this node. */
export const fenceIn = ({ fence, id }: NodeFile): string => fence ?? id

const fileName = 'node.json'
/** Bytes; it has about 600, and 100 more for each former name. */
const sizeLimit = 1024 * 1024

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

function isNodeFile(value: unknown): value is NodeFile {
  if (typeof value !== 'object' || value === null) return false
  const { version, id, name, alsoNames, formerNames, marks, bootId, folder } = value as Partial<NodeFile>
  return (
    version === 1 &&
    [id, name, bootId, folder].every(isText) &&
    Array.isArray(alsoNames) &&
    Array.isArray(formerNames) &&
    typeof marks === 'object'
  )
}

/**
 * undefined where there is none.
 *
 * @throws Problem IPK_STORE_FAILED for one that cannot be read or understood
 */
export function readNodeFile(stateDir: string): NodeFile | undefined {
  const path = join(stateDir, fileName)
  let why
  try {
    const value: unknown = JSON.parse(readRegularFileSync(path, { most: sizeLimit }).toString())
    if (isNodeFile(value)) return value
    why = 'it was not written by ipkeeper-server, or by a newer version'
  } catch (cause) {
    if (failedBy(cause, 'ENOENT')) return undefined
    why = cause instanceof Error ? cause.message : String(cause)
  }
  throw new Problem('IPK_STORE_FAILED', `${path} cannot be read: ${why}`, {
    hint: `it says which machine the folder is of; where it still is that one: ${asideCommand(path)}`,
  })
}

/** Durable when it returns. */
export function writeNodeFile(stateDir: string, file: NodeFile): void {
  const path = join(stateDir, fileName)
  try {
    writeDurablySync(path, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Problem('IPK_STORE_FAILED', `${path} cannot be written: ${why}`, { cause })
  }
}
