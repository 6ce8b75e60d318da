import { readFileSync } from 'node:fs'

/** By which the daemon recognises one run of the plugin. */
export interface RunIdentity {
  /** Random; the same for every request of the run. */
  readonly invocationId: string
  /** Microseconds of CLOCK_MONOTONIC at which the run began. */
  readonly startedAt: number
  /** Says which boot `startedAt` belongs to; absent when the kernel does not tell. */
  readonly bootId?: string
}

/** The kernel's own random UUIDs: node:crypto would have to be loaded for one. */
function readKernelUuid(name: 'uuid' | 'boot_id'): string | undefined {
  try {
    return readFileSync(`/proc/sys/kernel/random/${name}`, 'latin1').trim()
  } catch {
    return undefined
  }
}

let bootId: string | undefined

/** Which boot this is; undefined when the kernel does not tell. */
export function knownBootId(): string | undefined {
  return (bootId ??= readKernelUuid('boot_id'))
}

/** Milliseconds of CLOCK_MONOTONIC as they go over the wire. */
export function toMicroseconds(milliseconds: number): number {
  return Math.floor(milliseconds * 1000)
}

/**
 * @param startedMs milliseconds of CLOCK_MONOTONIC
 * @param pid tells runs of one microsecond apart where /proc is not to be had
 */
export function createIdentity(startedMs: number, pid: number): RunIdentity {
  const startedAt = toMicroseconds(startedMs)
  const boot = knownBootId()
  const invocationId = readKernelUuid('uuid') ?? `${pid}-${startedAt}-${Math.random().toString(36).slice(2)}`
  return { invocationId, startedAt, ...(boot !== undefined && { bootId: boot }) }
}
