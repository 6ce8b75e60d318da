import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDaemon, type Daemon } from '../test/rigs/daemon.ts'
import { distFolder } from '../test/rigs/requirements.ts'
import type { PrivateHost } from '../test/rigs/private-host.ts'
import type { TempFolder } from '../test/rigs/temp-folder.ts'

/**
 * Freed addresses rest for one second. With the default of a minute what the measurement itself freed would pile up
 * beside the leases that are to be counted; this way the daemon also tidies them up while it is measured, as it does
 * in a steady state.
 */
const config = 'cooldown: 1s\npreferFor: 1s\n'

/** Until no address rests any more. */
export const cooledDownMs = 1_500

/** A daemon that can be started more than once over the same state. */
export interface DaemonHome {
  readonly socket: string
  readonly stateDir: string
  start(): Promise<Daemon>
}

export interface DaemonHomeOptions {
  /** Where it runs; on this machine itself when absent. */
  readonly host?: PrivateHost
  /** Lines of its configuration besides. */
  readonly config?: string
  /** Further arguments of `serve`. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/**
 * The packaged daemon in a folder of its own, every log line written as in production, but to a file: read by this
 * process through a pipe, it would cost the time of the core that measures.
 */
export function makeDaemonHome(
  folder: TempFolder,
  name: string,
  options: DaemonHomeOptions = {},
): DaemonHome {
  const { host, args = [], env = {} } = options
  mkdirSync(folder.file(name))
  const file = (...names: readonly string[]): string => folder.file(name, ...names)
  const executable = file('serve.sh')
  const [server, log] = [join(distFolder, 'ipkeeper-server'), file('log')]
  writeFileSync(executable, `#!/bin/sh\nexec '${server}' "$@" 2>>'${log}'\n`)
  chmodSync(executable, 0o755)
  writeFileSync(file('config.yaml'), config + (options.config ?? ''))
  const places = { socket: file('s'), stateDir: file('state') }
  return {
    ...places,
    start: async () => {
      try {
        return await startDaemon({
          ...places,
          ...(host && { host }),
          ...{ args, env },
          config: file('config.yaml'),
          executable,
          readyMs: 60_000,
        })
      } catch (error) {
        throw new Error(`${String(error)}\n${readFileSync(log, 'utf8').slice(-4_000)}`, { cause: error })
      }
    },
  }
}

/** Resident memory of a process in MiB. */
export function residentMebibytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  return Math.round(Number(kibibytes) / 102.4) / 10
}

/** Processor time a process has used so far; Linux counts it for us in hundredths of a second. */
export function processorMs(pid: number): number {
  // The name of the program, in brackets, may hold spaces; user and system time are the 12th and 13th after it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
