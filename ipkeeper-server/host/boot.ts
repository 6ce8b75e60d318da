import { readFileSync } from 'node:fs'

export interface Boot {
  readonly id: string
  /** Milliseconds since the epoch; the kernel counts whole seconds. */
  readonly at: number
}

/** When this boot began (proc(5), btime in /proc/stat), and its identity. */
export function readBoot(): Boot {
  const [, seconds = '0'] = /^btime ([0-9]+)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? []
  return {
    id: readBootId(),
    at: Number(seconds) * 1000,
  }
}

/** Identity of this boot of the kernel; every attachment of another boot is dead. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}
