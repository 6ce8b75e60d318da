import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { readlinkSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { writeDurablySync } from '../../host/durable-file.ts'
import { makeFolder } from '../../host/make-folder.ts'
import type { Attachment } from './plugin-call.ts'
import type { TriedNetwork } from './read-network.ts'
import { isOwnName } from './scratch-namespace.ts'
import { failedBy } from '../../../shared/system-code.ts'

/**
 * What a try is about to do, on disk before it does it: whoever finds it after a SIGKILL or a power cut can send the
 * DELs that are owed. It lies in the state folder, since the records of IPAM plugins outlive a reboot as well.
 */
export interface TryNote {
  readonly namespace: string
  readonly owner: ProcessIdentity
  readonly network: TriedNetwork
  readonly attachment: Attachment
  readonly timeoutMs: number
  /** Of the last plugin that was done, in the version of the list; null where DEL gets none. */
  readonly result: JsonObject | null
}

/** One process for all times. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from boot to its start. */
  readonly started: string
  readonly bootId: string
  /** A pid means nothing in another PID namespace. */
  readonly pidNamespace: string
}

/** Bytes of a note at most: a conflist has 1 MiB, a Result a little. */
const most = 8 * 1024 * 1024
/** A try of another PID namespace, which cannot be looked at, is given so long. */
const strangerMs = 3_600_000

const folderOf = (stateDir: string): string => join(stateDir, 'try')

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** Field 22 of /proc/PID/stat; the name in field 2 may hold anything, so what counts begins after its last bracket. */
function startOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

export function thisProcess(): ProcessIdentity {
  return {
    pid: process.pid,
    started: startOf(process.pid) ?? '',
    bootId: bootId(),
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
  }
}

function isDead(owner: ProcessIdentity, ageMs: number): boolean {
  const self = thisProcess()
  if (owner.bootId !== self.bootId) return true
  if (owner.pidNamespace !== self.pidNamespace) return ageMs > strangerMs
  return startOf(owner.pid) !== owner.started
}

/** Writes a note whole or not at all, for root alone. Throws IPK_TRY_REFUSED. */
export function writeNote(stateDir: string, note: TryNote): void {
  const path = join(folderOf(stateDir), `${note.namespace}.json`)
  try {
    makeFolder(folderOf(stateDir))
    writeDurablySync(path, JSON.stringify(note), { temporary: `${path}.new`, mode: 0o600 })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Problem('IPK_TRY_REFUSED', `cannot note what is to be cleaned up: ${why}`, {
      hint: 'run as root, or name another folder: --state-dir DIR',
      cause,
    })
  }
}

/** Removes a note, and the folder with the last one. */
export function removeNote(stateDir: string, namespace: string): void {
  const folder = folderOf(stateDir)
  rmSync(join(folder, `${namespace}.json`), { force: true })
  rmSync(join(folder, `${namespace}.json.new`), { force: true })
  try {
    rmdirSync(folder)
  } catch {
    // Another try is under way, or left something.
  }
}

export interface LeftNotes {
  readonly notes: readonly TryNote[]
  /** What there is but cannot be used, with the reason. */
  readonly unusable: readonly string[]
}

/** Notes of tries that ended without cleaning up. What others could have written is not looked at: it names programs. */
export function leftNotes(stateDir: string, now: number): LeftNotes {
  const folder = folderOf(stateDir)
  let names: readonly string[]
  try {
    const { uid, mode } = lstatSync(folder)
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
      return { notes: [], unusable: [`${folder}: others can write to it`] }
    names = readdirSync(folder)
  } catch {
    return { notes: [], unusable: [] }
  }
  const notes: TryNote[] = []
  const unusable: string[] = []
  for (const name of names.filter(candidate => candidate.endsWith('.json'))) {
    const read = readNote(join(folder, name), now)
    if (typeof read === 'string') unusable.push(`${join(folder, name)}: ${read}`)
    else if (read !== undefined) notes.push(read)
  }
  return { notes, unusable }
}

/** undefined where its try is alive; a text where it cannot be used. */
function readNote(path: string, now: number): TryNote | string | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const { size, mtimeMs } = fstatSync(descriptor)
    if (!fstatSync(descriptor).isFile() || size > most) return 'it is no small regular file'
    const value: unknown = JSON.parse(readFileSync(descriptor, 'utf8'))
    if (!isNote(value)) return 'it is no note of this version'
    return isDead(value.owner, now - mtimeMs) ? value : undefined
  } catch (error) {
    const gone = failedBy(error, 'ENOENT')
    return gone ? undefined : 'it cannot be read'
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** We wrote it, into a folder that is ours alone: this tells our own format from another version's. */
function isNote(value: unknown): value is TryNote {
  if (!isJsonObject(value)) return false
  const { namespace, owner, network, attachment, timeoutMs } = value
  return (
    typeof namespace === 'string' &&
    isOwnName(namespace) &&
    isJsonObject(owner) &&
    isJsonObject(network) &&
    Array.isArray(network['plugins']) &&
    isJsonObject(attachment) &&
    Array.isArray(attachment['binDirs']) &&
    typeof timeoutMs === 'number'
  )
}
