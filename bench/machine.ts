import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, hostname, loadavg, release, tmpdir, totalmem } from 'node:os'

/** What the figures belong to. */
export interface Machine {
  readonly name: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGibibytes: number
  /** Such as "Debian GNU/Linux 12 (bookworm)". */
  readonly system: string
  readonly kernel: string
  readonly node: string
  /** File system that the stores were on: what a durable write costs is up to it. */
  readonly storage: string
  readonly date: string
  /** Load averages of one minute before and after: what other programs did meanwhile. */
  readonly loadBefore: number
}

export function describeMachine(): Machine {
  return {
    name: hostname(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGibibytes: Math.round(totalmem() / 2 ** 30),
    system: /^PRETTY_NAME="?(.*?)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown',
    kernel: release(),
    node: process.version,
    storage: fileSystemOf(tmpdir()),
    date: new Date().toISOString(),
    loadBefore: loadNow(),
  }
}

export function loadNow(): number {
  return Math.round((loadavg()[0] ?? NaN) * 100) / 100
}

/** Type of the mount with the longest path that leads to this folder. */
function fileSystemOf(folder: string): string {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').trimEnd().split('\n')
  let best = { length: 0, type: 'unknown' }
  for (const mount of mounts) {
    const [, point = '', type = ''] = mount.split(' ')
    const leads = point === '/' || folder === point || folder.startsWith(`${point}/`)
    // Of two mounts on one point the later one is seen.
    if (leads && point.length >= best.length) best = { length: point.length, type }
  }
  return best.type
}
