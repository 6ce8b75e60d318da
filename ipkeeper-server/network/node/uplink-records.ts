import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { stateFolders } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { syncFolder, writeDurably } from '../../host/durable-file.ts'
import { makeFolder } from '../../host/make-folder.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import type { UplinkJoint } from '../plan/underlay.ts'
import { failedBy } from '../../../shared/system-code.ts'

/** What is remembered of a bridge and its uplink, so that both can be parted whenever the daemon was stopped. */
export interface UplinkRecord {
  readonly version: 1
  /** Links do not outlive their kernel: a record of another boot means nothing. */
  readonly bootId: string
  /** joining, leaving: written before the kernel is changed; a daemon that finds it takes the joint back. */
  readonly phase: 'joining' | 'joined' | 'leaving'
  /** Milliseconds since the epoch: when the addresses were looked at. */
  readonly at: number
  /** The same by CLOCK_MONOTONIC of that boot; absent in records of old. */
  readonly monotonicAt?: number
  readonly joint: UplinkJoint
}

const suffix = '.json'
/** Bytes: hundreds of routes have a tenth of it. */
const sizeLimit = 1024 * 1024

/** The records, a file for each bridge. Names of bridges come checked (checkHostInterface), or from this folder. */
export class UplinkRecords {
  readonly #folder: string

  constructor(stateDir: string) {
    this.#folder = join(stateDir, stateFolders.uplinks)
  }

  /** Names of the bridges that have one. */
  async names(): Promise<readonly string[]> {
    const files = await readdir(this.#folder).catch(() => [])
    return files
      .filter(file => file.endsWith(suffix) && !file.startsWith('.'))
      .map(file => file.slice(0, -suffix.length))
      .sort()
  }

  /** Throws IPK_STORE_FAILED when it cannot be read or understood. */
  async read(bridge: string): Promise<UplinkRecord | undefined> {
    const path = this.#path(bridge)
    try {
      const text = await readRegularFile(path, { most: sizeLimit })
      const record = JSON.parse(text.toString()) as UplinkRecord
      if (isRecordOf(bridge, record)) return record
      throw new Error('it is none of ours')
    } catch (cause) {
      if (failedBy(cause, 'ENOENT')) return undefined
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new Problem('IPK_STORE_FAILED', `${path} cannot be read: ${why}`, {
        cause,
        hint: `see what ${bridge} and its uplink have (ip address), mend that by hand, and remove the file`,
      })
    }
  }

  /** Durable when it resolves. */
  async write(record: UplinkRecord): Promise<void> {
    const { bridge } = record.joint
    try {
      makeFolder(this.#folder)
      await writeDurably(this.#path(bridge), `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 })
    } catch (cause) {
      throw failed(this.#path(bridge), cause)
    }
  }

  async remove(bridge: string): Promise<void> {
    try {
      await rm(this.#path(bridge), { force: true })
      await syncFolder(this.#folder)
    } catch (cause) {
      throw failed(this.#path(bridge), cause)
    }
  }

  #path(bridge: string): string {
    return join(this.#folder, `${bridge}${suffix}`)
  }
}

function isRecordOf(bridge: string, record: UplinkRecord): boolean {
  const { version, joint, phase } = record as Partial<UplinkRecord>
  return (
    version === 1 &&
    phase !== undefined &&
    joint?.bridge === bridge &&
    Array.isArray(joint.moved.addresses) &&
    Array.isArray(joint.moved.routes)
  )
}

function failed(path: string, cause: unknown): Problem {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new Problem('IPK_STORE_FAILED', `${path} cannot be written: ${why}`, { cause })
}
